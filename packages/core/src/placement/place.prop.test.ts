import { plainMoment } from "@lifeboat/base";
import type { Cluster, Placement } from "@lifeboat/api";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesCluster } from "../propagation/selectors/cluster-affinity.ts";
import {
  type BindingGiven,
  divided,
  makeBinding,
  makeCluster,
  NOW,
  viewOf,
} from "./makers.suite.ts";
import { candidateOf } from "./candidate.ts";
import { place } from "./place.ts";
import { readPlacement } from "./rules.ts";
import type { PlacementDecision } from "./view.ts";

const RUNS = { numRuns: 200 };
const names = ["a", "b", "c", "d", "e", "f"];

const cluster = (name: string): fc.Arbitrary<Cluster> =>
  fc
    .record({
      pods: fc.oneof(fc.nat(20), fc.constant(200)),
      region: fc.constantFrom("", "r1", "r2", "r3"),
      tier: fc.constantFrom("gold", "iron"),
      effect: fc.constantFrom("", "", "", "NoSchedule", "NoExecute", "PreferNoExecute"),
      deleting: fc.constantFrom(false, false, false, true),
    })
    .map(({ pods, region, tier, effect, deleting }) =>
      makeCluster(name, {
        pods,
        deleting,
        labels: { tier },
        spec: {
          ...(region !== "" && { region }),
          ...(effect !== "" && { taints: [{ key: "k", effect }] }),
        },
      }),
    );
const fleets = fc
  .subarray(names, { minLength: 0 })
  .chain((some) => fc.tuple(...some.map((name) => cluster(name))));

const affinities = fc.constantFrom<Placement>(
  {},
  { clusterAffinity: { labelSelector: { matchLabels: { tier: "gold" } } } },
  { clusterAffinity: { clusterNames: ["a", "b", "c"], exclude: ["b"] } },
);
const spreads = fc.record({
  cluster: fc.record({ minGroups: fc.nat(3), maxGroups: fc.nat(4) }),
  region: fc.option(fc.record({ minGroups: fc.nat(2), maxGroups: fc.nat(3) })),
});
const styles = fc.constantFrom<Placement>(
  {},
  { replicaScheduling: { replicaSchedulingType: "Duplicated" } },
  divided("static"),
  divided("static", { a: 1, b: 3, c: 2 }),
  divided("dynamic"),
  divided("Aggregated"),
);
const placements: fc.Arbitrary<Placement> = fc
  .tuple(affinities, fc.option(spreads), styles)
  .map(([affinity, spread, style]) => ({
    ...affinity,
    ...style,
    ...(spread !== null && {
      spreadConstraints: [
        { spreadByField: "cluster" as const, ...spread.cluster },
        ...(spread.region === null ? [] : [{ spreadByField: "region" as const, ...spread.region }]),
      ],
    }),
  }));
const bindings: fc.Arbitrary<BindingGiven> = fc.record({
  placement: placements,
  replicas: fc.integer({ min: -1, max: 30 }),
  uid: fc.uuid(),
  clusters: fc.oneof(
    fc.constant({}),
    fc.dictionary(fc.constantFrom(...names), fc.nat(9), { maxKeys: 4 }),
  ),
});

const decide = (fleet: readonly Cluster[], given: BindingGiven): PlacementDecision =>
  place(viewOf(fleet, makeBinding(given)), plainMoment(NOW));
const sum = ({ clusters }: PlacementDecision): number =>
  clusters.reduce((all, { replicas = 0 }) => all + replicas, 0);
const isDivided = ({ placement }: BindingGiven): boolean =>
  placement?.replicaScheduling?.replicaSchedulingType === "Divided";
const isStatic = ({ placement }: BindingGiven): boolean =>
  isDivided({ ...(placement && { placement }) }) &&
  placement?.replicaScheduling?.replicaDivisionPreference === "Weighted" &&
  placement.replicaScheduling.weightPreference?.dynamicWeight === undefined;
const replicasOf = (given: BindingGiven): number => Math.max(0, given.replicas ?? 0);
/** The binding after its decision was carried out. */
const carriedOut = (given: BindingGiven, { clusters }: PlacementDecision): BindingGiven => ({
  ...given,
  clusters: Object.fromEntries(clusters.map(({ name, replicas = 0 }) => [name, replicas])),
});

