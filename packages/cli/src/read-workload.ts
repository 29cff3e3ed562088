/** What belongs to a workload beside its binding, read from the control plane: its template, its policy, its Works. */
import {
  clusterPropagationPolicies,
  type KubeObject,
  orNothing,
  propagationPolicies,
  type ResourceBinding,
  type Work,
  works,
} from "@lifeboat/api";
import { discover } from "@lifeboat/controllers/context";
import { wellKnown } from "@lifeboat/core";
import type { RestoredState } from "@lifeboat/core/operating";
import { claimOf } from "@lifeboat/core/propagation/matching";
import type { Client } from "@lifeboat/kit";

export async function templateOf(
  plane: Client,
  { spec }: ResourceBinding,
): Promise<KubeObject | undefined> {
  const { apiVersion, kind, name, namespace = "" } = spec.resource;
  const { resources } = await discover(plane);
  const resource = resources.find(
    (one) =>
      one.kind === kind &&
      (one.group === "" ? one.version : `${one.group}/${one.version}`) === apiVersion,
  );
  return resource && orNothing(plane.get(resource, { namespace, name }));
}

export async function policyOf(
  plane: Client,
  binding: ResourceBinding,
): Promise<KubeObject | undefined> {
  const claim = claimOf(binding);
  if (claim === undefined) return undefined;
  const { namespace, name } = claim;
  return namespace === ""
    ? orNothing(plane.get(clusterPropagationPolicies, { namespace, name }))
    : orNothing(plane.get(propagationPolicies, { namespace, name }));
}

export async function worksOf(
  plane: Client,
  { metadata }: ResourceBinding,
): Promise<readonly Work[]> {
  const key =
    metadata.namespace === undefined ? wellKnown.CLUSTER_BINDING_ID : wellKnown.BINDING_ID;
  const id = metadata.labels?.[key];
  if (id === undefined) return [];
  return (await plane.list(works, { labelSelector: `${key}=${id}` })).items;
}

/** What the state of a workload depends on. Of one without rules about state nothing is read. */
export async function stateOf(
  plane: Client,
  binding: ResourceBinding,
  enabled: boolean,
): Promise<RestoredState> {
  const { application, cluster } = binding.spec.failover ?? {};
  const isAsked = [application, cluster].some(
    (one) => (one?.statePreservation?.rules ?? []).length > 0,
  );
  if (!isAsked) return { enabled, policy: undefined, template: {}, works: [] };
  return {
    enabled,
    policy: await policyOf(plane, binding),
    template: (await templateOf(plane, binding)) as RestoredState["template"],
    works: await worksOf(plane, binding),
  };
}
