/**
 * `lifeboat demo`: the story in the terminal. A control plane and three simulated members start, an application spreads
 * over them, one member dies, its workloads move with their state, the member returns.
 *
 * Everything is real but the pods: `lifeboat up` in a process, members in another, TLS between them. What is told is what
 * the API says. The command ends with 0 when all of it came about, and leaves no process and no file behind.
 */
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Clock } from "@lifeboat/base";
import { sleep } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import type { Client } from "@lifeboat/kit";
import { loadKubeconfig } from "@lifeboat/kit/adapters";
import type { Command } from "commander";
import {
  deployApplication,
  deployments,
  NAMESPACE,
  REPLICAS,
  STATE_LABEL,
} from "../demo/application.ts";
import { milestonesOf, stateOf, type Story } from "../demo/milestones.ts";
import { type RunningPlane, startPlane } from "../demo/running-plane.ts";
import { isWell, type Snapshot, tableLines, takeSnapshot, workloadsOn } from "../demo/snapshot.ts";
import { Stage, timelineLines } from "../demo/stage.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import { connect, type FoundPlane, inWords } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { isStartedByAnother, stopOnSignal, type Stopping } from "../stopping.ts";
import { print } from "../with-plane.ts";
import { writeFaults } from "./member.ts";

export const demoOptions: readonly OptionDefinition[] = [
  { name: "fast", type: "switch", help: "Shorten every wait: less than a minute in all" },
  { name: "step", type: "switch", help: "Wait for Enter before each chapter" },
  {
    name: "data-dir",
    type: "text",
    value: "DIR",
    help: "Keep the control plane's data there; default a temporary directory that is removed",
  },
];

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
const LOOK_MS = 200;

export function addDemo(program: Command): void {
  const command = program
    .command("demo")
    .description("Show in this terminal how workloads survive a cluster, on simulated members");
  declareOptions(command, demoOptions).action(() =>
    inWords(() => demo(readSettings(command, demoOptions))),
  );
}

async function demo(settings: Settings): Promise<void> {
  if (settings.isOn("step") && !process.stdin.isTTY)
    throw new UsageError("--step waits for Enter, but there is no terminal here");
  const clock = createRealClock();
  const pace = settings.isOn("fast") ? FAST : UNHURRIED;
  const stop = stopOnSignal({ followsParent: isStartedByAnother(process.env, process.ppid) });
  const stage = new Stage(clock, {
    isTerminal: process.stdout.isTTY,
    write: (text) => process.stdout.write(text),
  });
  let running: RunningPlane | undefined;
  let plane: FoundPlane | undefined;
  try {
    stage.chapter("1  A fleet", "A control plane and three simulated member clusters start.");
    running = await startPlane(flagsOf(pace), settings.text("data-dir"), stop.signal);
    plane = await connectTo(running, "lifeboat");
    stage.happened("the control plane serves, and three members have joined");
    const next = (): Promise<void> =>
      settings.isOn("step") ? pressEnter(stop) : Promise.resolve();
    const director = new Director(plane.client, clock, stage, pace, stop.signal);
    await play(director, running, next);
  } finally {
    stage.clear();
    plane?.close();
    stop.waitFor("its control plane to end");
    await running?.stop();
    stop.release();
  }
  print(["", "Nothing is left running. Now yours: npx lifeboat up --members 3"]);
}

function flagsOf({ probe, threshold, rate }: Pace): readonly string[] {
  const flags = {
    "feature-gates": "Failover=true,StatefulFailoverInjection=true",
    "cluster-status-update-frequency": probe,
    "cluster-failure-threshold": threshold,
    "cluster-success-threshold": threshold,
    "resource-eviction-rate": rate,
    "log-level": "error",
  };
  return Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
}

async function connectTo({ directory }: RunningPlane, name: string): Promise<FoundPlane> {
  return connect(await loadKubeconfig({ paths: [join(directory, `${name}.kubeconfig`)] }));
}

