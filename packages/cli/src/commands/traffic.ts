/** `lifeboat traffic`: which clusters serve each MultiClusterIngress, which are blocked, by which Remedy and since when. */
import { clusters, multiClusterIngresses } from "@lifeboat/api";
import { createRealClock } from "@lifeboat/base/adapters";
import type { Command } from "commander";
import { planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { outputFrom, outputOption, show } from "../output.ts";
import { declareOptions, readSettings } from "../settings.ts";
import { trafficLines } from "../traffic-text.ts";
import { withPlane } from "../with-plane.ts";

export const trafficOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "namespace",
    short: "n",
    type: "text",
    value: "NAMESPACE",
    help: "Of the ingresses; default all",
  },
  outputOption(["text"]),
];

export function addTraffic(program: Command): void {
  const command = program
    .command("traffic")
    .description("Show which clusters serve each MultiClusterIngress, and which are blocked");
  declareOptions(command, trafficOptions).action(async () => {
    const settings = readSettings(command, trafficOptions);
    const output = outputFrom(settings, ["text"]);
    await withPlane(settings, async (plane) => {
      const namespace = settings.text("namespace");
      const found = await plane.list(multiClusterIngresses, namespace ? { namespace } : {});
      const fleet = (await plane.list(clusters)).items;
      show(
        output,
        () => trafficLines(found.items, fleet, createRealClock().now()),
        () => ({ items: found.items }),
      );
    });
  });
}
