/** The cluster affinity of the placement must select the cluster. */
import { matchesAll } from "../../propagation/selectors/cluster-affinity.ts";
import type { Filter, Rejection } from "./filter.ts";

const NAME = "ClusterAffinity";
const byNames: Rejection = Object.freeze({
  filter: NAME,
  message: "cluster(s) did not match the placement cluster affinity constraint",
  help: "widen the cluster affinity of the policy",
});
const byLabels: Rejection = Object.freeze({
  ...byNames,
  help: "widen the cluster affinity of the policy, or label the cluster",
});

export const clusterAffinity: Filter = {
  name: NAME,
  binds: true,
  prepare: ({ term: { matches, usesLabels } }) => {
    if (matches === matchesAll) return undefined;
    const rejection = usesLabels ? byLabels : byNames;
    return (candidate) => (matches(candidate) ? undefined : rejection);
  },
};
