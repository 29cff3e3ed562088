/** The placement must mean the cluster. */
import { matchesAll } from "../../selectors/cluster-affinity.ts";
import type { Filter, Rejection } from "./filter.ts";

export const CLUSTER_AFFINITY = "ClusterAffinity";
const rejection: Rejection = Object.freeze({
  filter: CLUSTER_AFFINITY,
  message: "cluster(s) did not match the placement cluster affinity constraint",
  help: "widen the cluster affinity of the policy, or label the cluster",
});

export const clusterAffinity: Filter = {
  name: CLUSTER_AFFINITY,
  binds: true,
  prepare: ({ term: { matches } }) =>
    matches === matchesAll
      ? undefined
      : (candidate) => (matches(candidate) ? undefined : rejection),
};
