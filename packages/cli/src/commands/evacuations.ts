/**
 * `lifeboat evacuations`: what is leaving failed and drained clusters, and a person's word about it.
 *
 *     evacuations                  all of them             evacuations show NAME              one of them
 *     evacuations pause NAME       stops it                evacuations resume NAME            lets it go on
 *     evacuations abandon NAME W   W stays where it is     evacuations restore W              W goes back
 *
 * Pausing and resuming with --all is the fleet's switch (`EvacuationBudget/fleet`): it also holds for evacuations to come.
 */
import {
  clusterResourceBindings,
  type Cluster,
  clusters,
  type Evacuation,
  evacuations,
  isRefused,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { createRealClock } from "@lifeboat/base/adapters";
import { isLeaving, isOn } from "@lifeboat/core/binding";
import { strandedBy } from "@lifeboat/core/failover/evacuation";
import { readSettings as readPublished } from "@lifeboat/controllers/operating";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { awaitsFence } from "../awaits-fence.ts";
import { changeBudget } from "../budget.ts";
import { existingEvacuation, setPaused, slicesOf, takeOut } from "../change-evacuation.ts";
import { listEvacuations, showEvacuation, type ShownEntry } from "../evacuation-text.ts";
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
import { restored, sharesOf } from "../restore.ts";
import { declareOptions, readSettings } from "../settings.ts";
import { print, withPlane } from "../with-plane.ts";

export const evacuationsOptions = planeOptions;

export const pauseOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "all",
    type: "switch",
    help: "The whole fleet, and evacuations to come",
  },
];

export const workloadOptions: readonly OptionDefinition[] = [...planeOptions, namespaceOption];

export function addEvacuations(program: Command): void {
  const parent = program
    .command("evacuations")
    .alias("evacuation")
    .description("Show and direct what leaves failed and drained clusters");
  const list = parent.command("list", { isDefault: true }).description("All evacuations");
  declareOptions(list, evacuationsOptions).action(() =>
    withPlane(readSettings(list, evacuationsOptions), listAll),
  );
  const show = parent
    .command("show")
    .description("Everything about one evacuation")
    .argument("<NAME>", "the evacuation, such as member1-1");
  declareOptions(show, evacuationsOptions).action((name: string) =>
    withPlane(readSettings(show, evacuationsOptions), (plane) => showOne(plane, name)),
  );
  addSwitch(parent, "pause", "Stop an evacuation: nothing more is released", true);
  addSwitch(parent, "resume", "Let an evacuation go on", false);
  const abandon = parent
    .command("abandon")
    .description("Let a workload stay where it is")
    .argument("<NAME>", "the evacuation it is in")
    .argument("<WORKLOAD>", "its kind and name, such as deployment/web");
  declareOptions(abandon, workloadOptions).action((name: string, workload: string) => {
    const settings = readSettings(abandon, workloadOptions);
    const named = parseWorkload(workload, settings.requiredText("namespace"));
    return withPlane(settings, (plane) => abandonOne(plane, name, named));
  });
  const restore = parent
    .command("restore")
    .description("Bring a workload back to where it ran before its last eviction")
    .argument("<WORKLOAD>", "its kind and name, such as deployment/web");
  declareOptions(restore, workloadOptions).action((workload: string) => {
    const settings = readSettings(restore, workloadOptions);
    const named = parseWorkload(workload, settings.requiredText("namespace"));
    return withPlane(settings, (plane) => restoreOne(plane, named));
  });
}

function addSwitch(parent: Command, verb: string, description: string, paused: boolean): void {
  const command = parent
    .command(verb)
    .description(description)
    .argument("[NAME]", "the evacuation; or --all");
  declareOptions(command, pauseOptions).action((name: string | undefined) => {
    const settings = readSettings(command, pauseOptions);
    const all = settings.isOn("all");
    if (all === (name !== undefined))
      throw new UsageError(`the name of an evacuation, or --all, is needed to ${verb}`);
    return withPlane(settings, (plane) =>
      name === undefined ? switchAll(plane, paused) : switchOne(plane, name, paused),
    );
  });
}

async function listAll(plane: Client): Promise<void> {
  const { items } = await plane.list(evacuations);
  if (items.length === 0) process.stderr.write("there are no evacuations\n");
  else print(listEvacuations(items, createRealClock().now()));
}

async function showOne(plane: Client, name: string): Promise<void> {
  const evacuation = await existingEvacuation(plane, name);
  const entries = await entriesOf(plane, evacuation);
  print(showEvacuation(evacuation, entries, createRealClock().now()));
}

