/** How commands give up the shares of federated StatefulSets: read, decide, write if nothing changed in between, else again. */
import { clusters, hasCondition, type ObjectKey, orNothing, resourceBindings } from "@lifeboat/api";
import { decideForget } from "@lifeboat/core/federated";
import type { Client } from "@lifeboat/kit";
import type { FederatedShare } from "@lifeboat/plane";
import { confirm } from "./confirm.ts";
import { CommandFailed, UsageError } from "./failure.ts";
import type { Settings } from "./settings.ts";
import { print } from "./with-plane.ts";
import { onNewest } from "./on-newest.ts";
import { hanging } from "./wrap.ts";

/** Gives up a share; answers how many replicas it was. */
export async function forget(
  plane: Client,
  key: ObjectKey,
  cluster: string,
  dryRun: boolean,
): Promise<number> {
  return onNewest(async () => {
    const binding = await orNothing(plane.get(resourceBindings, key));
    if (binding === undefined)
      throw new CommandFailed(
        `there is no binding ${key.name} in the namespace "${key.namespace}": no policy claims the StatefulSet, or it is in another namespace (-n NAME)`,
      );
    const plan = decideForget(binding, cluster, await livingClusters(plane));
    if (plan.outcome === "refused") throw new CommandFailed(plan.message);
    await plane.update(resourceBindings, plan.binding, { dryRun });
    return plan.share;
  });
}

async function livingClusters(plane: Client): Promise<ReadonlySet<string>> {
  const { items } = await plane.list(clusters);
  const ready = items.filter(({ status }) => hasCondition(status?.conditions, "Ready"));
  return new Set(ready.map(({ metadata }) => metadata.name));
}

/** Before a cluster leaves: the shares there are given up, when a person agrees to that in particular (D15). */
export async function giveUpShares(
  plane: Client,
  cluster: string,
  shares: readonly FederatedShare[],
  settings: Settings,
): Promise<void> {
  if (shares.length === 0) return;
  const shown = shares.map(({ set, key, replicas }) => `${key.namespace}/${set}: ${replicas}`);
  const what = `Federated StatefulSets have shares in ${cluster} that wait for it for ever (${shown.join(", ")}).`;
  print(hanging("", what));
  const dryRun = settings.isOn("dry-run");
  if (!settings.isOn("forget-shares") && !dryRun) {
    if (settings.isOn("yes")) throw new UsageError(`${what} To give them up, add --forget-shares`);
    await confirm("Their names and volumes there are given up for ever.", "Forget the shares?");
  }
  for (const { key } of shares) await forget(plane, key, cluster, dryRun);
}
