/**
 * Whether a Work is still wanted where it is (D10): asked of the server before something comes into being.
 *
 * A Work that was sent when its workload still belonged to the cluster may arrive after the workload was evicted, and even
 * after that eviction was over: a network keeps a request for as long as it likes. Carried out, it would be a second copy.
 *
 * 1. The binding is read from the server after the Work was seen. If it still asks for the cluster, every later eviction
 *    finds the Work on the server and waits for it; if it does not, nothing is applied, and the Work is removed. Where
 *    there is no such binding any more nothing else would remove it: of two sets of controllers one may let a binding go
 *    while the other is still making a Work of it.
 * 2. So one read suffices for the life of a Work, and what was applied before needs none.
 * 3. A Work that names no binding was made by another client, and is carried out.
 * 4. An object that was there and is gone may have been removed by another set of controllers, because the Work is going,
 *    before that was seen here. It was marked as going before its object was removed; so a read of the Work after the
 *    object was missed shows the mark. The Work's status alone does not show whether it was tried: a report of a Work that
 *    goes is refused.
 * 5. So may an object that was applied and is another now have been changed: by another set of controllers that has seen a
 *    newer Work. A controller that put it back without asking would have it changed again, without end.
 * 6. And the object of a Work that goes may belong to another Work of the same name by now, which others made after this one
 *    was gone: nothing is removed before the Work was asked for by its uid.
 */
import { findCondition, isRefused, type ObjectKey, Refused, type Work, works } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { workClustersOf } from "@lifeboat/core/propagation/works";
import { type Client, NotSent, OutcomeUnknown } from "@lifeboat/kit";
import { bindingResource } from "../../context/bindings.ts";

/** Whether the Work was ever tried: then its binding was asked before. */
export function wasTried({ status }: Work): boolean {
  return findCondition(status?.conditions, "Applied") !== undefined;
}

/** Asks the binding of a Work whether its workload belongs to the cluster; `nobodys`: there is no such binding. */
export async function askBinding(
  plane: Client,
  cluster: string,
  work: Work,
  signal: AbortSignal,
): Promise<"wanted" | "unwanted" | "nobodys"> {
  const key = bindingKeyOf(work.metadata.annotations);
  if (key === undefined) return "wanted";
  try {
    const { wanted, leaving } = workClustersOf(
      await plane.get(bindingResource(key), key, { signal }),
    );
    return wanted.has(cluster) || leaving.has(cluster) ? "wanted" : "unwanted";
  } catch (error) {
    if (isRefused(error, "NotFound")) return "nobodys";
    throw error;
  }
}

/** Whether the server has the Work as it was seen, and it is not going. False also when the server does not answer. */
export async function isStillThere(
  plane: Client,
  work: Work,
  signal: AbortSignal,
): Promise<boolean> {
  const now = await onServer(plane, work, signal);
  if (now === undefined) return false;
  const { generation, deletionTimestamp } = now.metadata;
  return generation === work.metadata.generation && deletionTimestamp === undefined;
}

/** Whether the server has this very Work, going or not. False also when the server does not answer. */
export async function isSameWork(plane: Client, work: Work, signal: AbortSignal): Promise<boolean> {
  return (await onServer(plane, work, signal)) !== undefined;
}

/** This very Work as the server has it; undefined also when the server does not answer. */
async function onServer(
  plane: Client,
  { metadata: { namespace = "", name, uid } }: Work,
  signal: AbortSignal,
): Promise<Work | undefined> {
  try {
    const now = await plane.get(works, { namespace, name }, { signal });
    return now.metadata.uid === uid ? now : undefined;
  } catch (error) {
    if (error instanceof Refused || error instanceof NotSent || error instanceof OutcomeUnknown)
      return undefined;
    throw error;
  }
}

/** The binding that the annotations of a Work, or of a copy, name. */
export function bindingKeyOf(
  annotations: Readonly<Record<string, string>> = {},
): ObjectKey | undefined {
  const fleetwide = annotations[wellKnown.CLUSTER_BINDING_NAME];
  if (fleetwide !== undefined) return { namespace: "", name: fleetwide };
  const namespace = annotations[wellKnown.BINDING_NAMESPACE];
  const name = annotations[wellKnown.BINDING_NAME];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}
