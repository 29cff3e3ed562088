import type { ResourceBinding } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import type { Fields } from "../../fields.ts";
import { BINDING_ID } from "../../well-known.ts";
import { judgeStray, type StrayVerdict } from "./stray.ts";

const COPY = { metadata: { name: "web", labels: { [BINDING_ID]: "b1" } } };

function binding(
  spec: Partial<ResourceBinding["spec"]> = {},
  metadata: Partial<ResourceBinding["metadata"]> = {},
  health: "Healthy" | "Unhealthy" = "Healthy",
): ResourceBinding {
  const resource = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name: "web", labels: { [BINDING_ID]: "b1" }, ...metadata },
    spec: { resource, clusters: [{ name: "m2" }], ...spec },
    status: { aggregatedStatus: [{ clusterName: "m2", applied: true, health }] },
  } as ResourceBinding;
}

function task(purgeMode: "Directly" | "Gracefully") {
  return { fromCluster: "m1", reason: "TaintUntolerated", producer: "p", purgeMode };
}

function judge(given: ResourceBinding, copy: Fields = COPY, seenForMs = 60_000): StrayVerdict {
  return judgeStray({ cluster: "m1", copy, binding: given, seenForMs });
}

const GOING = { deletionTimestamp: "2026-01-01T00:00:00Z" };

describe("a copy in m1 without a Work", () => {
  it.each<readonly [string, StrayVerdict, ResourceBinding]>([
    ["goes when the copies that are asked for are well", "remove", binding()],
    ["stays while one of them is not", "wait", binding({}, {}, "Unhealthy")],
    ["stays while nothing is asked for", "wait", binding({ clusters: [] })],
    ["stays while one has not reported", "wait", binding({ clusters: [{ name: "m3" }] })],
    ["is another's when the id differs", "leave", binding({}, { labels: { [BINDING_ID]: "b2" } })],
    ["is another's when the binding has no id", "leave", binding({}, { labels: {} })],
    ["stays where copies are preserved", "leave", binding({ preserveResourcesOnDeletion: true })],
    ["is left to its Work when it is asked for", "leave", binding({ clusters: [{ name: "m1" }] })],
    [
      "is left to its Work while it leaves gracefully",
      "leave",
      binding({ gracefulEvictionTasks: [task("Gracefully")] }),
    ],
    [
      "goes at once where it was purged",
      "remove",
      binding({ clusters: [], gracefulEvictionTasks: [task("Directly")] }),
    ],
    ["goes with its binding", "remove", binding({ clusters: [] }, GOING)],
    [
      "stays if copies are preserved",
      "leave",
      binding({ preserveResourcesOnDeletion: true }, GOING),
    ],
    [
      "waits while dispatching is suspended",
      "wait",
      binding({ suspension: { dispatching: true } }),
    ],
    [
      "waits while dispatching to its own cluster is suspended",
      "wait",
      binding({ suspension: { dispatchingOnClusters: { clusterNames: ["m1"] } } }),
    ],
    [
      "goes while dispatching is suspended for another cluster",
      "remove",
      binding({ suspension: { dispatchingOnClusters: { clusterNames: ["m2"] } } }),
    ],
  ])("%s", (_name, verdict, given) => {
    expect(judge(given)).toBe(verdict);
  });

  it("stays for a minute after it was seen, unless it was purged", () => {
    expect(judge(binding(), COPY, 59_999)).toBe("wait");
    const purged = binding({ gracefulEvictionTasks: [task("Directly")] });
    expect(judge(purged, COPY, 0)).toBe("remove");
  });

  it("is another's when it names no binding", () => {
    expect(judge(binding({}, { labels: {} }), { metadata: { name: "web" } })).toBe("leave");
  });
});
