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

  it("17.12: are not read while the gate is off, and the eviction records it (O-state-9)", () => {
    expect(carry({ enabled: false }).state).toEqual({
      outcome: "kept",
      reason: "SwitchedOff",
      labels: {},
      warnings: [expect.stringContaining("gate StatefulFailoverInjection is off")],
    });
    const plain = carry({ enabled: false, binding: binding({ failover: {} }) });
    expect(plain.state).toMatchObject({ reason: "NothingAsked", labels: {}, warnings: [] });
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

describe("17.12: a second hop, from A by way of B", () => {
  const A = { from: "a", labels: { "x/cluster": "of-a", "x/application": "of-a" } };
  const onB = (changes: object = {}, preserved: object = A): ResourceBinding => {
    const one = binding({ clusters: [{ name: "b", replicas: 2 }], ...changes });
    const annotations = { "lifeboat.dev/preserved-state": JSON.stringify(preserved) };
    return { ...one, metadata: { ...one.metadata, annotations } };
  };
  const copyOnB = (health: string, status: object | undefined, ...conditions: object[]) =>
    ({
      status: { conditions, manifestStatuses: [{ health, ...(status && { status }) }] },
    }) as unknown as Work;
  const WAS_HEALTHY = { type: "HasBeenHealthy", status: "True" };
  const leave = (copy: Work | undefined, changes: Partial<CarriedStateView> = {}) =>
    carry({ binding: onB(), cluster: "b", work: copy, ...changes }).state;

  it.each<[string, Work | undefined]>([
    ["is healthy", copyOnB("Healthy", { job: "of-b" })],
    ["was healthy once", copyOnB("Unhealthy", { job: "of-b" }, WAS_HEALTHY)],
  ])("carries B's state if the copy on B %s", (_name, copy) => {
    expect(leave(copy)).toMatchObject({ reason: "Preserved", labels: { "x/cluster": "of-b" } });
  });

  it.each<[string, Work | undefined]>([
    ["never got healthy", copyOnB("Unhealthy", { job: "of-b" })],
    ["never reported anything of use", copyOnB("Unknown", undefined)],
    ["was never made", undefined],
  ])("carries A's state, all of it, if the copy on B %s", (_name, copy) => {
    const expected = { outcome: "kept", reason: "HandedOn", labels: A.labels, warnings: [] };
    expect(leave(copy)).toEqual(expected);
    expect(leave(copy, { failing: "application" })).toEqual(expected);
  });

  it("drops a former value for a missing key only if the copy on B was healthy", () => {
    const healthy = leave(copyOnB("Unhealthy", { other: 1 }, WAS_HEALTHY));
    expect(healthy).toMatchObject({ labels: {}, warnings: [expect.any(String)] });
    const hold = policy({ "lifeboat.dev/state-failure-policy": "Hold" });
    const never = copyOnB("Unhealthy", { other: 1 });
    expect(leave(never, { policy: hold })).toMatchObject({ outcome: "kept", labels: A.labels });
    expect(leave(copyOnB("Healthy", { other: 1 }), { policy: hold }).outcome).toBe("held");
  });

  it("reads what the copy on B reports if it was given nothing", () => {
    const never = copyOnB("Unhealthy", { job: "of-b" });
    for (const preserved of [
      { from: "a", labels: {} },
      { from: "b", labels: A.labels },
    ])
      expect(leave(never, { binding: onB({}, preserved) })).toMatchObject({
        reason: "Preserved",
        labels: { "x/cluster": "of-b" },
      });
  });

  it("knows what the copy on B was given when state was saved from there since", () => {
    const preserved = { from: "b", labels: { "x/cluster": "of-b" }, former: A };
    expect(leave(copyOnB("Unhealthy", {}), { binding: onB({}, preserved) })).toMatchObject({
      reason: "HandedOn",
      labels: A.labels,
    });
  });

  it("carries A's state also from a part of the workload: it is the state of the whole", () => {
    const parts = {
      clusters: [
        { name: "b", replicas: 1 },
        { name: "c", replicas: 1 },
      ],
    };
    const never = copyOnB("Unhealthy", { job: "of-b" });
    expect(leave(never, { binding: onB(parts) })).toMatchObject({ labels: A.labels });
    const ran = copyOnB("Healthy", { job: "of-b" });
    expect(leave(ran, { binding: onB(parts) })).toMatchObject({ reason: "NotAlone", labels: {} });
  });

  it("carries nothing that no rule asks for any more, that the template has, or with the gate off", () => {
    const never = copyOnB("Unhealthy", {});
    const failover = { cluster: { statePreservation: rule("x/cluster") } };
    expect(leave(never, { binding: onB({ failover }) })).toMatchObject({
      reason: "HandedOn",
      labels: { "x/cluster": "of-a" },
    });
    const template = { metadata: { labels: { "x/cluster": "mine" } } };
    expect(leave(never, { template })).toMatchObject({ labels: { "x/application": "of-a" } });
    expect(leave(never, { enabled: false })).toMatchObject({ reason: "SwitchedOff", labels: {} });
  });

  it("takes the binding's word where the Work was not read", () => {
    const status = { aggregatedStatus: [{ clusterName: "b", status: { job: "of-b" } }] };
    expect(leave(undefined, { binding: { ...onB(), status } })).toMatchObject({
      labels: { "x/cluster": "of-b" },
    });
  });
});
