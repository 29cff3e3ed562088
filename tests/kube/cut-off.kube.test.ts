/**
 * Three replicas of `lifeboat manager --share-members` on a real kube-apiserver and etcd, each in a network namespace of its own. One
 * of them loses its network to all members, and only that: packets vanish, the API server answers. No cluster turns not Ready, no
 * taint, no eviction; the others work on its members. What is shown to be quiet is then shown to be awake: a member that really
 * dies is tainted and emptied.
 */
import { setTimeout as wait } from "node:timers/promises";
import {
  clusters,
  clusterTaintPolicies,
  findCondition,
  propagationPolicies,
  resourceBindings,
} from "@lifeboat/api";
import { createRandom } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { wellKnown } from "@lifeboat/core";
import { Informer, leases, silentLog, silentMetrics } from "@lifeboat/kit";
import { deployment, resources } from "@lifeboat/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  allReady,
  fleetOf,
  type PropagationFleet,
  runLifeboat,
} from "../propagation/propagation-fleet.ts";
import { eventually } from "../support/eventually.ts";
import { LonelyPlace } from "../support/lonely-place.ts";
import { startEtcd } from "../support/real-api-server.ts";
import { startAll } from "../support/started.ts";
import { type MakePlace, type Replica, type Replicas, startReplicas } from "./replicas.ts";
import { startSimulatedMembers } from "./simulated-members.ts";

const NAMES: readonly string[] = Array.from({ length: 9 }, (_, i) => `member${i + 1}`);
const THRESHOLD_SECONDS = 4;
const FLAGS: readonly string[] = [
  "--share-members",
  "--feature-gates=Failover=true",
  "--resource-eviction-rate=10",
  `--cluster-failure-threshold=${THRESHOLD_SECONDS}s`,
  "--cluster-success-threshold=2s",
];

let fleet: PropagationFleet;
let replicas: Replicas;
const places = new Map<string, LonelyPlace>();
const seen: string[] = [];
const watching = new AbortController();

beforeAll(async () => {
  fleet = await startAll(async (started) => {
    const etcd = started.keep(await startEtcd());
    const makePlace: MakePlace = async (name, server, webhookPort) => {
      const place = started.keep(await LonelyPlace.make(name));
      places.set(name, place);
      await place.reach([portOf(server.url)], false);
      return { under: place.under, webhook: await place.open(webhookPort) };
    };
    replicas = await startReplicas(started, etcd, FLAGS, { makePlace });
    const { server } = replicas;
    const kubeconfigs = await startSimulatedMembers(started, server.kubeconfig, NAMES);
    const whole = { kill: () => Promise.resolve(), stop: () => started.stop() };
    return fleetOf(whole, server, kubeconfigs, NAMES);
  });
  const ends = await eventually(async () => {
    const { items } = await fleet.plane.list(clusters);
    expect(items).toHaveLength(NAMES.length);
    return items.map(({ spec }) => portOf(spec.apiEndpoint ?? ""));
  });
  for (const place of places.values()) await place.reach(ends, true);
  await eventually(() => allReady(fleet.plane, NAMES.length));
  await fleet.plane.create(clusterTaintPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: { name: "dead" },
    spec: {
      matchConditions: [
        { conditionType: "Ready", operator: "In", statusValues: ["False", "Unknown"] },
      ],
      taintsToAdd: [
        { key: "dead", effect: "NoExecute", addOnMatchSeconds: 1, removeOnMismatchSeconds: 1 },
      ],
    },
  });
  for (const name of NAMES) await place(`on-${name}`, name);
  await allCopied("on");
  await shared();
  watch();
});
afterAll(async () => {
  watching.abort();
  await fleet?.close();
});

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** A workload that prefers this member, and may run in any. */
async function place(name: string, member: string): Promise<void> {
  await fleet.plane.create(propagationPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name, namespace: "default" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name }],
      placement: {
        clusterAffinities: [
          { affinityName: "first", clusterNames: [member] },
          { affinityName: "others", clusterNames: NAMES.filter((one) => one !== member) },
        ],
      },
    },
  });
  await fleet.plane.create(resources.deployments, deployment(name));
}

/** Waits until the workload of this prefix that prefers it runs in each member. */
async function allCopied(prefix: string): Promise<void> {
  for (const name of NAMES)
    await eventually(async () => {
      const key = { namespace: "default", name: `${prefix}-${name}` };
      const copy = await fleet.members.get(name)?.get(resources.deployments, key);
      expect(copy?.["status"]).toMatchObject({ readyReplicas: 1 });
    });
}

