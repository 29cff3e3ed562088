/**
 * `lifeboat watch`: what happens in the fleet, as it happens. On a terminal the evacuations under way are drawn below; elsewhere there
 * is a line for each thing, and with -o json, yaml or jsonpath a document for each. `evacuations watch` is the same for one evacuation.
 */
import { createRealClock } from "@lifeboat/base/adapters";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { type Output, outputFrom, outputOption } from "../output.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { stopOnSignal } from "../stopping.ts";
import { watchFleet, type WatchFleetParts } from "../watch/watch-fleet.ts";
import { withPlane } from "../with-plane.ts";

export const watchOptions: readonly OptionDefinition[] = [...planeOptions, outputOption(["text"])];

export function addWatch(program: Command): void {
  const command = program
    .command("watch")
    .description("Follow what happens in the fleet, until Ctrl-C");
  declareOptions(command, watchOptions).action(() =>
    followFleet(readSettings(command, watchOptions)),
  );
}

/** `evacuation`: only this one, "" for the one that is under way. */
export function followFleet(settings: Settings, evacuation?: string): Promise<void> {
  const output = outputFrom(settings, ["text"]);
  return withPlane(settings, (plane) => follow(plane, output, evacuation));
}

async function follow(
  plane: Client,
  output: Output<"text">,
  evacuation: string | undefined,
): Promise<void> {
  const stop = stopOnSignal();
  const { stdin, stdout } = process;
  const isTerminal = stdout.isTTY && output.kind === "form";
  const hasKeys = isTerminal && stdin.isTTY;
  const parts: WatchFleetParts = {
    clock: createRealClock(),
    plane,
    output,
    screen: {
      isTerminal,
      write: (text) => stdout.write(text),
      rows: () => (isTerminal ? stdout.rows : undefined),
    },
    ...(evacuation === undefined ? {} : { evacuation }),
    ...(hasKeys ? { onKey: readKeys } : {}),
  };
  try {
    await watchFleet(parts, stop.signal);
  } finally {
    if (hasKeys) {
      stdin.setRawMode(false);
      stdin.pause();
    }
    stop.release();
  }
}

/** Ctrl-C comes as a key too, because the terminal no longer makes a signal of it. */
function readKeys(handler: (key: string) => void): void {
  const { stdin } = process;
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  stdin.on("data", (text: string) => {
    for (const key of text) handler(key);
  });
  stdin.resume();
}
