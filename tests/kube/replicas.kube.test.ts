/**
 * Three replicas of `lifeboat manager` on a real kube-apiserver and etcd, while clusters are emptied: the leader is killed, the leader is
 * paused for longer than its lease, the API server is away. However it goes, nothing is evicted twice or lost, the rate is kept,
 * every workload has a healthy copy all the time, and no two replicas write in turns.
 *
 * LIFEBOAT_LEADER_KILLS sets how many leaders are killed (2 in CI, more in the weekly run), LIFEBOAT_SEED the randomness.
 */
import { setTimeout as wait } from "node:timers/promises";
import { clusters, evacuations, propagationPolicies, resourceBindings, works } from "@lifeboat/api";
import { createRandom } from "@lifeboat/base";
import { deployment, oneOf, resources } from "@lifeboat/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { EvictionLog, tooFast } from "../failover/eviction-log.ts";
import { copiesIn, keepLooking, type Looking } from "../failover/looking.ts";
import { Operator } from "../failover/operator.ts";
import {
  allReady,
  fleetOf,
  MEMBERS,
  type PropagationFleet,
} from "../propagation/propagation-fleet.ts";
import { eventually } from "../support/eventually.ts";
import { startEtcd } from "../support/real-api-server.ts";
import { startAll, together } from "../support/started.ts";
import { startRealCluster } from "./real-fleet.ts";
import { joinAll, LEASE_SECONDS } from "./real-plane.ts";
import { leads, type Replica, type Replicas, startReplicas } from "./replicas.ts";

const KILLS = Number(process.env["LIFEBOAT_LEADER_KILLS"] ?? 2);
const SEED = Number(process.env["LIFEBOAT_SEED"] ?? Date.now() % 1_000_000);
const RATE = 2;
const NAMES: readonly string[] = Array.from({ length: 12 + 6 * KILLS }, (_, i) => `w-${i}`);
/** A busy machine may need this long to notice, beyond the lease itself. */
const SLACK_MS = 8000;
const OUTAGE_MS = 10_000;

let fleet: PropagationFleet;
let replicas: Replicas;
let operator: Operator;

beforeAll(async () => {
  fleet = await startAll(async (started) => {
    const etcd = started.keep(await startEtcd());
    const flags = ["--feature-gates=Failover=true", `--resource-eviction-rate=${RATE}`];
    const members = together(MEMBERS.map((name) => startRealCluster(started, etcd, name)));
    members.catch(() => undefined);
    replicas = await startReplicas(started, etcd, flags);
    const servers = await members;
    await joinAll(replicas.server, servers);
    const whole = { kill: () => Promise.resolve(), stop: () => started.stop() };
    return fleetOf(
      whole,
      replicas.server,
      servers.map(({ kubeconfig }) => kubeconfig),
    );
  });
  operator = new Operator(fleet);
  await eventually(() => allReady(fleet.plane));
  await startOn("member1");
});
afterAll(() => fleet?.close());

/** Everything on one member, healthy, and free to run anywhere. */
async function startOn(member: string): Promise<void> {
  const others = MEMBERS.filter((name) => name !== member);
  for (const other of others) await operator.taint(other, { key: "full", effect: "NoSchedule" });
  await fleet.plane.create(propagationPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "all", namespace: "default" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment" }],
      placement: oneOf(...MEMBERS),
      failover: { cluster: { purgeMode: "Gracefully" } },
    },
  });
  for (const name of NAMES) await fleet.plane.create(resources.deployments, deployment(name));
  await eventually(async () => {
    const { items } = await fleet.plane.list(resourceBindings);
    const healthy = items.filter(
      ({ spec, status }) =>
        (spec.clusters ?? []).map(({ name }) => name).join() === member &&
        status?.aggregatedStatus?.[0]?.health === "Healthy",
    );
    expect(healthy).toHaveLength(NAMES.length);
  });
  for (const other of others) await operator.taint(other);
}

interface Failover {
  readonly log: EvictionLog;
  readonly eyes: Looking;
  readonly affected: readonly string[];
  readonly name: string;
  /** The evacuations of before. */
  readonly former: readonly string[];
}

/** Lets the member with the most workloads fail; the evictions begin a moment later. */
async function begin(): Promise<Failover> {
  const { items } = await fleet.plane.list(resourceBindings);
  const on = (member: string): readonly string[] =>
    items
      .filter(({ spec }) => (spec.clusters ?? []).some(({ name }) => name === member))
      .map(({ metadata }) => metadata.name);
  const [member = ""] = MEMBERS.toSorted((a, b) => on(b).length - on(a).length);
  const affected = on(member);
  const former = (await fleet.plane.list(evacuations)).items.map(({ metadata }) => metadata.name);
  const log = await EvictionLog.start(fleet.plane, member, true);
  // Its own copies are read first: one that is gone from there was healthy elsewhere before.
  const order = [member, ...MEMBERS.filter((name) => name !== member)];
  const eyes = keepLooking(async () => {
    const copies: ReadonlyMap<string, boolean>[] = [];
    for (const one of order) copies.push(await copiesIn(operator, one));
    return NAMES.filter((name) => !copies.some((inMember) => inMember.get(name) === true)).map(
      (name) => `${name} has no healthy copy`,
    );
  });
  await operator.taint(member, { key: "down", effect: "NoExecute" });
  return { log, eyes, affected, name: member, former };
}

