/**
 * Foresight agrees with what then happens, over random fleets and policies. Three tellers are compared with the production code:
 *
 *   played      `simulate --fail`     the failure is played on a copy, then it happens: the same moves, targets, order and end
 *   foreseen    `simulate --every`    decided without playing: the same moves, targets, order, and the same gaps as a full play
 *   explained   `explain`             for one workload alone, where there is room for all: the same answer and targets
 *
 * In half of the fleets two members pull; the rule is for Ready=False, for Ready=Unknown or for both; a failure may take all members
 * that pull, as that of a region does.
 *
 * A member that is overfull before the failure is not compared: which pods wait in it is not to be read from the control plane.
 */
import {
  type AnyObject,
  clusterPropagationPolicies,
  clusterResourceBindings,
  clusters,
  clusterTaintPolicies,
  evacuationBudgets,
  type KubeObject,
  propagationPolicies,
  type Resource,
  type ResourceBinding,
  resourceBindings,
  type Work,
  works,
} from "@lifeboat/api";
import { createRandom, type Random } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { wellKnown } from "@lifeboat/core";
import { clusterNamesOf } from "@lifeboat/core/binding";
import { workloadOf } from "@lifeboat/core/clusters";
import {
  decideIfDied,
  type ForeseenWorkload,
  type IfDied,
  sharesOf,
} from "@lifeboat/core/operating";
import { clusterOfWork } from "@lifeboat/core/propagation/works";
import {
  type ControllersOptions,
  DEFAULT_CONTROLLERS,
  foresightSettingsOf,
  objectsOf,
} from "@lifeboat/plane";
import { expect } from "vitest";
import type { Images } from "../images.ts";
import { joinedImages } from "../scenario/joined-images.ts";
import type { PolicyStep, Step } from "../scenario/scenario.ts";
import { takeStep } from "../scenario/steps.ts";
import { createSimulation, type Simulation } from "../simulation.ts";
import { imagesFromSnapshot } from "../snapshot/images-from-snapshot.ts";
import { readSnapshot } from "../snapshot/read-snapshot.ts";
import { foresightOf } from "./foresee-snapshot.ts";
import type { PlayFrom } from "./play.ts";
import { type PlayedFailure, type PlayedWorkload, playFailure } from "./play-failure.ts";

const ports = { drain: drainPromises };
const MEMBERS = ["m1", "m2", "m3", "m4"];
const LIMIT_MS = 3 * 3_600_000;

export interface RandomFleet {
  readonly steps: readonly Step[];
  readonly controllers: Partial<ControllersOptions>;
  /** How many pods each member takes; absent: enough for all. */
  readonly pods?: number;
  /** Those of the members that pull. */
  readonly pull: readonly string[];
}

/** Some workloads with placements, tolerations and purge modes of every sort, and one rule. */
export function randomFleet(random: Random): RandomFleet {
  const chance = (share: number): boolean => random.next() < share;
  const upTo = (n: number): number => Math.floor(random.next() * n);
  // Apart from the rest, so that a seed gives the same workloads with and without.
  const kinds = random.fork("kinds of members");
  const names = Array.from({ length: 2 + upTo(5) }, (_, i) => `w${i}`);
  const steps = names.flatMap((name): readonly Step[] => {
    const kind = chance(0.85) ? "Deployment" : "ConfigMap";
    return [
      { at: 1, do: "workload", kind, name, replicas: 1 + upTo(4) },
      { at: 2, do: "policy", name, selects: [{ kind, name }], ...randomPlacement(chance, upTo) },
    ];
  });
  const rule: Step = {
    at: 2,
    do: "taint-policy",
    name: "failed",
    condition: "Ready",
    statuses: randomStatuses(kinds),
    effect: chance(0.8) ? "NoExecute" : "PreferNoExecute",
    addAfter: 5 + upTo(60),
    removeAfter: 5,
  };
  return {
    steps: [...(chance(0.95) ? [...steps, rule] : steps), ...randomOrders(chance, upTo)],
    controllers: {
      failover: chance(0.95),
      ...(chance(0.2) && { evacuationApproval: "Required" as const }),
      ...(chance(0.3) && { resourceEvictionRate: 0.2 + random.next() * 3 }),
    },
    ...(chance(0.3) && { pods: 4 + upTo(8) }),
    pull: kinds.next() < 0.5 ? MEMBERS.slice(kinds.below(3)).slice(0, 2) : [],
  };
}

/** For both, for those that are pushed to, or for those that pull. */
function randomStatuses(random: Random): readonly ("False" | "Unknown")[] {
  const sorts = [["False", "Unknown"], ["False"], ["Unknown"]] as const;
  return sorts[random.below(2 * sorts.length)] ?? sorts[0];
}

