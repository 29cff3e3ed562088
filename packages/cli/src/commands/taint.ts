/**
 * `lifeboat taint clusters NAME key=value:Effect …`: marks clusters by hand, and takes marks away.
 *
 * A taint that makes workloads leave shows which and where to, and asks, as `drain` does.
 */
import { clusters, EVICTING_EFFECTS } from "@lifeboat/api";
import { createRealClock } from "@lifeboat/base/adapters";
import { readSettings as readPublished } from "@lifeboat/controllers/operating";
import { decideTainted, policiesById } from "@lifeboat/core/operating";
import { purgeModeOf } from "@lifeboat/core/binding";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { allBindings, allPolicies } from "../all-bindings.ts";
import { changeTaints, dryRunOption, existingCluster } from "../change-cluster.ts";
import { confirmPlan, yesOption } from "../confirm.ts";
import { publishedControllers } from "../controller-options.ts";
import { drainPlanLines, leavingOf, promptLines } from "../drain-plan.ts";
import { UsageError } from "../failure.ts";
import { planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { reasonOption } from "../reasoned-client.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { applyTaintOrders, parseTaintOrders, type Taint, type TaintOrder } from "../taints.ts";
import { print, withPlane } from "../with-plane.ts";

export const taintOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "overwrite",
    type: "switch",
    commandLineOnly: true,
    help: "Give a taint that is there another value",
  },
  dryRunOption,
  yesOption,
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
while the feature gate Failover is on. Before workloads would leave, their plan is
shown and you are asked.`,
    );
  declareOptions(command, taintOptions).action(async (names: string, taints: readonly string[]) => {
    const settings = readSettings(command, taintOptions);
    const order = { names: clusterNames(names), orders: parseTaintOrders(taints) };
    await withPlane(settings, (plane) => taintClusters(plane, order, settings));
  });
}

function clusterNames(text: string): readonly string[] {
  const names = text.split(",").filter((name) => name !== "");
  if (names.length === 0) throw new UsageError("the name of a cluster is needed");
  return [...new Set(names)];
}

interface Order {
  readonly names: readonly string[];
  readonly orders: readonly TaintOrder[];
}

async function taintClusters(
  plane: Client,
  { names, orders }: Order,
  settings: Settings,
): Promise<void> {
  const overwrite = settings.isOn("overwrite");
  const dryRun = settings.isOn("dry-run");
  const change = (taints: readonly Taint[]): readonly Taint[] =>
    applyTaintOrders(taints, orders, overwrite);
  // Nothing is changed when one of the names is a mistake.
  const added: [string, readonly Taint[]][] = [];
  for (const name of names) {
    const before = (await existingCluster(plane, name)).spec.taints ?? [];
    await changeTaints(plane, name, change, { dryRun: true });
    added.push([name, change(before).filter((one) => isEvicting(one) && !before.includes(one))]);
  }
  if (added.some(([, taints]) => taints.length > 0) && (dryRun || !settings.isOn("yes")))
    await showPlan(plane, added, dryRun);
  for (const name of names) {
    const { isChanged } = await changeTaints(plane, name, change, { dryRun });
    const what = isChanged ? describe(orders) : "unchanged";
    print([`cluster/${name} ${what}${dryRun ? " (dry run)" : ""}`]);
  }
}

function isEvicting({ effect }: Taint): boolean {
  return EVICTING_EFFECTS.includes(effect);
}

/** What the new taints of each cluster would move; asks when that is anything and the order is not a dry run. */
async function showPlan(
  plane: Client,
  added: readonly (readonly [string, readonly Taint[]])[],
  dryRun: boolean,
): Promise<void> {
  const options = publishedControllers(await readPublished(plane));
  if (!options.failover) {
    print(["the feature gate Failover is off: nothing leaves while it is"]);
    return;
  }
  const now = createRealClock().now();
  const decided = decideTainted(
    {
      added: new Map(added.filter(([, taints]) => taints.length > 0)),
      clusters: (await plane.list(clusters)).items,
      bindings: await allBindings(plane),
      purgeMode: purgeModeOf(options.noExecutePurgeMode, "Gracefully"),
      approval: options.evacuationApproval,
      policyOf: policiesById(await allPolicies(plane)),
    },
    now,
  );
  const plans = [...decided];
  if (dryRun) {
    print([...plans.flatMap(([cluster, steps]) => drainPlanLines(cluster, steps, now)), ""]);
    return;
  }
  if (plans.every(([, steps]) => steps.every(({ exempt }) => exempt !== undefined))) return;
  const from = plans.map(([cluster]) => cluster).join(", ");
  await confirmPlan(
    plans.flatMap(([cluster, steps]) => promptLines(cluster, steps, now)),
    `${leavingOf(plans, "will")}; see --dry-run.`,
    `Taint ${from}?`,
  );
}

function describe(orders: readonly TaintOrder[]): string {
  if (orders.every(({ kind }) => kind === "add")) return "tainted";
  return orders.every(({ kind }) => kind === "remove") ? "untainted" : "modified";
}
