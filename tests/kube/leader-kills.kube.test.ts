/**
 * Three replicas of `lifeboat manager` on a real kube-apiserver and etcd, and 200 workloads that leave one simulated member after the
 * other. In each failover the leader is killed (kill -9) at a moment drawn uniformly between the first release and the last cleared
 * task, once more between the order and the first release; then the API server, and etcd, are away in the middle of one. However it
 * goes: nothing is lost or evicted twice, the rate is kept, every workload has a healthy copy all the time and is well in the end. The
 * last member is a pull member: its agent, too, is without a control plane meanwhile.
 *
 * A process that hangs is harder to bear than one that is gone: its connections stay open, nothing is refused, and what was sent
 * to it is carried out when it goes on, whoever leads by then. One that is killed has forgotten every watch.
 *
 * LIFEBOAT_SHARE_MEMBERS=1 lets the replicas share out members.
 * LIFEBOAT_UNIFORM_KILLS: how many leaders are killed (5), LIFEBOAT_OUTAGE_SECONDS: how long API server and etcd are away (12),
 * LIFEBOAT_WORKLOADS: how many workloads there are (200), LIFEBOAT_SEED: the randomness.
 */
import { setTimeout as wait } from "node:timers/promises";
import { clusters } from "@lifeboat/api";
import { createRandom } from "@lifeboat/base";
import { connectByKubeconfig } from "@lifeboat/kit/adapters";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  allReady,
  fleetOf,
  MEMBERS,
  type PropagationFleet,
} from "../propagation/propagation-fleet.ts";
import { eventually } from "../support/eventually.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";
import {
  freePort,
  removeDirectory,
  startProcess,
  temporaryDirectory,
} from "../support/processes.ts";
import { type RealApiServer, type RunningEtcd, startEtcd } from "../support/real-api-server.ts";
import { registerCluster } from "../support/registration.ts";
import { startAll, type Started } from "../support/started.ts";
import { Emptying, type Failover } from "./emptying.ts";
import { type Glance, type Phase, PHASES, Phases } from "./phases.ts";
import { killed } from "./real-fleet.ts";
import { LEASE_SECONDS, RENEW_DEADLINE_SECONDS } from "./real-plane.ts";
import {
  leadersWrites,
  type Replicas,
  startReplicas,
  stretchesOf,
  stretchLines,
  successorOf,
} from "./replicas.ts";
import { startSimulatedMembers } from "./simulated-members.ts";

const KILLS = Number(process.env["LIFEBOAT_UNIFORM_KILLS"] ?? 5);
const IS_SHARED = process.env["LIFEBOAT_SHARE_MEMBERS"] === "1";
const OUTAGE_SECONDS = Number(process.env["LIFEBOAT_OUTAGE_SECONDS"] ?? 12);
const SEED = Number(process.env["LIFEBOAT_SEED"] ?? Date.now() % 1_000_000);
const WORKLOADS = Number(process.env["LIFEBOAT_WORKLOADS"] ?? 200);
/** Each failover takes some ten seconds. */
const RATE = WORKLOADS / 10;
const NAMES: readonly string[] = Array.from({ length: WORKLOADS }, (_, i) => `w-${i}`);
/** A busy machine may need this long to notice, beyond the lease itself. */
const SLACK_MS = 8000;
/** A busy machine may take this long for one failover. */
const PATIENCE_MS = 300_000;
const LOOK_MS = 20;

/** How many replicas may lead in turns after an outage. A busy machine takes the lease from a leader now and then, and takes long for all. */
const mostTerms = (wentOnMs: number): number => 4 + Math.floor(wentOnMs / 20_000);
/** Of one outage and the rest of its failover: what workloads take (some 30 requests each), what leaders read, what is tried meanwhile. */
const MOST_REQUESTS = 60 * WORKLOADS + 100 * OUTAGE_SECONDS + 4000;

interface Outage {
  readonly which: "apiserver" | "etcd";
  readonly how: "hangs" | "is killed";
}