/** What brakes the next failure: clusters that have failed already, a pause, a rate that a person set. */
function randomOrders(
  chance: (share: number) => boolean,
  upTo: (n: number) => number,
): readonly Step[] {
  const failed = chance(0.3) ? MEMBERS.slice(-1 - upTo(2)) : [];
  const steps: Step[] = failed.map((member) => {
    return { at: 0, do: "taint", member, effect: "NoExecute", on: true };
  });
  // After the workloads have come to rest.
  const at = 240;
  if (chance(0.2)) {
    const pauses: readonly Step[] = [
      { at, do: "pause-evacuations", on: true },
      { at, do: "pause-some", clusters: ["m1", "m2"] },
      { at, do: "pause-some", namespaces: ["default"] },
    ];
    steps.push(...pauses.slice(upTo(3)).slice(0, 1));
  }
  if (chance(0.3))
    steps.push({ at, do: "set-rate", perSecond: chance(0.6) ? 0 : 1, lasts: 120 + upTo(1800) });
  return steps;
}

function randomPlacement(
  chance: (share: number) => boolean,
  upTo: (n: number) => number,
): Partial<PolicyStep> {
  const some = MEMBERS.filter(() => chance(0.7));
  const sort = upTo(5);
  return {
    ...(chance(0.2)
      ? { affinities: [MEMBERS.slice(0, 2), MEMBERS.slice(2)] }
      : some.length > 0 && { clusters: some }),
    ...(sort === 0 && { oneCopy: true }),
    ...(sort === 1 && { divided: true }),
    ...(sort === 2 && { divided: true, aggregated: true }),
    ...(sort === 3 && { spread: { min: 1 + upTo(2), max: 2 } }),
    ...(chance(0.25) && { purgeMode: "Directly" as const }),
    ...(chance(0.3) && { failoverAfter: upTo(120) }),
    ...(chance(0.2) && {
      tolerates: {
        effect: "NoExecute" as const,
        ...(chance(0.7) && { seconds: upTo(120) }),
      },
    }),
    ...(chance(0.15) && { approval: true }),
    ...(chance(0.3) && { priority: upTo(3) }),
  };
}

export interface World {
  readonly simulation: Simulation;
  readonly controllers: Partial<ControllersOptions>;
  readonly pull: readonly string[];
}

export async function startFleet({ steps, controllers, pods, pull }: RandomFleet): Promise<World> {
  const images = await joinedImages(ports, MEMBERS, pull);
  const simulation = await createSimulation(ports, {
    seed: 7,
    members: MEMBERS,
    pull,
    images: pods === undefined ? images : small(images, pods),
    controllers,
  });
  for (const step of steps)
    simulation.clock.after(step.at * 1000, () => takeStep(simulation, step));
  await simulation.advance("5m");
  if (pods !== undefined && !isAllHealthy(simulation))
    return startFleet({ steps, controllers, pull });
  return { simulation, controllers, pull };
}

function isAllHealthy({ ledger }: Simulation): boolean {
  return ledger
    .objects("plane", `${resourceBindings.group}/${resourceBindings.plural}`)
    .flatMap(({ object }) => (object as unknown as ResourceBinding).status?.aggregatedStatus ?? [])
    .every(({ health }) => health === "Healthy");
}

function small(images: Images, pods: number): Images {
  const capacity = { cpu: "64", memory: "256Gi", pods: String(pods) };
  const traits = { nodes: [{ name: "node-1", capacity }] };
  return { ...images, traits: new Map(MEMBERS.map((name) => [name, traits])) };
}

async function openFrom({ simulation: { plane, clock } }: World): Promise<PlayFrom> {
  if (plane.admin === undefined) throw new Error("the plane does not serve");
  const snapshot = await readSnapshot(plane.admin, clock.now());
  return { snapshot, images: await imagesFromSnapshot(ports, snapshot) };
}

/** One member or two, or all that pull: then the control plane may be cut off itself. */
function randomFailure(random: Random, pull: readonly string[]): readonly string[] {
  const some = MEMBERS.filter(() => random.next() < 0.35).slice(0, 2);
  if (pull.length > 0 && random.next() < 0.4) return pull;
  return some.length === 0 ? ["m1"] : some;
}

