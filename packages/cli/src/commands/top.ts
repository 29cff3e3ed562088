/** `lifeboat top clusters`: how full each cluster is. */
import { type Cluster, clusters } from "@lifeboat/api";
import { type Command, Argument } from "commander";
import { existingCluster } from "../change-cluster.ts";
import { planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { outputFrom, outputOption, show } from "../output.ts";
import { declareOptions, readSettings } from "../settings.ts";
import { topLines, usesOf } from "../top-text.ts";
import { withPlane } from "../with-plane.ts";

export const topOptions: readonly OptionDefinition[] = [...planeOptions, outputOption(["text"])];

export function addTop(program: Command): void {
  const command = program
    .command("top")
    .description("Show how full clusters are: what pods ask for of what nodes offer")
    .addArgument(new Argument("<KIND>", "clusters").choices(["clusters", "cluster"]))
    .argument("[NAMES...]", "only these clusters; default all");
  declareOptions(command, topOptions).action((_kind: string, names: readonly string[]) => {
    const settings = readSettings(command, topOptions);
    const output = outputFrom(settings, ["text"]);
    return withPlane(settings, async (plane) => {
      const found: Cluster[] = [];
      for (const name of names) found.push(await existingCluster(plane, name));
      const uses = usesOf(names.length === 0 ? (await plane.list(clusters)).items : found);
      if (output.kind === "form" && uses.length === 0)
        process.stderr.write("no clusters are joined: join one with `lifeboat join`\n");
      else
        show(
          output,
          () => topLines(uses),
          () => ({ clusters: uses }),
        );
    });
  });
}
