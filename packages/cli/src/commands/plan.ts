/**
 * `lifeboat plan -f FILE`: what an edit would move, before it is made. The live control plane is read once; the edit is written to a
 * copy of it, whose own code runs in this process on a virtual clock. Nothing is written anywhere else.
 *
 * Exit code 0: what moves runs whole at the end. 3: some of it does not.
 */
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { UsageError } from "../failure.ts";
import { planeOptions } from "../find-plane.ts";
import { GAPS, openLivePlay, playOptions, playOutput } from "../live-play.ts";
import type { OptionDefinition } from "../options.ts";
import { changeLines } from "../plan-text.ts";
import { readManifests } from "../read-manifests.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { snapshotLine } from "../simulate-text.ts";
import { print, withPlane } from "../with-plane.ts";

export const planOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "filename",
    short: "f",
    type: "text",
    value: "FILE",
    commandLineOnly: true,
    help: "The objects as they would be applied: policies, workloads, Clusters; - is standard input",
  },
  ...playOptions,
];

export function addPlan(program: Command): void {
  const command = program
    .command("plan")
    .description("Show what an edit would move, on a copy of the control plane; touches nothing")
    .addHelpText(
      "after",
      `
Exit code 0: what moves runs whole at the end; 3: some of it does not.
Pods start as fast as in simulated members; Pull members are played as Push ones.`,
    );
  declareOptions(command, planOptions).action(() => {
    const settings = readSettings(command, planOptions);
    return withPlane(settings, (plane) => plan(plane, settings));
  });
}

async function plan(plane: Client, settings: Settings): Promise<void> {
  const output = playOutput(settings);
  const file = settings.text("filename");
  if (file === undefined) throw new UsageError("-f FILE is needed: which edit?");
  const apply = readManifests(file);
  const live = await openLivePlay(plane);
  const { controllers } = live;
  const played = await live.change({ apply, controllers, limitMs: settings.number("for") });
  const facts = live.facts();
  if (output === "json") print([JSON.stringify({ snapshot: facts, ...played }, null, 2)]);
  else print([...snapshotLine(facts), "", ...changeLines(apply, played)]);
  if (played.workloads.some(({ isWhole }) => !isWhole)) process.exitCode = GAPS;
}