/** Simulates a random failure, lets it happen, and compares. */
export async function expectPlayedAgrees(seed: number): Promise<void> {
  const random = createRandom(seed);
  const world = await startFleet(randomFleet(random));
  const { simulation, controllers, pull } = world;
  const fail = randomFailure(random, pull);
  const before = simulation.ledger.hash;
  const request = { fail, controllers, limitMs: LIMIT_MS };
  const played = await playFailure(ports, await openFrom(world), request);
  expect(simulation.ledger.hash, "nothing is touched").toBe(before);
  expect(played.isCutOff).toBe(false);

  const order = leavingOrder(simulation, fail);
  for (const name of fail) {
    simulation.agents.get(name)?.crash();
    simulation.member(name).crash();
  }
  await simulation.advance(played.playedMs);
  const happened = resultsOf(simulation);
  const foretold = new Map(played.workloads.map(({ workload, after }) => [workload, after]));
  for (const [workload, after] of foretold) expect(happened.get(workload), workload).toBe(after);
  expect(foretold.size + played.untouched).toBe(happened.size);
  expect(order(), "order").toEqual(inOrder(played.workloads));
  for (const one of played.workloads) if (one.reason === "Moved") expectWhole(simulation, one);
}

/** Foresees the failure of each cluster, plays each, and compares. */
export async function expectForeseenAgrees(seed: number): Promise<void> {
  const world = await startFleet(randomFleet(createRandom(seed)));
  const { controllers } = world;
  const from = await openFrom(world);
  const foresight = foresightOf(from.snapshot, { controllers });
  for (const name of MEMBERS) {
    const foreseen = foresight.failureOf(name);
    const played = await playFailure(ports, from, { fail: [name], controllers, limitMs: LIMIT_MS });
    expect(foreseen.untouched, name).toBe(played.untouched);
    expect(foreseen.workloads.map(told), `${name} fails`).toEqual(played.workloads.map(told));
    expect(inOrder(foreseen.workloads), `${name}: order`).toEqual(inOrder(played.workloads));
    expectSoonAfter(foreseen.workloads, played);
  }
  // Asked in another order, it tells the same: no failure leaves a trace in the view.
  const again = MEMBERS.toReversed().map((name) => foresight.failureOf(name));
  expect(again).toEqual(
    MEMBERS.toReversed().map((name) => foresightOf(from.snapshot, { controllers }).failureOf(name)),
  );
}

/** What people are told of a workload but for times; of a message only how it begins: a play has more to tell. */
function told({
  workload,
  before,
  after,
  reason,
  message,
  meanwhile,
}: ForeseenWorkload | PlayedWorkload): string {
  const detail = reason === "Held" || reason === "Remains" || reason === "Exempt" ? message : "";
  return `${workload}: ${before} → ${after}, meanwhile ${meanwhile}, ${reason} ${detail.split(":")[0]}`;
}

/** Probes and steps cost up to this: what is foreseen is the earliest. */
const LATER_MS = 60_000;

function expectSoonAfter(
  foreseen: readonly ForeseenWorkload[],
  { workloads }: PlayedFailure,
): void {
  for (const [i, { leftAt, workload }] of foreseen.entries()) {
    const really = workloads[i]?.leftAt;
    if (leftAt === undefined || really === undefined) continue;
    expect(really, workload).toBeGreaterThanOrEqual(leftAt - 1000);
    expect(really, workload).toBeLessThanOrEqual(leftAt + LATER_MS);
  }
}

/** Explains every workload in every cluster of it, and compares with the play. */
export async function expectExplainedAgrees(seed: number): Promise<void> {
  const { pods: _enough, ...fleet } = randomFleet(createRandom(seed));
  const world = await startFleet(fleet);
  const { controllers } = world;
  const from = await openFrom(world);
  for (const name of MEMBERS) {
    const request = { fail: [name], controllers, limitMs: LIMIT_MS };
    const { workloads } = await playFailure(ports, from, request);
    for (const played of workloads) {
      const explained = explain(from, played.workload, name, controllers);
      expect(summary(explained), `${played.workload} when ${name} fails`).toBe(outcomeOf(played));
      if (explained.moves) expect(sharesOf(explained.targets)).toBe(played.after);
      expectNotBefore(explained, played);
    }
  }
}

/** Alone it may leave at once; in the play it also waits for its turn. */
function expectNotBefore({ leavesAfterMs }: IfDied, { workload, leftAt }: PlayedWorkload): void {
  if (leftAt === undefined) return;
  expect(leavesAfterMs, workload).toBeDefined();
  if (leavesAfterMs === undefined) return;
  expect(leftAt, workload).toBeGreaterThanOrEqual(leavesAfterMs - 1000);
  expect(leftAt, workload).toBeLessThanOrEqual(leavesAfterMs + 2 * LATER_MS);
}

