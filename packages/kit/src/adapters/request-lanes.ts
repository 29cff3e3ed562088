/**
 * Which requests share connections to a server, and how many connections they get.
 *
 * 1. Requests for Leases share connections with no others. Leases are how a leader, a share of members and an agent show that they are
 *    there: if a renewal waited behind the lists of a slow API server, the next leader would begin, and list everything again. The
 *    lists of Leases are among them, because a replica acts for its share only after one (core/clusters/shares).
 * 2. Reads and writes do not wait for one another: a decision is written although many reads hang.
 */
import { leases } from "../leader-election.ts";

export type Lane = "reads" | "writes" | "leases";

/** Connections at a time. Writes come in thousands when a cluster fails; reads do so only when something is wrong. */
export const LANE_LIMITS: Readonly<Record<Lane, number>> = Object.freeze({
  reads: 32,
  writes: 64,
  leases: 8,
});

/** The lane of a request, by its method and its path below that of the server. */
export function laneOf(method: string, path: string): Lane {
  if (path.startsWith(LEASES) && OF_LEASES.test(path)) return "leases";
  return method === "GET" ? "reads" : "writes";
}

const LEASES = `/apis/${leases.group}/`;
const OF_LEASES = new RegExp(`^${LEASES}[^/]+/(?:namespaces/[^/]+/)?${leases.plural}(?:/|$)`);
