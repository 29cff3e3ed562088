/** How commands change the taints of a Cluster: read, change, write if the object has not changed in between, else start again. */
import { type Cluster, clusters, isRefused } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { CommandFailed } from "./failure.ts";
import type { OptionDefinition } from "./options.ts";
import type { Taint } from "./taints.ts";
import { onNewest } from "./on-newest.ts";

export const dryRunOption: OptionDefinition = {
  name: "dry-run",
  type: "switch",
  commandLineOnly: true,
  narrows: true,
  help: "Let the control plane check everything and change nothing",
};

export interface TaintChange {
  readonly cluster: Cluster;
  readonly isChanged: boolean;
}

/** The cluster; throws CommandFailed with those there are when there is none of this name. */
export async function existingCluster(plane: Client, name: string): Promise<Cluster> {
  try {
    return await plane.get(clusters, { namespace: "", name });
  } catch (error) {
    if (!isRefused(error, "NotFound")) throw error;
  }
  const names = (await plane.list(clusters)).items.map(({ metadata }) => metadata.name);
  const shown = names.slice(0, 10).join(", ") + (names.length > 10 ? ", …" : "");
  const hint = names.length === 0 ? "no clusters are joined" : `there are ${shown}`;
  throw new CommandFailed(`there is no cluster "${name}"; ${hint}`);
}

/** Changes a cluster's taints; writes nothing when `change` answers the list it was given. */
export async function changeTaints(
  plane: Client,
  name: string,
  change: (taints: readonly Taint[]) => readonly Taint[],
  options: { readonly dryRun?: boolean } = {},
): Promise<TaintChange> {
  return onNewest(async () => {
    const cluster = await existingCluster(plane, name);
    const taints = cluster.spec.taints ?? [];
    const changed = changedTaints(name, taints, change);
    if (changed === taints) return { cluster, isChanged: false };
    const { resourceVersion } = cluster.metadata;
    const body = {
      metadata: { resourceVersion },
      spec: { taints: changed.length === 0 ? null : changed },
    };
    const key = { namespace: "", name };
    const written = await plane.patch(clusters, key, { type: "merge", body }, options);
    return { cluster: written, isChanged: true };
  });
}

function changedTaints(
  name: string,
  taints: readonly Taint[],
  change: (taints: readonly Taint[]) => readonly Taint[],
): readonly Taint[] {
  try {
    return change(taints);
  } catch (error) {
    if (error instanceof CommandFailed)
      throw new CommandFailed(`cluster "${name}": ${error.message}`);
    throw error;
  }
}
