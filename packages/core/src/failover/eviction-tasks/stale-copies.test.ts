/** When a Cluster reports that stale copies may run in it, and when a person's declaration about it is void. */
import type { Cluster, Condition } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { clusterIn, type ClusterState } from "./eviction.suite.ts";
import { fenceOf, formatFence } from "./fence.ts";
import { awaitsStaleCopies, decideStaleCopies } from "./stale-copies.ts";
import { NOW } from "./eviction.suite.ts";

function cluster(state: ClusterState, removed?: Condition["status"]): Cluster {
  const plain = clusterIn("a", state);
  if (removed === undefined) return plain;
  const condition: Condition = {
    type: "StaleCopiesRemoved",
    status: removed,
    reason: "Test",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  const conditions = [...(plain.status?.conditions ?? []), condition];
  return { ...plain, status: { ...plain.status, conditions } };
}

describe("the condition", () => {
  it.each<[string, Cluster, boolean, string | undefined]>([
    ["a silent cluster with stale copies", cluster({ ready: "False" }), true, "False"],
    ["an unknown cluster with stale copies", cluster({ ready: "Unknown" }, "True"), true, "False"],
    ["a cluster that answers while copies go", cluster({ ready: "True" }), true, undefined],
    ["a cluster that was not probed yet", cluster({}), true, undefined],
    ["a silent cluster without", cluster({ ready: "False" }), false, undefined],
    [
      "a returning cluster that still has them",
      cluster({ ready: "True" }, "False"),
      true,
      undefined,
    ],
    ["a returning cluster without them", cluster({ ready: "True" }, "False"), false, "True"],
    ["a silent cluster that lost them", cluster({ ready: "False" }, "False"), false, "True"],
    ["a cluster that is done with it", cluster({ ready: "True" }, "True"), false, undefined],
  ])("of %s", (_name, given, hasStale, expected) => {
    expect(decideStaleCopies(given, hasStale).condition?.status).toBe(expected);
  });

  it("matters only for clusters that do not answer or wait", () => {
    expect(awaitsStaleCopies(cluster({ ready: "False" }))).toBe(true);
    expect(awaitsStaleCopies(cluster({ ready: "True" }, "False"))).toBe(true);
    expect(awaitsStaleCopies(cluster({ ready: "True" }, "True"))).toBe(false);
  });
});

const WARY = { trustFencedCondition: false };

describe("a person's word that a cluster is off", () => {
  it("counts until the cluster answers, whatever its text", () => {
    const silent = clusterIn("a", { ready: "Unknown", fenced: true });
    expect(fenceOf(silent, WARY)).toEqual({ kind: "Operator", at: "x", by: "ann" });
    for (const text of ["", "yes", "[]", "null", formatFence(NOW, "bob")]) {
      const annotations = { "lifeboat.dev/fenced": text };
      const said = { ...silent, metadata: { ...silent.metadata, annotations } };
      expect(fenceOf(said, WARY)).toMatchObject({ kind: "Operator" });
      expect(decideStaleCopies(said, false).liftFence).toBe(false);
    }
  });

  it("is void, and taken off, once it answers", () => {
    const answering = clusterIn("a", { ready: "True", fenced: true });
    expect(fenceOf(answering, WARY)).toBeUndefined();
    expect(decideStaleCopies(answering, false).liftFence).toBe(true);
    expect(decideStaleCopies(clusterIn("a", { ready: "True" }), false).liftFence).toBe(false);
  });
});
