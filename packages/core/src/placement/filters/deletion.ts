/** A cluster that is being deleted takes nothing and keeps nothing. */
import type { Filter, Rejection } from "./filter.ts";

const NAME = "Deletion";
const rejection: Rejection = Object.freeze({
  filter: NAME,
  message: "cluster(s) are being deleted",
  help: "join another cluster",
});

export const deletion: Filter = {
  name: NAME,
  binds: true,
  prepare: (_asked, { someDeleting }) =>
    someDeleting ? (candidate) => (candidate.isDeleting ? rejection : undefined) : undefined,
};
