/** One write that moves a cluster from the result into a task, with all that later steps need. */
import type { ResourceBinding } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { expect, it } from "vitest";
import { evict, type EvictionOrder, rollBack } from "./evict.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1));
const order: EvictionOrder = {
  cluster: "eu-1",
  reason: "TaintUntolerated",
  message: "eu-1 bears down:NoExecute",
  producer: "TaintManager",
  purgeMode: "Gracefully",
  state: { "a/job": "7" },
  inject: true,
};

function binding(spec: object, annotations: object = {}): ResourceBinding {
  return { metadata: { name: "b", annotations }, spec } as unknown as ResourceBinding;
}

it("moves the cluster into a task and writes the state beside it", () => {
  const before = binding(
    {
      clusters: [
        { name: "eu-1", replicas: 2 },
        { name: "eu-2", replicas: 1 },
      ],
    },
    { other: "x" },
  );
  const after = evict(before, order, NOW);
  expect(after.spec.clusters).toEqual([{ name: "eu-2", replicas: 1 }]);
  expect(after.spec.gracefulEvictionTasks).toEqual([
    {
      fromCluster: "eu-1",
      purgeMode: "Gracefully",
      replicas: 2,
      reason: "TaintUntolerated",
      message: "eu-1 bears down:NoExecute",
      producer: "TaintManager",
      preservedLabelState: { "a/job": "7" },
      creationTimestamp: "2026-01-01T00:00:00Z",
      clustersBeforeFailover: ["eu-1", "eu-2"],
    },
  ]);
  expect(after.metadata.annotations).toEqual({
    other: "x",
    "lifeboat.dev/former-result": '[{"name":"eu-1","replicas":2},{"name":"eu-2","replicas":1}]',
    "lifeboat.dev/preserved-state": '{"from":"eu-1","labels":{"a/job":"7"}}',
  });
});

it("changes nothing when the cluster is not in the result", () => {
  const before = binding({ clusters: [{ name: "eu-2" }] });
  expect(evict(before, order, NOW)).toBe(before);
});

it("keeps one task for a cluster, the latest", () => {
  const old = { fromCluster: "eu-1", reason: "Old", producer: "p" };
  const after = evict(
    binding({ clusters: [{ name: "eu-1" }], gracefulEvictionTasks: [old] }),
    order,
    NOW,
  );
  expect(after.spec.gracefulEvictionTasks).toHaveLength(1);
  expect(after.spec.gracefulEvictionTasks?.[0]).not.toHaveProperty("replicas");
});

it("drops the state of an earlier failover when this one carries none, or must not inject it", () => {
  const annotations = { "lifeboat.dev/preserved-state": "old" };
  const before = binding({ clusters: [{ name: "eu-1" }] }, annotations);
  const stateless = evict(before, { ...order, state: {} }, NOW);
  expect(stateless.metadata.annotations).not.toHaveProperty(["lifeboat.dev/preserved-state"]);
  const quiet = evict(before, { ...order, inject: false }, NOW);
  expect(quiet.metadata.annotations).not.toHaveProperty(["lifeboat.dev/preserved-state"]);
  expect(quiet.spec.gracefulEvictionTasks?.[0]?.preservedLabelState).toEqual({ "a/job": "7" });
});

it("keeps the old copy for ever in mode Never, and bounds the message", () => {
  const after = evict(
    binding({ clusters: [{ name: "eu-1" }] }),
    { ...order, purgeMode: "Never", message: "x".repeat(2000) },
    NOW,
  );
  const [task] = after.spec.gracefulEvictionTasks ?? [];
  expect(task?.suppressDeletion).toBe(true);
  expect(task?.message).toHaveLength(1024);
});

it("can be rolled back to where it was", () => {
  const before = binding({
    clusters: [
      { name: "eu-2", replicas: 1 },
      { name: "eu-1", replicas: 2 },
    ],
  });
  const back = rollBack(evict(before, order, NOW), "eu-1");
  expect(back.spec).toEqual({ ...before.spec, gracefulEvictionTasks: [] });
  expect(rollBack(before, "eu-1")).toBe(before);
});

it("keeps what the old copy carries itself beside the new state, one step back and no further", () => {
  const key = "lifeboat.dev/preserved-state";
  const older =
    '{"from":"eu-0","labels":{"a/job":"6"},"former":{"from":"x","labels":{"a/job":"5"}}}';
  const before = binding({ clusters: [{ name: "eu-1" }] }, { [key]: older });
  const former = { from: "eu-0", labels: { "a/job": "6" } };
  const written = (changes: Partial<EvictionOrder>): unknown =>
    JSON.parse(evict(before, { ...order, ...changes }, NOW).metadata.annotations?.[key] ?? "null");
  expect(written({})).toEqual({ from: "eu-1", labels: { "a/job": "7" }, former });
  expect(written({ state: {} })).toEqual({ from: "eu-1", labels: {}, former });
  expect(written({ inject: false })).toEqual({ from: "eu-1", labels: {}, former });
});
