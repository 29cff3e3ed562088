/**
 * The row "resource_test" of the reference: status collection for Deployment, Service(LB), NodePort, Ingress, Job, DaemonSet,
 * StatefulSet, PDB.
 */
import type { AnyObject, Json, Resource } from "@lifeboat/api";
import type { Fleet } from "@lifeboat/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Fields, kinds, MEMBERS, named, openFleet, Shop } from "./propagation.suite.ts";

let fleet: Fleet;
let shop: Shop;

beforeAll(async () => {
  fleet = await openFleet();
  shop = await Shop.open(fleet, "status");
  const propagated = [
    kinds.deployments,
    kinds.services,
    kinds.ingresses,
    kinds.jobs,
    kinds.daemonSets,
    kinds.statefulSets,
    kinds.disruptionBudgets,
    kinds.cronJobs,
  ];
  await shop.policy("all", { resourceSelectors: propagated.map((kind) => named(kind)) });
  await shop.deploy("web", { replicas: 2 });
});
afterAll(() => fleet.close());

const workload = (more: Fields = {}): Fields => ({
  spec: {
    selector: { matchLabels: { app: "x" } },
    template: {
      metadata: { labels: { app: "x" } },
      spec: { containers: [{ name: "c", image: "nginx:1.27" }] },
    },
    ...more,
  },
});
const jobSpec: Fields = {
  template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox" }] } },
};

async function statusOf(resource: Resource, name: string): Promise<unknown> {
  return ((await shop.template(resource, name)) as AnyObject & { readonly status?: Json }).status;
}

/** What somebody in each member would write. */
async function report(
  resource: Resource,
  name: string,
  statusIn: (member: string) => object,
): Promise<void> {
  for (const member of MEMBERS)
    await fleet
      .member(member)
      .client.patch(
        resource,
        shop.key(name),
        { type: "merge", body: { status: statusIn(member) as never } },
        { subresource: "status" },
      );
  await shop.rest();
}

it("Deployment: counters are summed, and observedGeneration follows the template", async () => {
  await shop.rest();
  const { generation } = (await shop.template(kinds.deployments, "web")).metadata;
  expect(await statusOf(kinds.deployments, "web")).toMatchObject({
    replicas: 6,
    readyReplicas: 6,
    updatedReplicas: 6,
    availableReplicas: 6,
    observedGeneration: generation,
  });
  await shop.edit(kinds.deployments, "web", { spec: { replicas: 3 } });
  await shop.rest();
  expect(await statusOf(kinds.deployments, "web")).toMatchObject({
    readyReplicas: 9,
    observedGeneration: (generation ?? 0) + 1,
  });
});

it("StatefulSet and DaemonSet: the same", async () => {
  await shop.create(kinds.statefulSets, "db", workload({ replicas: 1, serviceName: "db" }));
  await shop.create(kinds.daemonSets, "agent", workload());
  await fleet.advance("30s");
  expect(await statusOf(kinds.statefulSets, "db")).toMatchObject({
    replicas: 3,
    readyReplicas: 3,
    observedGeneration: 1,
  });
  expect(await statusOf(kinds.daemonSets, "agent")).toMatchObject({
    desiredNumberScheduled: 3,
    numberReady: 3,
    observedGeneration: 1,
  });
});

it("Job: complete once every member has completed it", async () => {
  await shop.create(kinds.jobs, "once", { spec: jobSpec });
  await fleet.advance("30s");
  expect(await statusOf(kinds.jobs, "once")).toMatchObject({
    succeeded: 3,
    conditions: expect.arrayContaining([
      expect.objectContaining({ type: "Complete", status: "True" }),
    ]) as unknown,
  });
});

it("Service of type LoadBalancer: the addresses of all members; NodePort: none", async () => {
  const ports = [{ port: 80 }];
  await shop.create(kinds.services, "lb", { spec: { type: "LoadBalancer", ports } });
  await shop.create(kinds.services, "np", { spec: { type: "NodePort", ports } });
  await shop.rest();
  expect(await statusOf(kinds.services, "lb")).toMatchObject({
    loadBalancer: { ingress: expect.any(Array) as unknown },
  });
  const { loadBalancer } = (await statusOf(kinds.services, "lb")) as {
    readonly loadBalancer: { readonly ingress: readonly Json[] };
  };
  expect(loadBalancer.ingress).toHaveLength(3);
  expect(await shop.where(kinds.services, "np")).toEqual(MEMBERS);
  expect(await statusOf(kinds.services, "np")).toEqual({ loadBalancer: {} });
});

it("Ingress: addresses that members report are gathered, each once, in order", async () => {
  const backend = { service: { name: "lb", port: { number: 80 } } };
  await shop.create(kinds.ingresses, "door", { spec: { defaultBackend: backend } });
  await shop.rest();
  const addresses: Readonly<Record<string, string>> = {
    m1: "198.51.100.2",
    m2: "198.51.100.1",
    m3: "198.51.100.1",
  };
  await report(kinds.ingresses, "door", (member) => ({
    loadBalancer: { ingress: [{ ip: addresses[member] }] },
  }));
  expect(await statusOf(kinds.ingresses, "door")).toEqual({
    loadBalancer: { ingress: [{ ip: "198.51.100.1" }, { ip: "198.51.100.2" }] },
  });
});

it("PodDisruptionBudget: counters are summed, pods are named by cluster", async () => {
  await shop.create(kinds.disruptionBudgets, "budget", {
    spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } },
  });
  await shop.rest();
  await report(kinds.disruptionBudgets, "budget", () => ({
    currentHealthy: 2,
    desiredHealthy: 1,
    expectedPods: 2,
    disruptionsAllowed: 1,
    disruptedPods: { "web-1": "2026-01-01T00:00:00Z" },
  }));
  expect(await statusOf(kinds.disruptionBudgets, "budget")).toMatchObject({
    currentHealthy: 6,
    desiredHealthy: 3,
    expectedPods: 6,
    disruptionsAllowed: 3,
    disruptedPods: {
      "m1/web-1": "2026-01-01T00:00:00Z",
      "m2/web-1": "2026-01-01T00:00:00Z",
      "m3/web-1": "2026-01-01T00:00:00Z",
    },
  });
});

it("CronJob: the latest times of all members", async () => {
  await shop.create(kinds.cronJobs, "yearly", {
    spec: { schedule: "0 0 1 1 *", jobTemplate: { spec: jobSpec } },
  });
  await shop.rest();
  await report(kinds.cronJobs, "yearly", (member) => ({
    lastScheduleTime: `2026-01-01T00:00:0${member.slice(1)}Z`,
  }));
  expect(await statusOf(kinds.cronJobs, "yearly")).toMatchObject({
    lastScheduleTime: "2026-01-01T00:00:03Z",
  });
});
