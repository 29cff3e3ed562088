/** What tests of failover ask of placements, bindings, clusters and Events, whatever the fleet is made of. */
import {
  type AnyObject,
  type Cluster,
  findCondition,
  type JsonObject,
  type ResourceBinding,
} from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { resources } from "./objects.ts";

/** A placement in one of these clusters at a time, as the proposals' stateful examples ask. */
export function oneOf(...clusterNames: readonly string[]): JsonObject {
  return {
    clusterAffinity: { clusterNames: [...clusterNames] },
    spreadConstraints: [{ spreadByField: "cluster", maxGroups: 1, minGroups: 1 }],
  };
}

/** Where a workload runs and from where it is leaving, as `m1 m2 -m3`. */
export function placementText({ spec }: ResourceBinding): string {
  return [
    ...(spec.clusters ?? []).map(({ name }) => name),
    ...(spec.gracefulEvictionTasks ?? []).map(({ fromCluster }) => `-${fromCluster}`),
  ].join(" ");
}

/** The status of a cluster's condition; undefined when it has none of this type. */
export function conditionOf({ status }: Cluster, type: string): string | undefined {
  return findCondition(status?.conditions, type)?.status;
}

interface Told extends AnyObject {
  readonly reason?: string;
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
}

/** The reasons of the Events about objects of this name, and of this kind where one is given; in order of the Events. */
export async function reasonsAbout(
  plane: Client,
  name: string,
  kind?: string,
): Promise<readonly string[]> {
  const { items } = await plane.list(resources.events);
  return (items as readonly Told[])
    .filter(
      ({ involvedObject: of }) => of?.name === name && (kind === undefined || of.kind === kind),
    )
    .map(({ reason = "" }) => reason);
}
