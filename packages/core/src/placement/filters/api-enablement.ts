/** The cluster must serve the kind of the workload. A copy that runs there is not moved when discovery missed the kind. */
import type { Filter, Rejection } from "./filter.ts";

const NAME = "APIEnablement";
const rejection: Rejection = Object.freeze({
  filter: NAME,
  message: "cluster(s) did not have the API resource",
  help: "install the resource's definition in the cluster",
});

export const apiEnablement: Filter = {
  name: NAME,
  binds: false,
  prepare: ({ api }, fleet) => {
    const lacking = fleet.lacking(api);
    return lacking.size === 0
      ? undefined
      : (candidate) => (lacking.has(candidate.name) ? rejection : undefined);
  },
};
