/** Replicas that share out members: one works on each, another takes over, and a replica's own trouble is no cluster's. */
import { clusters, propagationPolicies, works } from "@lifeboat/api";
import { conditionOf, deployment, oneOf, resources } from "@lifeboat/testkit";
import { afterEach, expect, it } from "vitest";
import {
  createSharedReplicas,
  type SharedReplica,
  type SharedReplicas,
} from "./shared-replicas.suite.ts";

const MEMBERS = ["m1", "m2", "m3", "m4", "m5", "m6"];
const NAMES = ["a", "b", "c"];

let replicas: SharedReplicas;
afterEach(() => replicas.close());

/** Three replicas at rest, with failover on, and a workload in each member. */
async function startAll(names: readonly string[] = NAMES): Promise<void> {
  replicas = await createSharedReplicas(MEMBERS, { failover: true, gatesByFlag: ["Failover"] });
  for (const name of names) replicas.start(name);
  await replicas.pass(40);
  for (const member of MEMBERS) await place(`on-${member}`, member);
  await replicas.pass(20);
  for (const member of MEMBERS) {
    expect(await readyOf(member)).toBe("True");
    expect(await hasCopy(`on-${member}`, member)).toBe(true);
  }
  replicas.seen.clear();
  for (const { writes } of replicas.all) writes.length = 0;
}

/** A workload that runs in this member, and may run in any. */
async function place(name: string, member: string): Promise<void> {
  const { plane } = replicas.fleet;
  await plane.create(propagationPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name, namespace: "default" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name }],
      placement: oneOf(member),
    },
  });
  await plane.create(resources.deployments, deployment(name));
}

async function readyOf(name: string): Promise<string | undefined> {
  const cluster = await replicas.fleet.plane.get(clusters, { namespace: "", name });
  return conditionOf(cluster, "Ready");
}

async function hasCopy(name: string, member: string): Promise<boolean> {
  const { items } = await replicas.fleet.member(member).client.list(resources.deployments);
  return items.some(({ metadata }) => metadata.name === name);
}

/** The members of a replica. */
async function shareOf(replica: SharedReplica): Promise<readonly string[]> {
  const owners = await Promise.all(MEMBERS.map((member) => replicas.owner(member)));
  return MEMBERS.filter((_, i) => owners[i] === replica);
}

/** A replica with two members or more. */
async function withMost(): Promise<{ replica: SharedReplica; share: readonly string[] }> {
  const shares = await Promise.all(
    replicas.all.map(async (replica) => ({ replica, share: await shareOf(replica) })),
  );
  const [most] = shares.toSorted((a, b) => b.share.length - a.share.length);
  if (most === undefined || most.share.length < 2) throw new Error("no replica has two members");
  return most;
}

/** Writes about members: to the members, and to Works and Clusters on the control plane. */
function onMembers({ writes }: SharedReplica): readonly string[] {
  return writes.filter((write) => /^m\d: |^update Work /.test(write));
}

it("each member is worked on by one replica, all of them by the three together, and decisions by the leader alone", async () => {
  await startAll();
  const shares = await Promise.all(replicas.all.map(shareOf));
  expect(shares.flat().toSorted()).toEqual(MEMBERS);
  expect(shares.filter((share) => share.length > 0).length).toBeGreaterThan(1);
  for (const member of MEMBERS) await place(`more-${member}`, member);
  await replicas.pass(10);
  for (const [i, replica] of replicas.all.entries()) {
    const written = new Set(
      replica.writes.flatMap((write) => /^(m\d): /.exec(write)?.slice(1) ?? []),
    );
    expect([...written].toSorted()).toEqual(shares[i]);
    const decides = replica.writes.some((write) => write.includes("ResourceBinding"));
    expect(decides).toBe(replica.manager.isLeading());
  }
  for (const member of MEMBERS) expect(await hasCopy(`more-${member}`, member)).toBe(true);
});

it("a replica that dies is replaced, and one that comes takes its share without a change in any member", async () => {
  await startAll();
  const { replica, share } = await withMost();
  replica.pause();
  await replicas.pass(40);
  expect(await Promise.all(share.map(readyOf))).toEqual(share.map(() => "True"));
  for (const member of share) await place(`later-${member}`, member);
  await replicas.pass(20);
  for (const member of share) expect(await hasCopy(`later-${member}`, member)).toBe(true);
  expect([...replicas.seen.keys()]).toEqual([]);
  for (const { writes } of replicas.all) writes.length = 0;
  const newcomer = replicas.start("d");
  await replicas.pass(60);
  expect((await shareOf(newcomer)).length).toBeGreaterThan(0);
  expect(newcomer.manager.isSharing()).toBe(true);
  expect(replicas.all.flatMap(onMembers)).toEqual([]);
  expect([...replicas.seen.keys()]).toEqual([]);
});

