/**
 * Which certificates of clients are void although they have not ended: those of clusters that left, and those that a person
 * revoked. Both are API objects, so that every instance knows them and a backup keeps them.
 *
 *   karmada-cluster/tombstone-<cluster>       a ConfigMap, label `lifeboat.dev/tombstone`, made when a Pull cluster has left:
 *                                             data.refusedBefore (RFC 3339): what its agent was issued until then is void;
 *                                             data.issuedUntil: when the last of it ends. A kube-apiserver cannot refuse a
 *                                             certificate: there the name is free for anyone only then
 *   lifeboat-system/revoked-certificates      a ConfigMap; each entry of data is one revocation:
 *                                             `serial-<hex>`: JSON {user, until, before}: until when it would have been valid,
 *                                             and when it was revoked
 *                                             `user-<hex>`: JSON {user, before}, all that the user was issued until then
 *
 * 1. A tombstone refuses an identity of before, never one that was registered later: names can be used again.
 * 2. What cannot be read as a time refuses everything: a damaged revocation does not give rights back.
 * 3. Either revocation denies what its user asked for until then: a renewal on its way does not outlive it.
 * 4. Times have whole seconds, as certificates do: a certificate of the same second counts as before.
 * 5. The refusal names its cause to the agent of a cluster that left, which cannot read that its Cluster is gone, and would try
 *    again for ever.
 */
import { type Instant, formatTime, instantOf, parseTime } from "@lifeboat/base";
import type { AnyObject, New } from "@lifeboat/api";
import { fieldsAt, isFields, textAt, valueAt } from "../../fields.ts";
import { CLUSTER_NAMESPACE } from "../../well-known.ts";
import { clusterOfAgent } from "../rights/identity.ts";

/** Label of tombstones; its value is the cluster. */
export const TOMBSTONE = "lifeboat.dev/tombstone";
export const REVOKED_NAMESPACE = "lifeboat-system";
export const REVOKED_NAME = "revoked-certificates";

/** A client's certificate, as far as revocation depends on it. */
export interface PresentedCertificate {
  /** Hexadecimal, as `X509Certificate.serialNumber` shows it. */
  readonly serial: string;
  readonly user: string;
  /** When it was issued: its `notBefore`, corrected by the allowance for slow clocks. */
  readonly issued: Instant;
}

const ALWAYS: Instant = instantOf(Number.MAX_SAFE_INTEGER);

export function tombstoneName(cluster: string): string {
  return `tombstone-${cluster}`;
}

/** The tombstone of a cluster that left at this time. */
export function tombstoneOf(
  cluster: string,
  left: Instant,
  issuedUntil: Instant | undefined,
): New<AnyObject> & { readonly data: Readonly<Record<string, string>> } {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: tombstoneName(cluster),
      namespace: CLUSTER_NAMESPACE,
      labels: { [TOMBSTONE]: cluster },
    },
    data: {
      refusedBefore: formatTime(left),
      ...(issuedUntil !== undefined && { issuedUntil: formatTime(issuedUntil) }),
    },
  };
}

/** The tombstone of a cluster that left at this time, in the place of one of before: of each time the later one counts. */
export function tombstoneOver(
  before: AnyObject | undefined,
  cluster: string,
  left: Instant,
  until: Instant | undefined,
): ReturnType<typeof tombstoneOf> {
  const tombstone = tombstoneOf(cluster, left, until);
  const now = tombstone.data;
  const kept = Object.entries(fieldsAt(before, "data")).filter(
    ([key, text]) => !(key in now) || timeOr(text, ALWAYS) > timeOr(now[key], ALWAYS),
  );
  return { ...tombstone, data: { ...now, ...(Object.fromEntries(kept) as typeof now) } };
}

/** Until when a tombstone refuses what its cluster's agent was issued; undefined without a tombstone. */
export function refusedBefore(tombstone: object | undefined): Instant | undefined {
  if (tombstone === undefined) return undefined;
  return timeOr(valueAt(tombstone, "data", "refusedBefore"), ALWAYS);
}

/** When the last certificate ends that the agent of a cluster was issued before it left; undefined: not known, or no tombstone. */
export function issuedUntil(tombstone: object | undefined): Instant | undefined {
  const text = valueAt(tombstone, "data", "issuedUntil");
  return text === undefined ? undefined : timeOr(text, ALWAYS);
}

/** The revocations of a person, read once. */
export interface Revocations {
  readonly serials: ReadonlySet<string>;
  /** By user: what was issued until then is void. */
  readonly users: ReadonlyMap<string, Instant>;
  /** By user: what it asked for until then gets no certificate. */
  readonly asked: ReadonlyMap<string, Instant>;
}

