/**
 * The records of the federation's zone, as D28 rules them. The zone is `<federation>.svc.<zone>`: names of a cluster's own domain
 * are not part of it.
 *
 * 1. `<set>.<ns>` and `<service>.<ns>` have the same SRV records (priority 0, equal weight, one per port and listed member) and
 *    all addresses; `_port._proto.` before them narrows to that port.
 * 2. Targets are always `<pod>.<service>.<ns>`. That name and `<pod>.<ns>` have the member's addresses, or a CNAME where its load
 *    balancer has only a host name.
 * 3. A member that is not listed keeps its two names, with a TXT record that gives the reason: its identity has not gone.
 * 4. The address of a listed member leads back to `<pod>.<service>.<ns>` by a PTR record. Such a name lies outside the zone: what is
 *    not a member's address is not ours to answer.
 * 5. Where two things have one name the Service wins, then the set, then the pod; what lost is reported as a clash.
 */
import { compareText } from "../fields.ts";
import { addressBytes, isLabel, MAX_NAME, reverseName } from "./addresses.ts";
import type { GlobalMember, GlobalPort, GlobalSet } from "./global-set.ts";
import { listingReasons } from "./reasons.ts";

export type NameRecord =
  | { readonly type: "A" | "AAAA"; readonly address: string }
  | {
      readonly type: "SRV";
      readonly priority: number;
      readonly weight: number;
      readonly port: number;
      readonly target: string;
    }
  | { readonly type: "CNAME" | "PTR"; readonly target: string }
  | { readonly type: "TXT"; readonly text: string };

/** One name in lower case, without a dot at its end, and its records. */
export interface OwnedRecords {
  readonly name: string;
  readonly records: readonly NameRecord[];
}

/** A name that two things would have. */
export interface NameClash {
  readonly name: string;
  /** `Service ns/etcd`, `StatefulSet ns/store`, `pod ns/store-c1-0`. */
  readonly winner: string;
  readonly loser: string;
}

export interface ZoneNames {
  /** `<federation>.svc.<zone>`. */
  readonly apex: string;
  readonly owners: readonly OwnedRecords[];
  /** What the addresses of listed members lead back to, under `in-addr.arpa` and `ip6.arpa`. */
  readonly reverse: readonly OwnedRecords[];
  readonly clashes: readonly NameClash[];
  /** Names that are longer than DNS allows, and are left out. */
  readonly tooLong: readonly string[];
}

export interface ZoneSettings {
  /** Such as `example.com`. */
  readonly zone: string;
  /** One label. */
  readonly federation: string;
}

export function apexOf({ zone, federation }: ZoneSettings): string {
  return `${federation}.svc.${zone}`.toLowerCase();
}

/** The equal weight of all members. */
const WEIGHT = 1;

/** Gathers names; the first holder of a name keeps it. */
class Claims {
  readonly clashes: NameClash[] = [];
  readonly tooLong: string[] = [];
  readonly #claims = new Map<string, { readonly holder: string; readonly records: NameRecord[] }>();

  claim(name: string, holder: string, records: readonly NameRecord[]): void {
    if (name.length > MAX_NAME) {
      this.tooLong.push(name);
      return;
    }
    const held = this.#claims.get(name);
    if (held === undefined) this.#claims.set(name, { holder, records: [...records] });
    else if (held.holder === holder) held.records.push(...records);
    else this.clashes.push({ name, winner: held.holder, loser: holder });
  }

