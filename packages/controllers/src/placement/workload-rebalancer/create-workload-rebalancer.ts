/**
 * Carries out WorkloadRebalancers: has the scheduler place workloads again, reports what became of each, and deletes orders
 * whose time is up.
 *
 * 1. A workload is placed again by moving `rescheduleTriggeredAt` of its binding, never back, and once for each order: so
 *    doing it twice, or after a crash, is doing it once.
 * 2. "Not found" is final, so it is reported only after asking the server and not a cache.
 */
import {
  isRefused,
  type ObjectKey,
  parseApiVersion,
  type WorkloadRebalancer,
  workloadRebalancers,
} from "@lifeboat/api";
import {
  expiryOf,
  type ObservedWorkload,
  orderedAnew,
  pendingWorkloads,
  type RebalancedWorkload,
  rebalancerStatus,
} from "@lifeboat/core/placement/rebalancing";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import {
  checkAgainAt,
  createController,
  done,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import { type Binding, bindingOf, bindingResource } from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";

/** The controller that carries out WorkloadRebalancers. */
export function createWorkloadRebalancer(context: PlaneContext): readonly Service[] {
  const { informers } = context;
  const controller = createController(context, {
    name: "workload-rebalancer",
    concurrency: 2,
    watches: [
      watching(informers.workloadRebalancers, ownKey),
      // Never asked for keys: bindings are read, so they have to be there.
      watching(informers.resourceBindings, () => []),
      watching(informers.clusterResourceBindings, () => []),
    ],
    reconcile: (key) => look(context, key),
  });
  return [controller];
}

async function look(context: PlaneContext, key: ObjectKey): Promise<Outcome> {
  const { clock, informers, plane } = context;
  const rebalancer = informers.workloadRebalancers.get(key);
  if (rebalancer === undefined || rebalancer.metadata.deletionTimestamp !== undefined) return done;
  const results: ObservedWorkload[] = [];
  for (const workload of pendingWorkloads(rebalancer))
    results.push(await placeAnew(context, rebalancer, workload));
  const status = rebalancerStatus(rebalancer, results, clock.now());
  if (status !== undefined) {
    const options = { subresource: "status" };
    await plane.update(workloadRebalancers, { ...rebalancer, status }, options);
    // The change comes back as an event, and with the version that a deletion needs.
    return done;
  }
  return expire(context, rebalancer);
}

async function placeAnew(
  { informers, plane }: PlaneContext,
  rebalancer: WorkloadRebalancer,
  workload: RebalancedWorkload,
): Promise<ObservedWorkload> {
  const { kind, namespace = "", name } = workload;
  const key = { namespace, name: bindingName(kind, name) };
  const resource = bindingResource(key);
  const binding = bindingOf(informers, key) ?? (await plane.get(resource, key).catch(ifMissing));
  if (binding === undefined || !bindsWorkload(binding, workload))
    return { workload, result: "Failed", reason: "ReferencedBindingNotFound" };
  const ordered = orderedAnew(rebalancer, binding);
  if (ordered !== undefined) await plane.update(resource, ordered);
  return { workload, result: "Successful" };
}

/** Kinds of the same name in different groups would have bindings of the same name. */
function bindsWorkload({ spec }: Binding, { apiVersion, kind, name }: RebalancedWorkload): boolean {
  const { resource } = spec;
  return (
    parseApiVersion(resource.apiVersion).group === parseApiVersion(apiVersion).group &&
    resource.kind === kind &&
    resource.name === name
  );
}

function ifMissing(error: unknown): undefined {
  if (isRefused(error, "NotFound")) return undefined;
  throw error;
}

async function expire(
  { clock, plane }: PlaneContext,
  { metadata, spec, status }: WorkloadRebalancer,
): Promise<Outcome> {
  const expiry = status === undefined ? undefined : expiryOf(spec, status);
  if (expiry === undefined) return done;
  if (clock.now() < expiry) return checkAgainAt(expiry);
  const { name, uid, resourceVersion } = metadata;
  const options = { preconditions: { uid, resourceVersion } };
  await plane.delete(workloadRebalancers, { namespace: "", name }, options).catch(ifMissing);
  return done;
}
