/** The whole plane with Pull clusters, whose agents run in this process: registration, work, silence, failover and return. */
import { type Cluster, clusters, failure, findCondition, orNothing, works } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { knowsEndorsement } from "@lifeboat/core/clusters/agents";
import { CLUSTER_LEFT } from "@lifeboat/core/clusters/certificates";
import { leases } from "@lifeboat/kit";
import {
  configMap,
  deployment,
  type Fleet,
  type FleetAgent,
  newNamespace,
  oneOf,
  resources,
  startAgent,
} from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { failoverFleet, type Hands, policyFor } from "../failover/failover.suite.ts";

let fleet: Fleet;
let hands: Hands;
const agents: FleetAgent[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) agent.stop();
  await fleet.close();
});

const web = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

/** A fleet with the Push cluster m1 and these Pull clusters, none of which the plane can connect to. */
async function pullFleet(
  pulls: readonly string[],
  options: Parameters<typeof failoverFleet>[1] = {},
  push: readonly string[] = ["m1"],
): Promise<void> {
  ({ fleet, hands } = await failoverFleet(push, options));
  for (const name of pulls) {
    await fleet.addMember(name);
    agents.push(startAgent(fleet, name));
  }
  await fleet.advance("60s");
}

function agent(i = 0): FleetAgent {
  const found = agents[i];
  if (found === undefined) throw new Error("there is no such agent");
  return found;
}

function read(name: string): Promise<Cluster> {
  return fleet.plane.get(clusters, { namespace: "", name });
}

async function ready(name: string): Promise<string> {
  const condition = findCondition((await read(name)).status?.conditions, "Ready");
  return condition === undefined ? "none" : `${condition.status} ${condition.reason}`;
}

function lease(name: string) {
  return fleet.plane.get(leases, { namespace: "karmada-cluster", name });
}

async function run(placement: object, spec: object = {}): Promise<void> {
  await hands.create(
    policyFor(web, { placement, ...spec }),
    resources.deployments,
    deployment("web"),
  );
  await fleet.advance("20s");
}

