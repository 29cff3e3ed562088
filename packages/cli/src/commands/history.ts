/**
 * `lifeboat history [WORKLOAD|CLUSTER|EVACUATION]`: what the control plane decided and what people did, oldest first. With -o json
 * the entries as they are stored, for a post-mortem.
 */
import { ledgerSlices } from "@lifeboat/api";
import { addMs } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { type NumberedEntry, readLedger } from "@lifeboat/core/history";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { namespaceOption, parseWorkload } from "../find-binding.ts";
import { planeOptions } from "../find-plane.ts";
import { chosenEntries, type HistoryFilter, historyLines } from "../history/history-text.ts";
import type { OptionDefinition } from "../options.ts";
import { type Output, outputFrom, outputOption, show } from "../output.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { withPlane } from "../with-plane.ts";

export const historyOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  namespaceOption,
  {
    name: "since",
    type: "duration",
    value: "TIME",
    min: 1,
    commandLineOnly: true,
    help: "Only what is younger than this, such as 2h",
  },
  outputOption(["text"]),
];

export function addHistory(program: Command): void {
  const command = program
    .command("history")
    .description("Show what the control plane decided and what people did")
    .argument(
      "[ABOUT]",
      "a workload (deployment/web), or the name of a cluster or evacuation; default everything",
    );
  declareOptions(command, historyOptions).action((about: string | undefined) => {
    const settings = readSettings(command, historyOptions);
    const output = outputFrom(settings, ["text"]);
    const filter = filterFrom(about, settings);
    return withPlane(settings, (plane) => showHistory(plane, filter, output));
  });
}

function filterFrom(about: string | undefined, settings: Settings): HistoryFilter {
  const since =
    settings.text("since") === undefined
      ? {}
      : { since: addMs(createRealClock().now(), -settings.number("since")) };
  if (about === undefined) return since;
  if (!about.includes("/")) return { ...since, name: about };
  return { ...since, workload: parseWorkload(about, settings.requiredText("namespace")) };
}

/** What is kept and meant, oldest first. */
export async function readHistory(
  plane: Client,
  filter: HistoryFilter,
): Promise<readonly NumberedEntry[]> {
  const { items } = await plane.list(ledgerSlices);
  return chosenEntries(readLedger(items), filter);
}

async function showHistory(
  plane: Client,
  filter: HistoryFilter,
  output: Output<"text">,
): Promise<void> {
  const entries = await readHistory(plane, filter);
  if (output.kind !== "form" || entries.length > 0)
    show(
      output,
      () => historyLines(entries),
      () => ({ entries }),
    );
  else process.stderr.write("the history has no entry about that\n");
}
