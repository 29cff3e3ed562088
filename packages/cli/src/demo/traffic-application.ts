/** What the story of traffic gives its control plane: an application behind an ingress in every cluster, and a Remedy. */
import {
  type AnyObject,
  type Cluster,
  clusters,
  deployments,
  type MultiClusterIngress,
  multiClusterIngresses,
  namespaces,
  type New,
  propagationPolicies,
  type PropagationPolicy,
  type Remedy,
  remedies,
  services,
  setCondition,
  TRAFFIC_CONTROL,
} from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import type { Client } from "@lifeboat/kit";
import { deployment, NAMESPACE } from "./application.ts";
import { onNewest } from "../on-newest.ts";

export const HOST = "web.example.com";
export const WEB = { namespace: NAMESPACE, name: "web" };
export const REMEDY = "names";

/** Creates everything; `port`: where its Service listens, on an address of each cluster. */
export async function deployExposed(plane: Client, port: number): Promise<void> {
  await plane.create(namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: NAMESPACE },
  });
  await plane.create(propagationPolicies, everywhere());
  await plane.create(deployments, deployment(WEB.name, 2));
  await plane.create(services, exposed(port));
  await plane.create(multiClusterIngresses, ingress(port));
  await plane.create(remedies, remedy());
}

function everywhere(): New<PropagationPolicy> {
  const { name } = WEB;
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: WEB,
    spec: {
      resourceSelectors: [
        { apiVersion: "apps/v1", kind: "Deployment", name },
        { apiVersion: "v1", kind: "Service", name },
      ],
      placement: {},
    },
  };
}

function exposed(port: number): New<AnyObject> {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: WEB,
    spec: { type: "LoadBalancer", selector: { app: WEB.name }, ports: [{ name: "http", port }] },
  };
}

function ingress(number: number): New<MultiClusterIngress> {
  const backend = { service: { name: WEB.name, port: { number } } };
  return {
    apiVersion: "networking.karmada.io/v1alpha1",
    kind: "MultiClusterIngress",
    metadata: WEB,
    spec: {
      rules: [{ host: HOST, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
    },
  };
}

function remedy(): New<Remedy> {
  const conditionType = wellKnown.NAME_RESOLUTION;
  return {
    apiVersion: "remedy.karmada.io/v1alpha1",
    kind: "Remedy",
    metadata: { name: REMEDY },
    spec: {
      decisionMatches: [
        { clusterConditionMatch: { conditionType, operator: "Equal", conditionStatus: "False" } },
      ],
      actions: [TRAFFIC_CONTROL],
    },
  };
}

/** Reports whether names resolve in a cluster, in the place of its detector. */
export async function reportNames(
  plane: Client,
  name: string,
  isWell: boolean,
  now: Instant,
): Promise<void> {
  return onNewest(async () => {
    const cluster = await plane.get(clusters, { namespace: "", name });
    await plane.update(clusters, withNames(cluster, isWell, now), { subresource: "status" });
    return;
  });
}

function withNames(cluster: Cluster, isWell: boolean, now: Instant): Cluster {
  const condition = {
    type: wellKnown.NAME_RESOLUTION,
    status: isWell ? "True" : "False",
    reason: "Demonstration",
    message: `names ${isWell ? "resolve" : "do not resolve"} in this cluster`,
  } as const;
  const conditions = setCondition(cluster.status?.conditions, condition, now);
  return { ...cluster, status: { ...cluster.status, conditions } };
}
