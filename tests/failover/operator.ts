/**
 * What an operator does to a fleet of processes and sees there, over its APIs alone: workloads with their policies, taints,
 * and where copies are.
 */
import {
  type AnyObject,
  type Cluster,
  clusters,
  type JsonObject,
  type New,
  orNothing,
  type PropagationPolicy,
  propagationPolicies,
  type Resource,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { conditionOf, placementText, reasonsAbout, resources } from "@lifeboat/testkit";
import type { PropagationFleet } from "../propagation/propagation-fleet.ts";

/** A workload to be propagated: its kind and its template, in the namespace default. */
export interface Mover {
  readonly resource: Resource;
  readonly template: New<AnyObject>;
}

/** What the tests read of a taint; the server sets when it was added. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: "NoSchedule" | "NoExecute" | "PreferNoExecute";
}

/** The hands and eyes of an operator. */
export class Operator {
  readonly #fleet: PropagationFleet;

  constructor(fleet: PropagationFleet) {
    this.#fleet = fleet;
  }

  /** Creates the policy, with this placement and more, and the template. */
  async create({ resource, template }: Mover, spec: JsonObject): Promise<void> {
    const { name } = keyOfMover({ resource, template });
    const policy = {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { name, namespace: "default" },
      spec: { resourceSelectors: [selectorOf({ resource, template })], ...spec },
    } as unknown as New<PropagationPolicy>;
    await this.#fleet.plane.create(propagationPolicies, policy);
    await this.#fleet.plane.create(resource, template);
  }

  /** Deletes template and policy. */
  async remove(mover: Mover): Promise<void> {
    const key = keyOfMover(mover);
    await this.#fleet.plane.delete(mover.resource, key);
    await this.#fleet.plane.delete(propagationPolicies, key);
  }

  binding(mover: Mover): Promise<ResourceBinding> {
    const { name, namespace } = keyOfMover(mover);
    const kind = mover.resource.kind.toLowerCase();
    return this.#fleet.plane.get(resourceBindings, { namespace, name: `${name}-${kind}` });
  }

  /** Where it runs and from where it is leaving, as `member2 -member1`. */
  async placement(mover: Mover): Promise<string> {
    return placementText(await this.binding(mover));
  }

  /** What the binding says of the copy in a cluster: `Healthy`, `Unhealthy`, `Unknown`; undefined when nothing. */
  async health(mover: Mover, cluster: string): Promise<string | undefined> {
    const { status } = await this.binding(mover);
    return status?.aggregatedStatus?.find(({ clusterName }) => clusterName === cluster)?.health;
  }

  /** The copy in a member; undefined when there is none. */
  copy(mover: Mover, member: string): Promise<AnyObject | undefined> {
    return orNothing(this.member(member).get(mover.resource, keyOfMover(mover)));
  }

  /**
   * Resolves with the first copy that a member shows from now on; `glance` runs at that moment, before anything else is
   * awaited.
   */
  appears<T>(mover: Mover, member: string, glance: () => Promise<T>): Promise<[AnyObject, T]> {
    const { namespace, name } = keyOfMover(mover);
    return new Promise((resolve, reject) => {
      const watch = this.member(member).watch(
        mover.resource,
        { namespace },
        {
          event: (event) => {
            if (event.type !== "ADDED" || event.object.metadata.name !== name) return;
            watch.stop();
            glance().then((seen) => resolve([event.object, seen]), reject);
          },
          end: (why) => {
            if (why.kind !== "closed") reject(new Error(`the watch of ${member} was ${why.kind}`));
          },
        },
      );
    });
  }

  /** The pods in a member that belong to the mover. */
  async pods(mover: Mover, member: string): Promise<readonly AnyObject[]> {
    const labelSelector = `app=${keyOfMover(mover).name}`;
    const list = await this.member(member).list(resources.pods, {
      namespace: "default",
      labelSelector,
    });
    return list.items;
  }

  member(name: string): Client {
    const client = this.#fleet.members.get(name);
    if (client === undefined) throw new Error(`there is no member ${name}`);
    return client;
  }

  cluster(name: string): Promise<Cluster> {
    return this.#fleet.plane.get(clusters, { namespace: "", name });
  }

  async condition(name: string, type: string): Promise<string | undefined> {
    return conditionOf(await this.cluster(name), type);
  }

  /** The taints of a cluster, as `key=value:effect`. */
  async taints(name: string): Promise<readonly string[]> {
    const { spec } = await this.cluster(name);
    return (spec.taints ?? []).map(({ key, value, effect }) => `${key}=${value ?? ""}:${effect}`);
  }

  /** Gives a cluster exactly these taints. */
  async taint(name: string, ...taints: readonly Taint[]): Promise<void> {
    const body = { spec: { taints: taints.map((taint) => ({ ...taint })) } };
    await this.#fleet.plane.patch(clusters, { namespace: "", name }, { type: "merge", body });
  }

  /** The reasons of the Events about an object of this kind and name. */
  events(kind: string, name: string): Promise<readonly string[]> {
    return reasonsAbout(this.#fleet.plane, name, kind);
  }
}

/** How policies name a mover. */
export function selectorOf(mover: Mover): {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
} {
  const { group, version, kind } = mover.resource;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return { apiVersion, kind, ...keyOfMover(mover) };
}

/** Namespace and name of a mover. */
export function keyOfMover({ template }: Mover): {
  readonly namespace: string;
  readonly name: string;
} {
  return { namespace: "default", name: template.metadata.name ?? "" };
}
