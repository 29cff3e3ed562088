/** The one reading of a binding. */
import type { ResourceBinding } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import {
  isDirect,
  isDispatchingSuspended,
  isDrained,
  isDrainTaint,
  isGenerationScheduled,
  isLeaving,
  isMoving,
  isOn,
  isPlaced,
  isScheduled,
  modeOf,
  purgeModeOf,
  shareIn,
  taskOf,
} from "./index.ts";

function binding(spec: object, status: object = {}): ResourceBinding {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name: "web", generation: 3 } as ResourceBinding["metadata"],
    spec: { resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, ...spec },
    status,
  };
}

const both = binding({
  clusters: [{ name: "a", replicas: 2 }],
  gracefulEvictionTasks: [{ fromCluster: "b", reason: "r", producer: "p" }],
});

describe("where a workload is", () => {
  it.each([
    ["a", true, false],
    ["b", false, true],
    ["c", false, false],
  ])("%s: on it %s, leaving it %s", (cluster, on, leaving) => {
    expect(isOn(both, cluster)).toBe(on);
    expect(isLeaving(both, cluster)).toBe(leaving);
  });

  it("finds its share and its task", () => {
    expect(shareIn(both, "a")).toEqual({ name: "a", replicas: 2 });
    expect(taskOf(both, "b")?.fromCluster).toBe("b");
    expect(taskOf(both, "a")).toBeUndefined();
  });

  it("reads absent lists as empty ones", () => {
    expect([isOn(binding({}), "a"), isMoving(binding({})), isPlaced(binding({}))]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe("what the scheduler decided", () => {
  const ok = [{ type: "Scheduled", status: "True" }];
  const failed = [{ type: "Scheduled", status: "False" }];
  const on = { clusters: [{ name: "a" }] };
  it.each([
    ["nothing yet", on, {}, [false, false, false]],
    [
      "about an older generation",
      on,
      { schedulerObservedGeneration: 2, conditions: ok },
      [false, false, false],
    ],
    ["about this one", on, { schedulerObservedGeneration: 3, conditions: ok }, [true, true, true]],
    [
      "that it fits nowhere",
      {},
      { schedulerObservedGeneration: 3, conditions: failed },
      [true, false, false],
    ],
    [
      "that it stays though nothing fits",
      on,
      { schedulerObservedGeneration: 3, conditions: failed },
      [true, true, false],
    ],
    [
      "an empty result",
      {},
      { schedulerObservedGeneration: 3, conditions: ok },
      [true, false, true],
    ],
  ])("%s", (_name, spec, status, expected) => {
    const one = binding(spec, status);
    expect([isGenerationScheduled(one), isPlaced(one), isScheduled(one)]).toEqual(expected);
  });
});

describe("suspended dispatching", () => {
  it.each([
    [{}, false],
    [{ suspension: { scheduling: true } }, false],
    [{ suspension: { dispatching: true } }, true],
    [{ suspension: { dispatchingOnClusters: { clusterNames: ["a"] } } }, true],
    [{ suspension: { dispatchingOnClusters: { clusterNames: ["b"] } } }, false],
    [{ suspension: { dispatchingOnClusters: { clusterNames: 7 } } }, false],
  ])("%j: %s", (spec, expected) => {
    expect(isDispatchingSuspended(binding(spec), "a")).toBe(expected);
  });
});

describe("purge modes", () => {
  it.each([
    [undefined, "Gracefully"],
    ["Gracefully", "Gracefully"],
    ["Graciously", "Gracefully"],
    ["Directly", "Directly"],
    ["Immediately", "Directly"],
    ["Never", "Never"],
    ["constructor", "Gracefully"],
  ] as const)("%s is %s", (purgeMode, expected) => {
    const task = (purgeMode === undefined ? {} : { purgeMode }) as { purgeMode?: "Directly" };
    expect(modeOf(task)).toBe(expected);
    expect(isDirect(task)).toBe(expected === "Directly");
  });

  it("of cluster failover: what names none is as it is otherwise", () => {
    expect(purgeModeOf("Immediately", "Gracefully")).toBe("Directly");
    expect(purgeModeOf("Graciously", "Directly")).toBe("Gracefully");
    expect(purgeModeOf(undefined, "Directly")).toBe("Directly");
    expect(purgeModeOf("Never", "Directly")).toBe("Directly");
    expect(purgeModeOf("toString", undefined)).toBeUndefined();
  });
});

it("the drain taint is one of its key and effect", () => {
  const drain = { key: "lifeboat.dev/drain", effect: "NoExecute" } as const;
  const other = { key: "lifeboat.dev/drain", effect: "NoSchedule" } as const;
  expect([drain, other, { ...drain, key: "drain" }].map(isDrainTaint)).toEqual([
    true,
    false,
    false,
  ]);
  const spec = { syncMode: "Push" } as const;
  expect(isDrained({ spec: { ...spec, taints: [other, drain] } })).toBe(true);
  expect(isDrained({ spec: { ...spec, taints: [other] } })).toBe(false);
  expect(isDrained({ spec })).toBe(false);
});
