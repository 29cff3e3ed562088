/** Seeded bugs for the oracles of group F: preserved state. */
import type { SimMutant } from "../mutant.ts";

export const stateMutants: readonly SimMutant[] = [
  {
    oracle: "state-is-written-with-the-eviction",
    promise: "O-state-1",
    breaks: "the task does not carry the state",
    file: "packages/core/src/failover/evacuation/evict.ts",
    symbol: "evict.task.preservedLabelState",
    replace: "undefined",
    caughtIn: ["state-preserved"],
  },
  {
    oracle: "state-is-what-the-source-reported",
    promise: "O-state-2",
    breaks: "integers are one too high",
    file: "packages/core/src/failover/state/extract.ts",
    symbol: "asText",
    replace: "(value) => original(Number.isInteger(value) ? value + 1 : value)",
    caughtIn: ["state-preserved"],
  },
  {
    oracle: "state-is-not-lost",
    promise: "O-state-3",
    breaks: "placing a workload takes all other marks off its binding",
    file: "packages/controllers/src/placement/scheduler/write.ts",
    symbol: "writeResult.placed.metadata.annotations",
    replace: "{ [wellKnown.APPLIED_PLACEMENT]: applied }",
    caughtIn: ["state-preserved"],
  },
  {
    oracle: "state-goes-to-new-copies",
    promise: "O-state-4",
    breaks: "the state goes to the cluster that it came from",
    file: "packages/core/src/propagation/rendering/preserved-state.ts",
    condition: "came-from-here",
    replace: "state === undefined || state.from !== cluster",
    caughtIn: ["state-preserved"],
  },
  {
    oracle: "state-arrives",
    promise: "O-state-4",
    breaks: "labels of failover are not brought to members",
    file: "packages/controllers/src/member-side/execution/keep-manifest.ts",
    symbol: "Tries.#desired",
    replace: `async () => {
      const full = await original();
      const isPlain = ([key]) => !key.startsWith("failover.");
      const labels = Object.fromEntries(Object.entries(full.metadata.labels).filter(isPlain));
      return { ...full, metadata: { ...full.metadata, labels } };
    }`,
    caughtIn: ["state-preserved"],
  },
  {
    oracle: "state-that-is-no-label-holds",
    promise: "O-state-5",
    breaks: "of several values the first is taken",
    file: "packages/core/src/failover/state/extract.ts",
    condition: "several-values",
    replace: "false",
    caughtIn: ["state-with-several-values"],
  },
  {
    oracle: "state-takes-no-label-of-others",
    promise: "O-state-6",
    breaks: "labels of the template are free",
    file: "packages/core/src/failover/state/extract.ts",
    symbol: "labelProblem",
    replace: "(key) => original(key, new Set())",
    caughtIn: ["state-under-a-label-that-is-taken"],
  },
  {
    oracle: "each-failover-carries-its-own-state",
    promise: "O-state-7",
    breaks: "the first state is carried for ever",
    file: "packages/core/src/failover/evacuation/evict.ts",
    symbol: "stateAfter.carried.labels",
    replace: "hasFormer ? labels : original",
    caughtIn: ["two-failovers"],
  },
  {
    oracle: "no-state-of-a-part",
    promise: "O-state-8",
    breaks: "a part speaks for the whole",
    file: "packages/core/src/failover/state/state-to-carry.ts",
    symbol: "heldAll",
    replace: "() => true",
    caughtIn: ["state-of-a-part"],
  },
  {
    oracle: "no-state-while-the-gate-is-off",
    promise: "O-state-9",
    breaks: "state is kept whatever the gate says",
    file: "packages/core/src/failover/state/state-to-carry.ts",
    symbol: "stateFor",
    replace: "(view, ...rest) => original({ ...view, enabled: true }, ...rest)",
    caughtIn: ["state-without-the-gate"],
  },
  {
    oracle: "nobody-stays-on-a-faulty-cluster",
    promise: "O-state-10",
    breaks: "a missing key holds up the eviction for ever",
    file: "packages/core/src/failover/state/extract.ts",
    symbol: "extractState",
    replace: "(view) => original({ ...view, holdOnMissing: true })",
    caughtIn: ["state-that-is-missing"],
  },
];
