/** What commands confirm by annotations of a StatefulSet: that the application let a replica go, that its names go. */
import { type ObjectKey, orNothing, resourceBindings, statefulSets } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { decideLetGo } from "@lifeboat/core/federated";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import type { Client } from "@lifeboat/kit";
import { CommandFailed } from "./failure.ts";

/** Confirms that the application let the pod go. The value names one departure, so a late write does no harm. */
export async function confirmDeparture(
  plane: Client,
  { namespace, name }: ObjectKey,
  pod: string,
  dryRun: boolean,
): Promise<void> {
  const key = { namespace, name: bindingName("StatefulSet", name) };
  const binding = await orNothing(plane.get(resourceBindings, key));
  if (binding === undefined)
    throw new CommandFailed(
      `there is no binding ${key.name} in the namespace "${namespace}": no policy claims the StatefulSet, or it is in another namespace (-n NAME)`,
    );
  const plan = decideLetGo(binding, pod);
  if (plan.outcome === "refused") throw new CommandFailed(plan.message);
  const body = { metadata: { annotations: { [wellKnown.FEDERATED_LET_GO]: plan.value } } };
  await plane.patch(statefulSets, { namespace, name }, { type: "merge", body }, { dryRun });
}

/** Takes the Services and names away, with the acknowledgement that admission asks for: a value that was never there before. */
export async function withoutNames(plane: Client, key: ObjectKey, dryRun: boolean): Promise<void> {
  const { metadata } = await plane.get(statefulSets, key);
  const { resourceVersion } = metadata;
  const annotations = {
    [wellKnown.FEDERATED_SERVICES]: "false",
    [wellKnown.FEDERATED_ACKNOWLEDGED]: resourceVersion,
  };
  const body = { metadata: { resourceVersion, annotations } };
  await plane.patch(statefulSets, key, { type: "merge", body }, { dryRun });
}