/** The chapters after the start. */
async function play(
  director: Director,
  running: RunningPlane,
  next: () => Promise<void>,
): Promise<void> {
  const { stage } = director;
  await next();
  stage.chapter(
    "2  An application",
    "Five Deployments get two policies: web is divided over all clusters, the others run in one cluster each and carry state.",
  );
  await director.deploy();
  const spread = await director.until("the application runs", ({ bindings }) => {
    return bindings.length === REPLICAS.size && bindings.every(isWell);
  });
  stage.happened("every replica is ready");
  director.show(spread);

  const doomed = busiest(spread);
  const affected = workloadsOn(spread, doomed);
  await next();
  stage.chapter(
    "3  A cluster dies",
    `${doomed} runs the most, so ${doomed} dies: from now on its API refuses connections. Times count from this moment.`,
  );
  await director.setFaults(doomed, true);
  stage.restartClock();
  stage.happened(`${doomed} dies`);
  const moved = await director.tell({ doomed, affected, hasReturned: false }, "all-well");
  await showState(director, running, moved, affected);
  director.show(moved);

  await next();
  stage.chapter(
    "4  The cluster returns",
    `${doomed} is well again. It still holds the copies that have moved; they go, and nothing moves back.`,
  );
  await director.setFaults(doomed, false);
  stage.happened(`${doomed} returns`);
  const healed = await director.tell({ doomed, affected, hasReturned: true }, "open");
  director.show(healed);
  stage.chapter("Timeline", `Seconds after ${doomed} died.`);
  stage.print(timelineLines(stage.timeline));
}

/** Asks a member itself what its new copy bears. */
async function showState(
  { stage }: Director,
  running: RunningPlane,
  snapshot: Snapshot,
  affected: readonly string[],
): Promise<void> {
  const name = affected.find((one) => stateOf(snapshot, one) !== undefined);
  const binding = snapshot.bindings.find(({ spec }) => spec.resource.name === name);
  const [target] = binding?.spec.clusters ?? [];
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

/** Waits for the person; Ctrl-C and Ctrl-D end the demonstration. */
async function pressEnter(stop: Stopping): Promise<void> {
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<undefined>((resolve) => {
    prompt.once("close", () => resolve(undefined));
  });
  stop.signal.addEventListener("abort", () => prompt.close(), { once: true });
  try {
    const answer = await Promise.race([prompt.question("\nPress Enter to go on "), closed]);
    if (answer === undefined) stop.stop();
  } finally {
    prompt.close();
  }
  if (stop.signal.aborted) throw new CommandFailed("stopped");
}

/** Makes things happen on the control plane, and tells what comes of it. */
class Director {
  readonly stage: Stage;
  readonly #plane: Client;
  readonly #clock: Clock;
  readonly #pace: Pace;
  readonly #signal: AbortSignal;

  constructor(plane: Client, clock: Clock, stage: Stage, pace: Pace, signal: AbortSignal) {
    this.#plane = plane;
    this.#clock = clock;
    this.stage = stage;
    this.#pace = pace;
    this.#signal = signal;
  }

  deploy(): Promise<void> {
    return deployApplication(this.#plane, this.#pace.windowSeconds);
  }

  async setFaults(member: string, isDown: boolean): Promise<void> {
    await writeFaults(this.#plane, member, () => (isDown ? [{ mode: "api-down" }] : []));
  }

  /** Tells each milestone when it is first seen, until the one that is waited for. */
  async tell(story: Story, last: string): Promise<Snapshot> {
    const told = new Set<string>();
    return this.until(`the milestone "${last}"`, (snapshot) => {
      for (const { id, text } of milestonesOf(snapshot, story)) {
        if (told.has(id)) continue;
        told.add(id);
        this.stage.happened(text);
      }
      return told.has(last);
    });
  }

  /** Looks until something holds; throws CommandFailed when it does not come about in time. */
  async until(what: string, holds: (snapshot: Snapshot) => boolean): Promise<Snapshot> {
    const deadline = this.#clock.monotonic() + this.#pace.chapterMs;
    for (;;) {
      const snapshot = await takeSnapshot(this.#plane);
      this.stage.draw(tableLines(snapshot));
      if (holds(snapshot)) return snapshot;
      if (this.#clock.monotonic() > deadline) {
        this.show(snapshot);
        throw new CommandFailed(`this did not come about in time: ${what}`);
      }
      if (!(await sleep(this.#clock, LOOK_MS, this.#signal))) throw new CommandFailed("stopped");
    }
  }

  /** The table, to stay. */
  show(snapshot: Snapshot): void {
    this.stage.print(["", ...tableLines(snapshot)]);
  }
}