/** Notes what must not happen while a replica is cut off: a cluster not Ready or with a taint, a workload that leaves its member. */
function watch(): void {
  const ports = {
    clock: createRealClock(),
    random: createRandom(1),
    log: silentLog,
    metrics: silentMetrics,
  };
  const fleetCopy = new Informer(ports, fleet.plane, clusters);
  fleetCopy.onChange((_old, now) => {
    if (now === undefined) return;
    const { name } = now.metadata;
    const { status, reason } = findCondition(now.status?.conditions, "Ready") ?? {};
    if (status !== "True") seen.push(`${name} is not Ready: ${reason}`);
    for (const { key } of now.spec.taints ?? []) seen.push(`${name} has the taint ${key}`);
  });
  const bindings = new Informer(ports, fleet.plane, resourceBindings);
  bindings.onChange((old, now) => {
    const [was, is] = [old, now].map((one) => one?.spec.clusters?.map(({ name }) => name).join());
    if (was !== undefined && is !== was)
      seen.push(`${old?.metadata.name} went from ${was} to ${is}`);
  });
  void fleetCopy.run(watching.signal);
  void bindings.run(watching.signal);
}

interface Share {
  readonly members: number;
  readonly isBlind: boolean;
}

/** The Leases by which replicas share out members, as the API server saw them renewed. */
const leaseNames = new Map<Replica, string>();

function nameLeases(): void {
  const renewed = replicas
    .audited()
    .filter(({ resource, name }) => resource === "leases" && name.startsWith("lifeboat-replica-"));
  for (const replica of replicas.all) {
    const own = replicas.credentialOf(replica);
    const { name = "" } = renewed.findLast(({ credential }) => credential === own) ?? {};
    leaseNames.set(replica, name);
  }
}

/** What each replica says of its share on its Lease. */
async function shares(): Promise<ReadonlyMap<Replica, Share>> {
  if (new Set(leaseNames.values()).size < replicas.all.length) nameLeases();
  const labelSelector = wellKnown.MANAGER_REPLICA;
  const { items } = await fleet.plane.list(leases, { namespace: "lifeboat-system", labelSelector });
  const found = new Map<Replica, Share>();
  for (const replica of replicas.all) {
    const own = items.find(({ metadata }) => metadata.name === leaseNames.get(replica));
    const text = own?.metadata.annotations?.[wellKnown.REPLICA_REPORT] ?? "{}";
    const { members = 0, isBlind = false } = JSON.parse(text) as Partial<Share>;
    found.set(replica, { members, isBlind });
  }
  return found;
}

/** Waits until all members are worked on, each replica sees, and none has nothing; answers the shares. */
function shared(): Promise<ReadonlyMap<Replica, Share>> {
  return eventually(async () => {
    const all = await shares();
    const counts = [...all.values()].map(({ members }) => members);
    expect(counts.reduce((sum, count) => sum + count)).toBe(NAMES.length);
    expect([...all.values()].filter(({ isBlind }) => isBlind)).toEqual([]);
    return all;
  });
}

async function cutOff(victim: Replica, prefix: string): Promise<void> {
  const before = (await shares()).get(victim)?.members ?? 0;
  const cutAt = performance.now();
  places.get(victim.name)?.setCut(true);
  await eventually(async () => {
    const all = await shares();
    expect(all.get(victim)).toEqual({ members: 0, isBlind: true });
    const others = [...all].filter(([replica]) => replica !== victim);
    expect(others.reduce((sum, [, { members }]) => sum + members, 0)).toBe(NAMES.length);
  });
  const tookMs = performance.now() - cutAt;
  const isLeader = replicas.leader() === victim;
  console.log(
    `${victim.name}${isLeader ? ", the leader," : ""} with ${before} of ${NAMES.length} members was cut off: ` +
      `others worked on all of them after ${Math.round(tookMs)} ms`,
  );
  for (const name of NAMES) await place(`${prefix}-${name}`, name);
  await allCopied(prefix);
  // Longer than it takes until the death of a member is tainted.
  await wait(3 * THRESHOLD_SECONDS * 1000);
  places.get(victim.name)?.setCut(false);
  await shared();
  expect(seen).toEqual([]);
}

it("a replica that loses its network to all members hands them on: no cluster turns not Ready, no taint, no eviction", async () => {
  const [most] = [...(await shares())].toSorted(([, a], [, b]) => b.members - a.members);
  if (most === undefined) throw new Error("there is no replica");
  const [victim, { members }] = most;
  expect(members).toBeGreaterThan(2);
  await cutOff(victim, "later");
});

it("a member that really dies is tainted and emptied", async () => {
  seen.length = 0;
  const flags = ["--mode", "api-down", "--kubeconfig", replicas.server.kubeconfig];
  await runLifeboat("member", "fail", "member1", ...flags);
  await eventually(async () => {
    expect(seen).toContain("member1 has the taint dead");
    const { spec } = await fleet.plane.get(resourceBindings, {
      namespace: "default",
      name: "on-member1-deployment",
    });
    expect(spec.clusters?.map(({ name }) => name)).not.toContain("member1");
    expect(spec.clusters).toHaveLength(NAMES.length - 1);
  });
  expect(seen.filter((one) => !/member1\b/.test(one))).toEqual([]);
});
