/** Simulated members and the control plane that rules them, both in process on one virtual clock. */
import {
  type AnyObject,
  type Cluster,
  clusters,
  type SimulatedMember as SimulatedMemberObject,
  simulatedMembers,
} from "@lifeboat/api";
import { createMemoryStorage, type MemoryStorage, type User } from "@lifeboat/apiserver";
import { createRandom, createSeededIds, instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import {
  type Client,
  type KitPorts,
  leases,
  NotSent,
  silentLog,
  silentMetrics,
} from "@lifeboat/kit";
import { resources } from "@lifeboat/testkit";
import { beforeEach, describe, expect, it } from "vitest";
import { createControlPlane } from "../control-plane.ts";
import {
  createMemberHost,
  type HostedAgent,
  type HostedMember,
  servingCondition,
} from "./member-host.ts";
import { modelOptions } from "./member-spec.ts";
import { createSimulatedMember } from "./simulated-member.ts";

const ADMIN: User = { name: "admin", groups: ["system:masters"] };
const KEY = { namespace: "", name: "member1" };

let clock: VirtualClock;
let ports: KitPorts & { readonly ids: ReturnType<typeof createSeededIds> };
let storage: MemoryStorage;
let plane: Client;
let writes: string[];
let host: AbortController;

beforeEach(async () => {
  clock = new VirtualClock(instantOf(Date.UTC(2026, 0, 1)), drainPromises);
  const random = createRandom(1);
  ports = {
    clock,
    random,
    ids: createSeededIds(random.fork("ids")),
    log: silentLog,
    metrics: silentMetrics,
  };
  storage = createMemoryStorage(clock, { syncDelayMs: 0 });
  const controlPlane = await createControlPlane(
    { ...ports, storage },
    { version: "0.1.0", tokens: new Map() },
  );
  plane = controlPlane.server.client(ADMIN);
  writes = [];
});

async function newMember(name: string, server: string, token = "secret"): Promise<HostedMember> {
  const spec = { nodes: 1, podStartSeconds: 1, podStopSeconds: 1 };
  const disk = createMemoryStorage(clock, { syncDelayMs: 0 });
  const member = await createSimulatedMember(
    { ...ports, storage: disk },
    { name, version: "0.1.0", tokens: new Map([[token, ADMIN]]), model: modelOptions(spec) },
  );
  const access = { server, insecureSkipTlsVerify: false, token, caBundle: "PEM" };
  return { member, access, spec };
}

/** The plane as members reach it: writes are counted, and the one with this number is refused by the network. */
function counting(dies = 0): Client {
  const counted =
    <A extends readonly unknown[], R>(verb: string, call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      writes.push(verb);
      if (writes.length === dies) throw new NotSent("the plane died");
      return call(...args);
    };
  return {
    get: plane.get.bind(plane),
    list: plane.list.bind(plane),
    watch: plane.watch.bind(plane),
    read: plane.read.bind(plane),
    delete: plane.delete.bind(plane),
    deleteCollection: plane.deleteCollection.bind(plane),
    create: counted("create", plane.create.bind(plane)),
    update: counted("update", plane.update.bind(plane)),
    patch: counted("patch", plane.patch.bind(plane)),
  };
}

async function run(hosted: HostedMember, client = counting()): Promise<void> {
  host = new AbortController();
  void createMemberHost(ports, client, [hosted]).run(host.signal);
  await clock.advance(3000);
}

async function stop(): Promise<void> {
  host.abort();
  await clock.advance(1000);
}

const object = (): Promise<SimulatedMemberObject> => plane.get(simulatedMembers, KEY);
const cluster = (): Promise<Cluster> => plane.get(clusters, KEY);
const secret = (): Promise<AnyObject> =>
  plane.get(resources.secrets, { namespace: "karmada-cluster", name: "member1" });

async function setFaults(faults: readonly object[]): Promise<void> {
  const body = { spec: { faults: faults as never } };
  await plane.patch(simulatedMembers, KEY, { type: "merge", body });
  await clock.advance(1000);
}

const expectJoined = async (): Promise<void> => {
  expect(await object()).toMatchObject({
    status: {
      observedGeneration: 1,
      endpoint: "https://127.0.0.1:1001",
      conditions: [
        { type: "Serving", status: "True" },
        { type: "Joined", status: "True", message: "it is the Cluster member1" },
      ],
    },
  });
  expect((await cluster()).spec).toMatchObject({
    syncMode: "Push",
    apiEndpoint: "https://127.0.0.1:1001",
    secretRef: { namespace: "karmada-cluster", name: "member1" },
  });
  expect((await secret())["data"]).toEqual({ token: btoa("secret"), caBundle: btoa("PEM") });
};

describe("joining", () => {
  it("makes the member's object, its Secret and its Cluster, and then rests", async () => {
    const hosted = await newMember("member1", "https://127.0.0.1:1001");
    await run(hosted);
    await expectJoined();
    const kubeSystem = await hosted.member.server
      .client(ADMIN)
      .get(resources.namespaces, { namespace: "", name: "kube-system" });
    expect((await cluster()).spec.id).toBe(kubeSystem.metadata.uid);
    const before = writes.length;
    await clock.advance(600_000);
    expect(writes).toHaveLength(before);
    const all = async (): Promise<readonly unknown[]> => [
      await object(),
      await cluster(),
      await secret(),
    ];
    const rested = await all();
    await stop();
    await run(hosted);
    expect(await all()).toEqual(rested);
  });

  it("ends the same when the plane dies at any write", async () => {
    for (let dies = 1; dies <= 8; dies++) {
      const name = "member1";
      const hosted = await newMember(name, "https://127.0.0.1:1001");
      writes = [];
      await run(hosted, counting(dies));
      await expectJoined();
      expect(writes.length).toBeGreaterThanOrEqual(dies);
      await stop();
      await plane.delete(clusters, KEY);
      await plane.delete(simulatedMembers, KEY);
      await plane.deleteCollection(resources.secrets, { namespace: "karmada-cluster" });
    }
  });

  it("brings a new port and a new token to what is joined", async () => {
    const first = await newMember("member1", "https://127.0.0.1:1001");
    await run(first);
    await stop();
    const access = { ...first.access, server: "https://127.0.0.1:2002", token: "other" };
    await run({ ...first, access });
    expect((await cluster()).spec.apiEndpoint).toBe("https://127.0.0.1:2002");
    expect(await secret()).toHaveProperty("data.token", btoa("other"));
    expect(await object()).toHaveProperty("status.endpoint", "https://127.0.0.1:2002");
  });

  it("does not come back by itself after somebody unjoined it", async () => {
    const hosted = await newMember("member1", "https://127.0.0.1:1001");
    await run(hosted);
    await plane.delete(clusters, KEY);
    await setFaults([{ mode: "errors" }]);
    await stop();
    await run(hosted);
    await expect(cluster()).rejects.toThrow("not found");
  });

  it("never takes the name of another cluster, and joins once it is free", async () => {
    await plane.create(clusters, {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name: "member1" },
      spec: { id: "somebody", syncMode: "Pull" },
    });
    await run(await newMember("member1", "https://127.0.0.1:1001"));
    expect((await object()).status?.conditions?.[1]).toMatchObject({
      type: "Joined",
      status: "False",
      reason: "Refused",
      message: expect.stringContaining("another cluster is joined as member1") as string,
    });
    expect((await cluster()).spec.id).toBe("somebody");
    await plane.delete(clusters, KEY);
    await clock.advance(10_000);
    await expectJoined();
  });
});

