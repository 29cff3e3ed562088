/**
 * `lifeboat evacuations`: what is leaving failed and drained clusters, and a person's word about it.
 *
 *     evacuations                  all of them             evacuations show NAME              one of them
 *     evacuations watch [NAME]     follows one of them
 *     evacuations pause NAME       stops it                evacuations resume NAME            lets it go on (evacuation-orders.ts)
 *     evacuations approve NAME     lets it begin           evacuations rate                   how fast (evacuation-orders.ts)
 *     evacuations abandon NAME W   W stays where it is     evacuations restore W              W goes back
 *     evacuations agree            silent Pull clusters have failed, although most fell silent together (D6)
 */
import { clusters, type Evacuation, evacuations, ledgerSlices } from "@lifeboat/api";
import { type Clock, plainMoment } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { readSettings as readPublished } from "@lifeboat/controllers/operating";
import { isOn } from "@lifeboat/core/binding";
import { agreementTime, isolationOf } from "@lifeboat/core/failover/evacuation";
import { movesOf, phasesOf, readLedger } from "@lifeboat/core/history";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { dryRunOption } from "../change-cluster.ts";
import { mayGoOn, yesOption } from "../confirm.ts";
import { allBindings } from "../all-bindings.ts";
import { approvalModeOf } from "../approval-mode.ts";
import { fenceTrust } from "../fence-trust.ts";
import { changeRecord, readRecord } from "@lifeboat/controllers/context";
import { existingEvacuation, slicesOf, takeOut } from "../change-evacuation.ts";
import { listEvacuations, showEvacuation } from "../evacuation-text.ts";
import { CommandFailed } from "../failure.ts";
import {
  findBinding,
  namespaceOption,
  type NamedWorkload,
  parseWorkload,
} from "../find-binding.ts";
import { planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { planeTime } from "../plane-clock.ts";
import { type Output, outputFrom, outputOption, show, type Shown } from "../output.ts";
import { reasonOption } from "../reasoned-client.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { restoreOne, restoreOptions } from "./failback.ts";
import { addEvacuationOrders } from "./evacuation-orders.ts";
import { moveLines, phaseText } from "../watch/moves-text.ts";
import { print, withPlane } from "../with-plane.ts";
import { hanging } from "../wrap.ts";
import { followFleet, watchOptions } from "./watch.ts";

const FORMS = ["text", "name"] as const;

export const evacuationsOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  outputOption(FORMS),
];

/** Of an order that lets something happen at once. */
export const agreeOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  yesOption,
  dryRunOption,
  reasonOption,
];

export const workloadOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  namespaceOption,
  yesOption,
  dryRunOption,
  reasonOption,
];

