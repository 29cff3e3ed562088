import type { JsonObject, KubeObject, Resource } from "@lifeboat/api";
import { namespace, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import * as kinds from "./kinds.ts";
import type { MemberOptions } from "./member-options.ts";
import {
  createMemberWorld,
  type MemberWorld,
  newOf,
  podsOf,
  template,
  workload,
} from "./member-world.suite.ts";
import { conditionOf, isTrue } from "./model/status.ts";

let member: MemberWorld;

async function start(options: Partial<MemberOptions> = {}): Promise<MemberWorld> {
  member = await createMemberWorld(options);
  return member;
}

afterEach(() => member.stop());

const key = (name: string) => ({ namespace: "default", name });

async function create<T extends KubeObject>(
  resource: Resource<T>,
  name: string,
  spec: JsonObject,
): Promise<void> {
  await member.client.create(resource, workload(resource, name, spec));
}

async function patch<T extends KubeObject>(
  resource: Resource<T>,
  name: string,
  spec: JsonObject,
): Promise<void> {
  await member.client.patch(resource, key(name), { type: "merge", body: { spec } });
}

const deployments = kinds.deployments;
const statefulSets = kinds.statefulSets;
const daemonSets = kinds.daemonSets;

const deployment = (name: string): Promise<kinds.Deployment> =>
  member.client.get(kinds.deployments, key(name));

const names = (pods: readonly kinds.Pod[]): string[] => pods.map((pod) => pod.metadata.name).sort();

describe("a Deployment", () => {
  it("takes seven writes of the model from its creation until it is Available", async () => {
    const { world } = await start();
    const before = member.writes();
    await create(deployments, "web", { replicas: 1 });
    await world.advance("10s");
    // ReplicaSet, pod, and for the beginning and the end of the start: pod once, ReplicaSet and Deployment twice.
    expect(member.writes() - before).toBe(7);
    expect((await deployment("web")).status).toMatchObject({ availableReplicas: 1 });
  });

  it("becomes Available after the start delay", async () => {
    const { world } = await start();
    await create(deployments, "web", { replicas: 3 });
    await world.advance("2s");
    expect((await deployment("web")).status).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      unavailableReplicas: 3,
    });
    expect(isTrue((await deployment("web")).status?.conditions, "Available")).toBe(false);
    await world.advance("2s");
    const { status } = await deployment("web");
    expect(status).toMatchObject({ readyReplicas: 3, availableReplicas: 3 });
    expect(isTrue(status?.conditions, "Available")).toBe(true);
    expect(conditionOf(status?.conditions, "Progressing")).toMatchObject({
      status: "True",
      reason: "NewReplicaSetAvailable",
    });
    expect((await podsOf(member.client, "web")).map((pod) => pod.spec.nodeName)).toEqual([
      "node-1",
      "node-1",
      "node-1",
    ]);
  });

  it("follows its size up and down, and pods stop after the stop delay", async () => {
    const { world } = await start();
    await create(deployments, "web", { replicas: 2 });
    await world.advance("5s");
    const before = names(await podsOf(member.client, "web"));
    await patch(deployments, "web", { replicas: 4 });
    await world.advance("5s");
    expect((await deployment("web")).status).toMatchObject({ replicas: 4, availableReplicas: 4 });
    await patch(deployments, "web", { replicas: 1 });
    await world.advance("1s");
    const leaving = await podsOf(member.client, "web");
    expect(leaving.filter((pod) => pod.metadata.deletionTimestamp !== undefined)).toHaveLength(3);
    await world.advance("2s");
    const left = await podsOf(member.client, "web");
    expect(left).toHaveLength(1);
    expect(before).toContain(left[0]?.metadata.name);
    expect((await deployment("web")).status).toMatchObject({ replicas: 1, availableReplicas: 1 });
  });

  it("replaces its pods when the template changes and stays available meanwhile", async () => {
    const { world } = await start();
    await create(deployments, "web", { replicas: 4 });
    await world.advance("5s");
    const before = names(await podsOf(member.client, "web"));
    await patch(deployments, "web", { template: template("web", "100m", "app:2") });
    for (let second = 0; second < 30; second++) {
      await world.advance("1s");
      expect((await deployment("web")).status?.availableReplicas).toBeGreaterThanOrEqual(3);
      expect((await deployment("web")).status?.replicas).toBeLessThanOrEqual(5);
    }
    const pods = await podsOf(member.client, "web");
    expect(pods).toHaveLength(4);
    expect(pods.filter((pod) => before.includes(pod.metadata.name))).toEqual([]);
    expect(pods.every((pod) => pod.spec.containers[0]?.image === "app:2")).toBe(true);
    const after = await deployment("web");
    expect(after.metadata.annotations).toMatchObject({ "deployment.kubernetes.io/revision": "2" });
    expect(after.status).toMatchObject({
      observedGeneration: 2,
      replicas: 4,
      updatedReplicas: 4,
      availableReplicas: 4,
    });
  });

  it("with the strategy Recreate has no new pod before the last old one is gone", async () => {
    const { world } = await start();
    await create(deployments, "web", { replicas: 2, strategy: { type: "Recreate" } });
    await world.advance("5s");
    await patch(deployments, "web", { template: template("web", "100m", "app:2") });
    await world.advance("1s");
    const images = async () =>
      (await podsOf(member.client, "web")).map((pod) => pod.spec.containers[0]?.image);
    expect(await images()).toEqual(["app:1", "app:1"]);
    await world.advance("1s");
    expect(await images()).toEqual(["app:2", "app:2"]);
  });

  it("takes its ReplicaSets and pods with it when it is deleted", async () => {
    const { world, client } = await start();
    await create(deployments, "web", { replicas: 3 });
    await world.advance("5s");
    await client.delete(kinds.deployments, key("web"), { propagationPolicy: "Background" });
    await world.advance("5s");
    expect(await podsOf(client, "web")).toEqual([]);
    expect((await client.list(kinds.replicaSets)).items).toEqual([]);
  });

  it("says that its deadline has passed when it gets no room", async () => {
    const { world } = await start();
    await create(deployments, "web", {
      replicas: 1,
      progressDeadlineSeconds: 60,
      template: template("web", "100"),
    });
    await world.advance("59s");
    const progressing = async () =>
      conditionOf((await deployment("web")).status?.conditions, "Progressing");
    expect(await progressing()).toMatchObject({ status: "True", reason: "ReplicaSetUpdated" });
    await world.advance("3s");
    expect(await progressing()).toMatchObject({
      status: "False",
      reason: "ProgressDeadlineExceeded",
    });
  });
});

