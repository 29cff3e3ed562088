/**
 * What the tests of propagation share: a fleet with the production composition of controllers, a namespace of its own for
 * each test, so that many tests can use one fleet, and short ways to ask what is where.
 */
import {
  type AnyObject,
  clusterPropagationPolicies,
  type ClusterPropagationPolicy,
  type Json,
  type JsonObject,
  type KubeObject,
  type New,
  type NewMeta,
  type ObjectKey,
  orNothing,
  propagationPolicies,
  type PropagationPolicy,
  type Resource,
  type ResourceBinding,
  resourceBindings,
  type Work,
  works,
} from "@lifeboat/api";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import { createFleet, deployment, type Fleet, namespace, resources } from "@lifeboat/testkit";
import { vi } from "vitest";
import { createControllers, DEFAULT_CONTROLLERS } from "../../src/controllers.ts";

// Minutes of a whole fleet pass in each of these tests: seconds on a machine that does nothing else.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

export const MEMBERS: readonly string[] = ["m1", "m2", "m3"];

function grouped(group: string, plural: string, kind: string): Resource {
  return { group, version: "v1", plural, kind, namespaced: true };
}

/** The resources of these tests, beside those of the testkit. */
export const kinds = {
  ...resources,
  cronJobs: grouped("batch", "cronjobs", "CronJob"),
  daemonSets: grouped("apps", "daemonsets", "DaemonSet"),
  disruptionBudgets: grouped("policy", "poddisruptionbudgets", "PodDisruptionBudget"),
  ingresses: grouped("networking.k8s.io", "ingresses", "Ingress"),
  jobs: grouped("batch", "jobs", "Job"),
  claims: grouped("", "persistentvolumeclaims", "PersistentVolumeClaim"),
  roles: grouped("rbac.authorization.k8s.io", "roles", "Role"),
  roleBindings: grouped("rbac.authorization.k8s.io", "rolebindings", "RoleBinding"),
  serviceAccounts: grouped("", "serviceaccounts", "ServiceAccount"),
  statefulSets: grouped("apps", "statefulsets", "StatefulSet"),
  clusterRoles: {
    ...grouped("rbac.authorization.k8s.io", "clusterroles", "ClusterRole"),
    namespaced: false,
  },
} as const;

export type Fields = Readonly<Record<string, unknown>>;

/** A fleet whose members are ready, under the controllers that `lifeboat up` runs. */
export async function openFleet(members: readonly string[] = MEMBERS): Promise<Fleet> {
  const fleet = await createFleet({
    members,
    services: (context) => createControllers(context, DEFAULT_CONTROLLERS),
  });
  await fleet.advance("15s");
  return fleet;
}

/** One namespace of a fleet, and what is propagated from it. */
export class Shop {
  readonly fleet: Fleet;
  readonly namespace: string;

  private constructor(fleet: Fleet, name: string) {
    this.fleet = fleet;
    this.namespace = name;
  }

  static async open(fleet: Fleet, name: string): Promise<Shop> {
    await fleet.plane.create(resources.namespaces, namespace(name));
    await fleet.advance("2s");
    return new Shop(fleet, name);
  }

  key(name: string): ObjectKey {
    return { namespace: this.namespace, name };
  }

  /** Lets everything come about that is under way. */
  rest(): Promise<void> {
    return this.fleet.advance("15s");
  }

  create(resource: Resource, name: string, fields: Fields = {}, metadata: NewMeta = {}) {
    return this.fleet.plane.create(resource, {
      ...manifest(resource, name, fields, metadata),
      metadata: {
        name,
        ...(resource.namespaced ? { namespace: this.namespace } : {}),
        ...metadata,
      },
    });
  }

  deploy(name: string, spec: JsonObject = {}, metadata: NewMeta = {}): Promise<AnyObject> {
    return this.fleet.plane.create(
      resources.deployments,
      deployment(name, spec, { namespace: this.namespace, ...metadata }),
    );
  }

  /** A policy of this namespace, for the Deployments in it unless its spec says otherwise. */
  policy(name: string, spec: Fields = {}): Promise<PropagationPolicy> {
    return this.fleet.plane.create(propagationPolicies, policyOf(name, this.namespace, spec));
  }

  edit(resource: Resource, name: string, body: Json): Promise<AnyObject> {
    const key = resource.namespaced ? this.key(name) : { namespace: "", name };
    return this.fleet.plane.patch(resource, key, { type: "merge", body });
  }

