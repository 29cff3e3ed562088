import type { EvictionTask, ResourceBinding } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { stuckOn, whyStuck } from "./stuck.ts";

const CLAIMED = { "propagationpolicy.karmada.io/permanent-id": "p" };

function binding(
  name: string,
  labels: Readonly<Record<string, string>>,
  spec: Partial<ResourceBinding["spec"]> = {},
  scheduled?: "True" | "False",
): ResourceBinding {
  const condition = { type: "Scheduled", reason: "", message: "", lastTransitionTime: "" };
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name, uid: name, resourceVersion: "1", creationTimestamp: "", labels },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name },
      conflictResolution: "Abort",
      clusters: [{ name: "m1" }],
      ...spec,
    },
    ...(scheduled !== undefined && {
      status: { conditions: [{ ...condition, status: scheduled }] },
    }),
  };
}

function left(task: Partial<EvictionTask>): ResourceBinding {
  const all = { fromCluster: "m1", reason: "", producer: "", ...task };
  return binding("a", CLAIMED, { clusters: [{ name: "m2" }], gracefulEvictionTasks: [all] });
}

describe("whyStuck", () => {
  const rows: readonly [string, ResourceBinding, string | undefined][] = [
    ["that no policy claims", binding("a", {}), "NotClaimed"],
    [
      "that others than policies place",
      binding("a", { "binding.karmada.io/managed-by": "x" }),
      undefined,
    ],
    [
      "whose scheduling is suspended",
      binding("a", CLAIMED, { suspension: { scheduling: true } }),
      "SchedulingSuspended",
    ],
    ["that no other cluster takes", binding("a", CLAIMED, {}, "False"), "NotPlaced"],
    ["that will be placed again", binding("a", CLAIMED, {}, "True"), undefined],
    [
      "that left and keeps its copy",
      left({ purgeMode: "Never", suppressDeletion: true }),
      "CopyKept",
    ],
    ["that leaves", left({ purgeMode: "Gracefully" }), undefined],
    ["that is elsewhere", binding("a", {}, { clusters: [{ name: "m2" }] }), undefined],
  ];
  it.each(rows)("a binding %s", (_name, given, reason) => {
    expect(whyStuck(given, "m1")).toBe(reason);
  });
});

it("the stuck ones are named in order", () => {
  const bindings = [binding("b", {}), binding("c", CLAIMED), binding("a", {})];
  expect(stuckOn("m1", bindings)).toEqual([
    { workload: "Deployment shop/a", reason: "NotClaimed" },
    { workload: "Deployment shop/b", reason: "NotClaimed" },
  ]);
});
