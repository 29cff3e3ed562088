/** Whose rules apply, over which status, and whether the new copy gets what they find (D12). */
import type { ResourceBinding, Work } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { type CarriedStateView, stateToCarry } from "./state-to-carry.ts";

const rule = (aliasLabelName: string) => ({
  rules: [{ aliasLabelName, jsonPath: "{.job}" }],
});

function binding(spec: object = {}, status: object = {}): ResourceBinding {
  return {
    metadata: { name: "b" },
    spec: {
      clusters: [{ name: "a", replicas: 2 }],
      replicas: 2,
      failover: {
        cluster: { statePreservation: rule("x/cluster") },
        application: { statePreservation: rule("x/application") },
      },
      ...spec,
    },
    status,
  } as unknown as ResourceBinding;
}

const work = {
  status: { manifestStatuses: [{ status: { job: "from-work" } }] },
} as unknown as Work;

function carry(changes: Partial<CarriedStateView> = {}) {
  return stateToCarry({
    binding: binding(),
    cluster: "a",
    failing: "cluster",
    purgeMode: "Gracefully",
    work,
    template: {},
    policy: undefined,
    enabled: true,
    ...changes,
  });
}

const policy = (annotations: object) =>
  ({ metadata: { name: "p", annotations } }) as unknown as NonNullable<CarriedStateView["policy"]>;

describe("rules", () => {
  it.each([
    ["cluster", { "x/cluster": "from-work" }],
    ["application", { "x/application": "from-work" }],
  ] as const)("of a failing %s apply", (failing, labels) => {
    expect(carry({ failing }).state).toMatchObject({ outcome: "kept", labels });
  });

  it("are not read while the gate is off (O-state-9)", () => {
    expect(carry({ enabled: false }).state).toMatchObject({ reason: "NothingAsked", labels: {} });
  });
});

describe("the status", () => {
  const summary = {
    aggregatedStatus: [
      { clusterName: "b", status: { job: "of-b" } },
      { clusterName: "a", status: { job: "from-summary" } },
    ],
  };
  it("is the one that the Work reports", () => {
    expect(carry({ binding: binding({}, summary) }).state).toMatchObject({
      labels: { "x/cluster": "from-work" },
    });
  });
  it("is the binding's summary when there is no Work", () => {
    expect(carry({ binding: binding({}, summary), work: undefined }).state).toMatchObject({
      labels: { "x/cluster": "from-summary" },
    });
  });
  it("may be missing", () => {
    expect(carry({ work: undefined }).state).toMatchObject({ reason: "StatusMissing", labels: {} });
  });
});

describe("a cluster held all replicas", () => {
  it.each<[string, object, boolean]>([
    ["when it is the only one", {}, true],
    ["when the workload has no replicas", { clusters: [{ name: "a" }], replicas: undefined }, true],
    ["not when there is another", { clusters: [{ name: "a" }, { name: "b" }] }, false],
    ["not when some are not placed", { clusters: [{ name: "a", replicas: 1 }] }, false],
    ["not when it is not in the result", { clusters: [{ name: "b", replicas: 2 }] }, false],
    ["not when nothing is placed", { clusters: [] }, false],
  ])("%s", (_name, spec, expected) => {
    const { state } = carry({ binding: binding(spec) });
    expect(state.reason).toBe(expected ? "Preserved" : "NotAlone");
  });
});

describe("the policy's annotations", () => {
  const hold = policy({ "lifeboat.dev/state-failure-policy": "Hold" });
  it("decide what a missing key means", () => {
    expect(carry({ work: undefined, policy: hold }).state).toMatchObject({ outcome: "held" });
  });

  it.each([
    ["Gracefully", undefined, true],
    ["Gracefully", "false", false],
    ["Never", "false", false],
    ["Gracefully", "true", true],
    ["Directly", "false", true],
  ] as const)("decide whether mode %s with %s carries state", (purgeMode, text, inject) => {
    const given =
      text === undefined ? undefined : policy({ "lifeboat.dev/inject-on-graceful": text });
    expect(carry({ purgeMode, policy: given }).inject).toBe(inject);
  });
});
