/**
 * `lifeboat brake`: whether the brakes are on that stop mass deletions (D19) and mass blocks of traffic (D27); `lifeboat brake
 * release`: a person's word that what they stopped may go on, and that a restored control plane may delete in members again.
 */
import { type Condition, type EvacuationBudget, findCondition } from "@lifeboat/api";
import { createRealClock } from "@lifeboat/base/adapters";
import {
  MASS_DELETION,
  releaseTime,
  RESTORED,
  UNKNOWN_COPIES,
} from "@lifeboat/core/propagation/brake";
import { MASS_TRAFFIC_BLOCK } from "@lifeboat/core/remedy/actions";
import type { Client } from "@lifeboat/kit";
import type { Command } from "commander";
import { changeRecord, readRecord } from "@lifeboat/controllers/context";
import { planeOptions } from "../find-plane.ts";
import { declareOptions, readSettings } from "../settings.ts";
import { print, withPlane } from "../with-plane.ts";
import { hanging } from "../wrap.ts";

export const brakeOptions = planeOptions;

export function addBrake(program: Command): void {
  const brake = program
    .command("brake")
    .description(
      "Show the brakes that stop mass deletions and mass blocks of traffic, and release them",
    );
  const show = brake.command("show", { isDefault: true }).description("Show which brakes are on");
  declareOptions(show, brakeOptions).action(async () => {
    await withPlane(readSettings(show, brakeOptions), showBrake);
  });
  const release = brake.command("release").description("Let what they stopped go on");
  declareOptions(release, brakeOptions).action(async () => {
    await withPlane(readSettings(release, brakeOptions), releaseBrake);
  });
}

async function showBrake(plane: Client): Promise<void> {
  const record = await readRecord(plane);
  print(hanging("", `the brake is ${describeBrake(record)}`));
  const traffic = describeTrafficBrake(record);
  if (traffic !== undefined) print(hanging("", `the brake of traffic is ${traffic}`));
  const unknown = findCondition(record?.status?.conditions, UNKNOWN_COPIES);
  if (restoredBy(record) !== undefined && unknown !== undefined)
    print(hanging("", unknown.message));
}

async function releaseBrake(plane: Client): Promise<void> {
  const record = await readRecord(plane);
  const braked = brakedBy(record);
  const restored = restoredBy(record);
  const blocks = blocksStoppedBy(record);
  const now = createRealClock().now();
  const words = {
    ...(braked && { brakeReleasedAt: releaseTime(braked, now) }),
    ...(restored && { restoreAgreedAt: releaseTime(restored, now) }),
    ...(blocks && { trafficBlocksAgreedAt: releaseTime(blocks, now) }),
  };
  if (braked === undefined && restored === undefined && blocks === undefined) {
    print(["the brake is not on: there is nothing to release"]);
    return;
  }
  await changeRecord(plane, (parts) => ({ ...parts, spec: { ...parts.spec, ...words } }));
  if (restored !== undefined)
    print(["agreed: the restored control plane deletes in members again"]);
  if (braked !== undefined)
    print(["the brake is released: deletions go on, without a brake for ten minutes"]);
  if (blocks !== undefined)
    print(["agreed: conditions block traffic again, without a brake for ten minutes"]);
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
  return stopped && `on since ${stopped.lastTransitionTime}: ${stopped.message}`;
}

/** Whether deletions are stopped, since when and why, in words. */
export function describeBrake(budget: EvacuationBudget | undefined): string {
  const braked = restoredBy(budget) ?? brakedBy(budget);
  if (braked === undefined) return "off: deletions go on";
  return `on since ${braked.lastTransitionTime}: ${braked.message}`;
}
