/** `lifeboat taint clusters NAME key=value:Effect …`: marks clusters by hand, and takes marks away. */
import type { Command } from "commander";
import { changeTaints, dryRunOption } from "../change-cluster.ts";
import { UsageError } from "../failure.ts";
import { findPlane, inWords, planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { reasonOption } from "../reasoned-client.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { applyTaintOrders, parseTaintOrders, type Taint, type TaintOrder } from "../taints.ts";

export const taintOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "overwrite",
    type: "switch",
    commandLineOnly: true,
    help: "Give a taint that is there another value",
  },
  dryRunOption,
  reasonOption,
];

export function addTaint(program: Command): void {
  const taint = program.command("taint").description("Add taints to clusters and remove them");
  const command = taint
    .command("clusters")
    .alias("cluster")
    .description("Add taints to clusters and remove them")
    .argument("<NAME>", "the cluster, or several separated by commas")
    .argument("<TAINTS...>", "key=value:Effect and key:Effect add, key:Effect- and key- remove")
    .addHelpText(
      "after",
      `
NoSchedule keeps new workloads away. NoExecute also moves those that do not
tolerate it, PreferNoExecute those whose policy sets failover.cluster; both only
while the feature gate Failover is on.`,
    );
  declareOptions(command, taintOptions).action(async (names: string, taints: readonly string[]) => {
    const settings = readSettings(command, taintOptions);
    await inWords(() => taintClusters(clusterNames(names), parseTaintOrders(taints), settings));
  });
}

function clusterNames(text: string): readonly string[] {
  const names = text.split(",").filter((name) => name !== "");
  if (names.length === 0) throw new UsageError("the name of a cluster is needed");
  return [...new Set(names)];
}

async function taintClusters(
  names: readonly string[],
  orders: readonly TaintOrder[],
  settings: Settings,
): Promise<void> {
  const overwrite = settings.isOn("overwrite");
  const dryRun = settings.isOn("dry-run");
  const change = (taints: readonly Taint[]): readonly Taint[] =>
    applyTaintOrders(taints, orders, overwrite);
  const plane = await findPlane(settings);
  try {
    // Nothing is changed when one of the names is a mistake.
    for (const name of names) await changeTaints(plane.client, name, change, { dryRun: true });
    for (const name of names) {
      const { isChanged } = await changeTaints(plane.client, name, change, { dryRun });
      const what = isChanged ? describe(orders) : "unchanged";
      process.stdout.write(`cluster/${name} ${what}${dryRun ? " (dry run)" : ""}\n`);
    }
  } finally {
    plane.close();
  }
}

function describe(orders: readonly TaintOrder[]): string {
  if (orders.every(({ kind }) => kind === "add")) return "tainted";
  return orders.every(({ kind }) => kind === "remove") ? "untainted" : "modified";
}