describe("faults", () => {
  it("are in force when the status has seen them, and end when they are taken away", async () => {
    const hosted = await newMember("member1", "https://127.0.0.1:1001");
    const heard: boolean[] = [];
    hosted.member.onServing(async (isServing) => void heard.push(isServing));
    await run(hosted);
    await setFaults([{ mode: "api-down" }]);
    expect(heard).toEqual([false]);
    expect(await object()).toMatchObject({
      status: { observedGeneration: 2, conditions: [{ status: "False", reason: "ApiDown" }, {}] },
    });
    await setFaults([]);
    expect(heard).toEqual([false, true]);
    expect(await object()).toMatchObject({
      status: { observedGeneration: 3, conditions: [{ status: "True", reason: "Serving" }, {}] },
    });
  });

  it("are taken up again after a restart of the process", async () => {
    await run(await newMember("member1", "https://127.0.0.1:1001"));
    await setFaults([{ mode: "api-down" }]);
    await stop();
    const again = await newMember("member1", "https://127.0.0.1:1001");
    const heard: boolean[] = [];
    again.member.onServing(async (isServing) => void heard.push(isServing));
    await run(again);
    expect(heard).toEqual([false]);
  });

  it.each([
    [[], "True", "Serving"],
    [["slow", "errors"], "True", "Serving"],
    [["partition"], "False", "Partitioned"],
    [["partition", "api-down"], "False", "ApiDown"],
  ] as const)("%j is told as Serving=%s (%s)", (modes, status, reason) => {
    const faults = modes.map((mode) => ({ mode }));
    expect(servingCondition(faults)).toMatchObject({ type: "Serving", status, reason });
  });
});