/** The entries of all slices, each binding once, and where it stands as its binding says. */
async function entriesOf(plane: Client, evacuation: Evacuation): Promise<readonly ShownEntry[]> {
  const { metadata, spec, status } = evacuation;
  const bindings = new Map((await allBindings(plane)).map((one) => [one.metadata.uid, one]));
  const takenOut = new Set((status?.editedByHand ?? []).map(({ uid }) => uid));
  const held = new Set((status?.held ?? []).map(({ binding }) => binding.uid));
  const cluster = await findCluster(plane, spec.cluster);
  const isUnproven = (binding: ResourceBinding | undefined): boolean =>
    binding !== undefined && cluster !== undefined && awaitsFence(binding, cluster);
  const shown = new Map<string, ShownEntry>();
  for (const slice of await slicesOf(plane, metadata.name))
    for (const entry of slice.spec.entries) {
      const { uid } = entry.binding;
      if (shown.has(uid) && entry.exempt !== undefined) continue;
      const state = stateOf(bindings.get(uid), spec.cluster);
      const queued = held.has(uid) ? "Held" : takenOut.has(uid) ? "Abandoned" : "Queued";
      const there = entry.exempt === undefined ? queued : "Exempt";
      const waits = isUnproven(bindings.get(uid))
        ? `AwaitingFence: lifeboat fence ${spec.cluster}`
        : "";
      shown.set(uid, {
        entry,
        state: state === "There" ? there : state,
        ...(waits !== "" && { waits }),
      });
    }
  const isOver = status?.finishedAt !== undefined;
  return [...shown.values()].map((one) =>
    isOver && one.state === "Queued" ? { ...one, state: "Abandoned" } : one,
  );
}

/** undefined: it has left the fleet since. */
async function findCluster(plane: Client, name: string): Promise<Cluster | undefined> {
  return (await plane.list(clusters)).items.find(({ metadata }) => metadata.name === name);
}

function stateOf(binding: ResourceBinding | undefined, cluster: string): string {
  if (binding === undefined) return "Done";
  if (isOn(binding, cluster)) return "There";
  const isUnderWay = isLeaving(binding, cluster) || strandedBy(binding)?.cluster === cluster;
  return isUnderWay ? "Evicted" : "Done";
}

/** The bindings of both scopes. */
export async function allBindings(plane: Client): Promise<readonly ResourceBinding[]> {
  const both = await Promise.all([
    plane.list(resourceBindings),
    plane.list(clusterResourceBindings),
  ]);
  return both.flatMap(({ items }) => items);
}

async function switchOne(plane: Client, name: string, paused: boolean): Promise<void> {
  const isChanged = await setPaused(plane, name, paused);
  const what = paused ? "paused" : "resumed";
  print([`evacuation/${name} ${isChanged ? what : `already ${what}`}`]);
}

async function switchAll(plane: Client, paused: boolean): Promise<void> {
  const isChanged = await changeBudget(plane, (spec) =>
    spec.paused === paused ? spec : { ...spec, paused },
  );
  const what = paused ? "paused" : "resumed";
  print([`all evacuations ${isChanged ? what : `already ${what}`}`]);
  if (paused) return;
  const { items } = await plane.list(evacuations);
  const still = items.filter(({ spec, status }) => spec.paused && status?.finishedAt === undefined);
  if (still.length === 0) return;
  const names = still.map(({ metadata }) => metadata.name).join(", ");
  print([`paused by themselves, until they are resumed by name: ${names}`]);
}

async function abandonOne(plane: Client, name: string, named: NamedWorkload): Promise<void> {
  const { spec } = await existingEvacuation(plane, name);
  const binding = await findBinding(plane, named);
  const slices = await slicesOf(plane, name);
  const entry = slices
    .flatMap((slice) => slice.spec.entries)
    .find((one) => one.binding.uid === binding.metadata.uid);
  const what = `${named.kind}/${named.name}`;
  if (entry === undefined)
    throw new CommandFailed(`${what} is not in the evacuation "${name}": nothing moves it there`);
  if (stateOf(binding, spec.cluster) !== "There")
    throw new CommandFailed(
      `${what} has left ${spec.cluster} already; \`lifeboat evacuations restore ${what} ` +
        `-n ${named.namespace}\` brings it back`,
    );
  const isChanged = await takeOut(plane, name, entry.binding);
  print([`${what} ${isChanged ? "stays" : "stays already"} on ${spec.cluster}`]);
}

async function restoreOne(plane: Client, named: NamedWorkload): Promise<void> {
  const gates = readGates((await readPublished(plane))?.["feature-gates"] ?? "");
  const { items } = await plane.list(clusters);
  const what = `${named.kind}/${named.name}`;
  for (;;) {
    const binding = await findBinding(plane, named);
    const view = {
      binding,
      clusters: new Set(items.map(({ metadata }) => metadata.name)),
      carriesState: gates.on.has("StatefulFailoverInjection"),
    };
    try {
      const order = inWordsOf(what, () => restored(view, createRealClock().now()));
      await write(plane, order);
      print([`${what} goes back to ${sharesOf(order.spec.clusters ?? [])}`]);
      return;
    } catch (error) {
      if (!isRefused(error, "Conflict")) throw error;
    }
  }
}

async function write(plane: Client, binding: ResourceBinding): Promise<void> {
  if (binding.metadata.namespace === undefined)
    await plane.update(clusterResourceBindings, binding);
  else await plane.update(resourceBindings, binding);
}

function inWordsOf<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof CommandFailed) throw new CommandFailed(`${what}: ${error.message}`);
    throw error;
  }
}