const OUTAGES: readonly Outage[] = [
  { which: "apiserver", how: "hangs" },
  { which: "apiserver", how: "is killed" },
  { which: "etcd", how: "hangs" },
  { which: "etcd", how: "is killed" },
];

let fleet: PropagationFleet;
let replicas: Replicas;
let emptying: Emptying;
let phases: Phases;
let etcd: RunningEtcd;

/** The member with an agent; the others are Push members. */
const PULL = MEMBERS.at(-1) ?? "";
/** Shorter than an outage, so that the agent's Lease is older than that when the control plane sees it again. */
const GRACE_SECONDS = 8;

beforeAll(async () => {
  fleet = await startAll(async (started) => {
    etcd = started.keep(await startEtcd());
    const flags = [
      "--feature-gates=Failover=true",
      `--resource-eviction-rate=${RATE}`,
      `--cluster-monitor-grace-period=${GRACE_SECONDS}s`,
      ...(IS_SHARED ? ["--share-members"] : []),
    ];
    replicas = await startReplicas(started, etcd, flags, { registers: true });
    const { server } = replicas;
    const nodes = ["--member-nodes=3"];
    const { kubeconfig } = server;
    const pushed = await startSimulatedMembers(started, kubeconfig, MEMBERS.slice(0, -1), nodes);
    const alone = await startSimulatedMembers(started, undefined, MEMBERS, nodes);
    const kubeconfigs = [...pushed, ...alone.slice(-1)];
    await startAgent(started, server, kubeconfigs.at(-1) ?? "");
    const whole = { kill: () => Promise.resolve(), stop: () => started.stop() };
    return fleetOf(whole, server, kubeconfigs);
  });
  emptying = new Emptying(fleet, NAMES, RATE);
  await eventually(() => allReady(fleet.plane));
  await emptying.startOn("member1");
  phases = await Phases.start(fleet.plane);
});
afterAll(async () => {
  await phases?.stop();
  await fleet?.close();
});

