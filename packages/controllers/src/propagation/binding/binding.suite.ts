/** A fleet with the binding controller alone, and a stand-in for execution. */
import {
  type AnyObject,
  isRefused,
  keyOf,
  type New,
  type ResourceBinding,
  resourceBindings,
  type Work,
  works,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import type { Client, Service } from "@lifeboat/kit";
import { createFleet, deployment, type Fleet, newNamespace, resources } from "@lifeboat/testkit";
import type { PlaneContext } from "../../context/context.ts";
import { createDeletionGate } from "../deletion-gate/create-deletion-gate.ts";
import { createBindingController } from "./create-binding-controller.ts";

/** The gate and the controller; `through` may stand between the controller and the control plane. */
export function services(
  context: PlaneContext,
  through: (plane: Client) => Client = (plane) => plane,
): readonly Service[] {
  const faulty = { ...context, plane: through(context.plane) };
  const gate = createDeletionGate(faulty);
  return [gate, ...createBindingController(faulty, gate)];
}

/** A fleet with joined members, their execution namespaces, and the namespace default. */
export async function bindingFleet(
  members: readonly string[],
  through?: (plane: Client) => Client,
): Promise<Fleet> {
  const fleet = await createFleet({
    members,
    memberModel: false,
    services: (context) => services(context, through),
  });
  for (const name of ["default", ...members.map((member) => `karmada-es-${member}`)])
    await fleet.plane.create(resources.namespaces, newNamespace(name)).catch(ignoreExisting);
  await fleet.settle();
  return fleet;
}

/** A Deployment and the binding that a detector and a scheduler would have made of it. */
export async function bound(
  fleet: Fleet,
  name: string,
  spec: Partial<ResourceBinding["spec"]>,
): Promise<ResourceBinding> {
  const template = await fleet.plane.create(resources.deployments, deployment(name));
  const binding = await fleet.plane.create(resourceBindings, bindingOf(template, spec));
  await fleet.settle();
  return binding;
}

export function bindingOf(
  template: AnyObject,
  spec: Partial<ResourceBinding["spec"]>,
): New<ResourceBinding> {
  const { apiVersion, kind, metadata } = template;
  const { namespace = "default", name, uid } = metadata;
  const owner = { apiVersion, kind, name, uid, controller: true };
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      namespace,
      name: `${name}-${kind.toLowerCase()}`,
      finalizers: [wellKnown.BINDING_FINALIZER],
      ownerReferences: [owner],
    },
    spec: {
      resource: { apiVersion, kind, namespace, name, uid },
      conflictResolution: "Abort",
      ...spec,
    },
  };
}

export const on = (...names: readonly string[]) => ({ clusters: names.map((name) => ({ name })) });

/** Changes the spec of a binding, as the scheduler or an eviction does. */
export async function change(
  fleet: Fleet,
  name: string,
  spec: Partial<ResourceBinding["spec"]>,
): Promise<void> {
  const key = { namespace: "default", name: `${name}-deployment` };
  const binding = await fleet.plane.get(resourceBindings, key);
  await fleet.plane.update(resourceBindings, { ...binding, spec: { ...binding.spec, ...spec } });
  await fleet.settle();
}

export async function allWorks(fleet: Fleet): Promise<readonly Work[]> {
  return (await fleet.plane.list(works)).items;
}

/** The Works as `cluster/name`, with a `-` before those that are going. */
export async function workNames(fleet: Fleet): Promise<readonly string[]> {
  const found = await allWorks(fleet);
  return found
    .map(({ metadata: { namespace = "", name, deletionTimestamp } }) => {
      const going = deletionTimestamp === undefined ? "" : "-";
      return `${going}${namespace.replace("karmada-es-", "")}/${name.replace(/-[^-]*$/, "")}`;
    })
    .toSorted();
}

/** Does what execution does to Works that are going: their copies are gone, so they may go. */
export async function finishWorks(fleet: Fleet): Promise<void> {
  for (const work of await allWorks(fleet)) {
    if (work.metadata.deletionTimestamp === undefined) continue;
    const metadata = { ...work.metadata, finalizers: [] };
    await fleet.plane.update(works, { ...work, metadata });
  }
  await fleet.settle();
}

/** Does what execution does to a Work whose copy runs well. */
export async function reportHealthy(fleet: Fleet, cluster: string): Promise<void> {
  for (const work of await allWorks(fleet)) {
    if (work.metadata.namespace !== `karmada-es-${cluster}`) continue;
    const condition = (type: string) => ({
      type,
      status: "True" as const,
      reason: type,
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
      ...(work.metadata.generation === undefined
        ? {}
        : { observedGeneration: work.metadata.generation }),
    });
    const identifier = { ordinal: 0, version: "v1", kind: "Deployment", resource: "", name: "x" };
    const status = {
      conditions: [condition("Applied"), condition("StatusObserved")],
      manifestStatuses: [{ identifier, health: "Healthy" as const }],
    };
    await fleet.plane.update(works, { ...work, status }, { subresource: "status" });
  }
  await fleet.settle();
}

/** The reasons of the Events about an object, sorted. */
export async function eventReasons(fleet: Fleet, kind: string): Promise<readonly string[]> {
  const { items } = await fleet.plane.list(resources.events);
  const about = items as unknown as { involvedObject: { kind: string }; reason: string }[];
  return about
    .filter(({ involvedObject }) => involvedObject.kind === kind)
    .map(({ reason }) => reason)
    .toSorted();
}

export async function deleteTemplate(fleet: Fleet, name: string): Promise<void> {
  await fleet.plane.delete(resources.deployments, { namespace: "default", name });
  await fleet.settle();
}

/** What of the Works matters: without what differs from run to run. */
export async function snapshot(fleet: Fleet): Promise<unknown> {
  const found = await allWorks(fleet);
  return found.map((work) => ({
    key: keyOf(work),
    isGoing: work.metadata.deletionTimestamp !== undefined,
    finalizers: work.metadata.finalizers ?? [],
    annotations: work.metadata.annotations,
    spec: JSON.parse(
      JSON.stringify(work.spec).replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID"),
    ) as unknown,
  }));
}

function ignoreExisting(error: unknown): undefined {
  if (isRefused(error, "AlreadyExists")) return undefined;
  throw error;
}
