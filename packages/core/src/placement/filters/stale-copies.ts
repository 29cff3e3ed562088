/** A cluster that returned gets new workloads only after its stale copies are gone (D11). */
import type { Filter, Rejection } from "./filter.ts";

const NAME = "StaleCopies";
const rejection: Rejection = Object.freeze({
  filter: NAME,
  message: "cluster(s) still had stale copies to remove",
  help: "wait until the condition StaleCopiesRemoved of the cluster is no longer False",
});

export const staleCopies: Filter = {
  name: NAME,
  binds: false,
  prepare: (_asked, { someStale }) =>
    someStale ? (candidate) => (candidate.hasStaleCopies ? rejection : undefined) : undefined,
};
