/**
 * Random lives of a quorum, through the scheduler's own decision: no started replica goes before the application let it go, one at
 * a time, and a pod starts only when all others are ready and none is going.
 */
import type { ResourceBinding } from "@lifeboat/api";
import { plainMoment } from "@lifeboat/base";
import fc from "fast-check";
import { expect, it } from "vitest";
import { candidateOf, fleetOf } from "../placement/candidate.ts";
import { makeBinding, makeCluster, NOW } from "../placement/makers.suite.ts";
import { place } from "../placement/place.ts";
import { FEDERATED_LET_GO, FEDERATED_QUORUM, FEDERATED_SHARES } from "../well-known.ts";
import { departureName, presentDeparture } from "./departure.ts";
import { type FederatedRecord, NO_RECORD, readFederated, withFederated } from "./record.ts";
import { joiningState, startedShares } from "./start.ts";

type Step =
  | { readonly kind: "scale"; readonly to: number }
  | { readonly kind: "die" | "return" | "follow"; readonly at: string }
  | { readonly kind: "letGo" | "stale" };

const NAMES = ["a", "b", "c"];
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("scale" as const), to: fc.nat(7) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "die" as const,
        "return" as const,
        "follow" as const,
        "follow" as const,
      ),
      at: fc.constantFrom(...NAMES),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("letGo" as const, "stale" as const) }),
  },
);

const READY = {
  type: "Ready",
  reason: "r",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
};
const APIS = {
  apiEnablements: [
    { groupVersion: "apps/v1", resources: [{ name: "statefulsets", kind: "StatefulSet" }] },
  ],
};

class World {
  binding: ResourceBinding;
  readonly living = new Set(NAMES);
  /** What each member runs: its result is followed by the step `follow`. */
  readonly pods = new Map<string, number>();

  constructor() {
    const given = makeBinding({
      replicas: 3,
      annotations: { [FEDERATED_SHARES]: "{}", [FEDERATED_QUORUM]: "true" },
    });
    const resource = { ...given.spec.resource, kind: "StatefulSet", name: "store" };
    this.binding = { ...given, spec: { ...given.spec, resource } };
  }

  get record(): FederatedRecord {
    return readFederated(this.binding) ?? NO_RECORD;
  }

  schedule(): void {
    const fleet = NAMES.map((name) => {
      const status = this.living.has(name) ? ("True" as const) : ("False" as const);
      return candidateOf(
        makeCluster(name, { status: { ...APIS, conditions: [{ ...READY, status }] } }),
      );
    });
    const { binding } = this;
    const view = { binding, fleet: fleetOf(fleet), reserved: new Map() };
    const decision = place(view, plainMoment(NOW));
    const { clusters: _former, ...spec } = binding.spec;
    const placed = { ...binding, spec: { ...spec, clusters: decision.clusters } };
    this.binding = withFederated(placed, decision.federated ?? NO_RECORD);
  }

  take(one: Step): void {
    const { binding, record } = this;
    const leaving = presentDeparture(record);
    if (one.kind === "scale")
      this.binding = { ...binding, spec: { ...binding.spec, replicas: one.to } };
    else if (one.kind === "die") this.living.delete(one.at);
    else if (one.kind === "return") this.living.add(one.at);
    else if (one.kind === "follow") {
      if (this.living.has(one.at)) this.pods.set(one.at, startedShares(record).get(one.at) ?? 0);
      const aggregatedStatus = [...this.pods].map(([clusterName, count]) => ({
        clusterName,
        status: { replicas: count, readyReplicas: count },
      }));
      this.binding = { ...binding, status: { ...binding.status, aggregatedStatus } };
    } else if (leaving !== undefined) {
      const number = one.kind === "stale" ? leaving.number - 1 : leaving.number;
      const { annotations } = binding.metadata;
      const letGo = departureName("store", { ...leaving, number });
      const metadata = {
        ...binding.metadata,
        annotations: { ...annotations, [FEDERATED_LET_GO]: letGo },
      };
      this.binding = { ...binding, metadata };
    }
  }
}

const sum = (given: ReadonlyMap<string, number>): number =>
  [...given.values()].reduce((all, one) => all + one, 0);

function check(was: FederatedRecord, world: World): void {
  const { record, binding } = world;
  const [before, now] = [startedShares(was), startedShares(record)];
  const lost = NAMES.filter((name) => (now.get(name) ?? 0) < (before.get(name) ?? 0));
  const letGo = binding.metadata.annotations?.[FEDERATED_LET_GO];
  for (const name of lost) {
    const leaving = presentDeparture(was);
    expect(leaving?.cluster).toBe(name);
    expect(leaving && departureName("store", leaving)).toBe(letGo);
    expect((before.get(name) ?? 0) - (now.get(name) ?? 0)).toBe(1);
    expect(world.living.has(name)).toBe(true);
  }
  expect(lost.length).toBeLessThanOrEqual(1);
  const grown = sum(now) - sum(before);
  if (sum(before) > 0 && grown > 0) {
    expect(grown).toBe(1);
    // Every pod that was started in a living cluster runs, and none that left does.
    for (const name of world.living) expect(world.pods.get(name) ?? 0).toBe(before.get(name) ?? 0);
    expect(was.leaving).toBeUndefined();
  }
  expect(record.departures ?? 0).toBeGreaterThanOrEqual(was.departures ?? 0);
  // Only the first cluster forms the quorum, and once it is formed nothing is new.
  for (const name of ["b", "c"]) expect(joiningState(record, name, 0)).toBe("existing");
  if (joiningState(was, "a", 0) === "existing")
    expect(joiningState(record, "a", 0)).toBe("existing");
}

it("whatever happens, replicas of a quorum come and go one at a time, and none before it is let go", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const world = new World();
      world.schedule();
      for (const one of steps) {
        const was = world.record;
        world.take(one);
        world.schedule();
        check(was, world);
      }
    }),
    { numRuns: 400 },
  );
});