describe("a Pull cluster registers", () => {
  it("with its id and location, becomes Ready, and its Lease belongs to it", async () => {
    ({ fleet, hands } = await failoverFleet([]));
    await fleet.addMember("a1");
    agents.push(startAgent(fleet, "a1", { region: "eu", zones: ["a"], provider: "own" }));
    await fleet.advance("60s");
    const cluster = await read("a1");
    const kubeSystem = await fleet
      .member("a1")
      .client.get(resources.namespaces, { namespace: "", name: "kube-system" });
    expect(cluster.spec).toMatchObject({
      syncMode: "Pull",
      id: kubeSystem.metadata.uid,
      region: "eu",
      zones: ["a"],
      provider: "own",
    });
    expect(cluster.metadata.labels).toBeUndefined();
    expect(await ready("a1")).toBe("True ClusterReady");
    expect(cluster.status).toMatchObject({ nodeSummary: { totalNum: 1 } });
    const found = await lease("a1");
    expect(knowsEndorsement(found)).toBe(true);
    expect(found).toMatchObject({
      metadata: {
        ownerReferences: [{ kind: "Cluster", name: "a1", uid: cluster.metadata.uid }],
      },
      spec: { holderIdentity: "a1", leaseDurationSeconds: 40 },
    });
  });

  it("renews its Lease every ten seconds, and at rest writes nothing else", async () => {
    await pullFleet(["a1"]);
    await fleet.advance("2m");
    const before = agent().writes;
    await fleet.advance("100s");
    // One renewal of the plane's Lease, and five of the election's in the member, in ten seconds.
    const election = 50;
    expect(agent().writes - before).toBeGreaterThanOrEqual(10);
    expect(agent().writes - before).toBeLessThanOrEqual(10 + election + 5);
    const { metadata } = await read("a1");
    await fleet.advance("5m");
    expect((await read("a1")).metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  it("and another member of the same name is refused", async () => {
    await pullFleet(["a1"]);
    await fleet.addMember("a2");
    agents.push(startAgent(fleet, "a2", { cluster: "a1" }));
    await fleet.advance("30s");
    expect(agent(1).stopped).toContain("belongs to another member");
    expect(await ready("a1")).toBe("True ClusterReady");
  });
});

describe("a workload", () => {
  it("about which its cluster reports more than any may is reported by none, and its Work tells why", async () => {
    await pullFleet(["a1"]);
    await run({ clusterAffinity: { clusterNames: ["a1"] } });
    agent().stop();
    // As a kube-apiserver stores it, which asks about no report.
    const namespace = "karmada-es-a1";
    const [work] = (await fleet.plane.list(works, { namespace })).items;
    if (work === undefined) throw new Error("the copy has a Work");
    const [report] = work.status?.manifestStatuses ?? [];
    const status = { note: "x".repeat(300_000) };
    await fleet.plane.update(
      works,
      {
        ...work,
        status: { ...work.status, manifestStatuses: [{ ...report, status }] },
      } as typeof work,
      { subresource: "status" },
    );
    await fleet.advance("10s");
    const binding = await hands.binding();
    expect(JSON.stringify(binding).length).toBeLessThan(20_000);
    expect(binding).toMatchObject({
      status: { aggregatedStatus: [{ clusterName: "a1", health: "Unknown" }] },
    });
    const { items } = await fleet.plane.list(resources.events, { namespace });
    expect(items.map(({ reason }) => reason)).toContain("ReportTooLarge");
  });

  it("runs on it and reports, and leaves with its template", async () => {
    await pullFleet(["a1"]);
    await run({ clusterAffinity: { clusterNames: ["a1"] } });
    expect(await hands.copy("a1")).toBeDefined();
    expect(await hands.binding()).toMatchObject({
      status: { aggregatedStatus: [{ clusterName: "a1", applied: true, health: "Healthy" }] },
    });
    const { items } = await fleet.plane.list(resources.events, { namespace: "default" });
    const told = items.filter(
      ({ involvedObject: about }) => (about as { kind: string }).kind === "Deployment",
    );
    expect(told.map(({ reason, message }) => `${String(reason)}: ${String(message)}`)).toContain(
      "SyncSucceed: Successfully applied Deployment(default/web) to cluster a1",
    );
    await fleet.plane.delete(resources.deployments, { namespace: "default", name: "web" });
    await fleet.advance("30s");
    expect(await hands.copy("a1")).toBeUndefined();
    expect(await hands.works()).toBe("");
  });

  it("keeps running through hours without the plane, and what changed meanwhile is made up for", async () => {
    await pullFleet(["a1"]);
    await run({ clusterAffinity: { clusterNames: ["a1"] } });
    agent().toPlane.setFault({ kind: "partition" });
    await fleet.advance("3h");
    expect(await hands.copy("a1")).toBeDefined();
    const template = await fleet.plane.get(resources.deployments, {
      namespace: "default",
      name: "web",
    });
    await fleet.plane.update(resources.deployments, {
      ...template,
      spec: { ...(template["spec"] as object), replicas: 3 },
    });
    await fleet.advance("1m");
    agent().toPlane.setFault(undefined);
    await fleet.advance("3m");
    expect(await hands.copy("a1")).toMatchObject({ spec: { replicas: 3 } });
    expect(await ready("a1")).toBe("True ClusterReady");
  });
});

describe("a Pull cluster whose link is cut", () => {
  it("becomes Unknown, is evacuated, returns and is cleaned up", async () => {
    await pullFleet(["a1"], { failover: true });
    await run(oneOf("a1", "m1"));
    expect(await hands.placement()).toBe("a1");
    agent().toPlane.setFault({ kind: "partition" });
    await fleet.advance("50s");
    expect(await ready("a1")).toBe("Unknown ClusterStatusUnknown");
    await hands.taint("a1");
    await fleet.advance("1m");
    expect(await hands.placement()).toBe("m1");
    expect(await hands.works()).toBe("a1 going, m1");
    expect(await hands.copy("a1")).toBeDefined();
    expect(await hands.condition("a1", "StaleCopiesRemoved")).toBe("False");
    agent().toPlane.setFault(undefined);
    await hands.untaint("a1");
    await fleet.advance("4m");
    expect(await ready("a1")).toBe("True ClusterReady");
    expect(await hands.copy("a1")).toBeUndefined();
    expect(await hands.copy("m1")).toBeDefined();
    expect(await hands.condition("a1", "StaleCopiesRemoved")).toBe("True");
  });

  it("keeps a workload of mode Directly waiting: a lapsed lease proves nothing", async () => {
    await pullFleet(["a1"], { failover: true });
    await run(oneOf("a1", "m1"), { failover: { cluster: { purgeMode: "Directly" } } });
    expect(await hands.placement()).toBe("a1");
    agent().toPlane.setFault({ kind: "partition" });
    await fleet.advance("50s");
    await hands.taint("a1");
    await fleet.advance("2h");
    expect(await hands.copy("m1")).toBeUndefined();
    expect(await hands.copy("a1")).toBeDefined();
    await hands.annotate("a1", wellKnown.FENCED, "{}");
    await fleet.advance("1m");
    expect(await hands.placement()).toBe("m1");
    expect(await hands.copy("m1")).toBeDefined();
  });

  it("takes the condition Fenced for a proof where that is trusted", async () => {
    await pullFleet(["a1"], { failover: true, trustFencedCondition: true });
    await run(oneOf("a1", "m1"), { failover: { cluster: { purgeMode: "Directly" } } });
    agent().toPlane.setFault({ kind: "partition" });
    await fleet.advance("50s");
    await hands.taint("a1");
    await fleet.advance("1m");
    expect(await hands.copy("m1")).toBeUndefined();
    const cluster = await read("a1");
    const fenced = {
      type: "Fenced",
      status: "True" as const,
      reason: "MachinesOff",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const conditions = [...(cluster.status?.conditions ?? []), fenced];
    await fleet.plane.update(
      clusters,
      { ...cluster, status: { ...cluster.status, conditions } },
      { subresource: "status" },
    );
    await fleet.advance("1m");
    expect(await hands.copy("m1")).toBeDefined();
  });

  it("gets no first copy of a Work that it heard of before the cut and that is not wanted any more", async () => {
    await pullFleet(["a1"], { failover: true });
    // The member is out of reach: the Work is known, endorsed, and cannot be applied.
    agent().toMember.setFault({ kind: "down" });
    await run(oneOf("a1", "m1"));
    expect(await hands.placement()).toBe("a1");
    agent().toPlane.setFault({ kind: "partition" });
    await fleet.advance("50s");
    await hands.taint("a1");
    await fleet.advance("1m");
    agent().toMember.setFault(undefined);
    await fleet.advance("10m");
    expect(await hands.copy("a1")).toBeUndefined();
    agent().toPlane.setFault(undefined);
    await hands.untaint("a1");
    await fleet.advance("4m");
    expect(await hands.copy("a1")).toBeUndefined();
    expect(await hands.works()).toBe("m1");
  });
});

describe("releases", () => {
  it("stop when most Pull clusters fall silent together, until a person agrees", async () => {
    await pullFleet(["a1", "a2", "a3"], { failover: true }, ["m1", "m2", "m3"]);
    await run(oneOf("a1", "m1"));
    for (const one of agents.slice(0, 2)) one.toPlane.setFault({ kind: "partition" });
    await fleet.advance("60s");
    expect(await ready("a1")).toBe("Unknown ClusterStatusUnknown");
    await hands.taint("a1");
    await fleet.advance("5m");
    expect(await hands.placement()).toBe("a1");
    agent(1).toPlane.setFault(undefined);
    await fleet.advance("2m");
    expect(await hands.placement()).toBe("m1");
  });
});

it("a member whose API hangs keeps its Lease, and is reported not Ready", async () => {
  await pullFleet(["a1"]);
  agent().toMember.setFault({ kind: "partition" });
  await fleet.advance("3m");
  expect(await ready("a1")).toBe("False ClusterNotReachable");
});

it.each([-3_600_000, 3_600_000])("a clock that is wrong by %i ms changes nothing", async (byMs) => {
  ({ fleet, hands } = await failoverFleet([]));
  await fleet.addMember("a1");
  agents.push(startAgent(fleet, "a1", { clockWrongByMs: byMs }));
  await fleet.advance("60s");
  await run({ clusterAffinity: { clusterNames: ["a1"] } });
  await fleet.advance("10m");
  expect(await ready("a1")).toBe("True ClusterReady");
  expect(await hands.copy("a1")).toBeDefined();
  agent().toPlane.setFault({ kind: "down" });
  await fleet.advance("50s");
  expect(await ready("a1")).toBe("Unknown ClusterStatusUnknown");
});

describe("two agents of one cluster", () => {
  it("do not quarrel, and one goes on when the other dies", async () => {
    await pullFleet(["a1"]);
    agents.push(startAgent(fleet, "a1", { instance: "second" }));
    await run({ clusterAffinity: { clusterNames: ["a1"] } });
    expect(await hands.copy("a1")).toBeDefined();
    agent().kill();
    await fleet.advance("1m");
    await fleet.plane.delete(resources.deployments, { namespace: "default", name: "web" });
    await fleet.advance("1m");
    expect(await hands.copy("a1")).toBeUndefined();
    expect(await ready("a1")).toBe("True ClusterReady");
  });
});

describe("leaving", () => {
  const LEFT = failure(401, "Unauthorized", "Unauthorized", {
    causes: [{ reason: CLUSTER_LEFT }],
  });
  const REVOKED = failure(401, "Unauthorized", "Unauthorized", {
    causes: [{ reason: "CertificateRevoked" }],
  });

  it("an agent that was cut off while its cluster left stops when it is refused, and does so again", async () => {
    await pullFleet(["a1"]);
    const { toPlane } = agent();
    toPlane.setFault({ kind: "partition" });
    await fleet.advance("5m");
    toPlane.setFault({ kind: "refused", status: LEFT });
    await fleet.advance("2m");
    expect(agent().stopped).toContain("the Cluster a1 was deleted");
    agents.push(startAgent(fleet, "a1"));
    agent(1).toPlane.setFault({ kind: "refused", status: LEFT });
    await fleet.advance("1m");
    expect(agent(1).stopped).toContain("the Cluster a1 was deleted");
  });

  it("an agent whose certificate was revoked goes on trying: a person may give it another", async () => {
    await pullFleet(["a1"]);
    agent().toPlane.setFault({ kind: "refused", status: REVOKED });
    await fleet.advance("10m");
    expect(agent().stopped).toBeUndefined();
  });

  it("beside a server that takes the rights away with the Cluster, the agent stops", async () => {
    await pullFleet(["a1"]);
    await fleet.plane.delete(clusters, { namespace: "", name: "a1" });
    agent().mayNotGet.add(clusters.plural);
    await fleet.advance("2m");
    expect(agent().stopped).toContain("the Cluster a1 was deleted");
  });

  it("a deleted Cluster takes its copies along, its agent stops and does not make it again", async () => {
    await pullFleet(["a1"]);
    await run({ clusterAffinity: { clusterNames: ["a1"] } });
    await fleet.plane.delete(resources.deployments, { namespace: "default", name: "web" });
    await fleet.plane.delete(clusters, { namespace: "", name: "a1" });
    await fleet.advance("2m");
    expect(await orNothing(read("a1"))).toBeUndefined();
    expect(agent().stopped).toContain("was deleted");
    agents.push(startAgent(fleet, "a1"));
    await fleet.advance("1m");
    expect(agent(1).stopped).toContain("was deleted");
    expect(await orNothing(read("a1"))).toBeUndefined();
  });

  it("one that is silent is let go by force, and what is in it stays", async () => {
    await pullFleet(["a1"]);
    await run({ clusterAffinity: { clusterNames: ["a1"] } });
    agent().toPlane.setFault({ kind: "down" });
    await fleet.advance("1m");
    await hands.annotate("a1", wellKnown.FORCE_REMOVAL, "true");
    await fleet.plane.delete(clusters, { namespace: "", name: "a1" });
    await fleet.advance("2m");
    expect(await orNothing(read("a1"))).toBeUndefined();
    expect(await hands.copy("a1")).toBeDefined();
  });
});

describe("what nothing but the plane can judge", () => {
  it("a Work whose binding is gone is deleted", async () => {
    await pullFleet(["a1"]);
    const manifest = configMap("late");
    const made = await fleet.plane.create(works, {
      apiVersion: "work.karmada.io/v1alpha1",
      kind: "Work",
      metadata: {
        namespace: "karmada-es-a1",
        name: "late",
        annotations: { [wellKnown.BINDING_NAMESPACE]: "default", [wellKnown.BINDING_NAME]: "late" },
        finalizers: [wellKnown.EXECUTION_FINALIZER],
      },
      spec: { workload: { manifests: [manifest] } },
    });
    await fleet.advance("2m");
    const key = { namespace: "karmada-es-a1", name: made.metadata.name };
    expect(await orNothing(fleet.plane.get(works, key))).toBeUndefined();
    const copy = { namespace: "default", name: "late" };
    expect(await hands.copy("a1", resources.configMaps, copy)).toBeUndefined();
  });

  it("a copy that a restored member brings back is removed once the others are well", async () => {
    await pullFleet(["a1"]);
    await run(oneOf("a1", "m1"));
    const copy = await hands.copy("a1");
    // Its kind must stay followed, as by another workload of the cluster.
    await fleet.plane.create(resources.namespaces, newNamespace("other"));
    const other = { ...web, name: "other" };
    await hands.create(
      policyFor(other, { placement: { clusterAffinity: { clusterNames: ["a1"] } } }),
      resources.deployments,
      deployment("other"),
    );
    await hands.taint("a1");
    await hands.evict("a1");
    await fleet.advance("1m");
    await hands.untaint("a1");
    await fleet.advance("1m");
    expect(await hands.copy("a1")).toBeUndefined();
    expect(await hands.placement()).toBe("m1");
    const { uid: _uid, resourceVersion: _version, ...metadata } = copy?.metadata ?? { name: "web" };
    await fleet.member("a1").client.create(resources.deployments, {
      ...copy,
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
    });
    await fleet.advance("5m");
    expect(await hands.copy("a1")).toBeUndefined();
    expect(await hands.works()).toBe("a1, m1");
  });
});

it("an agent that dies between any two writes leaves nothing undone", async () => {
  for (let dies = 1; ; dies++) {
    ({ fleet, hands } = await failoverFleet([]));
    await fleet.addMember("a1");
    const first = startAgent(fleet, "a1", { diesAtWrite: dies, leaderElect: false });
    await fleet.advance("30s");
    await run({ clusterAffinity: { clusterNames: ["a1"] } });
    const reached = !first.isAlive;
    first.kill();
    const second = startAgent(fleet, "a1", { leaderElect: false });
    await fleet.advance("2m");
    expect(await ready("a1"), `write ${dies}`).toBe("True ClusterReady");
    expect(await hands.copy("a1"), `write ${dies}`).toBeDefined();
    await fleet.plane.delete(resources.deployments, { namespace: "default", name: "web" });
    await fleet.advance("3m");
    expect(await hands.copy("a1"), `write ${dies}`).toBeUndefined();
    expect(await hands.works(), `write ${dies}`).toBe("");
    second.kill();
    if (!reached) return;
    await fleet.close();
  }
}, 60_000);
