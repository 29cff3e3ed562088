/** Seeded bugs for the oracles of group G: placement. */
import type { SimMutant } from "../mutant.ts";

export const placementMutants: readonly SimMutant[] = [
  {
    oracle: "placed-as-asked",
    promise: "H5",
    breaks: "a duplicated workload leaves one cluster out",
    file: "packages/core/src/placement/place.ts",
    find: "return byName(fits.map(({ candidate: { name } }) => targetOf(name, replicas)));",
    replace:
      "return byName(fits.slice(1).map(({ candidate: { name } }) => targetOf(name, replicas)));",
    caughtIn: ["propagate"],
  },
];
