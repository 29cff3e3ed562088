/**
 * What failover means for one workload, in lines for people: how it would leave a failed cluster, what is leaving and why it
 * waits, and where a copy is kept although the workload belongs elsewhere. Decided anew by the controllers' own functions.
 */
import {
  type Cluster,
  type Evacuation,
  type ResourceBinding,
  type Toleration,
  type Work,
} from "@lifeboat/api";
import { formatDuration, type Instant, plainMoment } from "@lifeboat/base";
import { stuckReasons, whyStuck } from "@lifeboat/core/clusters";
import { modeOf, purgeModeOf, type TaskMode, tasksOf } from "@lifeboat/core/binding";
import { toleratedSecondsOf } from "@lifeboat/core/failover/application";
import {
  decideTasks,
  evictionPluginNames,
  evictionPlugins,
  remedyOf,
  taskReasons,
  worksByCluster,
} from "@lifeboat/core/failover/eviction-tasks";
import { clusterOfWork, workClustersOf } from "@lifeboat/core/propagation/works";
import type { PublishedSettings } from "@lifeboat/controllers/operating";
import { readGates } from "./failover-options.ts";
import { fenceTrust } from "./fence-trust.ts";

export interface FailoverView {
  readonly binding: ResourceBinding;
  /** Those of the binding. */
  readonly works: readonly Work[];
  readonly clusters: readonly Cluster[];
  readonly evacuations: readonly Evacuation[];
  /** What the control plane was started with; undefined: no controllers have ever run. */
  readonly settings: PublishedSettings | undefined;
}

/** A label and a text. */
export type Line = readonly [string, string];

/** Everything that failover has to say about a workload. */
export function failoverLines(view: FailoverView, now: Instant): readonly Line[] {
  return [
    ...leavingLines(view, now),
    ...keptLines(view),
    ...heldLines(view),
    ...stuckLines(view),
    ...wishLines(view),
  ];
}

function leavingLines(view: FailoverView, now: Instant): readonly Line[] {
  const { binding, settings } = view;
  const tasks = tasksOf(binding);
  const names = pluginNames(settings);
  const { verdicts } = decideTasks(
    {
      binding,
      works: worksByCluster(view.works),
      clusters: new Map(view.clusters.map((one) => [one.metadata.name, one])),
      outdated: new Set(),
      plugins: evictionPlugins(names),
      ...fenceTrust(settings),
    },
    plainMoment(now),
  );
  return tasks.flatMap((task, i): readonly Line[] => {
    const { fromCluster, replicas, reason } = task;
    const why = verdicts[i]?.reason;
    const leaving: Line = [
      "Leaving",
      `${fromCluster}${countOf(replicas)}: ${reason}, ${HOW[modeOf(task)]}`,
    ];
    if (why === undefined) return [leaving];
    const remedy = remedyOf(why, fromCluster);
    return [leaving, ["", `${why}: ${taskReasons[why]}${remedy === "" ? "" : ` ${remedy}`}`]];
  });
}

function pluginNames(settings: PublishedSettings | undefined): readonly string[] {
  const names = settings?.["evict-plugins"]?.split(",").map((name) => name.trim());
  return names?.filter((name) => evictionPluginNames.includes(name)) ?? evictionPluginNames;
}

const HOW: Readonly<Record<TaskMode, string>> = {
  Gracefully: "the old copy goes when the new one is healthy",
  Directly: "the old copy must be gone before the new one is placed",
  Never: "the old copy stays until a person removes it",
};

/** "" for what has no replicas. */
export function countOf(replicas: number | undefined): string {
  return replicas === undefined ? "" : `, ${replicas} replica${replicas === 1 ? "" : "s"}`;
}

/** Copies in clusters that the workload no longer belongs to, and which no eviction task names. */
function keptLines({ binding, works }: FailoverView): readonly Line[] {
  const { wanted, leaving, purged } = workClustersOf(binding);
  return works.flatMap((work): readonly Line[] => {
    const cluster = clusterOfWork(work);
    if (wanted.has(cluster) || leaving.has(cluster) || purged.has(cluster)) return [];
    const why =
      work.metadata.deletionTimestamp === undefined
        ? "a copy stays there until another one is healthy"
        : "a copy is being removed there";
    return [["Also on", `${cluster}: ${why}`]];
  });
}

function heldLines({ binding, evacuations }: FailoverView): readonly Line[] {
  return evacuations.flatMap(({ metadata, spec, status }) => {
    if (status?.finishedAt !== undefined) return [];
    const found = status?.held?.find((one) => one.binding.uid === binding.metadata.uid);
    if (found === undefined) return [];
    const { reason, message = "" } = found;
    const text = `leaving ${spec.cluster} (evacuation ${metadata.name}), ${reason}: ${message}`;
    return [["Held", text] as const];
  });
}

/** Clusters that cannot leave the fleet because of this workload. */
function stuckLines({ binding, clusters }: FailoverView): readonly Line[] {
  return clusters.flatMap(({ metadata }): readonly Line[] => {
    const reason =
      metadata.deletionTimestamp === undefined ? undefined : whyStuck(binding, metadata.name);
    if (reason === undefined) return [];
    return [["Stuck", `keeps ${metadata.name} from leaving the fleet; ${stuckReasons[reason]}.`]];
  });
}

/** How the workload would leave a cluster that fails. */
function wishLines({ binding, settings }: FailoverView): readonly Line[] {
  const { failover, placement, requiredBy = [] } = binding.spec;
  if (placement === undefined && requiredBy.length > 0)
    return [["Failover", "moves with the workloads that need it."]];
  const isOn = readGates(settings?.["feature-gates"] ?? "").on.has("Failover");
  const otherwise = purgeModeOf(settings?.["no-execute-taint-eviction-purge-mode"], "Gracefully");
  const mode = purgeModeOf(failover?.cluster?.purgeMode, otherwise);
  const tolerated = (placement?.clusterTolerations ?? []).flatMap(toleratedText);
  const { cluster, application } = failover ?? {};
  const hard = [
    `leaves a cluster with a NoExecute taint at once, ${mode}`,
    ...(tolerated.length === 0 ? [] : [`but tolerates ${tolerated.join(", ")}`]),
  ];
  const soft =
    cluster === undefined
      ? "stays on one with PreferNoExecute"
      : `leaves one with PreferNoExecute after ${spanOf(cluster.tolerationSeconds ?? 300)}`;
  const own =
    application === undefined
      ? "stays where it is unhealthy"
      : `leaves where it is unhealthy for ${spanOf(toleratedSecondsOf(application))}`;
  const off = isOn ? "" : " Now, only on a person's order: the feature gate Failover is off.";
  return [["Failover", `${hard.join(", ")}; ${soft}; ${own}.${off}`]];
}

function toleratedText(toleration: Toleration): readonly string[] {
  const { key = "", operator = "", value = "", effect = "", tolerationSeconds } = toleration;
  if (effect !== "" && effect !== "NoExecute") return [];
  const what = key === "" ? "every taint" : operator === "Exists" ? key : `${key}=${value}`;
  return [
    `${what} ${tolerationSeconds === undefined ? "for ever" : `for ${spanOf(tolerationSeconds)}`}`,
  ];
}

function spanOf(seconds: number): string {
  return formatDuration(seconds * 1000);
}
