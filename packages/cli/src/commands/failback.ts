/**
 * `lifeboat failback WORKLOAD|--cluster C`: a person's order to return to where workloads ran before their last eviction. The same
 * as `lifeboat evacuations restore`, for one workload or for all that a cluster had.
 *
 * Nothing goes to a cluster that could not take a new workload: what cannot return is named with the reason, and stays.
 */
import {
  type Cluster,
  clusterResourceBindings,
  clusters,
  isRefused,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { plainMoment } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { readSettings as readPublished } from "@lifeboat/controllers/operating";
import { isOn } from "@lifeboat/core/binding";
import { workloadOf } from "@lifeboat/core/clusters";
import { formerResult } from "@lifeboat/core/failover/evacuation";
import {
  decideRestore,
  type RestoredState,
  type RestorePlan,
  sharesOf,
} from "@lifeboat/core/operating";
import { fleetViewOf } from "@lifeboat/core/placement";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { allBindings } from "../all-bindings.ts";
import { dryRunOption, existingCluster } from "../change-cluster.ts";
import { confirm, mayGoOn, yesOption } from "../confirm.ts";
import { readGates } from "../failover-options.ts";
import { CommandFailed, UsageError } from "../failure.ts";
import {
  findBinding,
  namespaceOption,
  type NamedWorkload,
  parseWorkload,
} from "../find-binding.ts";
import { planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { reasonOption } from "../reasoned-client.ts";
import { stateOf } from "../read-workload.ts";
import { restoreText, stateText } from "../restore-text.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { print, withPlane } from "../with-plane.ts";
import { hanging } from "../wrap.ts";
import { onNewest } from "../on-newest.ts";

export const restoreOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  namespaceOption,
  dryRunOption,
  yesOption,
  reasonOption,
];

export const failbackOptions: readonly OptionDefinition[] = [
  ...restoreOptions,
  {
    name: "cluster",
    type: "text",
    value: "NAME",
    commandLineOnly: true,
    help: "Every workload that this cluster had before its last eviction",
  },
];

export function addFailback(program: Command): void {
  const command = program
    .command("failback")
    .description("Return workloads to where they ran before their last eviction")
    .argument("[WORKLOAD]", "its kind and name, such as deployment/web; or --cluster");
  declareOptions(command, failbackOptions).action((workload: string | undefined) => {
    const settings = readSettings(command, failbackOptions);
    const cluster = settings.text("cluster");
    if ((workload === undefined) === (cluster === undefined))
      throw new UsageError("a workload or --cluster is needed; one of them");
    return withPlane(settings, async (plane) => {
      if (cluster !== undefined) await returnAll(plane, cluster, settings);
      else if (workload !== undefined)
        await restoreOne(
          plane,
          parseWorkload(workload, settings.requiredText("namespace")),
          settings,
        );
    });
  });
}

/**
 * Shows what would happen, asks, and writes what was shown: the fleet is read again after the answer, and a plan that is another by
 * then is asked about again.
 */
export async function restoreOne(
  plane: Client,
  named: NamedWorkload,
  settings: Settings,
): Promise<void> {
  const what = `${named.kind}/${named.name}`;
  const carriesState = await keepsState(plane);
  let agreed = "";
  await onNewest(async () => {
    for (;;) {
      const binding = await findBinding(plane, named);
      const present = {
        clusters: (await plane.list(clusters)).items,
        bindings: await allBindings(plane),
      };
      const plan = planFor(binding, present, await stateOf(plane, binding, carriesState));
      if (plan.outcome === "refused") throw new CommandFailed(`${what}: ${plan.message}`);
      const text = restoreText(what, plan);
      if (settings.isOn("dry-run")) {
        print([...hanging("", text), "nothing was changed (dry run)"]);
        return;
      }
      if (settings.isOn("yes") || text === agreed) {
        await write(plane, plan.binding);
        print([`${what} goes back to ${sharesOf(plan.targets)}`]);
        return;
      }
      await confirm(text, "Restore it?");
      agreed = text;
    }
  });
}

interface ClustersAndBindings {
  readonly clusters: readonly Cluster[];
  readonly bindings: readonly ResourceBinding[];
}

function planFor(
  binding: ResourceBinding,
  { clusters: all, bindings }: ClustersAndBindings,
  state: RestoredState,
): RestorePlan {
  const view = { binding, clusters: all, fleet: fleetViewOf(all, bindings), state };
  return decideRestore(view, plainMoment(createRealClock().now()));
}

async function keepsState(plane: Client): Promise<boolean> {
  const gates = readGates((await readPublished(plane))?.["feature-gates"] ?? "");
  return gates.on.has("StatefulFailoverInjection");
}

interface Returning {
  readonly workload: string;
  readonly plan: RestorePlan;
}

const NAMED = 5;

/** Plans all returns on one view of the fleet, each with what those before it take, asks once, and writes them one by one. */
async function returnAll(plane: Client, cluster: string, settings: Settings): Promise<void> {
  await existingCluster(plane, cluster);
  const carriesState = await keepsState(plane);
  const plans = await planAll(plane, cluster, carriesState);
  const going = plans.filter(({ plan }) => plan.outcome === "restore");
  const staying = plans.filter(({ plan }) => plan.outcome === "refused");
  for (const { workload, plan } of staying.slice(0, NAMED))
    if (plan.outcome === "refused") print(hanging("", `${workload} stays: ${plan.message}`));
  if (staying.length > NAMED) print([`… and ${staying.length - NAMED} more stay`]);
  if (going.length === 0) {
    print([
      plans.length === 0
        ? `no workload that ${cluster} had before its last eviction is elsewhere`
        : `no workload can return to ${cluster} now`,
    ]);
    return;
  }
  for (const { workload, plan } of going)
    if (plan.outcome === "restore" && plan.warnings.length > 0)
      print(hanging("", `${workload}:${stateText(plan.warnings)}`));
  const names = going
    .slice(0, NAMED)
    .map(({ workload, plan }) =>
      plan.outcome === "refused" ? workload : `${workload} → ${sharesOf(plan.targets)}`,
    );
  const more = going.length > NAMED ? ` and ${going.length - NAMED} more` : "";
  const [verb, what] = going.length === 1 ? ["returns", "workload"] : ["return", "workloads"];
  const text = `${going.length} ${what} ${verb} to ${cluster}: ${names.join(", ")}${more}.`;
  if (!(await mayGoOn(settings, text, "Go on?"))) return;
  for (const { workload, plan } of going) {
    if (plan.outcome === "refused") continue;
    try {
      await write(plane, plan.binding);
      print([`${workload} goes back to ${sharesOf(plan.targets)}`]);
    } catch (error) {
      if (!isRefused(error, "Conflict")) throw error;
      print([`${workload} has changed meanwhile, and stays: run the command again`]);
    }
  }
}

async function planAll(
  plane: Client,
  cluster: string,
  carriesState: boolean,
): Promise<readonly Returning[]> {
  const { items } = await plane.list(clusters);
  const known = await allBindings(plane);
  const bindings = new Map(known.map((one) => [one.metadata.uid, one] as const));
  const plans: Returning[] = [];
  for (const binding of known) {
    const isThere = isOn(binding, cluster);
    const was = (formerResult(binding) ?? []).some(({ name }) => name === cluster);
    if (isThere || !was) continue;
    const foreseen = { clusters: items, bindings: [...bindings.values()] };
    const plan = planFor(binding, foreseen, await stateOf(plane, binding, carriesState));
    if (plan.outcome === "restore") bindings.set(binding.metadata.uid, plan.binding);
    plans.push({ workload: workloadOf(binding), plan });
  }
  return plans;
}

async function write(plane: Client, binding: ResourceBinding): Promise<void> {
  if (binding.metadata.namespace === undefined)
    await plane.update(clusterResourceBindings, binding);
  else await plane.update(resourceBindings, binding);
}
