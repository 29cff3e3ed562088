/**
 * The one way to a `PlacementView`, and the one place that decides whether it waits for a purge (D10).
 *
 *   result   clusters are about to be written (the scheduler), or that decision is repeated for people (`explain`). Replicas whose
 *            old copy must be gone first are not placed: they would run twice.
 *   target   an eviction, a drain or a restoration asks whether the workload has somewhere to go. Nothing is placed by the
 *            answer, and replicas that wait for a purge need their room all the same, so they are counted as if the purge were over.
 *            A view that waited would answer that there is no target, and the workload would be held in a cluster that fails.
 */
import type { Cluster, ResourceBinding } from "@lifeboat/api";
import { candidateOf, fleetOf } from "./candidate.ts";
import { purgesUnderWay } from "./purge.ts";
import { reservedBy } from "./reserve.ts";
import type { PlacementView } from "./view.ts";

/** What is the same for every binding; estimates are made for one binding. */
export type FleetView = Pick<PlacementView, "fleet" | "reserved" | "estimates" | "letGoTimeoutMs">;

export type PlacementPurpose = "result" | "target";

export function placementViewOf(
  binding: ResourceBinding,
  { fleet, reserved, estimates, letGoTimeoutMs }: FleetView,
  purpose: PlacementPurpose,
): PlacementView {
  const waitForPurge = purpose === "result" ? purgesUnderWay(binding) : undefined;
  return {
    binding,
    fleet,
    reserved,
    ...(estimates !== undefined && { estimates }),
    ...(waitForPurge !== undefined && { waitForPurge }),
    ...(letGoTimeoutMs !== undefined && { letGoTimeoutMs }),
  };
}

/** The fleet from whole lists: `clusters` are all there are, `bindings` those of both scopes. */
export function fleetViewOf(
  clusters: readonly Cluster[],
  bindings: readonly ResourceBinding[],
): FleetView & { readonly reserved: ReturnType<typeof reservedBy> } {
  return { fleet: fleetOf(clusters.map(candidateOf)), reserved: reservedBy(bindings) };
}