  delete<T extends KubeObject>(resource: Resource<T>, name: string): Promise<T | undefined> {
    const key = resource.namespaced ? this.key(name) : { namespace: "", name };
    return this.fleet.plane.delete(resource, key, { propagationPolicy: "Background" });
  }

  template(resource: Resource, name: string): Promise<AnyObject> {
    return this.fleet.plane.get(resource, this.key(name));
  }

  binding(name: string): Promise<ResourceBinding> {
    return this.fleet.plane.get(resourceBindings, this.key(name));
  }

  async hasBinding(name: string): Promise<boolean> {
    return (await orNothing(this.binding(name))) !== undefined;
  }

  /** The copies in the members that have one, by member. */
  async copies(resource: Resource, name: string): Promise<ReadonlyMap<string, AnyObject>> {
    const key = resource.namespaced ? this.key(name) : { namespace: "", name };
    const found = new Map<string, AnyObject>();
    for (const member of await this.#members()) {
      const copy = await orNothing(this.fleet.member(member).client.get(resource, key));
      if (copy !== undefined) found.set(member, copy);
    }
    return found;
  }

  /** The members that have a copy. */
  async where(resource: Resource, name: string): Promise<readonly string[]> {
    return [...(await this.copies(resource, name)).keys()];
  }

  /** Replicas by member, of the members that have a copy. */
  async replicas(name: string): Promise<Readonly<Record<string, unknown>>> {
    const copies = await this.copies(resources.deployments, name);
    return Object.fromEntries(
      [...copies].map(([member, copy]) => [member, (copy as Scaled).spec.replicas]),
    );
  }

  /** The Work of this name's object in a member. */
  async work(member: string, name: string): Promise<Work | undefined> {
    const { items } = await this.fleet.plane.list(works, { namespace: executionNamespace(member) });
    return items.find(({ spec }) =>
      spec.workload?.manifests?.some(
        (one) =>
          (one as AnyObject).metadata.name === name &&
          (one as AnyObject).metadata.namespace === this.namespace,
      ),
    );
  }

  /** The reasons of the Events about an object, sorted, each once. */
  async reasons(kind: string, name: string, within = this.namespace): Promise<readonly string[]> {
    return [...new Set((await this.events(kind, name, within)).map(({ reason }) => reason))].sort();
  }

  async events(kind: string, name: string, within = this.namespace): Promise<readonly Told[]> {
    const { items } = await this.fleet.plane.list(resources.events, { namespace: within });
    return (items as unknown as readonly Told[]).filter(
      ({ involvedObject: about }) => about.kind === kind && about.name === name,
    );
  }

  async #members(): Promise<readonly string[]> {
    return this.fleet.context.informers.clusters
      .list()
      .map(({ metadata }) => metadata.name)
      .toSorted();
  }
}

export interface Told {
  readonly reason: string;
  readonly message: string;
  readonly type: string;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

interface Scaled extends AnyObject {
  readonly spec: { readonly replicas?: number };
}

function manifest(
  resource: Resource,
  name: string,
  fields: Fields,
  metadata: NewMeta,
): New<AnyObject> {
  const { group, version, kind } = resource;
  return {
    apiVersion: group === "" ? version : `${group}/${version}`,
    kind,
    metadata: { name, ...metadata },
    ...fields,
  };
}

const ALL_DEPLOYMENTS = { apiVersion: "apps/v1", kind: "Deployment" };

export function policyOf(name: string, within: string, spec: Fields): New<PropagationPolicy> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name, namespace: within },
    spec: { resourceSelectors: [ALL_DEPLOYMENTS], placement: {}, ...spec },
  };
}

/** A policy for the whole control plane. */
export function clusterPolicy(
  fleet: Fleet,
  name: string,
  spec: Fields,
): Promise<ClusterPropagationPolicy> {
  return fleet.plane.create(clusterPropagationPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name },
    spec: { resourceSelectors: [ALL_DEPLOYMENTS], placement: {}, ...spec },
  });
}

/** A placement on these members. */
export const on = (...clusterNames: readonly string[]): Fields => ({
  placement: { clusterAffinity: { clusterNames } },
});

/** A selector by name. */
export const named = (resource: Resource, name?: string): Fields => ({
  apiVersion: resource.group === "" ? resource.version : `${resource.group}/${resource.version}`,
  kind: resource.kind,
  ...(name === undefined ? {} : { name }),
});
