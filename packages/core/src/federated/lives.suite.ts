/** Random lives of a federated StatefulSet: what happens to it, and the scheduler's own decision after each step. For tests. */
import fc from "fast-check";
import { plainMoment } from "@lifeboat/base";
import type { ResourceBinding } from "@lifeboat/api";
import { expect } from "vitest";
import { candidateOf, fleetOf } from "../placement/candidate.ts";
import { makeBinding, makeCluster, NOW } from "../placement/makers.suite.ts";
import { place } from "../placement/place.ts";
import { FEDERATED_QUORUM, FEDERATED_SHARES } from "../well-known.ts";
import { decideForget } from "./forget.ts";
import { isQuorum } from "./marks.ts";
import { type FederatedRecord, NO_RECORD, readFederated, withFederated } from "./record.ts";
import { forgetShare } from "./shares.ts";

export type Step =
  | { readonly kind: "scale"; readonly to: number }
  | { readonly kind: "forget" | "die" | "return" | "join" | "leave" | "taint"; readonly at: string }
  | { readonly kind: "edit"; readonly names: readonly string[] }
  | { readonly kind: "reorder" | "meddle" }
  /** All pods that are to run in a cluster are ready. */
  | { readonly kind: "become-ready"; readonly at: string };

export const NAMES = ["a", "b", "b-c", "c", "d"];
const at = fc.constantFrom(...NAMES);
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("scale" as const), to: fc.nat(14) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("die", "return", "join", "leave", "taint", "forget" as const),
      at,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("become-ready" as const), at }) },
  fc.record({ kind: fc.constant("edit" as const), names: fc.subarray(NAMES) }),
  fc.record({ kind: fc.constantFrom("reorder" as const, "meddle" as const) }),
);

export interface World {
  binding: ResourceBinding;
  readonly clusters: Map<string, { ready: boolean; tainted: boolean }>;
}

const STATEFUL_SETS = {
  apiEnablements: [
    { groupVersion: "apps/v1", resources: [{ name: "statefulsets", kind: "StatefulSet" }] },
  ],
};

export function schedule(world: World): void {
  const candidates = [...world.clusters].map(([name, { ready, tainted }]) =>
    candidateOf(
      makeCluster(name, {
        spec: tainted ? { taints: [{ key: "t", effect: "NoExecute" }] } : {},
        status: {
          ...STATEFUL_SETS,
          conditions: [
            {
              type: "Ready",
              status: ready ? "True" : "False",
              reason: "r",
              message: "",
              lastTransitionTime: "2026-01-01T00:00:00Z",
            },
          ],
        },
      }),
    ),
  );
  const { binding } = world;
  const decision = place(
    { binding, fleet: fleetOf(candidates), reserved: new Map() },
    plainMoment(NOW),
  );
  expect(decision.federated).toBeDefined();
  const { clusters: _former, ...spec } = binding.spec;
  const placed = { ...binding, spec: { ...spec, clusters: decision.clusters } };
  world.binding = withFederated(placed, decision.federated ?? NO_RECORD);
}

export function take(world: World, one: Step): void {
  const { clusters, binding } = world;
  const change = (spec: Partial<ResourceBinding["spec"]>): void => {
    world.binding = { ...binding, spec: { ...binding.spec, ...spec } };
  };
  switch (one.kind) {
    case "scale":
      return change({ replicas: one.to });
    case "edit":
      return change({ placement: { clusterAffinity: { clusterNames: one.names } } });
    case "reorder":
      return change({ rescheduleTriggeredAt: "2026-01-01T00:00:01Z" });
    case "meddle":
      return change({ clusters: [{ name: "a", replicas: 99 }] });
    case "forget":
      world.binding = isQuorum(binding)
        ? forgotten(world, one.at)
        : withFederated(binding, forgetShare(recordOf(world), one.at));
      return;
    case "become-ready":
      world.binding = withReady(binding, one.at);
      return;
    case "join":
      if (!clusters.has(one.at)) clusters.set(one.at, { ready: true, tainted: false });
      return;
    case "leave":
      clusters.delete(one.at);
      return;
    case "die":
    case "return":
    case "taint": {
      const cluster = clusters.get(one.at);
      if (cluster === undefined) return;
      if (one.kind === "taint") cluster.tainted = !cluster.tainted;
      else cluster.ready = one.kind === "return";
    }
  }
}

export function recordOf({ binding }: World): FederatedRecord {
  const record = readFederated(binding);
  expect(record).toBeDefined();
  return record ?? NO_RECORD;
}

/** As the command does it: it may be refused. */
function forgotten({ binding, clusters }: World, cluster: string): ResourceBinding {
  const living = [...clusters].filter(([, { ready }]) => ready).map(([name]) => name);
  const plan = decideForget(binding, cluster, new Set(living));
  return plan.outcome === "forget" ? plan.binding : binding;
}

function withReady(binding: ResourceBinding, cluster: string): ResourceBinding {
  const others = (binding.status?.aggregatedStatus ?? []).filter(
    ({ clusterName }) => clusterName !== cluster,
  );
  const { replicas = 0 } = (binding.spec.clusters ?? []).find(({ name }) => name === cluster) ?? {};
  const reported = { clusterName: cluster, status: { readyReplicas: replicas } };
  return { ...binding, status: { ...binding.status, aggregatedStatus: [...others, reported] } };
}

/** A set without replicas in a, b and c. */
export function newWorld({ quorum = false } = {}): World {
  const annotations = {
    [FEDERATED_SHARES]: "{}",
    ...(quorum && { [FEDERATED_QUORUM]: "true" }),
  };
  const given = makeBinding({ replicas: 0, annotations });
  const resource = { ...given.spec.resource, kind: "StatefulSet", name: "store" };
  const clusters = new Map(["a", "b", "c"].map((name) => [name, { ready: true, tainted: false }]));
  const world: World = { binding: { ...given, spec: { ...given.spec, resource } }, clusters };
  schedule(world);
  return world;
}