describe("whatever the fleet and the placement", () => {
  it("a placed workload has exactly its replicas, on clusters that its affinity means and that are not deleted", () => {
    fc.assert(
      fc.property(fleets, bindings, (fleet, given) => {
        const decision = decide(fleet, given);
        if (decision.reason !== "Placed") return;
        if (isDivided(given)) expect(sum(decision)).toBe(replicasOf(given));
        else
          for (const { replicas = 0 } of decision.clusters)
            expect(replicas).toBe(replicasOf(given));
        for (const { name } of decision.clusters) {
          const found = fleet.find(({ metadata }) => metadata.name === name);
          expect(found?.metadata.deletionTimestamp).toBeUndefined();
          expect(matchesCluster(found, given.placement?.clusterAffinity)).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it("constraints hold, or the placement is refused and the result stays, but for clusters that are gone", () => {
    fc.assert(
      fc.property(fleets, bindings, (fleet, given) => {
        const decision = decide(fleet, given);
        const after = carriedOut(given, decision).clusters;
        const isThere = ([name]: [string, unknown]): boolean =>
          fleet.some(({ metadata }) => metadata.name === name);
        if (decision.reason === "ConstraintsUnmet" || decision.reason === "Unschedulable")
          expect(after).toEqual(
            Object.fromEntries(Object.entries(given.clusters ?? {}).filter(isThere)),
          );
        if (decision.reason !== "Placed" || isStatic(given)) return;
        const [byCluster, byRegion] = given.placement?.spreadConstraints ?? [];
        const count = decision.clusters.length;
        const regions = new Set(
          decision.clusters.map(
            ({ name }) => fleet.find(({ metadata }) => metadata.name === name)?.spec.region,
          ),
        );
        const max = byCluster?.maxGroups || Infinity;
        expect(count).toBeLessThanOrEqual(Math.max(max, byRegion?.minGroups ?? 0, regions.size));
        // Division may leave a selected cluster without replicas, so minima count for copies only.
        if (byRegion !== undefined)
          expect(regions.size).toBeLessThanOrEqual(byRegion.maxGroups || Infinity);
        if (isDivided(given)) return;
        expect(count).toBeGreaterThanOrEqual(byCluster?.minGroups ?? 0);
        if (byRegion !== undefined)
          expect(regions.size).toBeGreaterThanOrEqual(byRegion.minGroups ?? 0);
      }),
      RUNS,
    );
  });

  it("the answer does not depend on the order of clusters, and stands when it is asked again", () => {
    fc.assert(
      fc.property(fleets, bindings, (fleet, given) => {
        const decision = decide(fleet, given);
        expect(decide(fleet.toReversed(), given)).toEqual(decision);
        if (decision.reason !== "Placed") return;
        expect(decide(fleet, carriedOut(given, decision)).clusters).toEqual(decision.clusters);
      }),
      RUNS,
    );
  });

  it("failing empties no result, except of clusters that are deleted, gone or excluded by the placement", () => {
    fc.assert(
      fc.property(fleets, bindings, (fleet, given) => {
        const decision = decide(fleet, given);
        if (decision.reason !== "NoClusterFit") return;
        const staying = Object.keys(given.clusters ?? {}).filter((name) => {
          const found = fleet.find(({ metadata }) => metadata.name === name);
          if (found === undefined || found.metadata.deletionTimestamp !== undefined) return false;
          return readPlacement(given.placement ?? {}).terms.some(({ matches }) =>
            matches(candidateOf(found)),
          );
        });
        expect(decision.clusters.map(({ name }) => name)).toEqual(staying.toSorted());
      }),
      RUNS,
    );
  });
});

describe("a workload that runs as it should", () => {
  it("stays where it is when a healthy cluster joins", () => {
    fc.assert(
      fc.property(fleets, bindings, fc.nat(300), (fleet, given, pods) => {
        const first = decide(fleet, given);
        fc.pre(first.reason === "Placed" && first.clusters.length > 0);
        const steady = carriedOut(given, first);
        const joined = makeCluster("z", { pods, labels: { tier: "gold" }, spec: { region: "r2" } });
        const then = decide([...fleet, joined], steady);
        const kept = new Map(then.clusters.map(({ name, replicas }) => [name, replicas]));
        for (const { name, replicas } of first.clusters) expect(kept.get(name)).toBe(replicas);
      }),
      RUNS,
    );
  });

  it("moves at most one replica when it is scaled by one", () => {
    fc.assert(
      fc.property(fleets, bindings, fc.boolean(), (fleet, given, up) => {
        fc.pre(isDivided(given) && replicasOf(given) > 1);
        const first = decide(fleet, given);
        fc.pre(first.reason === "Placed");
        const steady = carriedOut(given, first);
        const then = decide(fleet, { ...steady, replicas: replicasOf(given) + (up ? 1 : -1) });
        if (then.reason !== "Placed") return;
        const after = new Map(then.clusters.map(({ name, replicas = 0 }) => [name, replicas]));
        let moved = 0;
        for (const name of names)
          moved += Math.abs((after.get(name) ?? 0) - (steady.clusters?.[name] ?? 0));
        expect(moved).toBe(1);
      }),
      RUNS,
    );
  });
});
