/** Small valid objects for the tests of this folder. */
import type {
  Cluster,
  Evacuation,
  KubeObject,
  LedgerSlice,
  New,
  ResourceBinding,
} from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";

export const NOW = instantOf(Date.UTC(2026, 0, 1, 12));

type Share = readonly [string, number];

export function binding(
  shares: readonly Share[],
  leaving: readonly string[] = [],
  metadata: object = {},
): ResourceBinding {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name: "web-deployment", namespace: "shop", uid: "b1", ...metadata },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: "shop" },
      clusters: shares.map(([name, replicas]) => ({ name, replicas })),
      gracefulEvictionTasks: leaving.map((fromCluster) => ({
        fromCluster,
        reason: "TaintUntolerated",
        producer: "TaintManager",
        purgeMode: "Gracefully",
        preservedLabelState: { job: "7" },
        creationTimestamp: "2026-01-01T12:00:00Z",
      })),
    },
  } as unknown as ResourceBinding;
}

export function cluster(
  ready: string,
  taints: readonly string[] = [],
  metadata: object = {},
): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "eu-1", uid: "c1", creationTimestamp: "2026-01-01T11:00:00Z", ...metadata },
    spec: {
      taints: taints.map((key) => ({
        key,
        effect: "NoExecute",
        timeAdded: "2026-01-01T12:00:00Z",
      })),
    },
    status: {
      conditions: [
        {
          type: "Ready",
          status: ready,
          reason: "Probed",
          message: "",
          lastTransitionTime: "2026-01-01T12:00:00Z",
        },
      ],
    },
  } as unknown as Cluster;
}

export function evacuation(spec: object = {}, status: object = {}): Evacuation {
  return {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { name: "eu-1-1", uid: "e1" },
    spec: { cluster: "eu-1", paused: false, ...spec },
    status: {
      taints: [{ taint: { key: "down", effect: "NoExecute" }, slices: 1, recorded: true }],
      entries: { total: 3, queued: 3, evicted: 0, done: 0, held: 0, abandoned: 0, exempt: 0 },
      ...status,
    },
  } as unknown as Evacuation;
}

export function withAnnotations<T extends KubeObject>(
  object: T,
  annotations: Readonly<Record<string, string>>,
): T {
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** As the API server stores it. */
export function stored(slice: New<LedgerSlice>): LedgerSlice {
  return slice as unknown as LedgerSlice;
}
