/**
 * Aim: whenever the control plane is killed during a failover, it ends as if it had not been: nothing is evicted twice or
 * lost, the rate is not exceeded, and whatever moves gracefully has a healthy copy all the time.
 * Method: `lifeboat up` is killed with SIGKILL at random moments while a cluster is emptied; a watch that resumes sees
 * every write on a binding, and the members, whose process lives on, are looked at all the while.
 *
 * Every second kill is soon after an eviction, the others soon after a start. LIFEBOAT_SEED sets the randomness,
 * LIFEBOAT_FAILOVER_KILLS the number of kills (20).
 */
import { setTimeout as wait } from "node:timers/promises";
import { evacuations, propagationPolicies, resourceBindings, works } from "@lifeboat/api";
import { createRandom } from "@lifeboat/base";
import { deployment, oneOf, resources } from "@lifeboat/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  allReady,
  MEMBERS,
  type PropagationFleet,
  startSimulatedFleet,
} from "../propagation/propagation-fleet.ts";
import { eventually } from "../support/eventually.ts";
import { EvictionLog, tooFast } from "./eviction-log.ts";
import { copiesIn, keepLooking } from "./looking.ts";
import { Operator } from "./operator.ts";

const KILLS = Number(process.env["LIFEBOAT_FAILOVER_KILLS"] ?? 20);
const LONGEST_LIFE_MS = 1000;
const SOON_MS = 500;
const RATE = 1;
const SEED = Number(process.env["LIFEBOAT_SEED"] ?? Date.now() % 1_000_000);

const named = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
const WORKLOADS = {
  Gracefully: named("graceful", KILLS + 4),
  Directly: named("direct", 4),
} as const;
const ALL = Object.values(WORKLOADS).flat();

let fleet: PropagationFleet;
let operator: Operator;

beforeAll(async () => {
  fleet = await startSimulatedFleet([
    "--feature-gates=Failover=true",
    `--resource-eviction-rate=${RATE}`,
  ]);
  operator = new Operator(fleet);
  await eventually(() => allReady(fleet.plane));
});
afterAll(() => fleet?.close());

/** Everything on member1, healthy, and free to run anywhere. */
async function startOnMember1(): Promise<void> {
  const full = { key: "full", effect: "NoSchedule" } as const;
  for (const member of ["member2", "member3"]) await operator.taint(member, full);
  for (const [purgeMode, names] of Object.entries(WORKLOADS)) {
    const labels = { purge: purgeMode };
    await fleet.plane.create(propagationPolicies, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { name: purgeMode.toLowerCase(), namespace: "default" },
      spec: {
        resourceSelectors: [
          { apiVersion: "apps/v1", kind: "Deployment", labelSelector: { matchLabels: labels } },
        ],
        placement: oneOf(...MEMBERS),
        failover: { cluster: { purgeMode: purgeMode as keyof typeof WORKLOADS } },
      },
    });
    for (const name of names)
      await fleet.plane.create(resources.deployments, deployment(name, {}, { labels }));
  }
  await eventually(async () => {
    const { items } = await fleet.plane.list(resourceBindings);
    const healthy = items.filter(({ spec, status }) => {
      const [result, ...others] = spec.clusters ?? [];
      const health = status?.aggregatedStatus?.[0]?.health;
      return result?.name === "member1" && others.length === 0 && health === "Healthy";
    });
    expect(healthy).toHaveLength(ALL.length);
  });
  for (const member of ["member2", "member3"]) await operator.taint(member);
}

/**
 * One look at the members for what must never be seen. A copy leaves member1 after its successor is ready, or before it
 * exists: so member1 is read first for the one, and last for the other.
 */
async function look(): Promise<readonly string[]> {
  const before = await copiesIn(operator, "member1");
  const others = [await copiesIn(operator, "member2"), await copiesIn(operator, "member3")];
  const after = await copiesIn(operator, "member1");
  const unwell = WORKLOADS.Gracefully.filter(
    (name) => ![before, ...others].some((copies) => copies.get(name) === true),
  );
  const doubled = WORKLOADS.Directly.filter(
    (name) => [after, ...others].filter((copies) => copies.has(name)).length > 1,
  );
  return [
    ...unwell.map((name) => `${name} has no healthy copy`),
    ...doubled.map((name) => `${name} is in two clusters`),
  ];
}

/** The next eviction that is seen, and a moment: when schedules, Works and copies follow from it. */
async function soonAfterAnEviction(log: EvictionLog, moment: number): Promise<void> {
  const before = log.evictions.length;
  await eventually(async () => {
    expect(log.evictions.length).toBeGreaterThan(before);
  });
  await wait(moment);
}

it(`ends as it should after ${KILLS} kills`, { timeout: 900_000 }, async () => {
  console.log(`LIFEBOAT_SEED=${SEED}`);
  const random = createRandom(SEED);
  await startOnMember1();
  const log = await EvictionLog.start(fleet.plane, "member1");
  const eyes = keepLooking(look);
  await operator.taint("member1", { key: "down", effect: "NoExecute" });
  for (let kill = 0; kill < KILLS; kill++) {
    if (kill % 2 === 0) await wait(random.next() * LONGEST_LIFE_MS);
    else await soonAfterAnEviction(log, random.next() * SOON_MS);
    await fleet.killPlane();
  }
  const underWay = log.evictions.length;
  expect(underWay).toBeGreaterThanOrEqual(KILLS / 2);
  expect(underWay).toBeLessThan(ALL.length);

  await eventually(async () => {
    const { items } = await fleet.plane.list(resourceBindings);
    const settled = items.filter(
      ({ spec }) =>
        /^member[23]$/.test((spec.clusters ?? []).map(({ name }) => name).join()) &&
        spec.gracefulEvictionTasks === undefined,
    );
    expect(settled).toHaveLength(ALL.length);
    const { items: left } = await fleet.plane.list(works, { namespace: "karmada-es-member1" });
    expect(left.map(({ metadata }) => metadata.name)).toEqual([]);
    const [record, ...more] = (await fleet.plane.list(evacuations)).items;
    expect(more).toEqual([]);
    expect(record?.status).toMatchObject({
      phase: "Completed",
      entries: { total: ALL.length, done: ALL.length },
    });
  }, 400_000);
  log.stop();
  const { looks, problems } = await eyes.stop();
  console.log(`${underWay} of ${ALL.length} evicted at the last kill, ${looks} looks`);

  expect([...problems, ...log.problems]).toEqual([]);
  expect(log.evictions.map(({ binding }) => binding).toSorted()).toEqual(
    ALL.map((name) => `${name}-deployment`).toSorted(),
  );
  expect(tooFast(log.evictions, RATE)).toEqual([]);
  // The test means nothing when it hardly gets to look.
  expect(looks).toBeGreaterThan(KILLS);
  // What left Directly may be done before its new copy runs.
  await eventually(async () => {
    const copies = await Promise.all(MEMBERS.map((member) => copiesIn(operator, member)));
    expect(copies[0]).toEqual(new Map());
    for (const name of ALL)
      expect(copies.flatMap((inMember) => inMember.get(name) ?? [])).toEqual([true]);
  });
});