it("a replica that was paused past its Lease and goes on writes for no member before it is its own again", async () => {
  await startAll();
  const { replica, share } = await withMost();
  const [member = ""] = share;
  // It is in the middle of its work: the Work is there, and it has not applied it.
  await place("late", member);
  replica.pause();
  await replicas.pass(40);
  expect(await hasCopy("late", member)).toBe(true);
  for (const { writes } of replicas.all) writes.length = 0;
  replica.resume();
  await replicas.pass(9);
  expect(onMembers(replica)).toEqual([]);
  await replicas.pass(30);
  expect(await shareOf(replica)).toEqual(share);
  expect((await replicas.fleet.plane.list(works)).items).toHaveLength(MEMBERS.length + 1);
  expect([...replicas.seen.keys()]).toEqual([]);
});

it.each(["partition", "down"] as const)(
  "a replica that loses its network to all members (%s) hands them on: no taint, no eviction, no cluster that is not Ready",
  async (kind) => {
    await startAll();
    const { replica, share } = await withMost();
    replica.setNetwork({ kind });
    await replicas.pass(120);
    expect((await replicas.report(replica))?.isBlind).toBe(true);
    expect((await replicas.report(replica))?.members).toBe(0);
    for (const member of share) await place(`later-${member}`, member);
    await replicas.pass(20);
    for (const member of share) expect(await hasCopy(`later-${member}`, member)).toBe(true);
    replica.setNetwork(undefined);
    await replicas.pass(60);
    expect((await replicas.report(replica))?.isBlind).toBe(false);
    expect(await shareOf(replica)).toEqual(share);
    expect([...replicas.seen.keys()]).toEqual([]);
  },
);

it("a replica that alone does not reach a member hands that one on, and keeps the others", async () => {
  await startAll();
  const { replica, share } = await withMost();
  const [member = "", ...others] = share;
  replica.setNetwork({ kind: "partition" }, member);
  await replicas.pass(90);
  expect(await shareOf(replica)).toEqual(others);
  expect((await replicas.report(replica))?.isBlind).toBe(false);
  await place("later", member);
  await replicas.pass(20);
  expect(await hasCopy("later", member)).toBe(true);
  replica.setNetwork(undefined, member);
  await replicas.pass(60);
  expect(await shareOf(replica)).toEqual(share);
  expect([...replicas.seen.keys()]).toEqual([]);
});

it("a member that really dies is not Ready once a second replica has probed it, and its workloads leave", async () => {
  await startAll();
  const { share } = await withMost();
  const [member = ""] = share;
  for (const one of replicas.all) one.setNetwork({ kind: "down" }, member);
  await replicas.pass(60);
  const [[problem, second] = ["", 0]] = [...replicas.seen];
  expect(problem).toBe(`${member} Ready=False`);
  // The failure threshold of 30 s, a probe of 10 s, and the second's answer.
  expect(second - 60).toBeGreaterThanOrEqual(30);
  expect(second - 60).toBeLessThanOrEqual(46);
  await replicas.pass(60);
  expect(replicas.seen.has(`${member} tainted`)).toBe(true);
  expect([...replicas.seen.keys()].filter((one) => !one.includes(member))).toEqual([]);
  for (const one of replicas.all) one.setNetwork(undefined, member);
  await replicas.pass(60);
  expect(await readyOf(member)).toBe("True");
});

it("a whole share that really dies is reported by the replicas that it was handed on to", async () => {
  await startAll();
  const { share } = await withMost();
  for (const member of share)
    for (const one of replicas.all) one.setNetwork({ kind: "down" }, member);
  await replicas.pass(150);
  expect(await Promise.all(share.map(readyOf))).toEqual(share.map(() => "False"));
  expect([...replicas.seen.keys()].filter((one) => !share.some((m) => one.includes(m)))).toEqual(
    [],
  );
});

it("when every member is silent for every replica, all of them are reported, as by one replica", async () => {
  await startAll();
  for (const one of replicas.all) one.setNetwork({ kind: "down" });
  await replicas.pass(240);
  expect(await Promise.all(MEMBERS.map(readyOf))).toEqual(MEMBERS.map(() => "False"));
});

it("a single replica needs no second, and works on everything at once", async () => {
  replicas = await createSharedReplicas(MEMBERS);
  const alone = replicas.start("a");
  await replicas.pass(20);
  expect(await Promise.all(MEMBERS.map(readyOf))).toEqual(MEMBERS.map(() => "True"));
  alone.setNetwork({ kind: "down" }, "m1");
  await replicas.pass(45);
  expect(await readyOf("m1")).toBe("False");
});

it("a replica that ends in order leaves no Lease, and its members are taken over at once", async () => {
  await startAll();
  const { replica, share } = await withMost();
  await replica.stop();
  expect(await replicas.report(replica)).toBeUndefined();
  await replicas.pass(4);
  for (const member of share) await place(`later-${member}`, member);
  await replicas.pass(30);
  for (const member of share) expect(await hasCopy(`later-${member}`, member)).toBe(true);
  expect([...replicas.seen.keys()]).toEqual([]);
});
