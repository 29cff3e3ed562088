/**
 * `lifeboat fence CLUSTER`: a person's word that a cluster is off, and nothing in it runs. Workloads that leave it in mode
 * Directly wait for their old copy to be gone; the word lets them start elsewhere although nobody can ask the cluster.
 *
 * 1. A cluster that answers is not off: the word is refused.
 * 2. The word is void once the cluster answers again; the control plane then takes it off by itself, and removes what is
 *    left there of the old copies.
 */
import { userInfo } from "node:os";
import { type Cluster, clusters, findCondition } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { wellKnown } from "@lifeboat/core";
import { readSettings as readPublished } from "@lifeboat/controllers/operating";
import { workloadOf } from "@lifeboat/core/clusters";
import { awaitsFence, formatFence, isAnswering } from "@lifeboat/core/failover/eviction-tasks";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { allBindings } from "../all-bindings.ts";
import { dryRunOption, existingCluster } from "../change-cluster.ts";
import { confirm, yesOption } from "../confirm.ts";
import { CommandFailed } from "../failure.ts";
import { fenceTrust } from "../fence-trust.ts";
import { planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { reasonOption } from "../reasoned-client.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { print, withPlane } from "../with-plane.ts";
import { hanging } from "../wrap.ts";
import { onNewest } from "../on-newest.ts";

export const fenceOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  { name: "undo", type: "switch", commandLineOnly: true, help: "Withdraw the declaration" },
  yesOption,
  dryRunOption,
  reasonOption,
];

export function addFence(program: Command): void {
  const command = program
    .command("fence")
    .description(
      "Declare a cluster off, so that workloads that must not run twice may start elsewhere",
    )
    .argument("<NAME>", "the cluster's name")
    .addHelpText(
      "after",
      `
Confirm it only when the cluster is off for certain: switched off, or cut off
from everything its workloads could harm. If it still runs, workloads with the purge mode
Directly will run twice.`,
    );
  declareOptions(command, fenceOptions).action(async (name: string) => {
    const settings = readSettings(command, fenceOptions);
    await withPlane(settings, (plane) => fence(plane, name, settings));
  });
}

async function fence(plane: Client, name: string, settings: Settings): Promise<void> {
  const cluster = await existingCluster(plane, name);
  const isUndone = settings.isOn("undo");
  const dryRun = settings.isOn("dry-run");
  const word = isUndone ? undefined : wordAbout(cluster, createRealClock().now(), whoAmI());
  if (!isUndone) {
    const plan = await planOf(plane, cluster);
    if (dryRun) print(hanging("", plan));
    else if (!settings.isOn("yes"))
      await confirm(plan, `Is ${name} off, and does nothing in it run?`);
  }
  const isChanged = await writeWord(plane, name, word, dryRun);
  const suffix = dryRun ? " (dry run)" : "";
  const what = isUndone
    ? isChanged
      ? "no longer counts as off"
      : "was not declared off"
    : "counts as off until it answers";
  print([`cluster/${name} ${what}${suffix}`]);
}

/** Which workloads the word lets start elsewhere. */
async function planOf(plane: Client, cluster: Cluster): Promise<string> {
  const { name } = cluster.metadata;
  const trust = fenceTrust(await readPublished(plane));
  const bindings = await allBindings(plane);
  const waiting = bindings.filter((one) => awaitsFence(one, cluster, trust)).map(workloadOf);
  const later = `Workloads that leave ${name} in mode Directly will start elsewhere`;
  if (waiting.length === 0) return `${later}; none waits for it now.`;
  const more = waiting.length > NAMED ? ` and ${waiting.length - NAMED} more` : "";
  const [verb, what] = waiting.length === 1 ? ["waits", "starts"] : ["wait", "start"];
  return `${waiting.slice(0, NAMED).join(", ")}${more} ${verb} for it and ${what} elsewhere at once.`;
}

const NAMED = 5;

/** The text of the annotation; throws CommandFailed about a cluster that answers. */
export function wordAbout(cluster: Cluster, now: Instant, by: string): string {
  const { name } = cluster.metadata;
  if (isAnswering(cluster)) {
    const since = findCondition(cluster.status?.conditions, "Ready")?.lastTransitionTime ?? "";
    throw new CommandFailed(
      `cluster "${name}" answers (Ready since ${since}), so it is not off; to empty it: lifeboat drain ${name}`,
    );
  }
  return formatFence(now, by);
}

/** Writes the word, or takes it off; answers whether anything changed. */
export async function writeWord(
  plane: Client,
  name: string,
  word: string | undefined,
  dryRun: boolean,
): Promise<boolean> {
  return onNewest(async () => {
    const cluster = await existingCluster(plane, name);
    const { annotations = {}, resourceVersion } = cluster.metadata;
    if (annotations[wellKnown.FENCED] === word) return false;
    // Looked at again: it may have answered while the person was asked.
    if (word !== undefined) wordAbout(cluster, createRealClock().now(), "");
    const body = {
      metadata: { resourceVersion, annotations: { [wellKnown.FENCED]: word ?? null } },
    };
    const key = { namespace: "", name };
    await plane.patch(clusters, key, { type: "merge", body }, { dryRun });
    return true;
  });
}

/** For the record; a process without a name of its own is the operator. */
function whoAmI(): string {
  try {
    return userInfo().username;
  } catch {
    return "operator";
  }
}
