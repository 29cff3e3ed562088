/** The gauges follow what is on the control plane, and are gone when this process leads no more. */
import {
  clusters,
  evacuationBudgets,
  evacuations,
  type New,
  type ResourceBinding,
  resourceBindings,
  setCondition,
} from "@lifeboat/api";
import { createPromMetrics } from "@lifeboat/kit/adapters";
import type { Metrics } from "@lifeboat/kit";
import { createFleet, type Fleet } from "@lifeboat/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createFleetGauges } from "./create-fleet-gauges.ts";

let fleet: Fleet;
let metrics: Metrics;
/** Ends the service, as the end of a term does. */
let term: AbortController;
beforeEach(async () => {
  metrics = createPromMetrics();
  term = new AbortController();
  fleet = await createFleet({
    memberModel: false,
    services: (context) => {
      const gauges = createFleetGauges({ ...context, metrics }, { trustFencedCondition: false });
      const run = (signal: AbortSignal): Promise<void> =>
        gauges.run(AbortSignal.any([signal, term.signal]));
      return [{ name: gauges.name, run }];
    },
  });
  for (const name of ["m1", "m2"])
    await fleet.plane.create(clusters, {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name },
      spec: { syncMode: "Push" },
    });
});
afterEach(() => fleet.close());

/** The value of a series; undefined: there is none. */
async function value(series: string): Promise<number | undefined> {
  await fleet.settle();
  const line = (await metrics.expose()).split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.split(" ")[1]);
}

async function say(name: string, status: "True" | "False"): Promise<void> {
  const cluster = await fleet.plane.get(clusters, { namespace: "", name });
  const condition = { type: "Ready", status, reason: "Test", message: "" };
  const conditions = setCondition(cluster.status?.conditions, condition, fleet.clock.now());
  const changed = { ...cluster, status: { ...cluster.status, conditions } };
  await fleet.plane.update(clusters, changed, { subresource: "status" });
}

async function workload(name: string, cluster: string): Promise<void> {
  const binding: New<ResourceBinding> = {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { namespace: "default", name },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name },
      replicas: 1,
      clusters: [{ name: cluster, replicas: 1 }],
      conflictResolution: "Abort",
    },
  };
  const made = await fleet.plane.create(resourceBindings, binding);
  const status = { aggregatedStatus: [{ clusterName: cluster, health: "Healthy" as const }] };
  await fleet.plane.update(resourceBindings, { ...made, status }, { subresource: "status" });
}

it("counts workloads as their clusters fall silent and return, and as they go", async () => {
  for (const name of ["m1", "m2"]) await say(name, "True");
  await workload("a", "m1");
  await workload("b", "m1");
  await workload("c", "m2");
  expect(await value("lifeboat_workloads")).toBe(3);
  expect(await value("lifeboat_workloads_under_strength")).toBe(0);
  await say("m1", "False");
  expect(await value("lifeboat_workloads_under_strength")).toBe(2);
  const series = 'lifeboat_cluster_ready_changes_total{member_cluster="m1",status="False"}';
  expect(await value(series)).toBe(1);
  await fleet.plane.delete(resourceBindings, { namespace: "default", name: "a" });
  expect(await value("lifeboat_workloads")).toBe(2);
  expect(await value("lifeboat_workloads_under_strength")).toBe(1);
  await say("m1", "True");
  expect(await value("lifeboat_workloads_under_strength")).toBe(0);
});

it("shows the readiness of Pull clusters, which no probe of this process tells", async () => {
  await fleet.plane.create(clusters, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "pull" },
    spec: { syncMode: "Pull" },
  });
  await say("pull", "True");
  await say("m1", "True");
  expect(await value('cluster_ready_state{member_cluster="pull"}')).toBe(1);
  expect(await value('cluster_ready_state{member_cluster="m1"}')).toBeUndefined();
  await say("pull", "False");
  expect(await value('cluster_ready_state{member_cluster="pull"}')).toBe(0);
  const changes = 'lifeboat_cluster_ready_changes_total{member_cluster="pull",status="False"}';
  expect(await value(changes)).toBe(1);
  await fleet.plane.delete(clusters, { namespace: "", name: "pull" });
  expect(await value('cluster_ready_state{member_cluster="pull"}')).toBeUndefined();
  // What was counted of it is shown no more either.
  expect(await value(changes)).toBeUndefined();
});

it("shows workloads that wait for a fence, until the cluster answers", async () => {
  for (const name of ["m1", "m2"]) await say(name, "True");
  await workload("a", "m2");
  const key = { namespace: "default", name: "a" };
  const task = { fromCluster: "m1", purgeMode: "Directly", reason: "X", producer: "TaintManager" };
  const body = { spec: { gracefulEvictionTasks: [task] } };
  await fleet.plane.patch(resourceBindings, key, { type: "merge", body });
  const series = 'lifeboat_workloads_waiting_for_person{reason="Fence"}';
  expect(await value(series)).toBe(0);
  await say("m1", "False");
  expect(await value(series)).toBe(1);
  await say("m1", "True");
  expect(await value(series)).toBe(0);
});

it("shows evacuations by phase and the brakes, and nothing after it has stopped", async () => {
  const made = await fleet.plane.create(evacuations, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { name: "m1-1" },
    spec: { cluster: "m1", paused: false },
  });
  const entries = { total: 5, queued: 2, evicted: 0, done: 0, held: 3, abandoned: 0, exempt: 0 };
  const status = { phase: "Paused" as const, entries };
  await fleet.plane.update(evacuations, { ...made, status }, { subresource: "status" });
  expect(await value('lifeboat_evacuations{phase="Paused"}')).toBe(1);
  expect(await value('lifeboat_evacuations{phase="Running"}')).toBe(0);
  expect(await value('lifeboat_workloads_waiting_for_person{reason="NoTarget"}')).toBe(3);
  expect(await value('lifeboat_workloads_waiting_for_person{reason="Paused"}')).toBe(2);
  const record = await fleet.plane.create(evacuationBudgets, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "EvacuationBudget",
    metadata: { name: "fleet" },
    spec: { paused: true },
  });
  const condition = { type: "MassDeletion", status: "True" as const, reason: "X", message: "" };
  const conditions = setCondition(undefined, condition, fleet.clock.now());
  const braked = { ...record, status: { ...record.status, conditions } };
  await fleet.plane.update(evacuationBudgets, braked, { subresource: "status" });
  expect(await value('lifeboat_brake{brake="MassDeletion"}')).toBe(1);
  expect(await value('lifeboat_brake{brake="Paused"}')).toBe(1);
  expect(await value('lifeboat_brake{brake="RestoredFromBackup"}')).toBe(0);
  term.abort();
  for (const series of ["lifeboat_workloads", 'lifeboat_brake{brake="MassDeletion"}'])
    expect(await value(series)).toBeUndefined();
});
