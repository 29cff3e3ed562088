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
import { GAPS, openLivePlay, playOptions } from "../live-play.ts";
import type { OptionDefinition } from "../options.ts";
import { type Output, outputFrom, show } from "../output.ts";
import { changeLines } from "../plan-text.ts";
import { readManifests } from "../read-manifests.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { underSnapshot } from "../simulate-text.ts";
import { withPlane } from "../with-plane.ts";

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
Pods start as fast as in simulated members.`,
    );
  declareOptions(command, planOptions).action(() => {
    const settings = readSettings(command, planOptions);
    const output = outputFrom(settings, ["text"]);
    const file = settings.text("filename");
    if (file === undefined) throw new UsageError("-f FILE is needed: which edit?");
    return withPlane(settings, (plane) => plan(plane, file, settings, output));
  });
}

async function plan(
  plane: Client,
  file: string,
  settings: Settings,
  output: Output<"text">,
): Promise<void> {
  const apply = readManifests(file);
  const live = await openLivePlay(plane);
  const { controllers } = live;
  const played = await live.change({ apply, controllers, limitMs: settings.number("for") });
  const facts = live.facts();
  show(
    output,
    () => underSnapshot(facts, changeLines(apply, played)),
    () => ({ snapshot: facts, ...played }),
  );
  if (played.workloads.some(({ isWhole }) => !isWhole)) process.exitCode = GAPS;
}