describe("capacity", () => {
  const twoNodes = ["a", "b"].map((name) => ({
    name,
    capacity: { cpu: "1", memory: "1Gi", pods: "10" },
  }));

  it("leaves pods without room Pending with a condition, and places them when room appears", async () => {
    const { world, client } = await start({ nodes: twoNodes });
    await create(deployments, "big", { replicas: 3, template: template("big", "800m") });
    await world.advance("5s");
    const pending = (await podsOf(client, "big")).filter((pod) => pod.status?.phase === "Pending");
    expect(pending).toHaveLength(1);
    expect(conditionOf(pending[0]?.status?.conditions, "PodScheduled")).toMatchObject({
      status: "False",
      reason: "Unschedulable",
      message: "0/2 nodes are available: 2 Insufficient cpu.",
    });
    await patch(deployments, "big", { replicas: 2 });
    await world.advance("5s");
    expect((await deployment("big")).status).toMatchObject({ replicas: 2, availableReplicas: 2 });
    await create(deployments, "late", { replicas: 1, template: template("late", "800m") });
    await world.advance("5s");
    expect((await deployment("late")).status?.availableReplicas ?? 0).toBe(0);
    await patch(deployments, "big", { replicas: 1 });
    await world.advance("10s");
    expect((await deployment("late")).status).toMatchObject({ availableReplicas: 1 });
  });

  it("spreads pods over the nodes", async () => {
    const { world, client } = await start({ nodes: twoNodes });
    await create(deployments, "web", { replicas: 4 });
    await world.advance("5s");
    const nodes = (await podsOf(client, "web")).map((pod) => pod.spec.nodeName ?? "").sort();
    expect(nodes).toEqual(["a", "a", "b", "b"]);
  });

  it("runs a pod that belongs to nobody", async () => {
    const { world, client } = await start();
    const pod = newOf(
      kinds.pods,
      { name: "bare" },
      {
        spec: { containers: [{ name: "c", image: "i" }] },
      },
    );
    await client.create(kinds.pods, pod);
    await world.advance("5s");
    expect((await client.get(kinds.pods, key("bare"))).status?.phase).toBe("Running");
  });
});

