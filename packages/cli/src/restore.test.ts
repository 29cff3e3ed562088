import type { ResourceBinding } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { evict } from "@lifeboat/core/failover/evacuation";
import { describe, expect, it } from "vitest";
import { restored, type RestoreView, sharesOf } from "./restore.ts";

const now = instantOf(Date.UTC(2026, 0, 1));

function binding(clusters: ResourceBinding["spec"]["clusters"] = []): ResourceBinding {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      name: "web-deployment",
      namespace: "default",
      uid: "u",
      resourceVersion: "7",
      creationTimestamp: "",
    },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web" },
      replicas: 5,
      conflictResolution: "Abort",
      clusters,
    },
  };
}

const ORDER = {
  cluster: "a",
  reason: "TaintUntolerated",
  message: "",
  producer: "TaintManager",
  purgeMode: "Gracefully" as const,
  state: {},
  inject: true,
};

/** Ran on a and b, was evicted from a, and was placed on c instead. */
function moved(spec: Partial<ResourceBinding["spec"]> = {}): ResourceBinding {
  const before = binding([
    { name: "a", replicas: 3 },
    { name: "b", replicas: 2 },
  ]);
  const evicted = evict(before, ORDER, now);
  const clusters = [
    { name: "b", replicas: 2 },
    { name: "c", replicas: 3 },
  ];
  return { ...evicted, spec: { ...evicted.spec, clusters, ...spec } };
}

const view = (one: ResourceBinding, changes: Partial<RestoreView> = {}): RestoreView => ({
  binding: one,
  clusters: new Set(["a", "b", "c"]),
  carriesState: false,
  ...changes,
});

describe("restored", () => {
  it("goes back to the former result; the substitute leaves by an eviction", () => {
    const { spec, metadata } = restored(view(moved()), now);
    expect(sharesOf(spec.clusters ?? [])).toBe("a:3, b:2");
    expect(spec.gracefulEvictionTasks).toMatchObject([
      { fromCluster: "c", reason: "RestoredByHand", purgeMode: "Gracefully", replicas: 3 },
    ]);
    expect(metadata.resourceVersion).toBe("7");
  });

  it("goes back also when the eviction is over, and can be undone", () => {
    const back = restored(view(moved({ gracefulEvictionTasks: [] })), now);
    expect(sharesOf(back.spec.clusters ?? [])).toBe("a:3, b:2");
    const over = { ...back, spec: { ...back.spec, gracefulEvictionTasks: [] } };
    expect(sharesOf(restored(view(over), now).spec.clusters ?? [])).toBe("b:2, c:3");
  });

  it("keeps to the policy's purge mode, so that nothing runs twice", () => {
    const failover = { cluster: { purgeMode: "Immediately" as const, tolerationSeconds: 0 } };
    const { spec } = restored(view(moved({ failover })), now);
    expect(spec.gracefulEvictionTasks).toMatchObject([{ fromCluster: "c", purgeMode: "Directly" }]);
  });

  it.each([
    ["nothing is recorded", view(binding([{ name: "a" }])), "no eviction of it is recorded"],
    ["a cluster has left the fleet", view(moved(), { clusters: new Set(["b", "c"]) }), "ran on a,"],
    [
      "it is there already",
      view(
        moved({
          clusters: [
            { name: "b", replicas: 2 },
            { name: "a", replicas: 3 },
          ],
        }),
      ),
      "it runs where it ran before: a:3, b:2",
    ],
  ])("refuses when %s", (_what, given, message) => {
    expect(() => restored(given, now)).toThrow(message);
  });
});
