/**
 * Objects that follow the workloads which need them: ConfigMaps, Secrets, claims, service accounts, what a script names,
 * and Services when a workload asks for them.
 *
 *   a workload's binding ──▶ referrers ──▶ its record of what it needs ──▶ followers ──▶ bindings of what is needed
 *
 * Two controllers that speak through the record on the workload's binding: one records what a workload needs, the other
 * places an object where the workloads that need it are. Only ResourceBindings take part.
 */
import type { Service } from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import { createFollowers } from "./followers.ts";
import { createReferrers } from "./referrers.ts";

/** The controllers that make dependencies follow their workloads. */
export function createDependencies(context: PlaneContext): readonly Service[] {
  return [createReferrers(context), createFollowers(context)];
}
