/** How a command recovers a quorum: read, decide, show, and write what was shown if nothing changed in between. */
import { clusters, type ObjectKey, orNothing, resourceBindings } from "@lifeboat/api";
import { decideRecovery, type RecoveryPlan } from "@lifeboat/core/operating";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import type { Client } from "@lifeboat/kit";
import { CommandFailed } from "./failure.ts";
import { onNewest } from "./on-newest.ts";

type Recovery = Extract<RecoveryPlan, { outcome: "recover" }>;

/** What recovering the set would do; throws CommandFailed when it is refused. */
export async function planRecovery(
  plane: Client,
  { namespace, name }: ObjectKey,
): Promise<Recovery> {
  const key = { namespace, name: bindingName("StatefulSet", name) };
  const binding = await orNothing(plane.get(resourceBindings, key));
  if (binding === undefined)
    throw new CommandFailed(
      `there is no binding ${key.name} in the namespace "${namespace}": no policy claims the StatefulSet, or it is in another namespace (-n NAME)`,
    );
  const byName = new Map(
    (await plane.list(clusters)).items.map((cluster) => [cluster.metadata.name, cluster]),
  );
  const plan = decideRecovery(binding, (one) => byName.get(one));
  if (plan.outcome === "refused") throw new CommandFailed(plan.message);
  return plan;
}

/** Writes the plan that the person saw. The binding may have changed meanwhile: then what is given up must be the same. */
export async function carryOutRecovery(
  plane: Client,
  key: ObjectKey,
  shown: Recovery,
  dryRun: boolean,
): Promise<void> {
  let first: Recovery | undefined = shown;
  await onNewest(async () => {
    const plan = first ?? (await planRecovery(plane, key));
    first = undefined;
    if (plan.lost.join() !== shown.lost.join())
      throw new CommandFailed("the clusters that are lost changed meanwhile; nothing was changed");
    await plane.update(resourceBindings, plan.binding, { dryRun });
  });
}
