/** Clusters and bindings for tests of placement, with overrides. */
import type { Cluster, Placement, ResourceBinding } from "@lifeboat/api";
import { instantOf, plainMoment } from "@lifeboat/base";
import { APPLIED_PLACEMENT } from "../well-known.ts";
import { candidateOf, fleetOf } from "./candidate.ts";
import { place } from "./place.ts";
import type { PlacementDecision, PlacementView } from "./view.ts";

export const NOW = instantOf(Date.UTC(2026, 0, 1));

export interface ClusterGiven {
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Partial<Cluster["spec"]>;
  /** Room for this many pods; no room is known when absent. */
  readonly pods?: number;
  readonly status?: Cluster["status"];
  readonly deleting?: boolean;
}

/** A cluster that serves Deployments and ConfigMaps. */
export function makeCluster(name: string, given: ClusterGiven = {}): Cluster {
  const { labels = {}, spec, pods, status, deleting = false } = given;
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: {
      name,
      labels,
      uid: name,
      resourceVersion: "1",
      creationTimestamp: "2026-01-01T00:00:00Z",
      ...(deleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    spec: { syncMode: "Push", ...spec },
    status: {
      apiEnablements: [
        { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
        { groupVersion: "v1", resources: [{ name: "configmaps", kind: "ConfigMap" }] },
      ],
      ...(pods !== undefined && {
        resourceSummary: { allocatable: { pods: String(pods) }, allocated: {}, allocating: {} },
      }),
      ...status,
    },
  };
}

export interface BindingGiven {
  readonly placement?: Placement;
  readonly replicas?: number;
  readonly clusters?: Readonly<Record<string, number>>;
  /** The placement last carried out; the present one when absent, none when null. */
  readonly applied?: Placement | null;
  readonly uid?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Partial<ResourceBinding["spec"]>;
  readonly status?: ResourceBinding["status"];
}

/** The binding of a Deployment. */
export function makeBinding(given: BindingGiven = {}): ResourceBinding {
  const { placement = {}, replicas = 1, clusters = {}, uid = "", spec, status } = given;
  const applied = given.applied === undefined ? placement : given.applied;
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      name: "web-deployment",
      namespace: "default",
      uid: "b",
      resourceVersion: "1",
      generation: 1,
      creationTimestamp: "2026-01-01T00:00:00Z",
      annotations: {
        ...given.annotations,
        ...(applied !== null && { [APPLIED_PLACEMENT]: JSON.stringify(applied) }),
      },
    },
    spec: {
      resource: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        namespace: "default",
        name: "web",
        uid,
      },
      replicas,
      replicaRequirements: {},
      placement,
      clusters: Object.entries(clusters).map(([name, count]) => ({
        name,
        ...(count > 0 && { replicas: count }),
      })),
      conflictResolution: "Abort",
      ...spec,
    },
    ...(status !== undefined && { status }),
  };
}

export function viewOf(
  clusters: readonly Cluster[],
  binding: ResourceBinding,
  rest: Partial<PlacementView> = {},
): PlacementView {
  return { binding, fleet: fleetOf(clusters.map(candidateOf)), reserved: new Map(), ...rest };
}

export function placeOn(
  clusters: readonly Cluster[],
  given: BindingGiven,
  rest: Partial<PlacementView> = {},
): PlacementDecision {
  return place(viewOf(clusters, makeBinding(given), rest), plainMoment(NOW));
}

/** A result as `{ cluster: replicas }`. */
export function sharesOf({ clusters }: PlacementDecision): Record<string, number> {
  return Object.fromEntries(clusters.map(({ name, replicas = 0 }) => [name, replicas]));
}

export const duplicated: Placement = { replicaScheduling: { replicaSchedulingType: "Duplicated" } };

export function divided(
  preference: "static" | "dynamic" | "Aggregated",
  weights: Readonly<Record<string, number>> = {},
  rest: Placement = {},
): Placement {
  return {
    ...rest,
    replicaScheduling: {
      replicaSchedulingType: "Divided",
      replicaDivisionPreference: preference === "Aggregated" ? "Aggregated" : "Weighted",
      ...(preference === "dynamic" && {
        weightPreference: { dynamicWeight: "AvailableReplicas" as const },
      }),
      ...(preference === "static" && {
        weightPreference: {
          staticWeightList: Object.entries(weights).map(([name, weight]) => ({
            targetCluster: { clusterNames: [name] },
            weight,
          })),
        },
      }),
    },
  };
}
