/**
 * Three replicas of `lifeboat manager` on a real kube-apiserver and etcd, while clusters are emptied: the leader is killed, the leader is
 * paused for longer than its lease, the API server is away. However it goes, nothing is evicted twice or lost, the rate is kept,
 * every workload has a healthy copy all the time, and no two replicas write in turns.
 *
 * LIFEBOAT_LEADER_KILLS sets how many leaders are killed (2 in CI, more in the weekly run), LIFEBOAT_SEED the randomness.
 * LIFEBOAT_SHARE_MEMBERS=1 lets the replicas share out members.
 */
import { setTimeout as wait } from "node:timers/promises";
import { clusters } from "@lifeboat/api";
import { createRandom } from "@lifeboat/base";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  allReady,
  fleetOf,
  MEMBERS,
  type PropagationFleet,
} from "../propagation/propagation-fleet.ts";
import { eventually } from "../support/eventually.ts";
import { startEtcd } from "../support/real-api-server.ts";
import { startAll, together } from "../support/started.ts";
import { Emptying } from "./emptying.ts";
import { startRealCluster } from "./real-fleet.ts";
import { joinAll, LEASE_SECONDS } from "./real-plane.ts";
import {
  leads,
  leadersWrites,
  type Replicas,
  startReplicas,
  stretchesOf,
  successorOf,
} from "./replicas.ts";

const KILLS = Number(process.env["LIFEBOAT_LEADER_KILLS"] ?? 2);
const SEED = Number(process.env["LIFEBOAT_SEED"] ?? Date.now() % 1_000_000);
const IS_SHARED = process.env["LIFEBOAT_SHARE_MEMBERS"] === "1";
const RATE = 2;
const NAMES: readonly string[] = Array.from({ length: 12 + 6 * KILLS }, (_, i) => `w-${i}`);
/** A busy machine may need this long to notice, beyond the lease itself. */
const SLACK_MS = 8000;
const OUTAGE_MS = 10_000;

let fleet: PropagationFleet;
let replicas: Replicas;
let emptying: Emptying;

beforeAll(async () => {
  fleet = await startAll(async (started) => {
    const etcd = started.keep(await startEtcd());
    const flags = [
      "--feature-gates=Failover=true",
      `--resource-eviction-rate=${RATE}`,
      ...(IS_SHARED ? ["--share-members"] : []),
    ];
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
  emptying = new Emptying(fleet, NAMES, RATE);
  await eventually(() => allReady(fleet.plane));
  await emptying.startOn("member1");
});
afterAll(() => fleet?.close());

it("a manager reads collections as streaming lists", () => {
  const read = replicas.audited().filter(({ verb }) => verb === "stream" || verb === "list");
  const of = (plural: string): readonly string[] => [
    ...new Set(read.filter(({ resource }) => resource === plural).map(({ verb }) => verb)),
  ];
  for (const plural of ["works", "resourcebindings", "evacuations", "deployments"])
    expect(of(plural), plural).toEqual(["stream"]);
});

it(`another replica goes on within the lease duration when the leader is killed, ${KILLS} times`, async () => {
  console.log(`LIFEBOAT_SEED=${SEED}`);
  const random = createRandom(SEED);
  const began = Date.now();
  const failover = await emptying.begin();
  const took: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    await emptying.evicted(failover, 2 + 5 * kill);
    await wait(random.next() * 1000);
    const leader = replicas.leader();
    const killedAt = performance.now();
    await leader.process.stop("SIGKILL");
    await successorOf(replicas, leader, LEASE_SECONDS * 1000 + SLACK_MS);
    took.push(Math.round(performance.now() - killedAt));
    await replicas.restart(leader);
  }
  expect(failover.log.evictions.length).toBeLessThan(NAMES.length);
  await emptying.end(failover);
  console.log(`the next leader began after ${took.join(", ")} ms`);
  // No two write in turns: each term is one stretch. On a busy machine a leader may lose its lease without being killed.
  const stretches = stretchesOf(leadersWrites(replicas, began, IS_SHARED));
  console.log(`${stretches.length} stretches of writes in ${replicas.terms()} terms`);
  expect(stretches.length).toBeGreaterThan(KILLS);
  expect(stretches.length).toBeLessThanOrEqual(replicas.terms());
});

it("a leader that was paused past its lease and goes on changes nothing", async () => {
  const failover = await emptying.begin();
  await emptying.evicted(failover, 2);
  const paused = replicas.leader();
  const pausedAt = Date.now();
  process.kill(paused.process.pid, "SIGSTOP");
  const next = await successorOf(replicas, paused, LEASE_SECONDS * 1000 + SLACK_MS);
  const evictions = failover.log.evictions.length;
  await emptying.evicted(failover, Math.min(evictions + 1, failover.affected.length));
  const continuedAt = Date.now();
  process.kill(paused.process.pid, "SIGCONT");
  await eventually(async () => expect(leads(paused.process)).toBe(false));
  await emptying.end(failover);
  // What was waiting for a connection when the process stopped still leaves it. The server refuses such a write by its version;
  // an Event has none, and changes nothing that anything acts on.
  const late = leadersWrites(replicas, continuedAt, IS_SHARED).filter(
    ({ credential, resource, isAccepted }) =>
      credential === replicas.credentialOf(paused) && resource !== "events" && isAccepted,
  );
  expect(late).toEqual([]);
  expect(leadersWrites(replicas, pausedAt, IS_SHARED).at(-1)?.credential).toBe(
    replicas.credentialOf(next),
  );
});

it("nothing is evicted while the API server is away, and everything goes on afterwards, without a storm of lists", async () => {
  const failover = await emptying.begin();
  await emptying.evicted(failover, 2);
  await replicas.server.kill();
  const before = failover.log.evictions.length;
  const held = await emptying.copies();
  await wait(OUTAGE_MS);
  expect(failover.log.evictions).toHaveLength(before);
  const after = await emptying.copies();
  for (const [member, copies] of held)
    for (const name of copies.keys())
      expect(after.get(member)?.has(name), `${name} on ${member}`).toBe(true);
  const revivedAt = Date.now();
  await replicas.server.revive();
  await emptying.end(failover);
  const lists = replicas
    .audited()
    .filter(({ verb, at }) => at >= revivedAt && (verb === "list" || verb === "stream"));
  const kinds = new Set(lists.map(({ resource }) => resource));
  console.log(`${lists.length} lists of ${kinds.size} kinds after the API server returned`);
  // The next leader begins with one list of each kind; what was watched before goes on from where it was.
  expect(lists.length).toBeLessThan(4 * Math.max(kinds.size, 1));
  const { items } = await fleet.plane.list(clusters);
  expect(items.filter(({ spec }) => (spec.taints ?? []).length > 0)).toEqual([]);
});
