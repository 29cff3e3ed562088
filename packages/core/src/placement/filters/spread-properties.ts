/** A workload that is spread over regions, zones or providers can only run in a cluster that has that property. */
import type { Candidate } from "../candidate.ts";
import type { Filter, Rejection } from "./filter.ts";

const NAME = "SpreadConstraint";

function lacking(property: string): Rejection {
  return Object.freeze({
    filter: NAME,
    message: `cluster(s) did not have ${property} property`,
    help: `set ${property} in the Cluster's spec`,
  });
}

const rejections = {
  provider: lacking("provider"),
  region: lacking("region"),
  zone: lacking("zones"),
} as const;

export const spreadProperties: Filter = {
  name: NAME,
  binds: true,
  prepare: ({ rules: { spread } }) => {
    const properties = spread.map(({ by }) => by).filter(isProperty);
    if (properties.length === 0) return undefined;
    return (candidate) => {
      for (const by of properties) if (!has(candidate, by)) return rejections[by];
      return undefined;
    };
  },
};

function isProperty(by: string): by is keyof typeof rejections {
  return Object.hasOwn(rejections, by);
}

function has(candidate: Candidate, by: keyof typeof rejections): boolean {
  return by === "zone" ? candidate.zones.length > 0 : candidate[by] !== "";
}
