/** Bindings with eviction tasks, Works and Clusters for the tests of this folder. */
import type { Cluster, Condition, EvictionTask, ResourceBinding, Work } from "@lifeboat/api";
import { instantOf, plainMoment } from "@lifeboat/base";
import {
  binding as plainBinding,
  cluster as plainCluster,
  workIn,
} from "../../propagation/works/works.suite.ts";
import { decideTasks, type TasksPlan } from "./decide-tasks.ts";
import { evictionPluginNames, evictionPlugins } from "./plugins/registry.ts";
import { type TasksView, worksByCluster } from "./view.ts";

export const NOW = instantOf(Date.UTC(2026, 0, 1, 12));
export const AN_HOUR_AGO = "2026-01-01T11:00:00Z";

export function task(fromCluster: string, changes: Partial<EvictionTask> = {}): EvictionTask {
  return {
    fromCluster,
    purgeMode: "Gracefully",
    reason: "TaintUntolerated",
    producer: "TaintManager",
    creationTimestamp: AN_HOUR_AGO,
    clustersBeforeFailover: [fromCluster],
    ...changes,
  };
}

const CLAIMED = { "propagationpolicy.karmada.io/permanent-id": "pp-1" };

/** A binding of a policy whose present generation the scheduler has seen. */
export function bindingWith(
  clusters: readonly string[],
  tasks: readonly EvictionTask[],
  changes: {
    readonly spec?: Partial<ResourceBinding["spec"]>;
    readonly meta?: Partial<ResourceBinding["metadata"]>;
    readonly observed?: number;
  } = {},
): ResourceBinding {
  const spec = { clusters: clusters.map((name) => ({ name, replicas: 2 })), replicas: 2 };
  return {
    ...plainBinding(
      { ...spec, gracefulEvictionTasks: [...tasks], ...changes.spec },
      { generation: 5, labels: CLAIMED, ...changes.meta },
    ),
    status: { schedulerObservedGeneration: changes.observed ?? 5 },
  };
}

export interface CopyState {
  readonly health?: "Healthy" | "Unhealthy";
  /** The generation that its report is about; the Work's is 1. */
  readonly observed?: number;
  readonly going?: boolean;
}

/** A Work of the binding in a cluster. */
export function copy(name: string, { health, observed, going }: CopyState = {}): Work {
  const work = workIn(name, {
    ...(health !== undefined && { health }),
    meta: going === true ? { deletionTimestamp: AN_HOUR_AGO } : {},
  });
  if (observed === undefined || work.status === undefined) return work;
  const conditions = (work.status.conditions ?? []).map((condition) => ({
    ...condition,
    observedGeneration: observed,
  }));
  return { ...work, status: { ...work.status, conditions } };
}

export interface ClusterState {
  readonly ready?: "True" | "False" | "Unknown";
  readonly tainted?: boolean;
  readonly fenced?: boolean;
  /** The condition Fenced. */
  readonly isOff?: "True" | "False" | "Unknown";
  readonly leaving?: boolean;
}

export function clusterIn(name: string, state: ClusterState = {}): Cluster {
  const { ready, tainted, fenced, isOff, leaving } = state;
  const plain = plainCluster(name, {
    ...(leaving === true && { deletionTimestamp: AN_HOUR_AGO }),
    ...(fenced === true && { annotations: { "lifeboat.dev/fenced": '{"at":"x","by":"ann"}' } }),
  });
  const condition = (type: string, status: Condition["status"]): Condition => ({
    type,
    status,
    reason: "Test",
    message: "",
    lastTransitionTime: AN_HOUR_AGO,
  });
  return {
    ...plain,
    spec: {
      ...plain.spec,
      ...(tainted === true && { taints: [{ key: "down", effect: "NoExecute" }] }),
    },
    ...(ready !== undefined && {
      status: {
        conditions: [
          condition("Ready", ready),
          ...(isOff === undefined ? [] : [condition("Fenced", isOff)]),
        ],
      },
    }),
  };
}

export interface Scene {
  readonly binding: ResourceBinding;
  readonly works?: readonly Work[];
  /** Clusters a, b and c exist and a is tainted, unless they are given. */
  readonly clusters?: readonly Cluster[];
  readonly outdated?: readonly string[];
  readonly plugins?: readonly string[];
  readonly trustFencedCondition?: boolean;
  readonly traffic?: NonNullable<TasksView["traffic"]>;
}

export function sceneView(scene: Scene): TasksView {
  const clusters = scene.clusters ?? [
    clusterIn("a", { ready: "True", tainted: true }),
    clusterIn("b", { ready: "True" }),
    clusterIn("c", { ready: "True" }),
  ];
  return {
    binding: scene.binding,
    works: worksByCluster(scene.works ?? []),
    clusters: new Map(clusters.map((one) => [one.metadata.name, one])),
    outdated: new Set(scene.outdated),
    plugins: evictionPlugins(scene.plugins ?? evictionPluginNames),
    trustFencedCondition: scene.trustFencedCondition ?? false,
    ...(scene.traffic !== undefined && { traffic: scene.traffic }),
  };
}

export function decide(scene: Scene): TasksPlan {
  return decideTasks(sceneView(scene), plainMoment(NOW));
}

/** The fate of the only task, as `kept AwaitingTargets`. */
export function fateOf(scene: Scene): string {
  const [verdict] = decide(scene).verdicts;
  return `${verdict?.fate} ${verdict?.reason}`;
}