function explain(
  { snapshot: { tables, takenAt } }: PlayFrom,
  workload: string,
  cluster: string,
  controllers: Partial<ControllersOptions>,
): IfDied {
  const bindings = [
    ...objectsOf(tables, resourceBindings),
    ...objectsOf(tables, clusterResourceBindings),
  ];
  const binding = bindings.find((one) => workloadOf(one) === workload);
  if (binding === undefined) throw new Error(`${workload} has no binding`);
  const id = binding.metadata.labels?.[wellKnown.BINDING_ID];
  const policies: readonly KubeObject[] = [
    ...objectsOf(tables, propagationPolicies),
    ...objectsOf(tables, clusterPropagationPolicies),
  ];
  const policy = policies.find(
    ({ metadata }) =>
      metadata.labels?.[wellKnown.POLICY_ID] === binding.metadata.labels?.[wellKnown.POLICY_ID],
  );
  return decideIfDied(
    {
      cluster,
      binding,
      work: objectsOf(tables, works).find(
        (work: Work) =>
          work.metadata.labels?.[wellKnown.BINDING_ID] === id && clusterOfWork(work) === cluster,
      ),
      template: {},
      policy,
      clusters: objectsOf(tables, clusters),
      bindings,
      taintPolicies: objectsOf(tables, clusterTaintPolicies),
      budget: objectsOf(tables, evacuationBudgets)[0]?.spec,
      ...foresightSettingsOf({ ...DEFAULT_CONTROLLERS, ...controllers }),
    },
    takenAt,
  );
}

/** The first precondition that does not hold, in the words of the outcome. */
function summary({ moves, preconditions }: IfDied): string {
  const BY_PRECONDITION: Readonly<Record<string, string>> = {
    gate: "GateOff",
    rule: "NotTainted",
    affected: "Exempt",
    approval: "AwaitingApproval",
    paused: "Queued",
    rate: "Queued",
    target: "Held",
    state: "Held",
    fence: "AwaitingFence",
  };
  if (moves) return "Moved";
  const missing = preconditions.filter(({ holds }) => !holds).map(({ name }) => name as string);
  const [first = ""] = Object.keys(BY_PRECONDITION).filter((name) => missing.includes(name));
  return BY_PRECONDITION[first] ?? "?";
}

/** Of a workload that has a copy elsewhere the reason why the other one is not replaced. */
function outcomeOf({ reason, message }: PlayedWorkload): string {
  return reason === "Remains" ? (message.split(":")[0] ?? "") : reason;
}

/** Those that leave, in the order in which they do. */
function inOrder(workloads: readonly (ForeseenWorkload | PlayedWorkload)[]): readonly string[] {
  return workloads
    .filter(({ leftAt }) => leftAt !== undefined)
    .toSorted((a, b) => (a.leftAt ?? 0) - (b.leftAt ?? 0))
    .map(({ workload }) => workload);
}

/** Follows a simulation; the answer is who has left by then, in order. */
function leavingOrder({ ledger }: Simulation, fail: readonly string[]): () => readonly string[] {
  const left: string[] = [];
  const isThere = (binding: ResourceBinding): boolean =>
    clusterNamesOf(binding).some((name) => fail.includes(name));
  const tables = [resourceBindings, clusterResourceBindings].map(
    ({ group, plural }) => `${group}/${plural}`,
  );
  const there = new Set(
    tables.flatMap((table) =>
      ledger
        .objects("plane", table)
        .map(({ object }) => object as unknown as ResourceBinding)
        .filter(isThere)
        .map(workloadOf),
    ),
  );
  ledger.onChange(({ server, table, key }) => {
    if (server !== "plane" || !tables.includes(table)) return;
    const held = ledger.find("plane", table, key)?.object as unknown as ResourceBinding | undefined;
    if (held === undefined || isThere(held) || !there.delete(workloadOf(held))) return;
    left.push(workloadOf(held));
  });
  return () => left;
}

function resultsOf({ ledger }: Simulation): ReadonlyMap<string, string> {
  const read = <T extends KubeObject>({ group, plural }: Resource<T>): readonly T[] =>
    ledger
      .objects("plane", `${group}/${plural}`)
      .map(({ object }: { readonly object: AnyObject }) => object as unknown as T);
  return new Map(
    [...read(resourceBindings), ...read(clusterResourceBindings)].map((one) => [
      workloadOf(one),
      sharesOf(one.spec.clusters ?? []),
    ]),
  );
}

/** What was told to run whole elsewhere does so, by what the members hold. */
function expectWhole({ ledger }: Simulation, { workload, after }: PlayedWorkload): void {
  const [kind = "", key = ""] = workload.split(" ");
  const table = kind === "Deployment" ? "apps/deployments" : "/configmaps";
  for (const share of after.split(", ")) {
    const [member = "", replicas] = share.split(":");
    const copy = ledger.find(member, table, key)?.object;
    expect(copy, `${workload} in ${member}`).toBeDefined();
    if (replicas !== undefined)
      expect(copy?.["status"], `${workload} in ${member}`).toMatchObject({
        readyReplicas: Number(replicas),
      });
  }
}
