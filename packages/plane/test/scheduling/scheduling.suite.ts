/**
 * What the tests of scheduling share: a fleet on the production composition whose clusters have labels and regions, short
 * ways to make policies and workloads, and to see where they run, in the binding and in the members themselves.
 */
import {
  type AnyObject,
  type Cluster,
  clusterPropagationPolicies,
  type ClusterPropagationPolicy,
  clusters,
  findCondition,
  type JsonObject,
  type New,
  type Placement,
  propagationPolicies,
  type PropagationPolicy,
  type Resource,
  resourceBindings,
} from "@lifeboat/api";
import { createFleet, type Fleet, type FleetOptions, resources } from "@lifeboat/testkit";
import { createControllers, DEFAULT_CONTROLLERS } from "../../src/controllers.ts";

/** A whole fleet takes a second or two, and more on a busy machine. */
export const WHOLE_FLEET = { timeout: 30_000 } as const;

export const jobs: Resource = {
  group: "batch",
  version: "v1",
  plural: "jobs",
  kind: "Job",
  namespaced: true,
};

export interface Member {
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Partial<Cluster["spec"]>;
}

/** A fleet whose members are joined and have reported. */
export async function openFleet(
  members: Readonly<Record<string, Member>>,
  options: FleetOptions = {},
): Promise<Fleet> {
  const fleet = await createFleet({
    services: (context) => createControllers(context, DEFAULT_CONTROLLERS),
    ...options,
  });
  for (const [name, { labels = {}, spec = {} }] of Object.entries(members)) {
    await fleet.addMember(name);
    await fleet.join(name, spec);
    await labelCluster(fleet, name, labels);
  }
  await fleet.advance("15s");
  return fleet;
}

/** Labels with the value null go. */
export async function labelCluster(
  { plane }: Fleet,
  name: string,
  labels: Readonly<Record<string, string | null>>,
): Promise<void> {
  const body = { metadata: { labels } };
  await plane.patch(clusters, { namespace: "", name }, { type: "merge", body });
}

export async function taintCluster(
  { plane }: Fleet,
  name: string,
  taints: readonly JsonObject[],
): Promise<void> {
  const body = { spec: { taints } };
  await plane.patch(clusters, { namespace: "", name }, { type: "merge", body });
}

/** Selects one Deployment of its own name, unless told otherwise. */
export function newPolicy(
  name: string,
  placement: Placement,
  selector: { apiVersion: string; kind: string } = { apiVersion: "apps/v1", kind: "Deployment" },
): New<PropagationPolicy> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name, namespace: "default" },
    spec: { resourceSelectors: [{ ...selector, name }], placement },
  };
}

export function newClusterPolicy(
  name: string,
  placement: Placement,
  selector: { apiVersion: string; kind: string; namespace?: string; name?: string },
): New<ClusterPropagationPolicy> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name },
    spec: { resourceSelectors: [{ name, ...selector }], placement },
  };
}

/** Creates a policy and a template, and waits until copies run. */
export async function propagate(
  fleet: Fleet,
  policy: New<PropagationPolicy> | New<ClusterPropagationPolicy>,
  resource: Resource,
  template: New<AnyObject>,
): Promise<void> {
  if (policy.kind === "PropagationPolicy") await fleet.plane.create(propagationPolicies, policy);
  else await fleet.plane.create(clusterPropagationPolicies, policy);
  await fleet.plane.create(resource, template);
  await fleet.advance("5s");
}

/** Gives the policy another placement; fields that are null go. */
export async function changePlacement(
  fleet: Fleet,
  name: string,
  placement: JsonObject,
): Promise<void> {
  const body = { spec: { placement } };
  await fleet.plane.patch(
    propagationPolicies,
    { namespace: "default", name },
    { type: "merge", body },
  );
  await fleet.advance("20s");
}

export async function scale(fleet: Fleet, name: string, replicas: number): Promise<void> {
  const body = { spec: { replicas } };
  await fleet.plane.patch(
    resources.deployments,
    { namespace: "default", name },
    { type: "merge", body },
  );
  await fleet.advance("5s");
}

/** The result by the binding of a Deployment. */
export async function resultOf(fleet: Fleet, name: string): Promise<Record<string, number>> {
  const key = { namespace: "default", name: `${name}-deployment` };
  const { spec } = await fleet.plane.get(resourceBindings, key);
  const targets = spec.clusters ?? [];
  return Object.fromEntries(targets.map(({ name: at, replicas = 0 }) => [at, replicas]));
}

/** The condition Scheduled of the binding of a Deployment, in words. */
export async function scheduledOf(fleet: Fleet, name: string): Promise<string> {
  const key = { namespace: "default", name: `${name}-deployment` };
  const { status } = await fleet.plane.get(resourceBindings, key);
  const condition = findCondition(status?.conditions, "Scheduled");
  return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
}

/** What the members themselves hold: the count of replicas by member; 0 for kinds without. */
export async function copiesOf(
  fleet: Fleet,
  members: readonly string[],
  name: string,
  resource: Resource = resources.deployments,
): Promise<Record<string, number>> {
  const copies: Record<string, number> = {};
  for (const member of members) {
    const { items } = await fleet.member(member).client.list(resource);
    const copy = items.find(({ metadata }) => metadata.name === name);
    if (copy !== undefined) copies[member] = replicasOf(copy);
  }
  return copies;
}

function replicasOf(copy: AnyObject): number {
  const { spec = {} } = copy as unknown as { spec?: { replicas?: number } };
  return spec.replicas ?? 0;
}
