/** All filters, in order; the first that rejects a cluster gives the reason. */
import { agentSupport } from "./agent-support.ts";
import { apiEnablement } from "./api-enablement.ts";
import { clusterAffinity } from "./cluster-affinity.ts";
import { deletion } from "./deletion.ts";
import { evictedFrom } from "./evicted-from.ts";
import type { Filter } from "./filter.ts";
import { spreadProperties } from "./spread-properties.ts";
import { staleCopies } from "./stale-copies.ts";
import { taints } from "./taints.ts";

export const filters: readonly Filter[] = [
  clusterAffinity,
  deletion,
  taints,
  apiEnablement,
  spreadProperties,
  staleCopies,
  agentSupport,
  evictedFrom,
];
