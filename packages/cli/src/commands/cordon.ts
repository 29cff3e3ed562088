/**
 * `lifeboat cordon NAME` and `lifeboat uncordon NAME`: close a cluster for new workloads, and open it again. What runs
 * there stays. Opening also takes back an order to empty the cluster (`lifeboat drain`).
 */
import { isDrainTaint } from "@lifeboat/core/binding";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { changeTaints, dryRunOption, existingCluster } from "../change-cluster.ts";
import { findPlane, inWords, planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { reasonOption } from "../reasoned-client.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { type Taint, withTaint } from "../taints.ts";

export const cordonOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  dryRunOption,
  reasonOption,
];

const UNSCHEDULABLE: Taint = { key: "cluster.karmada.io/unschedulable", effect: "NoSchedule" };

export function addCordon(program: Command): void {
  const command = program
    .command("cordon")
    .description("Close clusters for new workloads; what runs there stays")
    .argument("<NAMES...>", "the clusters");
  declareOptions(command, cordonOptions).action(async (names: readonly string[]) => {
    await eachCluster(names, readSettings(command, cordonOptions), cordon);
  });
}

export function addUncordon(program: Command): void {
  const command = program
    .command("uncordon")
    .description("Open clusters for new workloads, and take back orders to drain them")
    .argument("<NAMES...>", "the clusters");
  declareOptions(command, cordonOptions).action(async (names: readonly string[]) => {
    await eachCluster(names, readSettings(command, cordonOptions), uncordon);
  });
}

type Action = (plane: Client, name: string, dryRun: boolean) => Promise<string>;

async function eachCluster(
  names: readonly string[],
  settings: Settings,
  action: Action,
): Promise<void> {
  await inWords(async () => {
    const dryRun = settings.isOn("dry-run");
    const plane = await findPlane(settings);
    try {
      // Nothing is changed when one of the names is a mistake.
      for (const name of names) await existingCluster(plane.client, name);
      for (const name of new Set(names)) {
        const what = await action(plane.client, name, dryRun);
        process.stdout.write(`cluster/${name} ${what}${dryRun ? " (dry run)" : ""}\n`);
      }
    } finally {
      plane.close();
    }
  });
}

async function cordon(plane: Client, name: string, dryRun: boolean): Promise<string> {
  const close = (taints: readonly Taint[]): readonly Taint[] =>
    withTaint(taints, UNSCHEDULABLE, true);
  const { isChanged } = await changeTaints(plane, name, close, { dryRun });
  return isChanged ? "cordoned" : "already cordoned";
}

async function uncordon(plane: Client, name: string, dryRun: boolean): Promise<string> {
  let wasDrained = false;
  const open = (taints: readonly Taint[]): readonly Taint[] => {
    wasDrained = taints.some(isDrainTaint);
    const left = taints.filter((one) => !isDrainTaint(one) && !isUnschedulable(one));
    return left.length === taints.length ? taints : left;
  };
  const { isChanged } = await changeTaints(plane, name, open, { dryRun });
  if (!isChanged) return "already uncordoned";
  return wasDrained ? "uncordoned: what has not left it stays" : "uncordoned";
}

function isUnschedulable({ key, effect }: Taint): boolean {
  return key === UNSCHEDULABLE.key && effect === UNSCHEDULABLE.effect;
}
