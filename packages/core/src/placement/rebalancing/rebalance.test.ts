import type { WorkloadRebalancer } from "@lifeboat/api";
import { addMs, deepFreeze, instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import {
  expiryOf,
  type ObservedWorkload,
  pendingWorkloads,
  rebalancerStatus,
} from "./rebalance.ts";

const NOW = instantOf(Date.parse("2026-01-01T00:00:00Z"));
const workload = (name: string) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  namespace: "default",
  name,
});
const success = (name: string): ObservedWorkload => ({
  workload: workload(name),
  result: "Successful",
});
const failure = (name: string): ObservedWorkload => ({
  workload: workload(name),
  result: "Failed",
  reason: "ReferencedBindingNotFound",
});

function order(
  names: readonly string[],
  status?: WorkloadRebalancer["status"],
  generation = 1,
): WorkloadRebalancer {
  return deepFreeze({
    apiVersion: "apps.karmada.io/v1alpha1",
    kind: "WorkloadRebalancer",
    metadata: {
      name: "r",
      uid: "u",
      resourceVersion: "1",
      creationTimestamp: "2026-01-01T00:00:00Z",
      generation,
    },
    spec: { workloads: names.map(workload), ttlSecondsAfterFinished: 60 },
    ...(status !== undefined && { status }),
  });
}

describe("an order to place workloads again", () => {
  it("has each workload without a result to do, once", () => {
    const status = { observedWorkloads: [success("a"), failure("b"), { workload: workload("c") }] };
    expect(pendingWorkloads(order(["a", "b", "c", "d", "d"], status))).toEqual([
      workload("c"),
      workload("d"),
    ]);
  });

  it("is finished when all have a result, and sorted", () => {
    expect(rebalancerStatus(order(["b", "a"]), [success("b")], NOW)).toEqual({
      observedWorkloads: [success("b")],
      observedGeneration: 1,
    });
    const status = rebalancerStatus(order(["b", "a"]), [success("b"), failure("a")], NOW);
    expect(status).toEqual({
      observedWorkloads: [failure("a"), success("b")],
      observedGeneration: 1,
      finishTime: "2026-01-01T00:00:00Z",
    });
  });

  it("changes no status when nothing is new", () => {
    const status = rebalancerStatus(order(["a"]), [success("a")], NOW);
    expect(rebalancerStatus(order(["a"], status), [], addMs(NOW, 5000))).toBeUndefined();
  });

  it("keeps only the successes of what was taken off the list, and its time", () => {
    const status = rebalancerStatus(order(["a", "b"]), [success("a"), failure("b")], NOW);
    const edited = rebalancerStatus(order(["c"], status, 2), [success("c")], addMs(NOW, 5000));
    expect(edited).toEqual({
      observedWorkloads: [success("a"), success("c")],
      observedGeneration: 2,
      finishTime: "2026-01-01T00:00:05Z",
    });
    const shorter = rebalancerStatus(order(["a"], status, 2), [], addMs(NOW, 5000));
    expect(shorter?.finishTime).toBe("2026-01-01T00:00:00Z");
  });

  it("expires only when it is finished and has a time to live", () => {
    const { spec } = order(["a"]);
    expect(expiryOf(spec, {})).toBeUndefined();
    const status = { finishTime: "2026-01-01T00:00:00Z" };
    expect(expiryOf(spec, status)).toBe(addMs(NOW, 60_000));
    expect(expiryOf({ workloads: spec.workloads }, status)).toBeUndefined();
  });
});
