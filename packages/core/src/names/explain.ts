/** Why a global name answers what it answers: which members are in it, which are not, and why. */
import { reverseName } from "./addresses.ts";
import type { GlobalMember, GlobalSet } from "./global-set.ts";
import { listingReasons } from "./reasons.ts";
import { apexOf, type NameRecord, zoneNames, type ZoneSettings } from "./records.ts";

export interface Explanation {
  readonly name: string;
  /** `outside`: not in the federation's zone; `absent`: no such name; `parent`: only names below it; else it exists. */
  readonly kind: "outside" | "absent" | "parent" | "found";
  readonly records: readonly NameRecord[];
  /** The sets that the name belongs to, with their members that it concerns. */
  readonly sets: readonly { readonly set: GlobalSet; readonly members: readonly GlobalMember[] }[];
  /** One sentence each. */
  readonly notes: readonly string[];
}

export function explainName(
  asked: string,
  sets: readonly GlobalSet[],
  settings: ZoneSettings,
): Explanation {
  const written = asked.toLowerCase().replace(/\.$/, "");
  const name = reverseName(written) ?? written;
  const apex = apexOf(settings);
  const none = { name, records: [], sets: [], notes: [] };
  if (name.endsWith(".arpa")) return explainAddress(name, sets, settings);
  if (name !== apex && !name.endsWith(`.${apex}`)) return { ...none, kind: "outside" };
  const zone = zoneNames(sets, settings);
  const found = zone.owners.find((owner) => owner.name === name);
  const concerned = concernedBy(name, apex, sets);
  const clashes = zone.clashes.filter((clash) => clash.name === name);
  const notes = [
    ...clashes.map(({ winner, loser }) => `${loser} has this name, too: ${winner} has it`),
    ...concerned.flatMap(({ set }) => missingNote(set)),
  ];
  const answer = { ...none, records: found?.records ?? [], sets: concerned, notes };
  if (found !== undefined) return { ...answer, kind: "found" };
  const isParent = name === apex || zone.owners.some((owner) => owner.name.endsWith(`.${name}`));
  return { ...answer, kind: isParent ? "parent" : "absent" };
}

/** The name of an address: whose it is, and whether the server leads back from it. */
function explainAddress(
  name: string,
  sets: readonly GlobalSet[],
  settings: ZoneSettings,
): Explanation {
  const found = zoneNames(sets, settings).reverse.find((owner) => owner.name === name);
  const concerned = sets.flatMap((set) => {
    const members = set.members.filter(({ addresses }) =>
      addresses.some((address) => reverseName(address) === name),
    );
    return members.length === 0 ? [] : [{ set, members }];
  });
  const kind = found !== undefined ? "found" : concerned.length > 0 ? "absent" : "outside";
  return { name, kind, records: found?.records ?? [], sets: concerned, notes: [] };
}

function missingNote({ namespace, set, service, missing }: GlobalSet): readonly string[] {
  if (missing === "Service")
    return [`StatefulSet ${namespace}/${set} has no headless Service ${namespace}/${service}`];
  if (missing === "ReplicaList")
    return [
      `Service ${namespace}/${service} lists no replicas of StatefulSet ${namespace}/${set} yet`,
    ];
  return [];
}

function concernedBy(name: string, apex: string, sets: readonly GlobalSet[]): Explanation["sets"] {
  const labels = name === apex ? [] : name.slice(0, -apex.length - 1).split(".");
  const narrowed = labels.length === 4 && labels[0]?.startsWith("_") === true;
  const [first = "", second = "", third] = narrowed ? labels.slice(2) : labels;
  return sets.flatMap((set) => {
    const governing = third === undefined && set.namespace === second;
    if (governing && (first === set.set || first === set.service))
      return [{ set, members: set.members }];
    const isPodForm = governing || (third === set.namespace && second === set.service);
    const members = isPodForm ? set.members.filter(({ pod }) => pod === first) : [];
    return members.length === 0 ? [] : [{ set, members }];
  });
}

/** A member in one line, for people. */
export function memberText({
  pod,
  cluster,
  addresses,
  hostName,
  listed,
  reason,
}: GlobalMember): string {
  const where = addresses.length > 0 ? addresses.join(", ") : (hostName ?? "no address");
  const why = reason === undefined ? "" : `, ${reason}: ${listingReasons[reason]}`;
  return `${pod} in ${cluster || "no cluster"}, ${where}: ${listed ? "listed" : "not listed"}${why}`;
}
