/** What the server fills in for the kinds of the control plane, and what it accepts unchanged. */
import { describe, expect, it } from "vitest";
import { isJsonObject, type JsonObject } from "../json.ts";
import type { AnyObject } from "../object.ts";
import { accept, admit, body, NOW } from "./admit.suite.ts";

const LATER = "2026-01-01T01:00:00Z";
const selector = { apiVersion: "apps/v1", kind: "Deployment" };

const specOf = (object: AnyObject): JsonObject => object["spec"] as JsonObject;
const accepted = (kind: string, spec: unknown): JsonObject => specOf(accept(body(kind, spec)));

describe("Cluster", () => {
  const taints = [
    { key: "a", effect: "NoExecute" },
    { key: "b", effect: "PreferNoExecute" },
    { key: "c", effect: "NoSchedule" },
  ];
  const cluster = body("Cluster", { syncMode: "Push", taints });

  it("gets the time of both evicting effects from the server, and of no other", () => {
    expect(specOf(accept(cluster))["taints"]).toEqual([
      { ...taints[0], timeAdded: NOW },
      { ...taints[1], timeAdded: NOW },
      taints[2],
    ]);
  });

  it("keeps the time of a taint that is written again without it, whatever its value", () => {
    const stored = accept(cluster);
    const again = body("Cluster", {
      syncMode: "Push",
      taints: [{ ...taints[1], value: "new" }, taints[0], { key: "d", effect: "NoExecute" }],
    });
    expect(specOf(accept(again, stored, LATER))["taints"]).toMatchObject([
      { key: "b", value: "new", timeAdded: NOW },
      { key: "a", timeAdded: NOW },
      { key: "d", timeAdded: LATER },
    ]);
  });

  it("keeps a time that the client gave", () => {
    const given = [{ ...taints[0], timeAdded: "2020-01-01T00:00:00Z" }];
    expect(accepted("Cluster", { syncMode: "Pull", taints: given })["taints"]).toEqual(given);
  });

  it("moves a lone zone into zones", () => {
    const spec = accepted("Cluster", { syncMode: "Push", zone: "a" });
    expect(spec["zones"]).toEqual(["a"]);
    expect(spec).not.toHaveProperty("zone");
    const again = { syncMode: "Push", zone: "a", zones: ["a"] };
    expect(accepted("Cluster", again)).toEqual(spec);
  });

  it("gets nine grades when it is created without any, and none on update", () => {
    const created = accept(body("Cluster", { syncMode: "Push" }));
    const models = specOf(created)["resourceModels"] as readonly JsonObject[];
    expect(models).toHaveLength(9);
    expect(models[0]).toEqual({
      grade: 0,
      ranges: [
        { name: "cpu", min: "0", max: "1" },
        { name: "memory", min: "0", max: "4Gi" },
      ],
    });
    expect(models[8]).toMatchObject({
      grade: 8,
      ranges: [{ min: "128", max: "9223372036854775807" }, { min: "1024Gi" }],
    });
    const bare = body("Cluster", { syncMode: "Push" });
    expect(specOf(accept(bare, created))).not.toHaveProperty("resourceModels");
  });

  it("has its grades sorted and both ends opened", () => {
    const range = (min: string, max: string): unknown => [{ name: "cpu", min, max }];
    const resourceModels = [
      { grade: 2, ranges: range("4", "8") },
      { grade: 1, ranges: range("1", "4") },
    ];
    expect(accepted("Cluster", { syncMode: "Push", resourceModels })["resourceModels"]).toEqual([
      { grade: 1, ranges: range("0", "4") },
      { grade: 2, ranges: range("4", "9223372036854775807") },
    ]);
  });

  it("takes conditions of others with as little as a type and a status", () => {
    const given = { ...cluster, status: { conditions: [{ type: "Theirs", status: "True" }] } };
    const { object, errors } = admit(given);
    expect(errors).toEqual([]);
    expect(object["status"]).toEqual({
      conditions: [
        {
          type: "Theirs",
          status: "True",
          reason: "",
          message: "",
          lastTransitionTime: "1970-01-01T00:00:00Z",
        },
      ],
    });
  });
});

