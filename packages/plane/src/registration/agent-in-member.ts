/**
 * An agent in its member: installed, found again in whatever namespace it is, and taken away. Only what bears the label of the system,
 * or the name that installing gave it, is touched. The ClusterRoleBinding goes last: it names the namespace, so that a removal that
 * died is found again.
 */
import {
  type AnyObject,
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  deployments,
  isJsonObject,
  namespaces,
  type New,
  type Resource,
  secrets,
  serviceAccounts,
} from "@lifeboat/api";
import { memoryKey } from "@lifeboat/controllers/member-side";
import { listAt, textAt, wellKnown } from "@lifeboat/core";
import type { Client } from "@lifeboat/kit";
import {
  AGENT_NAME,
  AGENT_NAMESPACE,
  AGENT_SECRET,
  type AgentManifest,
  agentManifest,
} from "./agent-manifest.ts";
import { ensure, ensureGone, findObject } from "./ensure.ts";
import { RegistrationRefused } from "./refusal.ts";

const RESOURCES = new Map<string, Resource>(
  [namespaces, serviceAccounts, clusterRoles, clusterRoleBindings, secrets, deployments].map(
    (resource) => [resource.kind, resource],
  ),
);

/** Makes the agent's objects in the member, or brings them in line. A cluster has one agent. */
export async function installAgent(member: Client, agent: AgentManifest): Promise<void> {
  const other = await installedCluster(member, agent.namespace);
  if (other !== undefined && other !== agent.cluster)
    throw new RegistrationRefused(
      `the member runs the agent of cluster ${other} already, in namespace ${agent.namespace}: unregister that one first`,
    );
  const space = await findObject(member, namespaces, { namespace: "", name: agent.namespace });
  // The Cluster of an earlier registration: an agent that remembers it would make no other.
  await ensureGone(member, configMaps, memoryKey(agent.cluster, agent.namespace));
  for (const object of agentManifest(agent))
    // A namespace that is there already does not become ours to delete.
    if (object.kind !== namespaces.kind || space === undefined)
      await ensure(member, resourceOf(object), object);
}

/** The cluster whose agent is installed in the member; undefined: none is. */
export async function installedCluster(
  member: Client,
  namespace = AGENT_NAMESPACE,
): Promise<string | undefined> {
  const found = await findObject(member, deployments, { namespace, name: AGENT_NAME });
  return found?.metadata.annotations?.["lifeboat.dev/cluster"];
}

/** The namespace of the agent of a cluster: of its Deployment, else of what a removal that died has left, else the default one. */
async function namespaceOf(member: Client, cluster: string): Promise<string> {
  const labelSelector = `app=${AGENT_NAME},${wellKnown.SYSTEM}=true`;
  const { items } = await member.list<AnyObject>(deployments, { labelSelector });
  const own = items.find(
    ({ metadata }) => metadata.annotations?.["lifeboat.dev/cluster"] === cluster,
  );
  if (own !== undefined) return own.metadata.namespace ?? AGENT_NAMESPACE;
  const bound = await findObject(member, clusterRoleBindings, { namespace: "", name: AGENT_NAME });
  const namespace = textAt(listAt(bound, "subjects")[0], "namespace");
  return namespace === "" ? AGENT_NAMESPACE : namespace;
}

/** The kubeconfig of the control plane that the agent of a cluster is installed with; undefined where there is none. */
export async function installedKubeconfig(
  member: Client,
  cluster: string,
): Promise<string | undefined> {
  const namespace = await namespaceOf(member, cluster);
  const secret = await findObject(member, secrets, { namespace, name: AGENT_SECRET });
  const data = secret?.["data"];
  const value = isJsonObject(data) ? data["kubeconfig"] : undefined;
  if (typeof value !== "string") return undefined;
  return new TextDecoder().decode(Uint8Array.from(atob(value), (char) => char.charCodeAt(0)));
}

/** Takes the agent away; answers what was left, and why. */
export async function removeAgent(member: Client, cluster: string): Promise<string[]> {
  const namespace = await namespaceOf(member, cluster);
  const other = await installedCluster(member, namespace);
  if (other !== undefined && other !== cluster)
    return [`the agent in namespace ${namespace}, which is that of cluster ${other}`];
  await ensureGone(member, deployments, { namespace, name: AGENT_NAME });
  await ensureGone(member, secrets, { namespace, name: AGENT_SECRET });
  await ensureGone(member, clusterRoles, { namespace: "", name: AGENT_NAME });
  await ensureGone(member, serviceAccounts, { namespace, name: AGENT_NAME });
  await ensureGone(member, configMaps, memoryKey(cluster, namespace));
  const left = await removeNamespace(member, namespace);
  await ensureGone(member, clusterRoleBindings, { namespace: "", name: AGENT_NAME });
  return left;
}

/** Takes the namespace of the agent away, if installing made it and nothing else is in it; answers what was left, and why. */
async function removeNamespace(member: Client, namespace: string): Promise<string[]> {
  const space = await findObject(member, namespaces, { namespace: "", name: namespace });
  if (space === undefined) return [];
  if (space.metadata.labels?.[wellKnown.SYSTEM] !== "true")
    return [`the namespace ${namespace}, which installing the agent did not make`];
  const others = await othersIn(member, namespace);
  if (others.length > 0)
    return [`the namespace ${namespace}, in which there are still ${others.join(", ")}`];
  await ensureGone(member, namespaces, { namespace: "", name: namespace });
  return [];
}

/** What others keep in the namespace; not what every namespace has. */
async function othersIn(member: Client, namespace: string): Promise<readonly string[]> {
  const names: string[] = [];
  for (const resource of [deployments, secrets, serviceAccounts, configMaps]) {
    const { items } = await member.list<AnyObject>(resource, { namespace });
    for (const { metadata } of items)
      if (metadata.name !== "default" && metadata.name !== "kube-root-ca.crt")
        names.push(`${resource.kind} ${metadata.name}`);
  }
  return names;
}

function resourceOf({ kind }: New<AnyObject>): Resource {
  const resource = RESOURCES.get(String(kind));
  if (resource === undefined) throw new Error(`the manifest of an agent has no ${String(kind)}`);
  return resource;
}
