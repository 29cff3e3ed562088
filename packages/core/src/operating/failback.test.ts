/** When a workload returns by itself to where it ran before an outage, and when it does not (D31). */
import type { Cluster, Condition, Evacuation, ResourceBinding } from "@lifeboat/api";
import { addMs, formatTime, plainMoment } from "@lifeboat/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evict } from "../failover/evacuation/evict.ts";
import { signResult } from "../failover/evacuation/own-result.ts";
import { makeBinding, makeCluster, NOW } from "../placement/makers.suite.ts";
import { fleetViewOf } from "../placement/placement-view.ts";
import {
  formatPreservedState,
  readPreservedState,
} from "../propagation/rendering/preserved-state.ts";
import { decideFailback, type FailbackView, isReturning } from "./failback.ts";
import { workIn } from "../propagation/works/works.suite.ts";
import { sharesOf } from "./shares.ts";

const HOUR = 3_600_000;
const ago = (ms: number): string => formatTime(addMs(NOW, -ms));
const policyFor = (text: string, more: Readonly<Record<string, string>> = {}) =>
  policyWith({ "lifeboat.dev/failback": text, ...more });
const policyWith = (annotations: Readonly<Record<string, string>>) => ({
  metadata: { name: "p", uid: "p", resourceVersion: "1", creationTimestamp: "", annotations },
});

function ready(name: string, sinceMs = 2 * HOUR, given: Parameters<typeof makeCluster>[1] = {}) {
  const condition: Condition = {
    type: "Ready",
    status: "True",
    reason: "ClusterReady",
    message: "",
    lastTransitionTime: ago(sinceMs),
  };
  const cluster = makeCluster(name, given);
  return { ...cluster, status: { ...cluster.status, conditions: [condition] } };
}

function down(name: string): Cluster {
  const cluster = ready(name);
  const conditions = cluster.status.conditions.map((one) => ({ ...one, status: "False" as const }));
  return { ...cluster, status: { ...cluster.status, conditions } };
}

/** Ran on a, was evicted for a taint, runs on c; the control plane wrote that. */
function moved(mark = "a-1 down:NoExecute@"): ResourceBinding {
  const before = makeBinding({ replicas: 3, clusters: { a: 3 } });
  const order = {
    cluster: "a",
    reason: "TaintUntolerated",
    message: "",
    producer: "TaintManager",
    purgeMode: "Gracefully" as const,
    state: {},
    inject: true,
    mark,
  };
  const evicted = evict(before, order, addMs(NOW, -3 * HOUR));
  const clusters = [{ name: "c", replicas: 3 }];
  return signResult({
    ...evicted,
    spec: { ...evicted.spec, clusters, gracefulEvictionTasks: [] },
  });
}

function evacuation(removedMs: number | undefined, isOver = true): Evacuation {
  const taint = { key: "down", effect: "NoExecute" as const };
  const removed = removedMs === undefined ? {} : { removedAt: ago(removedMs) };
  return {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { name: "a-1", uid: "e", resourceVersion: "1", creationTimestamp: "" },
    spec: { cluster: "a", paused: false },
    status: {
      taints: [{ taint, slices: 1, recorded: true, ...removed }],
      ...(isOver && { finishedAt: ago(HOUR) }),
    },
  };
}

type Changes = Partial<Omit<FailbackView, "state">> & {
  readonly policy?: FailbackView["state"]["policy"];
  readonly state?: Partial<FailbackView["state"]>;
};

function decide(changes: Changes = {}, now = NOW) {
  const { state, ...others } = { policy: policyFor("1h"), ...changes };
  const { policy } = others;
  const { binding = moved(), clusters = [ready("a"), ready("c")] } = changes;
  const view: FailbackView = {
    binding,
    clusters,
    fleet: fleetViewOf(clusters, [binding]),
    evacuations: [evacuation(2 * HOUR)],
    budget: undefined,
    returning: 0,
    ...others,
    state: { enabled: false, template: {}, works: [], ...state, policy },
  };
  return decideFailback(view, plainMoment(now));
}

