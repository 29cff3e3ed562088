/** Carries out what people do. Doing a step twice is doing it once, because a lost answer makes people try again. */
import {
  type AnyObject,
  clusters,
  isRefused,
  type KubeObject,
  type New,
  overridePolicies,
  propagationPolicies,
  type Resource,
} from "@lifeboat/api";
import { unreachable } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import type { Client } from "@lifeboat/kit";
import type { Simulation } from "../simulation.ts";
import type { Step, WorkloadKind } from "./scenario.ts";

const RESOURCES: Readonly<Record<WorkloadKind | "Namespace", Resource>> = {
  Deployment: builtin("apps", "deployments", "Deployment"),
  StatefulSet: builtin("apps", "statefulsets", "StatefulSet"),
  ConfigMap: builtin("", "configmaps", "ConfigMap"),
  Namespace: { ...builtin("", "namespaces", "Namespace"), namespaced: false },
};

/** Begins a step; it is done when the plane has taken it. */
export function takeStep(simulation: Simulation, step: Step): void {
  switch (step.do) {
    case "workload":
      return simulation.user((plane) => put(plane, RESOURCES[step.kind], workload(step)));
    case "policy":
      return simulation.user((plane) => put(plane, propagationPolicies, policy(step)));
    case "override":
      return simulation.user((plane) => put(plane, overridePolicies, override(step)));
    case "namespace":
      return simulation.user((plane) =>
        put(plane, RESOURCES.Namespace, {
          apiVersion: "v1",
          kind: "Namespace",
          metadata: { name: step.name },
        }),
      );
    case "delete":
      return simulation.user((plane) => remove(plane, resourceOf(step.what), step));
    case "join":
      return simulation.join(step.member);
    case "unjoin":
      return simulation.user((plane) => remove(plane, clusters, { name: step.member }));
    case "taint":
      return simulation.user((plane) => taint(plane, step));
    case "drift":
      return drift(simulation, step);
    default:
      return unreachable(step);
  }
}

type Of<D extends Step["do"]> = Extract<Step, { readonly do: D }>;

function resourceOf(what: Of<"delete">["what"]): Resource<KubeObject> {
  if (what === "policy") return propagationPolicies;
  if (what === "override") return overridePolicies;
  return RESOURCES[what === "namespace" ? "Namespace" : what];
}

function workload(step: Of<"workload">): New<AnyObject> {
  const { kind, name, namespace = "default", replicas = 1, version = 1 } = step;
  const metadata = { name, namespace, labels: { app: name } };
  if (kind === "ConfigMap")
    return { apiVersion: "v1", kind, metadata, data: { version: String(version) } };
  const labels = { app: name };
  const containers = [{ name: "main", image: `registry.test/app:${version}` }];
  const spec = {
    replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers } },
    ...(kind === "StatefulSet" && { serviceName: name }),
  };
  return { apiVersion: "apps/v1", kind, metadata, spec };
}

function policy(step: Of<"policy">): New<AnyObject> {
  const { name, namespace = "default", clusters: clusterNames, divided = false } = step;
  const { oneCopy = false, purgeMode } = step;
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name, namespace },
    spec: {
      resourceSelectors: step.selects.map(({ kind, name: selected }) => ({
        apiVersion: kind === "ConfigMap" ? "v1" : "apps/v1",
        kind,
        name: selected,
      })),
      ...(purgeMode !== undefined && { failover: { cluster: { purgeMode } } }),
      placement: {
        ...(oneCopy && {
          spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
        }),
        ...(clusterNames !== undefined && { clusterAffinity: { clusterNames } }),
        replicaScheduling: {
          replicaSchedulingType: divided ? "Divided" : "Duplicated",
          ...(divided && { replicaDivisionPreference: "Weighted" }),
        },
      },
    },
  };
}

function override(step: Of<"override">): New<AnyObject> {
  const { kind, name } = step.selects;
  const path = kind === "ConfigMap" ? "/data/version" : "/spec/template/spec/containers/0/image";
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { name: step.name, namespace: "default" },
    spec: {
      resourceSelectors: [{ apiVersion: kind === "ConfigMap" ? "v1" : "apps/v1", kind, name }],
      overrideRules: [
        {
          targetCluster: { clusterNames: [step.cluster] },
          overriders: { plaintext: [{ path, operator: "replace", value: step.value }] },
        },
      ],
    },
  };
}

/** Creates the object, or changes what it says. */
async function put(
  plane: Client,
  resource: Resource<KubeObject>,
  object: New<AnyObject>,
): Promise<void> {
  const { metadata } = object;
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...body } = object;
  try {
    await plane.create(resource, object as New<KubeObject>);
  } catch (error) {
    if (!isRefused(error, "AlreadyExists")) throw error;
    const key = { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
    await plane.patch(resource, key, { type: "merge", body: body as never });
  }
}

async function remove(
  plane: Client,
  resource: Resource<KubeObject>,
  { name, namespace = "default" }: { readonly name: string; readonly namespace?: string },
): Promise<void> {
  try {
    await plane.delete(
      resource,
      { namespace, name },
      {
        propagationPolicy: "Background",
      },
    );
  } catch (error) {
    if (!isRefused(error, "NotFound")) throw error;
  }
}

async function taint(plane: Client, { member, effect, on }: Of<"taint">): Promise<void> {
  const wanted =
    effect === "drain"
      ? { key: wellKnown.DRAIN_TAINT, effect: "NoExecute" as const }
      : { key: "test/faulty", effect };
  try {
    const cluster = await plane.get(clusters, { namespace: "", name: member });
    const others = (cluster.spec.taints ?? []).filter(({ key }) => key !== wanted.key);
    const taints = on ? [...others, wanted] : others;
    await plane.update(clusters, { ...cluster, spec: { ...cluster.spec, taints } });
  } catch (error) {
    if (!isRefused(error, "NotFound")) throw error;
  }
}

/** Somebody in the member does not know or care who owns the object. */
function drift(simulation: Simulation, step: Of<"drift">): void {
  const { admin } = simulation.member(step.member);
  if (admin === undefined) return;
  const key = { namespace: "default", name: step.name };
  const resource = RESOURCES[step.kind];
  const body =
    step.kind === "ConfigMap" ? { data: { version: "drifted" } } : { spec: { replicas: 7 } };
  const act =
    step.how === "delete"
      ? admin.delete(resource, key, { propagationPolicy: "Background" })
      : admin.patch(resource, key, { type: "merge", body });
  void act.catch(() => undefined);
}

function builtin(group: string, plural: string, kind: string): Resource {
  return { group, version: "v1", plural, kind, namespaced: true };
}