describe("a StatefulSet", () => {
  const ready = async (): Promise<string[]> =>
    names(
      (await podsOf(member.client, "db")).filter((pod) => isTrue(pod.status?.conditions, "Ready")),
    );

  it("makes its pods one after the other, with their claims", async () => {
    const { world, client } = await start();
    const claim = {
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    };
    await create(statefulSets, "db", {
      replicas: 3,
      serviceName: "db",
      volumeClaimTemplates: [claim],
    });
    await world.advance("2s");
    expect(names(await podsOf(client, "db"))).toEqual(["db-0"]);
    await world.advance("2s");
    expect(await ready()).toEqual(["db-0"]);
    expect(names(await podsOf(client, "db"))).toEqual(["db-0", "db-1"]);
    await world.advance("6s");
    expect(await ready()).toEqual(["db-0", "db-1", "db-2"]);
    const set = await client.get(kinds.statefulSets, key("db"));
    expect(set.status).toMatchObject({
      replicas: 3,
      readyReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
    });
    expect(set.status?.currentRevision).toBe(set.status?.updateRevision);
    const claims = (await client.list(kinds.claims)).items;
    expect(claims.map(({ metadata, status }) => [metadata.name, status?.phase])).toEqual([
      ["data-db-0", "Bound"],
      ["data-db-1", "Bound"],
      ["data-db-2", "Bound"],
    ]);
  });

  it("takes pods away from the end and updates them from the end", async () => {
    const { world, client } = await start();
    await create(statefulSets, "db", { replicas: 3, serviceName: "db" });
    await world.advance("15s");
    await patch(statefulSets, "db", { replicas: 2 });
    await world.advance("5s");
    expect(names(await podsOf(client, "db"))).toEqual(["db-0", "db-1"]);
    await patch(statefulSets, "db", { template: template("db", "100m", "app:2") });
    await world.advance("4s");
    const images = async () =>
      (await podsOf(client, "db"))
        .map((pod) => `${pod.metadata.name} ${pod.spec.containers[0]?.image}`)
        .sort();
    expect(await images()).toEqual(["db-0 app:1", "db-1 app:2"]);
    await world.advance("10s");
    expect(await images()).toEqual(["db-0 app:2", "db-1 app:2"]);
    const { status } = await client.get(kinds.statefulSets, key("db"));
    expect(status?.currentRevision).toBe(status?.updateRevision);
    expect(status).toMatchObject({ updatedReplicas: 2, readyReplicas: 2 });
  });
});

it("a DaemonSet has one pod per node and follows new nodes", async () => {
  const capacity = { cpu: "1", pods: "10" };
  const { world, client } = await start({
    nodes: [
      { name: "a", capacity },
      { name: "b", capacity },
    ],
  });
  await create(daemonSets, "agent", {});
  await world.advance("5s");
  const set = async () => (await client.get(kinds.daemonSets, key("agent"))).status;
  expect(await set()).toMatchObject({ desiredNumberScheduled: 2, numberReady: 2 });
  await client.create(kinds.nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "c" } });
  await world.advance("5s");
  expect(await set()).toMatchObject({
    desiredNumberScheduled: 3,
    currentNumberScheduled: 3,
    numberReady: 3,
    numberAvailable: 3,
  });
  await patch(daemonSets, "agent", { template: template("agent", "100m", "app:2") });
  await world.advance("30s");
  expect(await set()).toMatchObject({ updatedNumberScheduled: 3, numberReady: 3 });
});