const edited = (): ResourceBinding => {
  const one = moved();
  return { ...one, spec: { ...one.spec, clusters: [{ name: "d", replicas: 3 }] } };
};

describe("a workload stays", () => {
  it.each<[string, Changes, string]>([
    ["without the annotation", { policy: policyWith({}) }, "NotAsked"],
    ["when its policy is gone", { policy: undefined }, "NotAsked"],
    ["with a text that is not valid", { policy: policyFor("soon") }, "NotValid"],
    ["when nothing moved it", { binding: makeBinding({ clusters: { a: 3 } }) }, "NotAway"],
    ["when a person edited its result", { binding: edited() }, "EditedByPerson"],
    ["while anything is evacuated", { evacuations: [evacuation(2 * HOUR, false)] }, "Evacuating"],
    ["while the fleet is paused", { budget: { paused: true } }, "Paused"],
    ["while a is paused", { budget: { paused: false, pausedClusters: ["a"] } }, "Paused"],
    [
      "while its namespace is paused",
      { budget: { paused: false, pausedNamespaces: ["default"] } },
      "Paused",
    ],
    ["while a is not Ready", { clusters: [down("a"), ready("c")] }, "ClusterNotBack"],
    ["while a is not joined", { clusters: [ready("c")] }, "ClusterNotBack"],
    [
      "while a has the taint",
      {
        clusters: [
          ready("a", 2 * HOUR, { spec: { taints: [{ key: "down", effect: "NoExecute" }] } }),
          ready("c"),
        ],
      },
      "ClusterNotBack",
    ],
    [
      "while the removal of a taint is not recorded",
      { evacuations: [evacuation(undefined)] },
      "ClusterNotBack",
    ],
    [
      "while a is Ready for too short",
      { clusters: [ready("a", HOUR / 2), ready("c")] },
      "NotStable",
    ],
    ["while a is untainted for too short", { evacuations: [evacuation(HOUR / 2)] }, "NotStable"],
    ["while others return", { returning: 1 }, "TooMany"],
    [
      "when a cannot take a new workload",
      {
        clusters: [
          ready("a", 2 * HOUR, { spec: { taints: [{ key: "x", effect: "NoSchedule" }] } }),
          ready("c"),
        ],
      },
      "CannotTake",
    ],
    [
      "when a has no room",
      { clusters: [ready("a", 2 * HOUR, { pods: 1 }), ready("c")] },
      "CannotTake",
    ],
  ])("%s", (_name, changes, reason) => {
    expect(decide(changes)).toMatchObject({ outcome: "stays", reason });
  });
});

