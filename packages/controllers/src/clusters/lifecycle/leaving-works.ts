/** The Works of a Cluster that leaves: deleted, so that the member is emptied, or given up where it cannot be. */
import { type Cluster, isRefused, keyOf, type Work, works } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import type { PlaneContext } from "../../context/context.ts";

type Context = Pick<PlaneContext, "informers" | "plane" | "events">;

/** How many Works are written at the same time. */
const AT_A_TIME = 16;

/** Deletes the Works of a cluster; whatever carries them out takes their copies away first. */
export async function deleteWorks(
  context: Context,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<void> {
  const left = worksOf(context, cluster).filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
  await forEach(left, (work) => {
    const preconditions = { uid: work.metadata.uid };
    return context.plane
      .delete(works, keyOf(work), { preconditions, signal })
      .catch(ignoring("NotFound"));
  });
}

/** Lets go of the Works that wait for a member that cannot be reached. */
export async function releaseWorks(
  context: Context,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<void> {
  const held = worksOf(context, cluster).filter(isHeld);
  await forEach(held, (work) => {
    const { resourceVersion, finalizers = [] } = work.metadata;
    const left = finalizers.filter((one) => one !== wellKnown.EXECUTION_FINALIZER);
    const body = { metadata: { resourceVersion, finalizers: left } };
    return context.plane
      .patch(works, keyOf(work), { type: "merge", body }, { signal })
      .catch(ignoring("NotFound"));
  });
  const message = `Gave up ${held.length} Works: the member cannot be reached, and the objects that they created may still be in it`;
  context.events.record(cluster, { type: "Warning", reason: "CopiesLeftBehind", message });
}

/** Whether a Work is being deleted and waits for its copy in the member to go. */
export function isHeld({ metadata }: Work): boolean {
  return (
    metadata.deletionTimestamp !== undefined &&
    metadata.finalizers?.includes(wellKnown.EXECUTION_FINALIZER) === true
  );
}

export function ignoring(reason: "NotFound"): (error: unknown) => undefined {
  return (error) => {
    if (isRefused(error, reason)) return undefined;
    throw error;
  };
}

function worksOf({ informers }: Context, { metadata }: Cluster): readonly Work[] {
  return informers.works.byIndex("cluster", executionNamespace(metadata.name));
}

async function forEach(
  some: readonly Work[],
  act: (work: Work) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < some.length; start += AT_A_TIME)
    await Promise.all(some.slice(start, start + AT_A_TIME).map(act));
}