describe("a Job", () => {
  const job = (name: string, spec: JsonObject, policy = "Never") => {
    const base = template(name) as { readonly spec: JsonObject; readonly metadata: JsonObject };
    const pod = { ...base, spec: { ...base.spec, restartPolicy: policy } };
    return newOf(
      kinds.jobs,
      { name },
      {
        spec: { template: pod, ...spec },
      },
    );
  };

  it("completes when enough pods have succeeded, never running more than its parallelism", async () => {
    const { world, client } = await start();
    await client.create(kinds.jobs, job("sum", { completions: 3, parallelism: 2 }));
    await world.advance("4s");
    const status = async () => (await client.get(kinds.jobs, key("sum"))).status;
    expect(await status()).toMatchObject({ active: 2, ready: 2 });
    await world.advance("15s");
    expect(await status()).toMatchObject({ succeeded: 3 });
    expect(isTrue((await status())?.conditions, "Complete")).toBe(true);
    expect((await status())?.completionTime).toBeDefined();
    expect(await podsOf(client, "sum")).toHaveLength(3);
  });

  it("runs every index of an indexed Job once", async () => {
    const { world, client } = await start();
    const spec = { completions: 3, parallelism: 3, completionMode: "Indexed" };
    await client.create(kinds.jobs, job("parts", spec));
    await world.advance("10s");
    const { status } = await client.get(kinds.jobs, key("parts"));
    expect(status).toMatchObject({ succeeded: 3, completedIndexes: "0-2" });
  });

  it("fails when its pods fail too often", async () => {
    const { world, client, model } = await start();
    model.setFault({ kind: "crash" });
    await client.create(kinds.jobs, job("bad", { backoffLimit: 1 }));
    await world.advance("60s");
    const { status } = await client.get(kinds.jobs, key("bad"));
    expect(status).toMatchObject({ failed: 2 });
    expect(conditionOf(status?.conditions, "Failed")).toMatchObject({
      status: "True",
      reason: "BackoffLimitExceeded",
    });
  });

  it("goes when its time after the end is up", async () => {
    const { world, client } = await start();
    await client.create(kinds.jobs, job("brief", { ttlSecondsAfterFinished: 30 }));
    await world.advance("20s");
    expect((await client.list(kinds.jobs)).items).toHaveLength(1);
    await world.advance("20s");
    expect((await client.list(kinds.jobs)).items).toHaveLength(0);
    expect(await podsOf(client, "brief")).toEqual([]);
  });
});

it("Services of type LoadBalancer get an address of their own, and lose it with the type", async () => {
  const { world, client } = await start();
  for (const name of ["a", "b"]) {
    const spec = { type: "LoadBalancer", ports: [{ port: 80 }], selector: { app: "web" } };
    const service = newOf(kinds.services, { name }, { spec });
    await client.create(kinds.services, service);
  }
  await world.settle();
  const address = async (name: string) =>
    (await client.get(kinds.services, key(name))).status?.loadBalancer?.ingress?.[0]?.ip;
  expect(await address("a")).toMatch(/^198\.18\./);
  expect(await address("b")).not.toBe(await address("a"));
  await patch(kinds.services, "a", { type: "ClusterIP" });
  await world.settle();
  expect(await address("a")).toBeUndefined();
});

describe("EndpointSlices", () => {
  const spec = { ports: [{ name: "http", port: 80, targetPort: 8080 }], selector: { app: "web" } };
  const endpoints = async (): Promise<readonly string[]> => {
    const { items } = await member.client.list(kinds.endpointSlices);
    return items.flatMap((slice) =>
      slice.endpoints.map(({ addresses: [address = ""], conditions }) => {
        expect(address).toMatch(/^10\.\d+\.\d+\.\d+$/);
        return Object.entries(conditions)
          .filter(([, is]) => is)
          .map(([name]) => name)
          .join(" ");
      }),
    );
  };

  it("follow the pods of a Service, with the labels of the Service, and rest with them", async () => {
    const { world, client } = await start({ endpointSlices: true });
    const labels = { tier: "front" };
    await client.create(kinds.services, newOf(kinds.services, { name: "web", labels }, { spec }));
    await create(deployments, "web", { replicas: 2 });
    await world.advance("10s");
    const { items } = await client.list(kinds.endpointSlices);
    expect(items).toMatchObject([
      {
        metadata: { labels: { ...labels, "kubernetes.io/service-name": "web" } },
        ports: [{ name: "http", port: 8080 }],
      },
    ]);
    expect(await endpoints()).toEqual(["ready serving", "ready serving"]);
    const before = member.writes();
    await world.advance("1h");
    expect(member.writes()).toBe(before);
    await patch(deployments, "web", { replicas: 1 });
    await world.advance("1s");
    expect([...(await endpoints())].sort()).toEqual(["ready serving", "serving terminating"]);
    await world.advance("10s");
    expect(await endpoints()).toEqual(["ready serving"]);
  });

  it("are none where they are not asked for", async () => {
    const { world, client } = await start();
    await client.create(kinds.services, newOf(kinds.services, { name: "web" }, { spec }));
    await create(deployments, "web", { replicas: 2 });
    await world.advance("10s");
    expect((await client.list(kinds.endpointSlices)).items).toEqual([]);
  });
});

