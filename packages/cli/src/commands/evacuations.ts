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
import { clusters, evacuations, ledgerSlices } from "@lifeboat/api";
import { formatTime, plainMoment } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { readSettings as readPublished } from "@lifeboat/controllers/operating";
import { isolationOf } from "@lifeboat/core/failover/evacuation";
import { movesOf, phasesOf, readLedger } from "@lifeboat/core/history";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
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
import { declareOptions, readSettings } from "../settings.ts";
import { restoreOne, restoreOptions } from "./failback.ts";
import { addEvacuationOrders } from "./evacuation-orders.ts";
import { moveLines, phaseText } from "../watch/moves-text.ts";
import { print, withPlane } from "../with-plane.ts";
import { hanging } from "../wrap.ts";
import { followFleet, watchOptions } from "./watch.ts";

export const evacuationsOptions = planeOptions;

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

async function listAll(plane: Client): Promise<void> {
  const { items } = await plane.list(evacuations);
  if (items.length === 0) process.stderr.write("there are no evacuations\n");
  else print(listEvacuations(items, createRealClock().now()));
}

async function showOne(plane: Client, name: string): Promise<void> {
  const evacuation = await existingEvacuation(plane, name);
  const history = readLedger((await plane.list(ledgerSlices)).items);
  const fleet = (await plane.list(clusters)).items;
  const published = await readPublished(plane);
  const now = createRealClock().now();
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
  const shown = {
    phases: phaseText(phasesOf(evacuation, source, history)),
    moves: moveLines(moves, now),
  };
  print(showEvacuation(evacuation, shown, now));
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
