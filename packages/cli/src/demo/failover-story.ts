/**
 * The story of a failure: an application spreads over three members, one of them dies, its workloads move with their state, the
 * member returns.
 */
import { deployments } from "@lifeboat/api";
import { resultOf } from "@lifeboat/core/binding";
import type { Client } from "@lifeboat/kit";
import { writeFaults } from "../commands/member.ts";
import { CommandFailed } from "../failure.ts";
import { deployApplication, NAMESPACE, REPLICAS, STATE_LABEL } from "./application.ts";
import { connectTo, type DemoStory, Director, type Scene } from "./director.ts";
import { milestonesOf, stateOf, type Story } from "./milestones.ts";
import type { RunningPlane } from "./running-plane.ts";
import { isWell, type Snapshot, tableLines, takeSnapshot, workloadsOn } from "./snapshot.ts";
import { type Stage, timelineLines } from "./stage.ts";

interface Pace {
  readonly probe: string;
  readonly threshold: string;
  readonly rate: string;
  readonly windowSeconds: number;
  /** How long one chapter may take before something is wrong. */
  readonly chapterMs: number;
}

const UNHURRIED: Pace = {
  probe: "2s",
  threshold: "6s",
  rate: "0.5",
  windowSeconds: 5,
  chapterMs: 180_000,
};
const FAST: Pace = {
  probe: "500ms",
  threshold: "2s",
  rate: "2",
  windowSeconds: 1,
  chapterMs: 60_000,
};

function paceOf({ isFast }: Pick<Scene, "isFast">): Pace {
  return isFast ? FAST : UNHURRIED;
}

function flags(isFast: boolean): readonly string[] {
  const { probe, threshold, rate } = paceOf({ isFast });
  const given = {
    "feature-gates": "Failover=true,StatefulFailoverInjection=true",
    "cluster-status-update-frequency": probe,
    "cluster-failure-threshold": threshold,
    "cluster-success-threshold": threshold,
    "resource-eviction-rate": rate,
    "log-level": "error",
  };
  return Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
}

/** The chapters after the start. */
async function play(scene: Scene): Promise<void> {
  const { plane, running, stage } = scene;
  const { chapterMs, windowSeconds } = paceOf(scene);
  const look = (): Promise<Snapshot> => takeSnapshot(plane);
  const director = new Director(scene, { look, lines: tableLines, chapterMs });
  const tell = (story: Story, last: string): Promise<Snapshot> =>
    director.tell((snapshot) => milestonesOf(snapshot, story), last);
  await scene.next();
  stage.chapter(
    "2  An application",
    "Five Deployments get two policies: web is divided over all clusters, the others run in one cluster each and carry state.",
  );
  await deployApplication(plane, windowSeconds);
  const spread = await director.until("the application runs", ({ bindings }) => {
    return bindings.length === REPLICAS.size && bindings.every(isWell);
  });
  stage.happened("every replica is ready");
  director.show(spread);

  const doomed = busiest(spread);
  const affected = workloadsOn(spread, doomed);
  await scene.next();
  stage.chapter(
    "3  A cluster dies",
    `${doomed} runs the most, so ${doomed} dies: from now on its API refuses connections. Times count from this moment.`,
  );
  await setFaults(plane, doomed, true);
  stage.restartClock();
  stage.happened(`${doomed} dies`);
  const moved = await tell({ doomed, affected, hasReturned: false }, "all-well");
  await showState(stage, running, moved, affected);
  director.show(moved);

  await scene.next();
  stage.chapter(
    "4  The cluster returns",
    `${doomed} is well again. It still holds the copies that have moved; they go, and nothing moves back.`,
  );
  await setFaults(plane, doomed, false);
  stage.happened(`${doomed} returns`);
  const healed = await tell({ doomed, affected, hasReturned: true }, "open");
  director.show(healed);
  stage.chapter("Timeline", `Seconds after ${doomed} died.`);
  stage.print(timelineLines(stage.timeline));
}

/** Asks a member itself what its new copy bears. */
async function showState(
  stage: Stage,
  running: RunningPlane,
  snapshot: Snapshot,
  affected: readonly string[],
): Promise<void> {
  const name = affected.find((one) => stateOf(snapshot, one) !== undefined);
  const binding = snapshot.bindings.find(({ spec }) => spec.resource.name === name);
  const [target] = binding === undefined ? [] : resultOf(binding);
  if (name === undefined || target === undefined)
    throw new CommandFailed("no workload that carries state was on the cluster");
  const member = await connectTo(running, target.name);
  try {
    const { metadata } = await member.client.get(deployments, { namespace: NAMESPACE, name });
    const value = metadata.labels?.[STATE_LABEL];
    if (value === undefined)
      throw new CommandFailed(`the copy of ${name} in ${target.name} came without its state`);
    stage.happened(`${target.name} shows ${name} with the label ${STATE_LABEL}=${value}`);
  } finally {
    member.close();
  }
}

/** The member that runs the most workloads. */
function busiest(snapshot: Snapshot): string {
  const names = snapshot.clusters.map(({ metadata }) => metadata.name);
  const load = (name: string): number => workloadsOn(snapshot, name).length;
  return names.toSorted((a, b) => load(b) - load(a))[0] ?? "";
}

async function setFaults(plane: Client, member: string, isDown: boolean): Promise<void> {
  await writeFaults(plane, member, () => (isDown ? [{ mode: "api-down" }] : []));
}

export const failoverStory: DemoStory = { flags, play };
