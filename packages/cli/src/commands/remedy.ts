/**
 * `lifeboat remedy`: takes traffic away from a cluster by hand, and shows all Remedies. It writes nothing but Remedies: what
 * `block` makes is an ordinary one without conditions, named after the cluster, which `kubectl` shows and deletes as well.
 */
import {
  clusters,
  isRefused,
  type MultiClusterIngress,
  multiClusterIngresses,
  type New,
  orNothing,
  type Remedy,
  remedies,
  TRAFFIC_CONTROL,
} from "@lifeboat/api";
import { causeOf } from "@lifeboat/core/remedy/actions";
import { readyClusters } from "@lifeboat/core/traffic";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { dryRunOption, existingCluster } from "../change-cluster.ts";
import { confirmPlan, yesOption } from "../confirm.ts";
import { CommandFailed } from "../failure.ts";
import { planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { outputFrom, outputOption, show } from "../output.ts";
import { reasonOption } from "../reasoned-client.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { remedyLines } from "../traffic-text.ts";
import { print, withPlane } from "../with-plane.ts";
import { columns } from "../wrap.ts";

const FORMS = ["text", "name"] as const;

export const remedyOptions: readonly OptionDefinition[] = [...planeOptions, outputOption(FORMS)];
export const unblockOptions: readonly OptionDefinition[] = [...planeOptions, dryRunOption];
export const blockOptions: readonly OptionDefinition[] = [
  ...unblockOptions,
  yesOption,
  reasonOption,
];

export function addRemedy(program: Command): void {
  const remedy = program
    .command("remedy")
    .description("Take traffic away from a cluster, give it back, and show all Remedies");
  const list = remedy
    .command("list", { isDefault: true })
    .description("Show every Remedy and the clusters on which it acts");
  declareOptions(list, remedyOptions).action(async () => {
    const settings = readSettings(list, remedyOptions);
    const output = outputFrom(settings, FORMS);
    await withPlane(settings, async (plane) => {
      const found = (await plane.list(remedies)).items;
      if (output.kind === "form" && output.form === "name") {
        print(found.map(({ metadata }) => `remedy.${remedies.group}/${metadata.name}`));
        return;
      }
      const fleet = (await plane.list(clusters)).items;
      show(
        output,
        () => remedyLines(found, fleet),
        () => ({ items: found }),
      );
    });
  });
  const blocking = remedy
    .command("block")
    .description("Take the traffic of all ingresses away from a cluster");
  addChange(blocking, blockOptions, block);
  const unblocking = remedy.command("unblock").description("Give a cluster its traffic back");
  addChange(unblocking, unblockOptions, unblock);
}

type Change = (plane: Client, cluster: string, settings: Settings) => Promise<void>;

function addChange(command: Command, table: readonly OptionDefinition[], change: Change): void {
  command.argument("<CLUSTER>", "the cluster's name");
  declareOptions(command, table).action(async (cluster: string) => {
    const settings = readSettings(command, table);
    await withPlane(settings, (plane) => change(plane, cluster, settings));
  });
}

/** The Remedy that `block` makes. */
export function blockOf(cluster: string): New<Remedy> {
  return {
    apiVersion: `${remedies.group}/${remedies.version}`,
    kind: remedies.kind,
    metadata: { name: `block-${cluster}` },
    spec: { clusterAffinity: { clusterNames: [cluster] }, actions: [TRAFFIC_CONTROL] },
  };
}

async function block(plane: Client, cluster: string, settings: Settings): Promise<void> {
  await existingCluster(plane, cluster);
  const dryRun = settings.isOn("dry-run");
  const remedy = blockOf(cluster);
  const suffix = dryRun ? " (dry run)" : "";
  if (await isBlocked(plane, cluster)) {
    print([`cluster/${cluster} is blocked already`]);
    return;
  }
  const { lines, losing } = blockPlan(cluster, (await plane.list(multiClusterIngresses)).items);
  if (dryRun) print(lines);
  else if (losing > 0 && !settings.isOn("yes"))
    await confirmPlan(
      [...lines, ""],
      `${countOf(losing)} will send nothing to ${cluster}; see --dry-run.`,
      `Block ${cluster}?`,
    );
  try {
    await plane.create(remedies, remedy, { dryRun });
    print([`remedy/${remedy.metadata.name} takes the traffic away from ${cluster}${suffix}`]);
  } catch (error) {
    if (!isRefused(error, "AlreadyExists")) throw error;
    // Another person blocked it meanwhile.
    if (!(await isBlocked(plane, cluster))) throw error;
    print([`cluster/${cluster} is blocked already`]);
  }
}

/** Whether there is such a Remedy already; throws CommandFailed when another one has its name. */
async function isBlocked(plane: Client, cluster: string): Promise<boolean> {
  const found = await orNothing(plane.get(remedies, keyOf(cluster)));
  if (found === undefined) return false;
  if (isBlock(found, cluster)) return true;
  throw new CommandFailed(
    `there is another Remedy ${found.metadata.name}: delete it, or name the cluster in it`,
  );
}

interface BlockPlan {
  readonly lines: readonly string[];
  /** How many ingresses send requests to the cluster now. */
  readonly losing: number;
}

/**
 * Which ingresses would send nothing to the cluster any more; one that no other cluster serves keeps it. A cluster without a ready
 * replica serves nothing, as far as that is published.
 */
export function blockPlan(cluster: string, ingresses: readonly MultiClusterIngress[]): BlockPlan {
  const served = ingresses.flatMap(({ metadata, status }) => {
    const { namespace = "", name } = metadata;
    const ready = readyClusters({ metadata });
    const blocked = new Set(status?.trafficBlockClusters);
    const locations = status?.serviceLocations ?? [];
    const all = new Set(locations.flatMap(({ clusters: some = [] }) => some));
    const serving = [...all].filter((one) => !blocked.has(one) && (ready?.has(one) ?? true));
    if (!serving.includes(cluster)) return [];
    const others = serving.filter((one) => one !== cluster).sort();
    return [{ ingress: `${namespace}/${name}`, others }];
  });
  const losing = served.filter(({ others }) => others.length > 0).length;
  if (served.length === 0) return { lines: [`no ingress sends requests to ${cluster}`], losing };
  const rows = served.map(({ ingress, others }) => [
    ingress,
    others.length === 0 ? `${cluster}, because no other serves it` : others.join(", "),
  ]);
  return {
    lines: [
      `${countOf(losing)} would send nothing to ${cluster}:`,
      "",
      ...columns(["INGRESS", "WOULD BE SERVED BY"], rows),
    ],
    losing,
  };
}

function countOf(ingresses: number): string {
  return ingresses === 1 ? "1 ingress" : `${ingresses} ingresses`;
}

async function unblock(plane: Client, cluster: string, settings: Settings): Promise<void> {
  const dryRun = settings.isOn("dry-run");
  const found = await orNothing(plane.get(remedies, keyOf(cluster)));
  if (found !== undefined && isBlock(found, cluster)) {
    await plane.delete(remedies, keyOf(cluster), { dryRun });
    print([`remedy/${found.metadata.name} is deleted${dryRun ? " (dry run)" : ""}`]);
  } else print([`cluster/${cluster} is not blocked by \`lifeboat remedy block\``]);
  const others = await othersOn(plane, cluster);
  if (others.length > 0)
    print([
      `these Remedies still block ${cluster}: ${others.join(", ")}; see lifeboat remedy list`,
    ]);
}

async function othersOn(plane: Client, name: string): Promise<readonly string[]> {
  const cluster = await orNothing(plane.get(clusters, { namespace: "", name }));
  if (cluster === undefined) return [];
  return (await plane.list(remedies)).items
    .filter((remedy) => remedy.metadata.name !== keyOf(name).name)
    .filter(({ spec }) => (spec.actions ?? []).includes(TRAFFIC_CONTROL))
    .filter((remedy) => causeOf(remedy, cluster) !== undefined)
    .map(({ metadata }) => metadata.name);
}

function keyOf(cluster: string) {
  return { namespace: "", name: blockOf(cluster).metadata.name ?? "" };
}

/** Whether a Remedy is what `block` would make: one that was written by hand under the same name is left alone. */
function isBlock({ spec }: Remedy, cluster: string): boolean {
  const { clusterAffinity, decisionMatches = [], actions = [] } = spec;
  const names = clusterAffinity?.clusterNames ?? [];
  return (
    decisionMatches.length === 0 &&
    names.length === 1 &&
    names[0] === cluster &&
    actions.length === 1 &&
    actions[0] === TRAFFIC_CONTROL
  );
}