  owners(): readonly OwnedRecords[] {
    return [...this.#claims]
      .map(([name, { records }]) => ({ name, records }))
      .sort((a, b) => compareText(a.name, b.name));
  }
}

export function zoneNames(sets: readonly GlobalSet[], settings: ZoneSettings): ZoneNames {
  const apex = apexOf(settings);
  const claims = new Claims();
  const governing = sets.map((set) => [set, governed(set, apex)] as const);
  // In the order in which they win.
  for (const [{ namespace, service }, records] of governing)
    for (const [prefix, found] of records)
      claims.claim(
        `${prefix}${service}.${namespace}.${apex}`,
        `Service ${namespace}/${service}`,
        found,
      );
  for (const [{ namespace, service, set }, records] of governing)
    if (set !== service)
      for (const [prefix, found] of records)
        claims.claim(
          `${prefix}${set}.${namespace}.${apex}`,
          `StatefulSet ${namespace}/${set}`,
          found,
        );
  for (const set of sets)
    for (const member of set.members) {
      const holder = `pod ${set.namespace}/${member.pod}`;
      const records = recordsOf(member);
      claims.claim(targetOf(set, member, apex), holder, records);
      claims.claim(`${member.pod}.${set.namespace}.${apex}`, holder, records);
    }
  const { clashes, tooLong } = claims;
  return { apex, owners: claims.owners(), reverse: reversed(sets, apex), clashes, tooLong };
}

/** Members that share an address are all named. */
function reversed(sets: readonly GlobalSet[], apex: string): readonly OwnedRecords[] {
  const found = new Map<string, Set<string>>();
  for (const set of sets)
    for (const member of set.members) {
      const target = targetOf(set, member, apex);
      if (!member.listed || target.length > MAX_NAME) continue;
      for (const address of member.addresses) {
        const name = reverseName(address);
        if (name === undefined) continue;
        const targets = found.get(name) ?? new Set();
        found.set(name, targets.add(target));
      }
    }
  return [...found]
    .map(([name, targets]) => ({
      name,
      records: [...targets].sort(compareText).map((target) => ({ type: "PTR" as const, target })),
    }))
    .sort((a, b) => compareText(a.name, b.name));
}

/** The names of one set that another thing of its namespace has (D28). They do not depend on the zone. */
export function lostNames(
  sets: readonly GlobalSet[],
  { namespace, set }: Pick<GlobalSet, "namespace" | "set">,
): readonly NameClash[] {
  const near = sets.filter((one) => one.namespace === namespace);
  const pods = near.find((one) => one.set === set)?.members ?? [];
  const own = new Set([
    `StatefulSet ${namespace}/${set}`,
    ...pods.map(({ pod }) => `pod ${namespace}/${pod}`),
  ]);
  const { apex, clashes } = zoneNames(near, { zone: "zone", federation: "federation" });
  return clashes
    .filter(({ name, loser }) => own.has(loser) && !name.startsWith("_"))
    .map((clash) => ({ ...clash, name: clash.name.slice(0, -apex.length - 1) }));
}

/** What a governing name has, by what stands before it: "" or `_port._proto.`. */
function governed(set: GlobalSet, apex: string): ReadonlyMap<string, readonly NameRecord[]> {
  const listed = set.members.filter((member) => member.listed);
  const addresses = listed.flatMap((member) => member.addresses.map(addressRecord));
  const records = new Map<string, NameRecord[]>([["", []]]);
  for (const port of set.ports) {
    const found = listed.map((member) => serviceRecord(port, targetOf(set, member, apex)));
    records.get("")?.push(...found);
    const prefix = prefixOf(port);
    if (prefix !== undefined) records.set(prefix, [...(records.get(prefix) ?? []), ...found]);
  }
  records.get("")?.push(...addresses);
  return records;
}

function prefixOf({ name, protocol }: GlobalPort): string | undefined {
  const [port, proto] = [name.toLowerCase(), protocol.toLowerCase()];
  return isLabel(port) && isLabel(proto) ? `_${port}._${proto}.` : undefined;
}

function serviceRecord({ port }: GlobalPort, target: string): NameRecord {
  return { type: "SRV", priority: 0, weight: WEIGHT, port, target };
}

function targetOf({ namespace, service }: GlobalSet, { pod }: GlobalMember, apex: string): string {
  return `${pod}.${service}.${namespace}.${apex}`;
}

function recordsOf(member: GlobalMember): readonly NameRecord[] {
  const { listed, reason, hostName, addresses } = member;
  if (!listed) {
    const why = reason === undefined ? "" : `: ${reason}: ${listingReasons[reason]}`;
    return [{ type: "TXT", text: `not listed${why}` }];
  }
  if (addresses.length > 0) return addresses.map(addressRecord);
  return hostName === undefined ? [] : [{ type: "CNAME", target: hostName }];
}

function addressRecord(address: string): NameRecord {
  return { type: addressBytes(address)?.length === 16 ? "AAAA" : "A", address };
}
