/** The fleet of the demonstration at one moment: which clusters are well, which workloads run where, what is leaving. */
import {
  type Cluster,
  clusters,
  type Evacuation,
  evacuations,
  findCondition,
  type ResourceBinding,
  resourceBindings,
  type Work,
  works,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { isOn, resultOf, shareIn, taskOf } from "@lifeboat/core/binding";
import { isFailed } from "@lifeboat/core/failover/evacuation";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import type { Client } from "@lifeboat/kit";
import { progressLine } from "../evacuation-text.ts";
import { shorten, WIDTH } from "../wrap.ts";
import { NAMESPACE } from "./application.ts";

export interface Snapshot {
  readonly clusters: readonly Cluster[];
  readonly bindings: readonly ResourceBinding[];
  readonly works: readonly Work[];
  readonly evacuations: readonly Evacuation[];
}

export async function takeSnapshot(plane: Client): Promise<Snapshot> {
  const [found, bindings, held, moves] = await Promise.all([
    plane.list(clusters),
    plane.list(resourceBindings, { namespace: NAMESPACE }),
    plane.list(works),
    plane.list(evacuations),
  ]);
  return {
    clusters: found.items,
    bindings: bindings.items,
    works: held.items,
    evacuations: moves.items,
  };
}

export function readyOf(cluster: Cluster): string {
  return findCondition(cluster.status?.conditions, "Ready")?.status ?? "";
}

/** Workloads that run on a cluster or still have to leave it, by name. */
export function workloadsOn(snapshot: Snapshot, cluster: string): readonly string[] {
  return snapshot.bindings
    .filter((binding) => isOn(binding, cluster))
    .map(({ spec }) => spec.resource.name);
}

/** Whether every replica is placed, and every copy says that it is well. */
export function isWell(binding: ResourceBinding): boolean {
  const { spec, status } = binding;
  const targets = resultOf(binding);
  const placed = targets.reduce((sum, { replicas = 0 }) => sum + replicas, 0);
  if (targets.length === 0 || placed !== spec.replicas) return false;
  return targets.every(({ name, replicas }) => {
    const copy = (status?.aggregatedStatus ?? []).find(({ clusterName }) => clusterName === name);
    return copy?.health === "Healthy" && copy.status?.["readyReplicas"] === replicas;
  });
}

/** Copies in a cluster whose workload has moved away. */
export function oldCopies({ bindings, works: all }: Snapshot, cluster: string): number {
  const byId = new Map(
    bindings.map((one) => [one.metadata.labels?.[wellKnown.BINDING_ID] ?? "", one]),
  );
  const namespace = executionNamespace(cluster);
  return all.filter(({ metadata }) => {
    const binding = byId.get(metadata.labels?.[wellKnown.BINDING_ID] ?? "-");
    if (metadata.namespace !== namespace || binding === undefined) return false;
    return !isOn(binding, cluster);
  }).length;
}

/** The table: a row per cluster, a column per workload, and how far the evacuation is. */
export function tableLines(snapshot: Snapshot): readonly string[] {
  const names = snapshot.bindings.map(({ spec }) => spec.resource.name).toSorted();
  const column = (text: string): string => text.padEnd(9);
  const head = `${"CLUSTER".padEnd(10)}${column("READY")}${column("STATE")}${names.map(column).join("")}`;
  const rows = snapshot.clusters.map((cluster) => {
    const { name } = cluster.metadata;
    const isSeen = readyOf(cluster) === "True";
    const cells = names.map((workload) => column(cellOf(snapshot, workload, name, isSeen)));
    const state = isFailed(cluster) ? "failed" : "";
    return `${name.padEnd(10)}${column(readyOf(cluster))}${column(state)}${cells.join("")}`;
  });
  const open = snapshot.evacuations.filter(({ status }) => status?.finishedAt === undefined);
  const progress = open.map((one) => `${one.metadata.name} ${progressLine(one)}`);
  return [head, ...rows, ...progress].map((line) => shorten(line.trimEnd(), WIDTH));
}

/** `2/3`: two of three replicas are ready; `?/3`: the cluster does not answer; in brackets: on its way out. */
function cellOf(
  { bindings }: Snapshot,
  workload: string,
  cluster: string,
  isSeen: boolean,
): string {
  const binding = bindings.find(({ spec }) => spec.resource.name === workload);
  if (binding === undefined) return "";
  const { status } = binding;
  const copy = (status?.aggregatedStatus ?? []).find(({ clusterName }) => clusterName === cluster);
  const ready = Number(copy?.status?.["readyReplicas"] ?? 0);
  const target = shareIn(binding, cluster);
  if (target !== undefined) return `${isSeen ? ready : "?"}/${target.replicas ?? 0}`;
  const task = taskOf(binding, cluster);
  return task === undefined ? "-" : `(${task.replicas ?? 0})`;
}
