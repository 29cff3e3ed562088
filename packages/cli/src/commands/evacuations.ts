/**
 * `lifeboat evacuations`: what is leaving failed and drained clusters, and a person's word about it.
 *
 *     evacuations                  all of them             evacuations show NAME              one of them
 *     evacuations pause NAME       stops it                evacuations resume NAME            lets it go on
 *     evacuations abandon NAME W   W stays where it is     evacuations restore W              W goes back
 *     evacuations agree            silent Pull clusters have failed, although most fell silent together (D6)
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
import { formatTime, plainMoment } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { readSettings as readPublished } from "@lifeboat/controllers/operating";
import { isolationOf } from "@lifeboat/core/failover/evacuation";
import { decideRestore, evacuationEntries, sharesOf } from "@lifeboat/core/operating";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { awaitsFence } from "../awaits-fence.ts";
import { changeRecord, readRecord } from "@lifeboat/controllers/context";
import { dryRunOption } from "../change-cluster.ts";
import { existingEvacuation, setPaused, slicesOf, takeOut } from "../change-evacuation.ts";
import { confirm, yesOption } from "../confirm.ts";
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
import { restoreText } from "../restore-text.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { print, withPlane } from "../with-plane.ts";
import { hanging } from "../wrap.ts";

export const evacuationsOptions = planeOptions;

export const pauseOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  {
    name: "all",
    type: "switch",
    commandLineOnly: true,
    help: "The whole fleet, and evacuations to come",
  },
];

export const workloadOptions: readonly OptionDefinition[] = [...planeOptions, namespaceOption];

export const restoreOptions: readonly OptionDefinition[] = [
  ...workloadOptions,
  dryRunOption,
  yesOption,
];

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
  const agree = parent
    .command("agree")
    .description("Agree that Pull clusters which fell silent together have failed: releases go on");
  declareOptions(agree, evacuationsOptions).action(() =>
    withPlane(readSettings(agree, evacuationsOptions), agreeToIsolation),
  );
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
  declareOptions(restore, restoreOptions).action((workload: string) => {
    const settings = readSettings(restore, restoreOptions);
    const named = parseWorkload(workload, settings.requiredText("namespace"));
    return withPlane(settings, (plane) => restoreOne(plane, named, settings));
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

/** The entries, and what a person should know of those that wait for a proof. */
async function entriesOf(plane: Client, evacuation: Evacuation): Promise<readonly ShownEntry[]> {
  const { metadata, spec } = evacuation;
  const cluster = await findCluster(plane, spec.cluster);
  const settings = await readPublished(plane);
  const listed = evacuationEntries({
    evacuation,
    slices: await slicesOf(plane, metadata.name),
    bindings: await allBindings(plane),
  });
  return listed.map(({ entry, state, binding }) => {
    const isUnproven =
      binding !== undefined && cluster !== undefined && awaitsFence(binding, cluster, settings);
    const waits = `AwaitingFence: lifeboat fence ${spec.cluster}`;
    return { entry, state, ...(isUnproven && { waits }) };
  });
}

/** undefined: it has left the fleet since. */
async function findCluster(plane: Client, name: string): Promise<Cluster | undefined> {
  return (await plane.list(clusters)).items.find(({ metadata }) => metadata.name === name);
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
  const isChanged = await changeRecord(plane, (parts) =>
    parts.spec.paused === paused ? parts : { ...parts, spec: { ...parts.spec, paused } },
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

/** A person's word that it is the clusters that are down, not the way to them. */
async function agreeToIsolation(plane: Client): Promise<void> {
  const budget = await readRecord(plane);
  const { items } = await plane.list(clusters);
  const { isIsolated, lapsed } = isolationOf(items, budget?.spec.isolationAgreedAt);
  if (!isIsolated) {
    print(["the control plane does not take itself for isolated: there is nothing to agree to"]);
    return;
  }
  const isolationAgreedAt = formatTime(createRealClock().now());
  await changeRecord(plane, (parts) => ({ ...parts, spec: { ...parts.spec, isolationAgreedAt } }));
  print(hanging("", `agreed: ${lapsed.join(", ")} count as failed, and releases go on`));
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
  if (!(binding.spec.clusters ?? []).some((one) => one.name === spec.cluster))
    throw new CommandFailed(
      `${what} has left ${spec.cluster} already; \`lifeboat evacuations restore ${what} ` +
        `-n ${named.namespace}\` brings it back`,
    );
  const isChanged = await takeOut(plane, name, entry.binding);
  print([`${what} ${isChanged ? "stays" : "stays already"} on ${spec.cluster}`]);
}

/**
 * Shows what would happen, asks, and writes what was shown: the fleet is read again after the answer, and a plan that is another by
 * then is asked about again.
 */
async function restoreOne(plane: Client, named: NamedWorkload, settings: Settings): Promise<void> {
  const what = `${named.kind}/${named.name}`;
  const gates = readGates((await readPublished(plane))?.["feature-gates"] ?? "");
  const carriesState = gates.on.has("StatefulFailoverInjection");
  let agreed = "";
  for (;;) {
    const binding = await findBinding(plane, named);
    const view = {
      binding,
      clusters: (await plane.list(clusters)).items,
      bindings: await allBindings(plane),
      carriesState,
    };
    const plan = decideRestore(view, plainMoment(createRealClock().now()));
    if (plan.outcome === "refused") throw new CommandFailed(`${what}: ${plan.message}`);
    const text = restoreText(what, plan);
    if (settings.isOn("dry-run")) {
      print([...hanging("", text), "nothing was changed (dry run)"]);
      return;
    }
    if (!settings.isOn("yes") && text !== agreed) {
      await confirm(text, "Restore it?");
      agreed = text;
      continue;
    }
    try {
      await write(plane, plan.binding);
      print([`${what} goes back to ${sharesOf(plan.targets)}`]);
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
