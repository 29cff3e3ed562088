/** Small objects for the tests of the decisions. */
import { deepFreeze, formatTime, type Instant, instantOf } from "@lifeboat/base";
import type {
  Deployment,
  Job,
  Node,
  Pod,
  PodSpec,
  PodTemplate,
  ReplicaSet,
  StatefulSet,
} from "../kinds.ts";

export const NOW: Instant = instantOf(1_767_225_600_000);

export function meta(name: string, extra: Partial<Pod["metadata"]> = {}): Pod["metadata"] {
  return {
    name,
    namespace: "default",
    uid: `uid-${name}`,
    resourceVersion: "1",
    generation: 1,
    creationTimestamp: formatTime(NOW),
    ...extra,
  };
}

export function node(name: string, allocatable: Readonly<Record<string, string>>): Node {
  return deepFreeze({
    apiVersion: "v1",
    kind: "Node",
    metadata: meta(name),
    status: { allocatable },
  });
}

export type PodState =
  | "unplaced"
  | "pending"
  | "unready"
  | "ready"
  | "leaving"
  | "succeeded"
  | "failed";

/** Any state of a pod that has not ended well. */
export const ANY_UNFINISHED: readonly PodState[] = [
  "unplaced",
  "pending",
  "unready",
  "ready",
  "leaving",
  "failed",
];

const PHASES: Readonly<Record<PodState, string>> = {
  unplaced: "Pending",
  pending: "Pending",
  unready: "Running",
  ready: "Running",
  leaving: "Running",
  succeeded: "Succeeded",
  failed: "Failed",
};

/** A pod in this state; what it became, it became at NOW. */
export function pod(name: string, state: PodState, extra: Partial<Pod["metadata"]> = {}): Pod {
  const leaving = { deletionTimestamp: formatTime(NOW), deletionGracePeriodSeconds: 30 };
  const isReady = state === "ready" || state === "leaving";
  const spec: PodSpec = { containers: [{ name: "c", image: "i" }] };
  return deepFreeze({
    apiVersion: "v1",
    kind: "Pod",
    metadata: meta(name, { ...extra, ...(state === "leaving" && leaving) }),
    spec: state === "unplaced" ? spec : { ...spec, nodeName: "node" },
    status: {
      phase: PHASES[state],
      conditions: [
        {
          type: "Ready",
          status: isReady ? "True" : "False",
          lastTransitionTime: formatTime(NOW),
        },
      ],
    },
  });
}

export function podTemplate(image = "i"): PodTemplate {
  return { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image }] } };
}

const selector = { matchLabels: { app: "a" } };

export function replicaSet(
  name: string,
  spec: Partial<ReplicaSet["spec"]>,
  extra: Partial<Pod["metadata"]> = {},
): ReplicaSet {
  return deepFreeze({
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: meta(name, extra),
    spec: { selector, template: podTemplate(), ...spec },
  });
}

export function deployment(
  spec: Partial<Deployment["spec"]>,
  status: Deployment["status"] = {},
): Deployment {
  return deepFreeze({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: meta("web"),
    spec: { selector, template: podTemplate(), ...spec },
    status,
  });
}

export function statefulSet(spec: Partial<StatefulSet["spec"]>): StatefulSet {
  return deepFreeze({
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: meta("db"),
    spec: { template: podTemplate(), ...spec },
  });
}

export function job(spec: Partial<Job["spec"]>, status: Job["status"] = {}): Job {
  return deepFreeze({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: meta("sum"),
    spec: { template: podTemplate(), ...spec },
    status,
  });
}
