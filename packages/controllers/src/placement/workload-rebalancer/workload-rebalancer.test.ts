/** Rebalancing against the real API server. */
import {
  clusterResourceBindings,
  isRefused,
  type ResourceBinding,
  resourceBindings,
  type WorkloadRebalancer,
  workloadRebalancers,
} from "@lifeboat/api";
import { createFleet, type Fleet } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWorkloadRebalancer } from "./create-workload-rebalancer.ts";

let fleet: Fleet;

beforeEach(async () => {
  fleet = await createFleet({ services: createWorkloadRebalancer });
});

afterEach(() => fleet.close());

function workload(name: string, kind = "Deployment", namespace: string | undefined = "default") {
  const apiVersion = kind === "Deployment" ? "apps/v1" : "rbac.authorization.k8s.io/v1";
  return { apiVersion, kind, name, ...(namespace && { namespace }) };
}

async function bound(name: string, rescheduleTriggeredAt?: string): Promise<ResourceBinding> {
  return fleet.plane.create(resourceBindings, {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { namespace: "default", name: `${name}-deployment` },
    spec: {
      resource: workload(name),
      conflictResolution: "Abort",
      ...(rescheduleTriggeredAt && { rescheduleTriggeredAt }),
    },
  });
}

async function order(
  workloads: WorkloadRebalancer["spec"]["workloads"],
  ttlSecondsAfterFinished?: number,
): Promise<WorkloadRebalancer> {
  const created = await fleet.plane.create(workloadRebalancers, {
    apiVersion: "apps.karmada.io/v1alpha1",
    kind: "WorkloadRebalancer",
    metadata: { name: "r" },
    spec: { workloads, ...(ttlSecondsAfterFinished !== undefined && { ttlSecondsAfterFinished }) },
  });
  await fleet.settle();
  return created;
}

function read(): Promise<WorkloadRebalancer> {
  return fleet.plane.get(workloadRebalancers, { namespace: "", name: "r" });
}

async function triggeredAt(name: string): Promise<string | undefined> {
  const key = { namespace: "default", name: `${name}-deployment` };
  return (await fleet.plane.get(resourceBindings, key)).spec.rescheduleTriggeredAt;
}

describe("a WorkloadRebalancer", () => {
  it("has its workloads placed again, and reports what became of each", async () => {
    await bound("web");
    const { metadata } = await order([workload("web"), workload("gone")]);
    expect(await triggeredAt("web")).toBe(metadata.creationTimestamp);
    expect((await read()).status).toEqual({
      observedWorkloads: [
        { workload: workload("gone"), result: "Failed", reason: "ReferencedBindingNotFound" },
        { workload: workload("web"), result: "Successful" },
      ],
      observedGeneration: 1,
      finishTime: metadata.creationTimestamp,
    });
  });

  it("reaches workloads without a namespace", async () => {
    const role = workload("r", "ClusterRole", "");
    await fleet.plane.create(clusterResourceBindings, {
      apiVersion: "work.karmada.io/v1alpha2",
      kind: "ClusterResourceBinding",
      metadata: { name: "r-clusterrole" },
      spec: { resource: role, conflictResolution: "Abort" },
    });
    await order([role]);
    expect((await read()).status?.observedWorkloads).toMatchObject([{ result: "Successful" }]);
  });

  it("never moves an order back", async () => {
    await bound("web", "2099-01-01T00:00:00Z");
    await order([workload("web")]);
    expect(await triggeredAt("web")).toBe("2099-01-01T00:00:00Z");
    expect((await read()).status?.observedWorkloads).toMatchObject([{ result: "Successful" }]);
  });

  it("is not taken for older than the last placement after the clock was set back", async () => {
    const binding = await bound("web");
    const lastScheduledTime = "2098-01-01T00:00:00Z";
    const status = { lastScheduledTime };
    await fleet.plane.update(resourceBindings, { ...binding, status }, { subresource: "status" });
    await order([workload("web")]);
    expect(await triggeredAt("web")).toBe(lastScheduledTime);
  });

  it("is passed on once although its report was lost", async () => {
    const { metadata } = await bound("web");
    const { status: _lost, ...made } = await order([workload("web")]);
    const key = { namespace: "default", name: metadata.name };
    const ordered = await fleet.plane.get(resourceBindings, key);
    const status = { lastScheduledTime: "2098-01-01T00:00:00Z" };
    await fleet.plane.update(resourceBindings, { ...ordered, status }, { subresource: "status" });
    const { resourceVersion } = (await read()).metadata;
    const unreported = { ...made, metadata: { ...made.metadata, resourceVersion }, status: {} };
    await fleet.plane.update(workloadRebalancers, unreported, { subresource: "status" });
    await fleet.settle();
    expect((await read()).status?.observedWorkloads).toMatchObject([{ result: "Successful" }]);
    expect(await triggeredAt("web")).toBe(made.metadata.creationTimestamp);
  });

  it("does not take a kind of another group for the one it names", async () => {
    await bound("web");
    await order([{ ...workload("web"), apiVersion: "other.io/v1" }]);
    expect(await triggeredAt("web")).toBeUndefined();
    expect((await read()).status?.observedWorkloads).toMatchObject([{ result: "Failed" }]);
  });

  it("carries out what is added to it, and forgets what failed and was taken off", async () => {
    await bound("web");
    await bound("api");
    await order([workload("web"), workload("gone")]);
    const { spec, ...rest } = await read();
    await fleet.advance("10s");
    await fleet.plane.update(workloadRebalancers, {
      ...rest,
      spec: { ...spec, workloads: [workload("api")] },
    });
    await fleet.settle();
    const { status, metadata } = await read();
    expect(status?.observedWorkloads).toEqual([
      { workload: workload("api"), result: "Successful" },
      { workload: workload("web"), result: "Successful" },
    ]);
    expect(status?.observedGeneration).toBe(2);
    expect(status?.finishTime).not.toBe(metadata.creationTimestamp);
  });

  it("goes when its time is up, also when the control plane was away", async () => {
    await bound("web");
    await order([workload("web")], 60);
    await fleet.advance("30s");
    await fleet.restart();
    await fleet.advance("29s");
    expect((await read()).status?.finishTime).toBeDefined();
    await fleet.advance("2s");
    const error = await read().catch((caught: unknown) => caught);
    expect(isRefused(error, "NotFound")).toBe(true);
  });

  it("writes nothing once it is carried out", async () => {
    await bound("web");
    await order([workload("web")]);
    const before = await read();
    const key = { namespace: "default", name: "web-deployment" };
    const binding = await fleet.plane.get(resourceBindings, key);
    await fleet.restart();
    await fleet.advance("1h");
    expect(await read()).toEqual(before);
    expect(await fleet.plane.get(resourceBindings, key)).toEqual(binding);
  });
});