export function addEvacuations(program: Command): void {
  const parent = program
    .command("evacuations")
    .alias("evacuation")
    .description("Show and direct what leaves failed and drained clusters");
  const list = parent.command("list", { isDefault: true }).description("All evacuations");
  declareOptions(list, evacuationsOptions).action(() => {
    const settings = readSettings(list, evacuationsOptions);
    const output = outputFrom(settings, FORMS);
    return withPlane(settings, (plane) => listAll(plane, output));
  });
  const showing = parent
    .command("show")
    .description("Everything about one evacuation")
    .argument("<NAME>", "the evacuation, such as member1-1");
  declareOptions(showing, evacuationsOptions).action((name: string) => {
    const settings = readSettings(showing, evacuationsOptions);
    const output = outputFrom(settings, FORMS);
    return withPlane(settings, (plane) => showOne(plane, name, output));
  });
  const watch = parent
    .command("watch")
    .description("Follow an evacuation until it ends")
    .argument("[NAME]", "the evacuation; default the one that is under way");
  declareOptions(watch, watchOptions).action(async (name: string | undefined) => {
    const settings = readSettings(watch, watchOptions);
    if (name !== undefined)
      await withPlane(settings, async (plane) => void (await existingEvacuation(plane, name)));
    await followFleet(settings, name ?? "");
  });
  addEvacuationOrders(parent);
  const agree = parent
    .command("agree")
    .description("Agree that Pull clusters which fell silent together have failed: releases go on");
  declareOptions(agree, agreeOptions).action(() => {
    const settings = readSettings(agree, agreeOptions);
    return withPlane(settings, (plane) => agreeToIsolation(plane, settings));
  });
  const abandon = parent
    .command("abandon")
    .description("Let a workload stay where it is")
    .argument("<NAME>", "the evacuation it is in")
    .argument("<WORKLOAD>", "its kind and name, such as deployment/web");
  declareOptions(abandon, workloadOptions).action((name: string, workload: string) => {
    const settings = readSettings(abandon, workloadOptions);
    const named = parseWorkload(workload, settings.requiredText("namespace"));
    return withPlane(settings, (plane) => abandonOne(plane, name, named, settings));
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

type EvacuationOutput = Output<(typeof FORMS)[number]>;

async function listAll(plane: Client, output: EvacuationOutput): Promise<void> {
  const { items } = await plane.list(evacuations);
  if (output.kind === "form" && items.length === 0)
    process.stderr.write("there are no evacuations\n");
  else if (output.kind === "form" && output.form === "name") print(items.map(nameLine));
  else
    show(
      output,
      () => listEvacuations(items, createRealClock().now()),
      () => ({ items }),
    );
}

function nameLine({ metadata }: Evacuation): string {
  return `evacuation.${evacuations.group}/${metadata.name}`;
}

async function showOne(plane: Client, name: string, output: EvacuationOutput): Promise<void> {
  const evacuation = await existingEvacuation(plane, name);
  if (output.kind === "form" && output.form === "name") {
    print([nameLine(evacuation)]);
    return;
  }
  const { lines, document } = await describeEvacuation(plane, createRealClock(), evacuation);
  show(output, lines, document);
}

/** Everything about one evacuation: its phases with their times, and where its workloads are. */
export async function describeEvacuation(
  plane: Client,
  clock: Clock,
  evacuation: Evacuation,
): Promise<Shown> {
  const { name } = evacuation.metadata;
  const history = readLedger((await plane.list(ledgerSlices)).items);
  const fleet = (await plane.list(clusters)).items;
  const published = await readPublished(plane);
  const now = clock.now();
  const moves = movesOf({
    evacuation,
    slices: await slicesOf(plane, name),
    bindings: await allBindings(plane),
    approval: approvalModeOf(published),
    moment: plainMoment(now),
    clusters: fleet,
    trust: fenceTrust(published),
    history,
  });
  const source = fleet.find(({ metadata }) => metadata.name === evacuation.spec.cluster);
  const phases = phasesOf(evacuation, source, history);
  return {
    lines: () => {
      const shown = { phases: phaseText(phases), moves: moveLines(moves, now) };
      return showEvacuation(evacuation, shown, now);
    },
    document: () => ({ evacuation, moves, phases }),
  };
}

/** A person's word that it is the clusters that are down, not the way to them. */
async function agreeToIsolation(plane: Client, settings: Settings): Promise<void> {
  const budget = await readRecord(plane);
  const { items } = await plane.list(clusters);
  const isolation = isolationOf(items, budget?.spec.isolationAgreedAt);
  const { isIsolated, lapsed } = isolation;
  if (!isIsolated) {
    print(["the control plane does not take itself for isolated: there is nothing to agree to"]);
    return;
  }
  // Before the question: what falls silent while the person reads is not in the plan.
  const isolationAgreedAt = agreementTime(items, isolation, await planeTime(plane));
  const plan = `${lapsed.join(", ")} count as failed from now on: what runs there is released to other clusters.`;
  if (!(await mayGoOn(settings, plan, "Have they really failed?"))) return;
  await changeRecord(plane, (parts) => ({ ...parts, spec: { ...parts.spec, isolationAgreedAt } }));
  print(hanging("", `agreed: ${lapsed.join(", ")} count as failed, and releases go on`));
}

async function abandonOne(
  plane: Client,
  name: string,
  named: NamedWorkload,
  settings: Settings,
): Promise<void> {
  const { spec } = await existingEvacuation(plane, name);
  const binding = await findBinding(plane, named);
  const slices = await slicesOf(plane, name);
  const entry = slices
    .flatMap((slice) => slice.spec.entries)
    .find((one) => one.binding.uid === binding.metadata.uid);
  const what = `${named.kind}/${named.name}`;
  if (entry === undefined)
    throw new CommandFailed(`${what} is not in the evacuation "${name}": nothing moves it there`);
  if (!isOn(binding, spec.cluster))
    throw new CommandFailed(
      `${what} has left ${spec.cluster} already; \`lifeboat evacuations restore ${what} ` +
        `-n ${named.namespace}\` brings it back`,
    );
  const plan = `${what} stays on ${spec.cluster}: the evacuation ${name} does not move it any more.`;
  if (!(await mayGoOn(settings, plan, "Let it stay?"))) return;
  const isChanged = await takeOut(plane, name, entry.binding);
  print([`${what} ${isChanged ? "stays" : "stays already"} on ${spec.cluster}`]);
}
