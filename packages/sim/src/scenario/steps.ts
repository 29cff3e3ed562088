/** Carries out what people do. Doing a step twice is doing it once, because a lost answer makes people try again. */
import {
  clusters,
  clusterTaintPolicies,
  evacuationBudgets,
  evacuations,
  FLEET_BUDGET,
  isRefused,
  type JsonObject,
  type KubeObject,
  multiClusterIngresses,
  overridePolicies,
  priorityClasses,
  propagationPolicies,
  remedies,
  type Resource,
  resourceBindings,
} from "@lifeboat/api";
import { unreachable } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { formatFence, isAnswering } from "@lifeboat/core/failover/eviction-tasks";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import type { Client } from "@lifeboat/kit";
import type { Simulation } from "../simulation.ts";
import {
  type Of,
  override,
  policy,
  priorityClass,
  RESOURCES,
  taintPolicy,
  workload,
} from "./objects.ts";
import type { Step, WorkloadKind } from "./scenario.ts";
import { takeFederatedStep } from "./federated-steps.ts";
import { takeOrderStep } from "./order-steps.ts";
import { takeTrafficStep } from "./traffic-steps.ts";
import { ifThere, merge, put } from "./writing.ts";

/** Begins a step; it is done when the plane has taken it. */
export function takeStep(simulation: Simulation, step: Step): void {
  switch (step.do) {
    case "workload":
      return simulation.user((plane) => merge(plane, RESOURCES[step.kind], workload(step)));
    case "policy":
      return simulation.user(async (plane) => {
        if (step.priority !== undefined)
          await put(plane, priorityClasses, priorityClass(step.priority));
        await put(plane, propagationPolicies, policy(step));
      });
    case "taint-policy":
      return simulation.user((plane) => put(plane, clusterTaintPolicies, taintPolicy(step)));
    case "override":
      return simulation.user((plane) => put(plane, overridePolicies, override(step)));
    case "namespace":
      return simulation.user((plane) =>
        merge(plane, RESOURCES.Namespace, {
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
      return simulation.user((plane) => unjoin(plane, step));
    case "taint":
      return simulation.user((plane) => taint(plane, step));
    case "fence":
      return simulation.user((plane) => fence(plane, step.member, simulation));
    case "pause-evacuations":
      return simulation.user((plane) => pauseEvacuations(plane, step));
    case "gate":
      return simulation.restartPlane({ failover: step.on });
    case "place-by-hand":
      return simulation.user((plane) => placeByHand(plane, step));
    case "drift":
      return drift(simulation, step);
    case "approve":
    case "pause-some":
    case "set-rate":
      return takeOrderStep(simulation, step);
    case "remedy":
    case "ingress":
    case "report":
    case "actions-by-hand":
    case "release-blocks":
      return takeTrafficStep(simulation, step);
    case "federated":
    case "forget":
    case "let-go":
      return takeFederatedStep(simulation, step);
    default:
      return unreachable(step);
  }
}

function resourceOf(what: Of<"delete">["what"]): Resource<KubeObject> {
  if (what === "policy") return propagationPolicies;
  if (what === "taint-policy") return clusterTaintPolicies;
  if (what === "override") return overridePolicies;
  if (what === "remedy") return remedies;
  if (what === "ingress") return multiClusterIngresses;
  return RESOURCES[what === "namespace" ? "Namespace" : what];
}

async function unjoin(plane: Client, { member, force = false }: Of<"join" | "unjoin">) {
  if (force) {
    const body = { metadata: { annotations: { [wellKnown.FORCE_REMOVAL]: "true" } } };
    try {
      await plane.patch(clusters, { namespace: "", name: member }, { type: "merge", body });
    } catch (error) {
      if (!isRefused(error, "NotFound")) throw error;
    }
  }
  await remove(plane, clusters, { name: member });
}

async function remove(
  plane: Client,
  resource: Resource<KubeObject>,
  { name, namespace = "default" }: { readonly name: string; readonly namespace?: string },
): Promise<void> {
  const key = { namespace, name };
  await ifThere(() => plane.delete(resource, key, { propagationPolicy: "Background" }));
}

async function taint(plane: Client, { member, effect, on }: Of<"taint">): Promise<void> {
  const wanted =
    effect === "drain"
      ? { key: wellKnown.DRAIN_TAINT, effect: "NoExecute" as const }
      : { key: "test/faulty", effect };
  await ifThere(async () => {
    const cluster = await plane.get(clusters, { namespace: "", name: member });
    const others = (cluster.spec.taints ?? []).filter(({ key }) => key !== wanted.key);
    const taints = on ? [...others, wanted] : others;
    await plane.update(clusters, { ...cluster, spec: { ...cluster.spec, taints } });
  });
}

async function fence(plane: Client, member: string, { clock }: Simulation): Promise<void> {
  await ifThere(async () => {
    const cluster = await plane.get(clusters, { namespace: "", name: member });
    if (isAnswering(cluster)) return;
    const { metadata } = cluster;
    const word = { [wellKnown.FENCED]: formatFence(clock.now(), "a person") };
    const annotations = { ...metadata.annotations, ...word };
    await plane.update(clusters, { ...cluster, metadata: { ...metadata, annotations } });
  });
}

async function pauseEvacuations(plane: Client, step: Of<"pause-evacuations">): Promise<void> {
  const pause = { type: "merge", body: { spec: { paused: step.on } } } as const;
  if (step.member === undefined) {
    const key = { namespace: "", name: FLEET_BUDGET };
    await ifThere(() => plane.patch(evacuationBudgets, key, pause));
    return;
  }
  for (const { metadata, spec } of (await plane.list(evacuations)).items)
    if (spec.cluster === step.member)
      await ifThere(() => plane.patch(evacuations, { namespace: "", name: metadata.name }, pause));
}

async function placeByHand(plane: Client, step: Of<"place-by-hand">): Promise<void> {
  const key = { namespace: "default", name: bindingName(step.kind, step.name) };
  await ifThere(async () => {
    const binding = await plane.get(resourceBindings, key);
    const { replicas } = binding.spec;
    const placed = step.clusters.map((name) => ({
      name,
      ...(replicas !== undefined && { replicas }),
    }));
    await plane.update(resourceBindings, {
      ...binding,
      spec: { ...binding.spec, clusters: placed },
    });
  });
}

/** Somebody in the member does not know or care who owns the object. */
function drift(simulation: Simulation, step: Of<"drift">): void {
  const { admin } = simulation.member(step.member);
  if (admin === undefined) return;
  const key = { namespace: "default", name: step.name };
  const resource = RESOURCES[step.kind];
  const act =
    step.how === "delete"
      ? admin.delete(resource, key, { propagationPolicy: "Background" })
      : admin.patch(resource, key, { type: "merge", body: drifted(step.kind) });
  void act.catch(() => {
    // What is not there, or cannot be reached, does not drift.
  });
}

function drifted(kind: WorkloadKind): JsonObject {
  if (kind === "ConfigMap") return { data: { version: "drifted" } };
  if (kind === "Service") return { spec: { sessionAffinity: "ClientIP" } };
  if (kind === "Job") return { spec: { parallelism: 7 } };
  return { spec: { replicas: 7 } };
}