/** Registers the pull member by a token, and starts its agent. */
async function startAgent(started: Started, server: RealApiServer, member: string): Promise<void> {
  const identities = temporaryDirectory("identities");
  started.keep({ stop: () => Promise.resolve(removeDirectory(identities)) });
  const admin = await connectByKubeconfig({ paths: [server.kubeconfig] });
  const identity = await registerCluster(admin, server.url, PULL, identities);
  admin.close();
  const agent = startProcess(lifeboatCommand, [
    "agent",
    `--karmada-kubeconfig=${identity}`,
    `--cluster-kubeconfig=${member}`,
    `--cluster-name=${PULL}`,
    `--health-listen=127.0.0.1:${await freePort()}`,
    "--cluster-status-update-frequency=2s",
    "--cluster-lease-duration=4s",
  ]);
  started.keep(killed(agent));
  await agent.printed(/^ready$/m);
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${String(holds)}`);
    await wait(LOOK_MS);
  }
}

interface Kill {
  readonly glance: Glance;
  readonly record: string;
  readonly evicted: number;
  /** From the kill to another leader, and to its first write that was carried out, in milliseconds. */
  readonly ledAfter: number;
  readonly wroteAfter: number;
}

/** Kills the leader, and starts it again once another one leads. On a busy machine one may just have lost its lease: then the next one. */
async function killLeader({ log, member, former }: Failover): Promise<Kill> {
  const leader = await eventually(() => Promise.resolve(replicas.leader()));
  const seen = { glance: phases.glance(member), record: phases.recorded(former) };
  const evicted = log.evictions.length;
  const at = Date.now();
  const killedAt = performance.now();
  await leader.process.stop("SIGKILL");
  await successorOf(replicas, leader, LEASE_SECONDS * 1000 + SLACK_MS);
  const ledAfter = Math.round(performance.now() - killedAt);
  const own = replicas.credentialOf(leader);
  const first = await eventually(() => {
    const write = leadersWrites(replicas, at, IS_SHARED).find(
      ({ credential }) => credential !== own,
    );
    if (write === undefined) throw new Error("nobody went on");
    return Promise.resolve(write);
  });
  await replicas.restart(leader);
  return { ...seen, evicted, ledAfter, wroteAfter: first.at - at };
}

function told({ glance, record, evicted, ledAfter, wroteAfter }: Kill): string {
  const under = PHASES.filter((phase) => glance[phase] > 0).map((phase) =>
    phase === "recording" ? `${phase} (${record})` : `${glance[phase]} ${phase}`,
  );
  return (
    `killed with ${evicted} of ${WORKLOADS} evicted; ${under.join(", ")}; ` +
    `another led after ${ledAfter} ms, wrote after ${wroteAfter} ms`
  );
}

/** A kill, and how long the failover took of which it was a part, from the first release it had seen to the last cleared task. */
async function killWhileRecording(random: () => number): Promise<[Kill, number]> {
  const failover = await emptying.begin(true);
  await wait(random() * 300);
  const kill = await killLeader(failover);
  await until(() => failover.log.evictions.length > kill.evicted);
  const first = performance.now();
  await until(() => phases.isOver(failover.member));
  const took = performance.now() - first;
  await emptying.over(failover);
  return [kill, took];
}

/** Undefined: the failover was over sooner than that. */
async function killAfter(ms: number): Promise<Kill | undefined> {
  const failover = await emptying.begin(true);
  await until(() => failover.log.evictions.length > 0);
  await wait(ms);
  const kill = phases.isOver(failover.member) ? undefined : await killLeader(failover);
  await emptying.over(failover);
  return kill;
}

it(
  `another replica goes on where the leader was killed, ${KILLS} times at any moment of a failover`,
  { timeout: 120_000 + (KILLS + 1) * 120_000 },
  async () => {
    console.log(`LIFEBOAT_SEED=${SEED}`);
    const random = createRandom(SEED);
    const began = Date.now();
    const [recording, failoverMs] = await killWhileRecording(() => random.next());
    console.log(`${told(recording)}; the rest of this failover took ${Math.round(failoverMs)} ms`);
    const kills: Kill[] = [];
    for (let tries = 0; kills.length < KILLS; tries++) {
      // What is drawn beyond the end of a failover is drawn again, so that the moments stay uniform.
      expect(tries).toBeLessThan(2 * KILLS + 5);
      const ms = random.next() * failoverMs;
      const kill = await killAfter(ms);
      if (kill === undefined) continue;
      kills.push(kill);
      console.log(`${Math.round(ms)} ms after the first release: ${told(kill)}`);
    }
    const hit = (phase: Phase): number =>
      [recording, ...kills].filter(({ glance }) => glance[phase] > 0).length;
    console.log(
      `${KILLS + 1} kills hit: ${PHASES.map((phase) => `${phase} ${hit(phase)}`).join(", ")}`,
    );
    // No two write in turns: each term is one stretch. On a busy machine a leader may lose its lease without being killed.
    const stretches = stretchesOf(leadersWrites(replicas, began, IS_SHARED));
    expect(stretches.length).toBeGreaterThan(KILLS + 1);
    expect(stretches.length, stretchLines(stretches)).toBeLessThanOrEqual(replicas.terms());
  },
);

type Copies = ReadonlyMap<string, ReadonlyMap<string, boolean>>;

/** No copy comes or goes, except that one whose removal was under way may be gone from the member that is left. */
function expectStill(held: Copies, after: Copies, left: string): void {
  for (const [member, copies] of held) {
    const [was, is] = [copies, after.get(member)].map((one) => [...(one?.keys() ?? [])]);
    if (member === left) expect(was, member).toEqual(expect.arrayContaining(is ?? []));
    else expect(is?.toSorted(), member).toEqual(was?.toSorted());
  }
}

/** Notes each taint of ours, and each time that a cluster is not Ready. */
async function clustersUnwell(except: string): Promise<readonly string[]> {
  const { items } = await fleet.plane.list(clusters);
  return items.flatMap(({ metadata: { name }, spec, status }) => [
    ...(spec.taints ?? [])
      .filter(({ effect, key }) => effect === "NoExecute" && !(name === except && key === "down"))
      .map(({ key }) => `${name} has the taint ${key}`),
    ...(status?.conditions ?? [])
      .filter(({ type, status: is }) => type === "Ready" && is !== "True")
      .map(({ reason }) => `${name} is not Ready: ${reason}`),
  ]);
}

async function begin({ which, how }: Outage): Promise<void> {
  if (how === "hangs") process.kill(pidOf(which), "SIGSTOP");
  else await (which === "etcd" ? etcd : replicas.server).kill();
}

/** Resolves when it serves again. */
async function end({ which, how }: Outage): Promise<void> {
  if (how === "hangs") process.kill(pidOf(which), "SIGCONT");
  else await (which === "etcd" ? etcd : replicas.server).revive();
}

function pidOf(which: Outage["which"]): number {
  return which === "etcd" ? etcd.pid : replicas.server.pids.apiserver;
}

it.each(OUTAGES)(
  `nothing is evicted while the $which $how for ${OUTAGE_SECONDS} s, and everything goes on afterwards, without a storm of requests`,
  { timeout: OUTAGE_SECONDS * 1000 + 2 * PATIENCE_MS },
  async (outage) => {
    const failover = await emptying.begin(true);
    await emptying.evicted(failover, WORKLOADS / 4);
    const stoppedAt = Date.now();
    const termsBefore = replicas.terms();
    let continuedAt = 0;
    await begin(outage);
    // What the leader has begun it may end while its term lasts.
    const blindFrom = stoppedAt + RENEW_DEADLINE_SECONDS * 1000 + 1000;
    try {
      await wait(Math.max(0, blindFrom - Date.now()));
      const held = await emptying.copies();
      await wait(Math.max(0, stoppedAt + OUTAGE_SECONDS * 1000 - Date.now()));
      expectStill(held, await emptying.copies(), failover.member);
    } finally {
      continuedAt = Date.now();
      await end(outage);
    }
    const unwell = new Set<string>();
    while (!phases.isOver(failover.member)) {
      for (const one of await clustersUnwell(failover.member).catch(() => [])) unwell.add(one);
      await wait(200);
    }
    const wentOnMs = Date.now() - continuedAt;
    await emptying.over(failover);
    expect([...unwell]).toEqual([]);
    const before = failover.log.evictions.filter(
      ({ second }) => (second + 1) * 1000 < continuedAt,
    ).length;
    expect(before).toBeLessThan(WORKLOADS);
    const whileBlind = failover.log.evictions.filter(
      ({ second }) => second * 1000 > blindFrom && (second + 1) * 1000 < continuedAt,
    );
    expect(whileBlind).toEqual([]);
    const since = replicas.audited().filter(({ at }) => at >= stoppedAt);
    const lists = since.filter(({ verb }) => verb === "list" || verb === "stream");
    const kinds = new Set(lists.map(({ resource }) => resource));
    const perSecond = new Map<number, number>();
    for (const { at } of since) {
      const second = Math.floor(at / 1000);
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
    }
    const most = Math.max(...perSecond.values());
    const terms = replicas.terms() - termsBefore;
    const watches = since.filter(({ verb }) => verb === "watch").length;
    console.log(
      `the ${outage.which} ${outage.how} for ${OUTAGE_SECONDS} s with ${before} of ${WORKLOADS} evicted; all was over ${wentOnMs} ms after it went on; ` +
        `${since.length} requests, at most ${most} in a second, ${watches} watches, ${lists.length} lists of ${kinds.size} kinds by ${terms} leaders`,
    );
    // Each replica may read each kind once more, and each leader reads each; what is watched goes on from where it was.
    expect(lists.length).toBeLessThanOrEqual((replicas.all.length + terms) * kinds.size);
    expect(terms).toBeLessThanOrEqual(mostTerms(wentOnMs));
    expect(since.length).toBeLessThan(MOST_REQUESTS);
  },
);

it("in the end each workload has one copy, healthy, and nothing else is left", async () => {
  await emptying.settled();
});