describe("a workload returns", () => {
  it("to its former result, in one signed write that leaves the substitute gracefully", () => {
    const decision = decide();
    if (decision.outcome !== "restore") throw new Error(decision.reason);
    expect(sharesOf(decision.targets)).toBe("a:3");
    const { binding } = decision;
    expect(binding.spec.clusters).toEqual([{ name: "a", replicas: 3 }]);
    expect(binding.spec.gracefulEvictionTasks).toMatchObject([
      { fromCluster: "c", producer: "Failback", purgeMode: "Gracefully", reason: "FailedBack" },
    ]);
    expect(signResult(binding)).toEqual(binding);
    expect(isReturning(binding, () => undefined)).toBe(true);
  });

  it("once per outage, and again after the next", () => {
    const decision = decide();
    if (decision.outcome !== "restore") throw new Error(decision.reason);
    const { binding: back } = decision;
    const settled = { ...back, spec: { ...back.spec, gracefulEvictionTasks: [] } };
    expect(decide({ binding: settled })).toMatchObject({ reason: "Returned" });
    const again = moved("a-2 down:NoExecute@");
    const { "lifeboat.dev/failed-back": mark = "" } = back.metadata.annotations ?? {};
    const annotations = { ...again.metadata.annotations, "lifeboat.dev/failed-back": mark };
    expect(
      decide({ binding: { ...again, metadata: { ...again.metadata, annotations } } }).outcome,
    ).toBe("restore");
  });

  it("with others, as many as the policy lets", () => {
    const policy = policyFor("1h;max=3");
    expect(decide({ policy, returning: 2 }).outcome).toBe("restore");
    expect(decide({ policy, returning: 3 })).toMatchObject({ reason: "TooMany" });
  });

  it("in its window only, and says when that opens", () => {
    const midnight = Math.floor(NOW / (24 * HOUR)) * 24 * HOUR;
    const hour = Math.floor((NOW - midnight) / HOUR);
    const text = (at: number): string => String(at % 24).padStart(2, "0");
    const open = policyFor(`1h;window=${text(hour)}:00-${text(hour + 1)}:00`);
    expect(decide({ policy: open }).outcome).toBe("restore");
    const shut = policyFor(`1h;window=${text(hour + 2)}:00-${text(hour + 3)}:00`);
    expect(decide({ policy: shut })).toMatchObject({
      reason: "OutsideWindow",
      until: midnight + (hour + 2) * HOUR,
    });
  });

  it("not before its clusters were back for the stabilisation time, and then", () => {
    const minutes = fc.integer({ min: 1, max: 180 });
    fc.assert(
      fc.property(minutes, minutes, minutes, (stabilisation, readyFor, cleanFor) => {
        const decision = decide({
          policy: policyFor(`${stabilisation}m`),
          clusters: [ready("a", readyFor * 60_000), ready("c")],
          evacuations: [evacuation(cleanFor * 60_000)],
        });
        const isStable = Math.min(readyFor, cleanFor) >= stabilisation;
        expect(decision.outcome).toBe(isStable ? "restore" : "stays");
        if (decision.outcome === "stays")
          expect(decision).toMatchObject({
            reason: "NotStable",
            until: addMs(NOW, (stabilisation - Math.min(readyFor, cleanFor)) * 60_000),
          });
      }),
    );
  });
});

describe("state that its copy has", () => {
  const rules = [{ aliasLabelName: "x.example/job", jsonPath: "{.job}" }];
  const failover = { cluster: { tolerationSeconds: 0, statePreservation: { rules } } };

  function reporting(report: Readonly<Record<string, unknown>>): ResourceBinding {
    const one = moved();
    const spec = { ...one.spec, failover };
    return { ...one, spec, status: { aggregatedStatus: [{ clusterName: "c", status: report }] } };
  }

  function returning(
    report: Readonly<Record<string, unknown>>,
    annotations: Readonly<Record<string, string>> = {},
  ) {
    const policy = policyFor("1h", annotations);
    return decide({ binding: reporting(report), policy, state: { enabled: true } });
  }

  it("keeps the workload where it is while a key is missing and the policy sets Hold (D12)", () => {
    const hold = { "lifeboat.dev/state-failure-policy": "Hold" };
    expect(returning({}, hold)).toMatchObject({
      outcome: "stays",
      reason: "CannotTake",
      message: expect.stringContaining("StateNotReadable"),
    });
    expect(returning({ job: "7" }, hold).outcome).toBe("restore");
    expect(returning({})).toMatchObject({ warnings: [expect.stringContaining("finds nothing")] });
  });

  it("is not injected where the policy switches that off", () => {
    for (const [annotations, labels] of [
      [{}, { "x.example/job": "7" }],
      [{ "lifeboat.dev/inject-on-graceful": "false" }, undefined],
    ] as const) {
      const decision = returning({ job: "7" }, annotations);
      if (decision.outcome !== "restore") throw new Error(decision.reason);
      expect(readPreservedState(decision.binding)?.labels).toEqual(labels);
    }
  });

  it("is what it was given, when it was never healthy", () => {
    const given = formatPreservedState({ from: "a", labels: { "x.example/job": "old" } });
    const one = reporting({ job: "new" });
    const annotations = { ...one.metadata.annotations, "lifeboat.dev/preserved-state": given };
    const binding = { ...one, metadata: { ...one.metadata, annotations } };
    const works = [workIn("c", { health: "Unhealthy" })];
    const decision = decide({ binding, state: { enabled: true, works } });
    if (decision.outcome !== "restore") throw new Error(decision.reason);
    expect(readPreservedState(decision.binding)?.labels).toEqual({ "x.example/job": "old" });
  });
});