export const NO_REVOCATIONS: Revocations = {
  serials: new Set<string>(),
  users: new Map<string, Instant>(),
  asked: new Map<string, Instant>(),
};

const SERIAL_PREFIX = "serial-";
const USER_PREFIX = "user-";

/** Reads the ConfigMap of revocations. */
export function readRevocations(object: AnyObject | undefined): Revocations {
  const data = valueAt(object, "data");
  if (!isFields(data)) return NO_REVOCATIONS;
  const serials = new Set<string>();
  const users = new Map<string, Instant>();
  const asked = new Map<string, Instant>();
  for (const [key, text] of Object.entries(data)) {
    const value = parsed(text);
    const user = textAt(value, "user");
    if (key.startsWith(SERIAL_PREFIX)) {
      serials.add(sameForm(key.slice(SERIAL_PREFIX.length)));
      // One of an older version has no time: nothing of that time is on its way any more.
      const before = valueAt(value, "before");
      if (before !== undefined) setLater(asked, user, timeOr(before, ALWAYS));
    } else if (key.startsWith(USER_PREFIX)) {
      const before = timeOr(valueAt(value, "before"), ALWAYS);
      users.set(user, before);
      setLater(asked, user, before);
    }
  }
  return { serials, users, asked };
}

/** Until when what any of these users asked for is void; undefined: nothing of them was revoked. */
export function revokedUntil(
  { asked }: Revocations,
  users: readonly string[],
): Instant | undefined {
  const times = users.flatMap((user) => asked.get(user) ?? []);
  return times.length === 0 ? undefined : instantOf(Math.max(...times));
}

function setLater(times: Map<string, Instant>, user: string, at: Instant): void {
  times.set(user, instantOf(Math.max(at, times.get(user) ?? at)));
}

/** What a person revokes: one certificate, or all that a user was issued so far. */
export type Revocation =
  | {
      readonly serial: string;
      readonly user: string;
      readonly until: Instant;
      readonly before: Instant;
    }
  | { readonly user: string; readonly before: Instant };

/** The data of the ConfigMap with one more revocation, and without those that time has made needless. */
export function withRevocation(
  data: Readonly<Record<string, string>>,
  revocation: Revocation,
  now: Instant,
): Readonly<Record<string, string>> {
  const kept = Object.entries(data).filter(([key, text]) => {
    if (!key.startsWith(SERIAL_PREFIX)) return true;
    return timeOr(valueAt(parsed(text), "until"), ALWAYS) > now;
  });
  const { user } = revocation;
  const before = formatTime(revocation.before);
  const entry =
    "serial" in revocation
      ? [
          SERIAL_PREFIX + sameForm(revocation.serial),
          JSON.stringify({ user, until: formatTime(revocation.until), before }),
        ]
      : [USER_PREFIX + hexOf(user), JSON.stringify({ user, before })];
  return Object.fromEntries([...kept, entry]) as Readonly<Record<string, string>>;
}

/** Why a certificate is void; the cause that its bearer reads in the refusal. */
export type Refusal = "CertificateRevoked" | typeof CLUSTER_LEFT;

/** The cluster whose agent presents the certificate left the control plane: nothing but registering again is of use. */
export const CLUSTER_LEFT = "ClusterLeft";

/**
 * Why a certificate is void; undefined: it counts. `tombstone` is that of the cluster whose agent the user is; see
 * `tombstoneNameFor`.
 */
export function refusalOf(
  certificate: PresentedCertificate,
  { serials, users }: Revocations,
  tombstone: AnyObject | undefined,
): Refusal | undefined {
  const { serial, user, issued } = certificate;
  const left = refusedBefore(tombstone);
  if (left !== undefined && clusterOfAgent(user) !== undefined && issued <= left)
    return CLUSTER_LEFT;
  const before = users.get(user);
  const isRevoked = serials.has(sameForm(serial)) || (before !== undefined && issued <= before);
  return isRevoked ? "CertificateRevoked" : undefined;
}

/** The tombstone that concerns a user; undefined for one that is no agent. */
export function tombstoneNameFor(user: string): string | undefined {
  const cluster = clusterOfAgent(user);
  return cluster === undefined ? undefined : tombstoneName(cluster);
}

/** Serial numbers are written with and without leading zeros, in both cases. */
function sameForm(serial: string): string {
  return serial.toLowerCase().replace(/^0+(?=.)/, "");
}

function hexOf(text: string): string {
  return [...new TextEncoder().encode(text)].map((b) => b.toString(16).padStart(2, "0")).join("");
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(typeof text === "string" ? text : "");
  } catch {
    return undefined;
  }
}

function timeOr(value: unknown, otherwise: Instant): Instant {
  return (typeof value === "string" ? parseTime(value) : undefined) ?? otherwise;
}
