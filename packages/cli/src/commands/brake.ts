/**
 * `lifeboat brake`: whether the guards have tripped that stop mass deletions (D19) and mass blocks of traffic (D27); `lifeboat brake
 * release`: a person's word that what they stopped may go on, and that a restored control plane may delete in members again.
 */
import { type Condition, type EvacuationBudget, findCondition, humanDuration } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import {
  MASS_DELETION,
  releasedUntil,
  releaseTime,
  RESTORED,
  UNKNOWN_COPIES,
} from "@lifeboat/core/propagation/brake";
import { MASS_TRAFFIC_BLOCK } from "@lifeboat/core/remedy/actions";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { dryRunOption } from "../change-cluster.ts";
import { mayGoOn, yesOption } from "../confirm.ts";
import { changeRecord, readRecord } from "@lifeboat/controllers/context";
import { planeOptions } from "../find-plane.ts";
import type { OptionDefinition } from "../options.ts";
import { type Output, outputFrom, outputOption, show } from "../output.ts";
import { planeTime } from "../plane-clock.ts";
import { reasonOption } from "../reasoned-client.ts";
import { declareOptions, readSettings, type Settings } from "../settings.ts";
import { print, withPlane } from "../with-plane.ts";
import { hanging } from "../wrap.ts";

export const brakeOptions: readonly OptionDefinition[] = [...planeOptions, outputOption(["text"])];
export const brakeReleaseOptions: readonly OptionDefinition[] = [
  ...planeOptions,
  yesOption,
  dryRunOption,
  reasonOption,
];

export function addBrake(program: Command): void {
  const brake = program
    .command("brake")
    .description(
      "Show the guards that stop mass deletions and mass blocks of traffic, and release them",
    );
  const showing = brake
    .command("show", { isDefault: true })
    .description("Show which guards have tripped");
  declareOptions(showing, brakeOptions).action(async () => {
    const settings = readSettings(showing, brakeOptions);
    const output = outputFrom(settings, ["text"]);
    await withPlane(settings, (plane) => showBrake(plane, output));
  });
  const release = brake.command("release").description("Let what they stopped go on");
  declareOptions(release, brakeReleaseOptions).action(async () => {
    const settings = readSettings(release, brakeReleaseOptions);
    await withPlane(settings, (plane) => releaseBrake(plane, settings));
  });
}

async function showBrake(plane: Client, output: Output<"text">): Promise<void> {
  const record = await readRecord(plane);
  const now = await planeTime(plane);
  const traffic = describeTrafficBrake(record);
  const unknown = findCondition(record?.status?.conditions, UNKNOWN_COPIES);
  const isRestored = restoredBy(record) !== undefined;
  show(
    output,
    () => [
      ...hanging("", `the deletion guard is ${describeBrake(record, now)}`),
      ...(traffic === undefined ? [] : hanging("", `the traffic guard is ${traffic}`)),
      ...(isRestored && unknown !== undefined ? hanging("", unknown.message) : []),
    ],
    () => ({
      massDeletion: brakedBy(record),
      restored: restoredBy(record),
      trafficBlocks: blocksStoppedBy(record),
      unknownCopies: isRestored ? unknown : undefined,
    }),
  );
}

async function releaseBrake(plane: Client, settings: Settings): Promise<void> {
  const record = await readRecord(plane);
  const braked = brakedBy(record);
  const restored = restoredBy(record);
  const blocks = blocksStoppedBy(record);
  const now = await planeTime(plane);
  const words = {
    ...(braked && { brakeReleasedAt: releaseTime(braked, now) }),
    ...(restored && { restoreAgreedAt: releaseTime(restored, now) }),
    ...(blocks && { trafficBlocksAgreedAt: releaseTime(blocks, now) }),
  };
  if (braked === undefined && restored === undefined && blocks === undefined) {
    print(["no guard is tripped: there is nothing to release"]);
    return;
  }
  const plan = [
    ...(restored === undefined
      ? []
      : ["The restored control plane deletes copies in members again."]),
    ...(braked === undefined
      ? []
      : [`Deletions go on without the guard for ten minutes (${braked.message}).`]),
    ...(blocks === undefined
      ? []
      : ["Conditions block traffic again, without the guard for ten minutes."]),
  ].join(" ");
  if (!(await mayGoOn(settings, plan, "Release it?"))) return;
  await changeRecord(plane, (parts) => ({ ...parts, spec: { ...parts.spec, ...words } }));
  if (restored !== undefined)
    print(["agreed: the restored control plane deletes in members again"]);
  if (braked !== undefined)
    print(["the deletion guard is released: deletions go on without it for ten minutes"]);
  if (blocks !== undefined)
    print(["agreed: conditions block traffic again, without the guard for ten minutes"]);
}

/** The condition that says so while deletions are stopped. */
export function brakedBy(budget: EvacuationBudget | undefined): Condition | undefined {
  const condition = findCondition(budget?.status?.conditions, MASS_DELETION);
  return condition?.status === "True" ? condition : undefined;
}

/** The condition that holds deletions in members after a restore. */
function restoredBy(budget: EvacuationBudget | undefined): Condition | undefined {
  const condition = findCondition(budget?.status?.conditions, RESTORED);
  return condition?.status === "True" ? condition : undefined;
}

/** The condition that holds blocks of traffic by conditions. */
function blocksStoppedBy(budget: EvacuationBudget | undefined): Condition | undefined {
  const condition = findCondition(budget?.status?.conditions, MASS_TRAFFIC_BLOCK);
  return condition?.status === "True" ? condition : undefined;
}

/** Whether blocks of traffic are held, since when and why, in words; undefined: they are not. */
export function describeTrafficBrake(budget: EvacuationBudget | undefined): string | undefined {
  const stopped = blocksStoppedBy(budget);
  return stopped && `tripped since ${stopped.lastTransitionTime}: ${stopped.message}`;
}

/** Whether the guard stops deletions, since when and why, in words. */
export function describeBrake(budget: EvacuationBudget | undefined, now: Instant): string {
  const braked = restoredBy(budget) ?? brakedBy(budget);
  if (braked !== undefined) return `tripped since ${braked.lastTransitionTime}: ${braked.message}`;
  const { brakeReleasedAt } = budget?.spec ?? {};
  const until = releasedUntil(budget?.status?.conditions ?? [], brakeReleasedAt, now);
  return until === undefined
    ? "armed: it stops a mass deletion"
    : `released: it stops nothing for ${humanDuration(until - now)} more`;
}