describe("a member with an agent of its own", () => {
  const MEMORY = { namespace: "karmada-system", name: "karmada-agent-member1" };
  let log: string[];
  let problem: string | undefined;

  beforeEach(() => {
    log = [];
    problem = undefined;
  });

  async function pullMember(): Promise<HostedMember> {
    let isStarted = false;
    const agent: HostedAgent = {
      start: (_plane, isNew) => {
        if (!isStarted) log.push(isNew ? "start new" : "start");
        isStarted = true;
      },
      isStarted: () => isStarted,
      problem: () => problem,
      stop: async () => {
        if (isStarted) log.push("stop");
        isStarted = false;
      },
    };
    return { ...(await newMember("member1", "https://127.0.0.1:1001")), agent };
  }

  /** What the agent would do at the control plane. */
  async function agentRegisters(syncMode: "Pull" | "Push" = "Pull"): Promise<void> {
    await plane.create(clusters, {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name: "member1" },
      spec: { syncMode },
    });
  }
  async function agentRenews(): Promise<void> {
    await plane.create(leases, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace: "karmada-cluster", name: "member1" },
      spec: { holderIdentity: "member1", renewTime: "2026-01-01T00:00:00.000000Z" },
    });
  }
  const joined = async () =>
    (await object()).status?.conditions?.find(({ type }) => type === "Joined");

  it("counts as joined with the first Lease, gets no Secret, and then rests", async () => {
    await plane.create(resources.namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "karmada-cluster" },
    });
    await run(await pullMember());
    expect(log).toEqual(["start new"]);
    expect(await joined()).toMatchObject({ status: "False", reason: "Registering" });
    await agentRegisters();
    await clock.advance(1000);
    expect(await joined()).toMatchObject({ status: "False", reason: "Registering" });
    await agentRenews();
    await clock.advance(1000);
    expect(await joined()).toMatchObject({ status: "True" });
    await expect(secret()).rejects.toThrow();
    writes = [];
    await clock.advance(60_000);
    expect(writes).toEqual([]);
    await stop();
  });

  it("tells why it is not registered, and takes up faults meanwhile", async () => {
    problem = "the control plane knows no such token";
    await run(await pullMember());
    expect(await joined()).toMatchObject({ status: "False", message: problem });
    await setFaults([{ mode: "partition" }]);
    expect((await object()).status?.observedGeneration).toBe(2);
    await stop();
  });

  it("stays away once it was unregistered", async () => {
    await run(await pullMember());
    await stop();
    const { metadata } = await object();
    await plane.patch(
      simulatedMembers,
      { namespace: "", name: metadata.name },
      {
        type: "merge",
        body: {
          status: {
            conditions: [
              {
                type: "Joined",
                status: "True",
                reason: "Joined",
                message: "",
                lastTransitionTime: "2026-01-01T00:00:00Z",
              },
            ],
          },
        },
      },
      { subresource: "status" },
    );
    log = [];
    await run(await pullMember());
    expect(log).toEqual([]);
    expect(await joined()).toMatchObject({ status: "True" });
    await stop();
  });

  it("has no agent while the control plane has it as a push member, and is told so", async () => {
    await agentRegisters("Push");
    const hosted = await pullMember();
    await run(hosted);
    expect(log).toEqual([]);
    expect(await joined()).toMatchObject({
      status: "False",
      reason: "Refused",
      message: expect.stringContaining("lifeboat unjoin member1"),
    });
    await stop();
  });

  it("forgets a Cluster of before when it registers again", async () => {
    const hosted = await pullMember();
    const inMember = hosted.member.server.client(ADMIN);
    await inMember.create(resources.namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: MEMORY.namespace },
    });
    await inMember.create(resources.configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: MEMORY,
      data: { clusterUid: "of-before" },
    });
    await run(hosted);
    await expect(inMember.get(resources.configMaps, MEMORY)).rejects.toThrow(/not found/);
    await stop();
  });
});