/** Waits for the end of a failover and judges it; then the member is well again. */
async function end({ log, eyes, affected, name, former }: Failover): Promise<void> {
  await eventually(async () => {
    const { items } = await fleet.plane.list(resourceBindings);
    const left = items.filter(
      ({ spec }) =>
        spec.gracefulEvictionTasks !== undefined ||
        (spec.clusters ?? []).some((cluster) => cluster.name === name),
    );
    expect(left.map(({ metadata }) => metadata.name)).toEqual([]);
    const { items: old } = await fleet.plane.list(works, { namespace: `karmada-es-${name}` });
    expect(old.map(({ metadata }) => metadata.name)).toEqual([]);
    const [record, ...more] = (await fleet.plane.list(evacuations)).items.filter(
      ({ metadata }) => !former.includes(metadata.name),
    );
    expect(more).toEqual([]);
    expect(record?.status).toMatchObject({
      phase: "Completed",
      entries: { done: affected.length },
    });
  });
  log.stop();
  const { looks, problems } = await eyes.stop();
  expect([...problems, ...log.problems]).toEqual([]);
  expect(log.evictions.map(({ binding }) => binding).toSorted()).toEqual(affected.toSorted());
  expect(tooFast(log.evictions, RATE)).toEqual([]);
  expect(looks).toBeGreaterThan(10);
  expect(await copiesIn(operator, name)).toEqual(new Map());
  await operator.taint(name);
}

async function evicted({ log }: Failover, count: number): Promise<void> {
  await eventually(async () => {
    expect(log.evictions.length).toBeGreaterThanOrEqual(count);
  });
}

/** Waits until another replica than this one leads; answers it. */
function successorOf(former: Replica, timeoutMs: number): Promise<Replica> {
  return eventually(async () => {
    const next = replicas.all.find((one) => one !== former && leads(one.process));
    if (next === undefined) throw new Error(`no replica but ${former.name} leads`);
    return next;
  }, timeoutMs);
}

/** The writes that only a leader makes, in the order in which the API server got them. */
function leadersWrites(from: number) {
  return replicas
    .audited()
    .filter(
      ({ verb, resource, at }) =>
        at >= from && resource !== "leases" && /^(create|update|patch|delete)$/.test(verb),
    )
    .toSorted((a, b) => a.at - b.at);
}

it(`another replica goes on within the lease duration when the leader is killed, ${KILLS} times`, async () => {
  console.log(`LIFEBOAT_SEED=${SEED}`);
  const random = createRandom(SEED);
  const began = Date.now();
  const failover = await begin();
  const took: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    await evicted(failover, 2 + 5 * kill);
    await wait(random.next() * 1000);
    const leader = replicas.leader();
    const killedAt = performance.now();
    await leader.process.stop("SIGKILL");
    await successorOf(leader, LEASE_SECONDS * 1000 + SLACK_MS);
    took.push(Math.round(performance.now() - killedAt));
    await replicas.restart(leader);
  }
  expect(failover.log.evictions.length).toBeLessThan(NAMES.length);
  await end(failover);
  console.log(`the next leader began after ${took.join(", ")} ms`);
  // Each leads once and never again: its writes are one stretch.
  const stretches = leadersWrites(began).reduce<string[]>(
    (seen, { credential }) => (seen.at(-1) === credential ? seen : [...seen, credential]),
    [],
  );
  expect(stretches).toHaveLength(KILLS + 1);
});

it("a leader that was paused past its lease and goes on changes nothing", async () => {
  const failover = await begin();
  await evicted(failover, 2);
  const paused = replicas.leader();
  const pausedAt = Date.now();
  process.kill(paused.process.pid, "SIGSTOP");
  const next = await successorOf(paused, LEASE_SECONDS * 1000 + SLACK_MS);
  const evictions = failover.log.evictions.length;
  await evicted(failover, Math.min(evictions + 1, failover.affected.length));
  const continuedAt = Date.now();
  process.kill(paused.process.pid, "SIGCONT");
  await eventually(async () => expect(leads(paused.process)).toBe(false));
  await end(failover);
  // What was waiting for a connection when the process stopped still leaves it. The server refuses such a write by its version;
  // an Event has none, and changes nothing that anything acts on.
  const late = leadersWrites(continuedAt).filter(
    ({ credential, resource, isAccepted }) =>
      credential === replicas.credentialOf(paused) && resource !== "events" && isAccepted,
  );
  expect(late).toEqual([]);
  expect(leadersWrites(pausedAt).at(-1)?.credential).toBe(replicas.credentialOf(next));
});

it("nothing is evicted while the API server is away, and everything goes on afterwards, without a storm of lists", async () => {
  const failover = await begin();
  await evicted(failover, 2);
  await replicas.server.kill();
  const before = failover.log.evictions.length;
  const held = await Promise.all(MEMBERS.map((member) => copiesIn(operator, member)));
  await wait(OUTAGE_MS);
  expect(failover.log.evictions).toHaveLength(before);
  const after = await Promise.all(MEMBERS.map((member) => copiesIn(operator, member)));
  for (const [i, copies] of held.entries())
    for (const name of copies.keys())
      expect(after[i]?.has(name), `${name} on ${MEMBERS[i]}`).toBe(true);
  const revivedAt = Date.now();
  await replicas.server.revive();
  await end(failover);
  const lists = replicas.audited().filter(({ verb, at }) => verb === "list" && at >= revivedAt);
  const kinds = new Set(lists.map(({ resource }) => resource));
  console.log(`${lists.length} lists of ${kinds.size} kinds after the API server returned`);
  // The next leader begins with one list of each kind; what was watched before goes on from where it was.
  expect(lists.length).toBeLessThan(4 * Math.max(kinds.size, 1));
  const { items } = await fleet.plane.list(clusters);
  expect(items.filter(({ spec }) => (spec.taints ?? []).length > 0)).toEqual([]);
});
