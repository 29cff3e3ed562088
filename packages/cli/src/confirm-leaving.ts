/** What a person is asked before a cluster leaves the fleet: always, with the workloads that are there and where they would go. */
import { clusters } from "@lifeboat/api";
import { createRealClock } from "@lifeboat/base/adapters";
import { decideDrain } from "@lifeboat/core/operating";
import type { Client } from "@lifeboat/kit";
import { allBindings } from "./all-bindings.ts";
import { confirm, confirmPlan } from "./confirm.ts";
import { drainPlanLines, promptLines } from "./drain-plan.ts";
import type { Settings } from "./settings.ts";
import { print } from "./with-plane.ts";

/** Asks unless it was told not to; a dry run shows the plan alone. `verb`: `Unjoin`. */
export async function confirmLeaving(
  plane: Client,
  cluster: string,
  verb: string,
  settings: Settings,
): Promise<void> {
  const isDryRun = settings.isOn("dry-run");
  if (settings.isOn("yes") && !isDryRun) return;
  const now = createRealClock().now();
  const fleet = (await plane.list(clusters)).items;
  // There is nothing to agree to: what follows refuses it, or takes away what is left of it in the member.
  if (!fleet.some(({ metadata }) => metadata.name === cluster)) return;
  const bindings = await allBindings(plane);
  const steps = decideDrain({ cluster, clusters: fleet, bindings }, now);
  if (isDryRun) {
    if (steps.length > 0) print(drainPlanLines(cluster, steps, now));
    return;
  }
  const lines = steps.length === 0 ? [] : promptLines(cluster, steps, now);
  await confirmPlan(lines, howText(settings), `${verb} ${cluster}?`);
}

/** The same where the workloads of the fleet may not be read: with the identity of the cluster's own agent. */
export async function confirmLeavingBlindly(
  cluster: string,
  verb: string,
  settings: Settings,
): Promise<void> {
  if (settings.isOn("dry-run") || settings.isOn("yes")) return;
  await confirm(howText(settings), `${verb} ${cluster}?`);
}

function howText(settings: Settings): string {
  return settings.isOn("force")
    ? "The cluster is taken out without waiting for its workloads."
    : "The cluster leaves once its workloads are on other clusters.";
}
