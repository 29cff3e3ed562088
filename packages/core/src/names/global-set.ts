/**
 * A federated StatefulSet with global names: its governing Service, its ports, and every identity that it has been assigned.
 *
 * It is what DNS servers, `lifeboat dns explain` and generated peer lists are made of. It holds members that are not listed,
 * too, with the reason: a name that left the answers is still the name of its pod.
 */
import type { ListingReason } from "./reasons.ts";

export interface GlobalMember {
  /** `<set>-<cluster>-<n>`: pod and Service have this name. */
  readonly pod: string;
  readonly cluster: string;
  /** IPv4 and IPv6 texts. */
  readonly addresses: readonly string[];
  /** Where the load balancer has only a host name. */
  readonly hostName?: string;
  readonly listed: boolean;
  /** Why it is not listed, or why it is nevertheless. */
  readonly reason?: ListingReason;
}

export interface GlobalPort {
  /** "" for a port without a name. */
  readonly name: string;
  /** `TCP`, `UDP` or `SCTP`. */
  readonly protocol: string;
  readonly port: number;
}

export interface GlobalSet {
  readonly namespace: string;
  readonly set: string;
  readonly service: string;
  readonly ports: readonly GlobalPort[];
  /** All assigned identities, in the order of their names. */
  readonly members: readonly GlobalMember[];
  /** What is needed to know the members and is not there; then their absence means nothing. */
  readonly missing?: "Service" | "ReplicaList";
}
