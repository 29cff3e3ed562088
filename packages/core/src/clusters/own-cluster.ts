/**
 * What an agent does about the Cluster object of its member when it starts (D25).
 *
 *   no Cluster, and none was made before     create it
 *   no Cluster, and one was made before      it was unregistered: the agent stops and does not make it again
 *   a Cluster of this member                 use it; bring its location and endpoint up to date
 *   a Cluster of another member, or Push     refuse: one name stands for one cluster
 *
 * An agent writes only what admission lets it write: id, provider, region, zones, endpoint and secret references.
 */
import type { Cluster, New } from "@lifeboat/api";
import { equalJson } from "@lifeboat/api";
import { defineReasons } from "../plan.ts";

/** What an agent knows of its member. */
export interface MemberIdentity {
  readonly cluster: string;
  /** The uid of the Namespace `kube-system` of the member. */
  readonly id: string;
  readonly provider?: string;
  readonly region?: string;
  readonly zones?: readonly string[];
  readonly apiEndpoint?: string;
}

export const ownClusterReasons = defineReasons({
  Created: "The Cluster is made.",
  UpToDate: "The Cluster is this member's.",
  Changed: "The Cluster is this member's, and its location or endpoint is another now.",
  Unregistered: "The Cluster was deleted, so the member is not registered any more.",
  OtherMember: "The Cluster belongs to another member.",
  PushCluster: "The Cluster is in mode Push, so the control plane connects to it by itself.",
});

export type OwnClusterReason = keyof typeof ownClusterReasons;

export type OwnClusterPlan =
  | { readonly kind: "create"; readonly cluster: New<Cluster>; readonly reason: "Created" }
  | { readonly kind: "update"; readonly cluster: Cluster; readonly reason: "Changed" }
  | { readonly kind: "use"; readonly reason: "UpToDate" }
  | {
      readonly kind: "stop";
      readonly reason: "Unregistered" | "OtherMember" | "PushCluster";
      readonly message: string;
    };

export interface OwnClusterView {
  readonly identity: MemberIdentity;
  /** The Cluster of that name, as the server has it. */
  readonly found: Cluster | undefined;
  /** The uid of the Cluster that was used before, as the member remembers it. */
  readonly former: string | undefined;
}

/** Decides what to do about the Cluster of an agent. */
export function decideOwnCluster({ identity, found, former }: OwnClusterView): OwnClusterPlan {
  const { cluster: name, id } = identity;
  if (found === undefined)
    return former === undefined
      ? { kind: "create", cluster: newCluster(identity), reason: "Created" }
      : stop(
          "Unregistered",
          `the Cluster ${name} was deleted. To register again: lifeboat register`,
        );
  const { syncMode, id: theirs } = found.spec;
  if (syncMode !== "Pull")
    return stop("PushCluster", `the Cluster ${name} is in mode Push; an agent needs mode Pull`);
  if (theirs !== undefined && theirs !== "" && theirs !== id)
    return stop(
      "OtherMember",
      `the Cluster ${name} belongs to another member (id ${theirs}, this one has ${id}). Choose another name, or unregister it first`,
    );
  const spec = { ...found.spec, ...fieldsOf(identity) };
  if (equalJson(spec, found.spec)) return { kind: "use", reason: "UpToDate" };
  return { kind: "update", cluster: { ...found, spec }, reason: "Changed" };
}

function stop(
  reason: "Unregistered" | "OtherMember" | "PushCluster",
  message: string,
): OwnClusterPlan {
  return { kind: "stop", reason, message };
}

function newCluster(identity: MemberIdentity): New<Cluster> {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: identity.cluster },
    spec: { syncMode: "Pull", ...fieldsOf(identity) },
  };
}

/** What is not given stays as it is. */
function fieldsOf({ id, provider, region, zones, apiEndpoint }: MemberIdentity) {
  return {
    id,
    ...(provider !== undefined && { provider }),
    ...(region !== undefined && { region }),
    ...(zones !== undefined && zones.length > 0 && { zones: [...zones] }),
    ...(apiEndpoint !== undefined && { apiEndpoint }),
  };
}
