/**
 * `lifeboat simulate --fail CLUSTER`: what would happen if these clusters failed now. The live control plane is read once;
 * its own code plays the failure in this process, on a virtual clock. Nothing is written anywhere.
 *
 * `--every` asks the control plane's decisions about each cluster alone, on one view, without playing: it names the same moves and
 * gaps, with the earliest times, and is quick enough for a thousand clusters.
 *
 * Exit code 0: every workload runs whole elsewhere. 3: some do not.
 */
import { clusters } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import type { ForeseenFailure } from "@lifeboat/core/operating";
import type { ControllersOptions } from "@lifeboat/plane";
import type { PlayedFailure } from "@lifeboat/sim";
import type { Command } from "commander";
import { CommandFailed, UsageError } from "../failure.ts";
import { planeOptions } from "../find-plane.ts";
import { GAPS, openForesight, openLivePlay, playOptions } from "../live-play.ts";
import type { OptionDefinition } from "../options.ts";
import { type Output, outputFrom, show } from "../output.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import {
  everyLines,
  failureLines,
  isLost,
  type SnapshotFacts,
  underSnapshot,
} from "../simulate-text.ts";
import { withPlane } from "../with-plane.ts";

export const simulateOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "fail",
    type: "text",
    value: "CLUSTER,…",
    commandLineOnly: true,
    help: "The clusters that fail, all at once",
  },
  {
    name: "region",
    type: "text",
    value: "REGION",
    commandLineOnly: true,
    help: "All clusters of this region fail",
  },
  {
    name: "every",
    type: "switch",
    commandLineOnly: true,
    help: "Each cluster fails alone: what moves, and the gaps",
  },
  {
    name: "rate",
    type: "number",
    value: "N",
    min: 0,
    commandLineOnly: true,
    help: "Play with this --resource-eviction-rate instead of the one that is set",
  },
  ...playOptions,
];

export function addSimulate(program: Command): void {
  const command = program
    .command("simulate")
    .description("Play the failure of clusters on a copy of the control plane; touches nothing")
    .addHelpText(
      "after",
      `
Exit code 0: every workload would run whole elsewhere; 3: some would not.
Pods start as fast as in simulated members; a Pull member fails with its agent.`,
    );
  declareOptions(command, simulateOptions).action(() => {
    const settings = readSettings(command, simulateOptions);
    const output = outputFrom(settings, ["text"]);
    const isEvery = settings.isOn("every");
    if ([isEvery, settings.text("fail"), settings.text("region")].filter(Boolean).length !== 1)
      throw new UsageError("one of --fail, --region and --every is needed: which clusters fail?");
    return withPlane(settings, (plane) =>
      isEvery ? foreseeEvery(plane, settings, output) : simulate(plane, settings, output),
    );
  });
}

async function simulate(plane: Client, settings: Settings, output: Output<"text">): Promise<void> {
  const fail = await clustersFrom(plane, settings);
  const live = await openLivePlay(plane);
  const controllers = withRate(live.controllers, settings);
  const played = await live.failure({ fail, controllers, limitMs: settings.number("for") });
  report(output, live.facts(), [played], failureLines(played));
}

/** What the failure of each cluster alone would do. */
async function foreseeEvery(
  plane: Client,
  settings: Settings,
  output: Output<"text">,
): Promise<void> {
  const { items } = await plane.list(clusters);
  const live = await openForesight(plane);
  const controllers = withRate(live.controllers, settings);
  const names = items.map(({ metadata }) => metadata.name);
  const foreseen = live.every(names, { controllers });
  report(output, live.facts(), foreseen, everyLines(foreseen));
}

function withRate(controllers: ControllersOptions, settings: Settings): ControllersOptions {
  if (settings.text("rate") === undefined) return controllers;
  return { ...controllers, resourceEvictionRate: settings.number("rate") };
}

function report(
  output: Output<"text">,
  facts: SnapshotFacts,
  plays: readonly (PlayedFailure | ForeseenFailure)[],
  lines: readonly string[],
): void {
  show(
    output,
    () => underSnapshot(facts, lines),
    () => ({ snapshot: facts, plays }),
  );
  if (plays.some(({ workloads }) => workloads.some(isLost))) process.exitCode = GAPS;
}

/** The clusters that fail together. */
async function clustersFrom(plane: Client, settings: Settings): Promise<readonly string[]> {
  const named = settings.text("fail");
  const region = settings.text("region");
  const { items } = await plane.list(clusters);
  const known = items.map(({ metadata }) => metadata.name);
  const fail =
    named === undefined
      ? items.filter(({ spec }) => spec.region === region).map(({ metadata }) => metadata.name)
      : [...new Set(named.split(",").map((name) => name.trim()))].filter((name) => name !== "");
  const unknown = fail.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new CommandFailed(
      `there is no cluster "${unknown}"; joined are ${known.join(", ") || "none"}`,
    );
  if (fail.length === 0)
    throw new CommandFailed(
      named === undefined ? `no cluster has the region "${region}"` : "--fail names no cluster",
    );
  return fail;
}