describe("PropagationPolicy", () => {
  const policy = (rest: object = {}): JsonObject =>
    accepted("PropagationPolicy", { resourceSelectors: [selector], ...rest });

  it("gets the defaults of its fields and the namespace of its selectors", () => {
    expect(policy()).toEqual({
      resourceSelectors: [{ ...selector, namespace: "ns" }],
      priority: 0,
      preemption: "Never",
      schedulerName: "default-scheduler",
      conflictResolution: "Abort",
    });
  });

  it("gets no namespace when it has none itself", () => {
    const spec = accepted("ClusterPropagationPolicy", { resourceSelectors: [selector] });
    expect(spec["resourceSelectors"]).toEqual([selector]);
  });

  it("waits 300 seconds on PreferNoExecute, and none when 0 is written", () => {
    expect(policy({ failover: { cluster: {} } })["failover"]).toEqual({
      cluster: { purgeMode: "Gracefully", tolerationSeconds: 300 },
    });
    const none = { failover: { cluster: { tolerationSeconds: 0, purgeMode: "Directly" } } };
    expect(policy(none)).toMatchObject(none);
  });

  it("waits 600 seconds for a graceful application failover, and names no grace for others", () => {
    const application = (rest: object): unknown =>
      (
        policy({
          propagateDeps: true,
          failover: { application: { decisionConditions: {}, ...rest } },
        })["failover"] as JsonObject
      )["application"];
    const decisionConditions = { tolerationSeconds: 300 };
    expect(application({})).toEqual({
      decisionConditions,
      purgeMode: "Gracefully",
      gracePeriodSeconds: 600,
    });
    expect(application({ purgeMode: "Graciously" })).toHaveProperty("gracePeriodSeconds", 600);
    expect(application({ purgeMode: "Never" })).toEqual({ decisionConditions, purgeMode: "Never" });
  });

  it.each(["Directly", "Gracefully", "Immediately", "Graciously"])(
    "knows the purge mode %s for clusters",
    (purgeMode) => {
      expect(policy({ failover: { cluster: { purgeMode } } })).toMatchObject({
        failover: { cluster: { purgeMode } },
      });
    },
  );

  it("spreads by cluster over at least one when nothing else is said", () => {
    const placement = { spreadConstraints: [{ maxGroups: 2 }] };
    expect(policy({ placement })["placement"]).toEqual({
      spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 2 }],
    });
  });

  it("divides by weight when it divides", () => {
    const scheduling = (replicaScheduling: unknown): unknown =>
      (policy({ placement: { replicaScheduling } })["placement"] as JsonObject)[
        "replicaScheduling"
      ];
    expect(scheduling({})).toEqual({
      replicaSchedulingType: "Divided",
      replicaDivisionPreference: "Weighted",
    });
    const duplicated = { replicaSchedulingType: "Duplicated" };
    expect(scheduling(duplicated)).toEqual(duplicated);
  });

  it("takes along what an imported Service needs", () => {
    const imported = { apiVersion: "multicluster.x-k8s.io/v1alpha1", kind: "ServiceImport" };
    expect(policy({ resourceSelectors: [imported] })["propagateDeps"]).toBe(true);
  });
});

describe("ClusterTaintPolicy", () => {
  const taint = { key: "a", effect: "NoExecute" };

  it("has windows of 300 and 180 seconds in the spelling that has windows", () => {
    expect(accepted("ClusterTaintPolicy", { taintsToAdd: [taint] })["taintsToAdd"]).toEqual([
      { ...taint, addOnMatchSeconds: 300, removeOnMismatchSeconds: 180 },
    ]);
    const short = [{ ...taint, addOnMatchSeconds: 1, removeOnMismatchSeconds: 2 }];
    expect(accepted("ClusterTaintPolicy", { taintsToAdd: short })["taintsToAdd"]).toEqual(short);
  });

  it("has none in the other", () => {
    const spec = { targetClusters: { clusterNames: ["a"] }, taints: [taint] };
    expect(accepted("ClusterTaintPolicy", spec)).toEqual(spec);
  });

  it.each(["NoSchedule", "NoExecute", "PreferNoExecute"])("may add %s in both", (effect) => {
    accepted("ClusterTaintPolicy", { taintsToAdd: [{ key: "a", effect }] });
    accepted("ClusterTaintPolicy", { taints: [{ key: "a", effect }] });
  });

  it("may name the same key with two effects", () => {
    const taints = [taint, { key: "a", effect: "NoSchedule" }];
    expect(accepted("ClusterTaintPolicy", { taints })["taints"]).toEqual(taints);
  });
});

describe("permanent ids", () => {
  it.each([
    ["PropagationPolicy", "propagationpolicy", { resourceSelectors: [selector] }],
    ["ClusterPropagationPolicy", "clusterpropagationpolicy", { resourceSelectors: [selector] }],
    ["ResourceBinding", "resourcebinding", { resource: { ...selector, name: "a" } }],
    ["ClusterResourceBinding", "clusterresourcebinding", { resource: { ...selector, name: "a" } }],
    ["Work", "work", {}],
  ])("are given to a %s, beside its own labels", (kind, prefix, spec) => {
    const label = `${prefix}.karmada.io/permanent-id`;
    const { metadata } = accept(body(kind, spec, { labels: { app: "web" } }));
    expect(metadata.labels).toEqual({ app: "web", [label]: "id-1" });
    const own = body(kind, spec, { labels: { [label]: "mine" } });
    expect(accept(own).metadata.labels).toEqual({ [label]: "mine" });
  });

  it("survive a client that replaces the object without its labels", () => {
    const given = body("Work", {}, { labels: { "work.karmada.io/permanent-id": "old" } });
    const replaced = accept(body("Work", {}), accept(given));
    expect(replaced.metadata.labels).toEqual({ "work.karmada.io/permanent-id": "old" });
  });
});

describe("the finalizer of a policy", () => {
  const spec = { resourceSelectors: [selector] };

  it.each([
    ["PropagationPolicy", "karmada.io/propagation-policy-controller"],
    ["ClusterPropagationPolicy", "karmada.io/cluster-propagation-policy-controller"],
  ])("is given to a %s beside others, and given back when it is left out", (kind, finalizer) => {
    const stored = accept(body(kind, spec, { finalizers: ["ex.io/other"] }));
    expect(stored.metadata.finalizers).toEqual(["ex.io/other", finalizer]);
    expect(accept(body(kind, spec), stored).metadata.finalizers).toEqual([finalizer]);
  });

  it("can be taken from a policy that is being deleted", () => {
    const stored = accept(body("PropagationPolicy", spec));
    const metadata = { ...stored.metadata, deletionTimestamp: NOW };
    const left = accept(body("PropagationPolicy", spec), { ...stored, metadata });
    expect(left.metadata.finalizers ?? []).toEqual([]);
  });
});

describe("objects that need nothing", () => {
  it("are answered as they came, not copied", () => {
    const once = accept(body("PropagationPolicy", { resourceSelectors: [selector] }));
    expect(isJsonObject(once as unknown as JsonObject)).toBe(true);
    const twice = admit(once as unknown as JsonObject, once).object;
    expect(twice["spec"]).toBe(once["spec"]);
  });
});
