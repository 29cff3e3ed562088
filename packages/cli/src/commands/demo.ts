/**
 * `lifeboat demo`: a story in the terminal. A control plane and three simulated members start, and what follows is told as it
 * happens: how workloads survive a cluster (`--story failover`), or how requests leave a sick one (`--story traffic`).
 *
 * Everything is real but the pods: `lifeboat up` in a process, members in another, TLS between them. What is told is what
 * the API says. The command ends with 0 when all of it came about, and leaves no process and no file behind.
 */
import { createInterface } from "node:readline/promises";
import { createRealClock } from "@lifeboat/base/adapters";
import type { Command } from "commander";
import { connectTo, type DemoStory } from "../demo/director.ts";
import { failoverStory } from "../demo/failover-story.ts";
import { type RunningPlane, startPlane } from "../demo/running-plane.ts";
import { Stage } from "../demo/stage.ts";
import { trafficStory } from "../demo/traffic-story.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import { type FoundPlane, inWords } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { isStartedByAnother, stopOnSignal, type Stopping } from "../stopping.ts";
import { print } from "../with-plane.ts";

const STORIES: Readonly<Record<string, DemoStory>> = {
  failover: failoverStory,
  traffic: trafficStory,
};
const NAMES = Object.keys(STORIES).join(", ");

export const demoOptions: readonly OptionDefinition[] = [
  {
    name: "story",
    type: "text",
    value: "NAME",
    default: "failover",
    help: `Which story: ${NAMES}`,
  },
  { name: "fast", type: "switch", help: "Shorten every wait: less than a minute in all" },
  { name: "step", type: "switch", help: "Wait for Enter before each chapter" },
  {
    name: "data-dir",
    type: "text",
    value: "DIR",
    help: "Keep the control plane's data there; default a temporary directory that is removed",
  },
];

export function addDemo(program: Command): void {
  const command = program
    .command("demo")
    .description(
      "Show in this terminal what becomes of workloads and requests when a cluster fails",
    );
  declareOptions(command, demoOptions).action(() =>
    inWords(() => demo(readSettings(command, demoOptions))),
  );
}

async function demo(settings: Settings): Promise<void> {
  const name = settings.requiredText("story");
  const story = Object.hasOwn(STORIES, name) ? STORIES[name] : undefined;
  if (story === undefined) throw new UsageError(`--story: there is no ${name}; known are ${NAMES}`);
  if (settings.isOn("step") && !process.stdin.isTTY)
    throw new UsageError("--step waits for Enter, but there is no terminal here");
  const clock = createRealClock();
  const isFast = settings.isOn("fast");
  const stop = stopOnSignal({ followsParent: isStartedByAnother(process.env, process.ppid) });
  const { signal } = stop;
  const stage = new Stage(clock, {
    isTerminal: process.stdout.isTTY,
    write: (text) => process.stdout.write(text),
  });
  let running: RunningPlane | undefined;
  let found: FoundPlane | undefined;
  try {
    stage.chapter("1  A fleet", "A control plane and three simulated member clusters start.");
    running = await startPlane(story.flags(isFast), settings.text("data-dir"), signal);
    found = await connectTo(running, "lifeboat");
    stage.happened("the control plane serves, and three members have joined");
    const next = (): Promise<void> =>
      settings.isOn("step") ? pressEnter(stop) : Promise.resolve();
    await story.play({ isFast, running, plane: found.client, clock, stage, signal, next });
  } finally {
    stage.clear();
    found?.close();
    stop.waitFor("its control plane to end");
    await running?.stop();
    stop.release();
  }
  print(["", "Nothing is left running. Now yours: npx lifeboat up --members 3"]);
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
