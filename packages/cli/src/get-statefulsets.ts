/** `lifeboat get statefulsets`: the StatefulSets of the control plane, with the share of each cluster. */
import {
  ageOf,
  type AnyObject,
  type Cluster,
  clusters,
  findCondition,
  type ResourceBinding,
  resourceBindings,
  statefulSets,
} from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { isFederated, podName, presentDeparture, readFederated } from "@lifeboat/core/federated";
import { readyReplicas, replicasByCluster } from "@lifeboat/core/operating";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import type { Client } from "@lifeboat/kit";
import { CommandFailed } from "./failure.ts";
import { objectsText, type Output } from "./output.ts";
import { formatTable } from "./table.ts";

/** Prints the StatefulSets of a namespace, or of all when it is "". */
export async function getStatefulSets(
  plane: Client,
  names: readonly string[],
  namespace: string,
  output: Output<"table" | "wide" | "name">,
): Promise<void> {
  const { items } = await plane.list(statefulSets, { namespace });
  const found = items.filter(({ metadata }) => names.length === 0 || names.includes(metadata.name));
  const missing = names.filter((name) => !found.some(({ metadata }) => metadata.name === name));
  if (missing.length > 0)
    throw new CommandFailed(`there is no StatefulSet "${missing[0]}" in the control plane`);
  if (output.kind !== "form") {
    process.stdout.write(objectsText(output, found, names.length === 1));
    return;
  }
  if (output.form === "name") {
    for (const { metadata } of found) process.stdout.write(`statefulset.apps/${metadata.name}\n`);
    return;
  }
  const { items: bindings } = await plane.list(resourceBindings, { namespace });
  const { items: fleet } = await plane.list(clusters);
  process.stdout.write(statefulSetTable(found, bindings, fleet, createRealClock().now()));
}

/** The lines for people. */
export function statefulSetTable(
  sets: readonly AnyObject[],
  bindings: readonly ResourceBinding[],
  fleet: readonly Cluster[],
  now: Instant,
): string {
  const byName = new Map(fleet.map((one) => [one.metadata.name, one]));
  const byKey = new Map(
    bindings.map((one) => [`${one.metadata.namespace ?? ""}/${one.metadata.name}`, one]),
  );
  const rows = sets.map((set) => {
    const { namespace = "", name, creationTimestamp } = set.metadata;
    const binding = byKey.get(`${namespace}/${bindingName("StatefulSet", name)}`);
    const { replicas = 1 } = (set["spec"] ?? {}) as { readonly replicas?: number };
    const federated = binding !== undefined && isFederated(binding);
    return [
      namespace,
      name,
      readyText(set, binding, replicas, (cluster) => byName.get(cluster)),
      federated ? "yes" : "no",
      binding === undefined ? "" : sharesText(binding),
      federated ? stateText(binding) : "",
      ageOf(creationTimestamp, now),
    ];
  });
  return formatTable(["NAMESPACE", "NAME", "READY", "FEDERATED", "SHARES", "STATE", "AGE"], rows);
}

/** Replicas in clusters that do not answer are neither ready nor not: they are unknown. */
function readyText(
  set: AnyObject,
  binding: ResourceBinding | undefined,
  replicas: number,
  clusterOf: (name: string) => Cluster | undefined,
): string {
  const known = binding && readyReplicas(binding, clusterOf);
  if (known !== undefined && known.unknown > 0)
    return `${known.ready}/${replicas} (${known.unknown} unknown)`;
  const { readyReplicas: ready = 0 } = (set["status"] ?? {}) as { readonly readyReplicas?: number };
  return `${ready}/${replicas}`;
}

/** Why a federated set is not what it asks for; "" while its binding reports nothing yet. */
function stateText({ status }: ResourceBinding): string {
  const reported = ["IdentitiesAssigned", "RolloutComplete"].flatMap(
    (type) => findCondition(status?.conditions, type) ?? [],
  );
  const problems = reported.filter((one) => one.status === "False").map(({ reason }) => reason);
  return problems.join(",") || (reported.length === 0 ? "" : "Complete");
}

function sharesText(binding: ResourceBinding): string {
  const shares = [...replicasByCluster(binding)].map(([name, share]) => `${name}:${share}`);
  const record = readFederated(binding);
  const forgotten = [...(record?.forgotten ?? [])].map((name) => `${name}:forgotten`);
  const leaving = record && presentDeparture(record);
  const { name } = binding.spec.resource;
  return [
    ...shares,
    ...forgotten,
    ...(leaving === undefined
      ? []
      : [`leaving:${podName(name, leaving.cluster, leaving.ordinal)}`]),
  ].join(",");
}