it("a CronJob reports the Jobs that it owns and that run", async () => {
  const { world, client } = await start();
  const base = template("tick") as { readonly spec: JsonObject };
  const pod = { spec: { ...base.spec, restartPolicy: "Never" } };
  const cron = await client.create(
    kinds.cronJobs,
    newOf(
      kinds.cronJobs,
      { name: "tick" },
      {
        spec: { schedule: "* * * * *", jobTemplate: { spec: { template: pod } } },
      },
    ),
  );
  const { apiVersion, kind, metadata } = cron;
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true };
  await client.create(
    kinds.jobs,
    newOf(
      kinds.jobs,
      { name: "run", ownerReferences: [owner] },
      {
        spec: { template: pod },
      },
    ),
  );
  await world.advance("1s");
  const status = async () => (await client.get(kinds.cronJobs, key("tick"))).status;
  expect((await status())?.active?.map(({ name }) => name)).toEqual(["run"]);
  await world.advance("10s");
  expect((await status())?.active ?? []).toEqual([]);
  expect((await status())?.lastSuccessfulTime).toBeDefined();
});

describe("faults", () => {
  const available = async (): Promise<number> =>
    (await deployment("web")).status?.availableReplicas ?? 0;

  it.each([{ kind: "pods-not-ready" }, { kind: "crash" }] as const)(
    "$kind takes readiness from running pods until it is healed",
    async (fault) => {
      const { world, model } = await start();
      await create(deployments, "web", { replicas: 2 });
      await world.advance("5s");
      expect(await available()).toBe(2);
      model.setFault(fault);
      await world.advance("1s");
      expect(await available()).toBe(0);
      expect(isTrue((await deployment("web")).status?.conditions, "Available")).toBe(false);
      await patch(deployments, "web", { replicas: 3 });
      await world.advance("1m");
      expect(await available()).toBe(0);
      model.heal();
      await world.advance("5s");
      expect(await available()).toBe(3);
    },
  );

  it("start-late makes new pods late and leaves running ones alone", async () => {
    const { world, model } = await start();
    await create(deployments, "web", { replicas: 1 });
    await world.advance("5s");
    model.setFault({ kind: "start-late", delayMs: 60_000 });
    await patch(deployments, "web", { replicas: 2 });
    await world.advance("61s");
    expect(await available()).toBe(1);
    await world.advance("5s");
    expect(await available()).toBe(2);
  });

  it("hit only the pods of their scope", async () => {
    const { world, model } = await start();
    await create(deployments, "web", { replicas: 1 });
    await create(deployments, "other", { replicas: 1 });
    model.setFault({ kind: "pods-not-ready", labels: { app: "other" } });
    await world.advance("5s");
    expect(await available()).toBe(1);
    expect((await deployment("other")).status?.availableReplicas ?? 0).toBe(0);
  });
});

it("a namespace that is deleted goes with all its workloads", async () => {
  const { world, client } = await start();
  await client.create(resources.namespaces, namespace("shop"));
  for (const resource of [kinds.deployments, kinds.statefulSets, kinds.daemonSets] as const) {
    const { kind, plural } = resource;
    const selector = { matchLabels: { app: plural } };
    const named = kind === "StatefulSet" ? { serviceName: plural } : {};
    const spec = { selector, template: template(plural), ...named };
    const resourceOf = resource as unknown as typeof resources.pods;
    const metadata = { name: plural, namespace: "shop" };
    await client.create(resourceOf, newOf(resourceOf, metadata, { spec }));
  }
  await world.advance("5s");
  expect((await client.list(kinds.pods, { namespace: "shop" })).items).toHaveLength(3);
  await client.delete(resources.namespaces, { namespace: "", name: "shop" });
  await world.advance("10s");
  expect((await client.list(kinds.pods, { namespace: "shop" })).items).toEqual([]);
  const names = (await client.list(resources.namespaces)).items.map(
    ({ metadata }) => metadata.name,
  );
  expect(names).not.toContain("shop");
});

it("writes nothing while nothing changes", async () => {
  const { world, client } = await start();
  await create(deployments, "web", { replicas: 3 });
  await create(statefulSets, "db", { replicas: 2, serviceName: "db" });
  await create(daemonSets, "agent", {});
  await create(deployments, "big", { replicas: 1, template: template("big", "100") });
  const claim = {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };
  await client.create(kinds.claims, newOf(kinds.claims, { name: "c" }, claim));
  await world.advance("15m");
  const before = member.writes();
  const state = JSON.stringify(await everything(client));
  await world.advance("1h");
  expect(member.writes()).toBe(before);
  expect(JSON.stringify(await everything(client))).toBe(state);
});

async function everything(client: MemberWorld["client"]): Promise<unknown> {
  return Promise.all([
    client.list(kinds.pods),
    client.list(kinds.deployments),
    client.list(kinds.statefulSets),
    client.list(kinds.daemonSets),
  ]);
}
