import type { ResourceBinding } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { expect, it } from "vitest";
import { FORMER_RESULT } from "../../well-known.ts";
import { evict } from "./evict.ts";
import { formerResult } from "./former-result.ts";

const now = instantOf(0);

function binding(names: readonly string[]): ResourceBinding {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name: "web", uid: "u", resourceVersion: "1", creationTimestamp: "" },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      conflictResolution: "Abort",
      clusters: names.map((name) => ({ name, replicas: 2 })),
    },
  };
}

const evicted = (from: ResourceBinding, cluster: string): ResourceBinding =>
  evict(
    from,
    {
      cluster,
      reason: "Test",
      message: "",
      producer: "test",
      purgeMode: "Gracefully",
      state: {},
      inject: true,
    },
    now,
  );

const a = { name: "a", replicas: 2 };
const b = { name: "b", replicas: 2 };

it("is the result before the eviction", () => {
  expect(formerResult(binding(["a", "b"]))).toBeUndefined();
  expect(formerResult(evicted(binding(["a", "b"]), "a"))).toEqual([a, b]);
});

it("is the one before the first of several that are under way together", () => {
  expect(formerResult(evicted(evicted(binding(["a", "b"]), "a"), "b"))).toEqual([a, b]);
});

it("is the one before the last when the earlier is over", () => {
  const first = evicted(binding(["a", "b"]), "a");
  const over = { ...first, spec: { ...first.spec, gracefulEvictionTasks: [] } };
  expect(formerResult(evicted(over, "b"))).toEqual([b]);
});

it.each([
  ["no JSON", "{", undefined],
  ["no list", "{}", undefined],
  ["strange entries", '[1,null,{"name":""},{"name":"c","replicas":-1},[]]', [{ name: "c" }]],
])("survives %s", (_what, text, expected) => {
  const one = binding([]);
  const annotations = { [FORMER_RESULT]: text };
  expect(formerResult({ ...one, metadata: { ...one.metadata, annotations } })).toEqual(expected);
});
