/** A fleet with all production controllers, and the hands of an operator, for the tests of this folder. */
import {
  type AnyObject,
  type Cluster,
  clusters,
  isRefused,
  type New,
  orNothing,
  propagationPolicies,
  type PropagationPolicy,
  type Resource,
  type ResourceBinding,
  resourceBindings,
  type Work,
  works,
} from "@lifeboat/api";
import { evict, type EvictionOrder } from "@lifeboat/core/failover/evacuation";
import { clusterOfWork } from "@lifeboat/core/propagation/works";
import {
  conditionOf,
  createFleet,
  type Fleet,
  type FleetOptions,
  placementText,
  reasonsAbout,
  resources,
} from "@lifeboat/testkit";
import {
  createControllers,
  type ControllersOptions,
  DEFAULT_CONTROLLERS,
} from "../../src/controllers.ts";

interface NodeSpec {
  readonly unschedulable?: boolean;
}

interface Told extends AnyObject {
  readonly reason?: string;
  readonly message?: string;
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
}

type Taint = NonNullable<Cluster["spec"]["taints"]>[number];

export const WEB = { namespace: "default", name: "web" };

/** A fleet whose clusters are ready. */
export async function failoverFleet(
  members: readonly string[],
  options: Partial<ControllersOptions> = {},
  fleetOptions: FleetOptions = {},
): Promise<{ readonly fleet: Fleet; readonly hands: Hands }> {
  const fleet = await createFleet({
    members,
    services: (context) => createControllers(context, { ...DEFAULT_CONTROLLERS, ...options }),
    ...fleetOptions,
  });
  await fleet.advance("15s");
  return { fleet, hands: new Hands(fleet) };
}

/** A policy for one resource in namespace default; `spec` may say more. */
export function policyFor(
  resource: { readonly apiVersion: string; readonly kind: string; readonly name: string },
  spec: object,
): New<PropagationPolicy> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: resource.name, namespace: "default" },
    spec: { resourceSelectors: [resource], ...spec },
  };
}

export const DOWN = { key: "down", effect: "NoExecute" } as const;

/** What operators, and the machinery that evicts, do. */
export class Hands {
  readonly #fleet: Fleet;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  binding(name = "web-deployment"): Promise<ResourceBinding> {
    return this.#fleet.plane.get(resourceBindings, { namespace: "default", name });
  }

  /** Where the workload runs and from where it is leaving, as `m1 m2 -m3`. */
  async placement(name?: string): Promise<string> {
    return placementText(await this.binding(name));
  }

  /** The clusters that have a Work of the workload; one that is going is marked. */
  async works(kind = "Deployment"): Promise<string> {
    const { items } = await this.#fleet.plane.list(works);
    return items
      .filter((work) => work.spec.workload?.manifests?.[0]?.["kind"] === kind)
      .map((work) => `${clusterOfWork(work)}${isGoing(work) ? " going" : ""}`)
      .sort()
      .join(", ");
  }

  async taint(name: string, taint: object = DOWN): Promise<void> {
    await this.#retaint(name, (taints) => [...taints, taint as Taint]);
  }

  async untaint(name: string): Promise<void> {
    await this.#retaint(name, () => []);
  }

  /** As a person's command does: again, when a controller wrote in between. */
  async #retaint(name: string, change: (taints: readonly Taint[]) => Taint[]): Promise<void> {
    const { spec, ...rest } = await this.#cluster(name);
    const { taints: old = [], ...others } = spec;
    const taints = change(old);
    const next = { ...rest, spec: taints.length === 0 ? others : { ...others, taints } };
    try {
      await this.#fleet.plane.update(clusters, next);
    } catch (error) {
      if (!isRefused(error, "Conflict")) throw error;
      await this.#retaint(name, change);
    }
  }

  async annotate(name: string, key: string, value: string): Promise<void> {
    const body = { metadata: { annotations: { [key]: value } } };
    await this.#fleet.plane.patch(clusters, { namespace: "", name }, { type: "merge", body });
  }

  /** Evicts as the release of an evacuation does, in one write. */
  async evict(cluster: string, order: Partial<EvictionOrder> = {}, name?: string): Promise<void> {
    const binding = await this.binding(name);
    const whole: EvictionOrder = {
      cluster,
      reason: "TaintUntolerated",
      message: "",
      producer: "TaintManager",
      purgeMode: "Gracefully",
      state: {},
      inject: true,
      ...order,
    };
    await this.#fleet.plane.update(
      resourceBindings,
      evict(binding, whole, this.#fleet.clock.now()),
    );
  }

  /** The copy in a member; undefined when there is none. */
  copy(
    member: string,
    resource: Resource = resources.deployments,
    key = WEB,
  ): Promise<AnyObject | undefined> {
    return orNothing(this.#fleet.member(member).client.get(resource, key));
  }

  async create(policy: New<PropagationPolicy>, resource: Resource, object: New<AnyObject>) {
    await this.#fleet.plane.create(propagationPolicies, policy);
    await this.#fleet.plane.create(resource, object);
    await this.#fleet.advance("10s");
  }

  async condition(name: string, type: string): Promise<string | undefined> {
    return conditionOf(await this.#cluster(name), type);
  }

  /** The reasons of the Events about an object of this kind and name, each once. */
  async events(kind: string, name: string): Promise<readonly string[]> {
    const reasons = await reasonsAbout(this.#fleet.plane, name, kind);
    return [...new Set(reasons)].toSorted((a, b) => a.localeCompare(b));
  }

  /** The messages of the Events with this reason about an object of this kind and name, each once. */
  async told(kind: string, name: string, reason: string): Promise<readonly string[]> {
    const { items } = await this.#fleet.plane.list(resources.events);
    const about = (items as readonly Told[]).filter(
      (event) =>
        event.reason === reason &&
        event.involvedObject?.kind === kind &&
        event.involvedObject.name === name,
    );
    return [...new Set(about.map(({ message = "" }) => message))];
  }

  /** Takes the room of a member away, and as many of its pods; those that are gone do not come back. */
  async sicken(member: string, pods = Infinity): Promise<void> {
    await this.#changeNodes(member, (spec) => ({ ...spec, unschedulable: true }));
    const { client } = this.#fleet.member(member);
    const { items } = await client.list(resources.pods);
    for (const { metadata } of items.slice(0, pods))
      await client.delete(resources.pods, {
        namespace: metadata.namespace ?? "",
        name: metadata.name,
      });
  }

  async cure(member: string): Promise<void> {
    await this.#changeNodes(member, ({ unschedulable: _off, ...spec }) => spec);
  }

  async #changeNodes(member: string, change: (spec: NodeSpec) => object): Promise<void> {
    const { client } = this.#fleet.member(member);
    const nodes = { ...resources.namespaces, plural: "nodes", kind: "Node" };
    for (const node of (await client.list(nodes)).items)
      await client.update(nodes, { ...node, spec: change(node["spec"] as NodeSpec) });
  }

  #cluster(name: string): Promise<Cluster> {
    return this.#fleet.plane.get(clusters, { namespace: "", name });
  }
}

function isGoing({ metadata }: Work): boolean {
  return metadata.deletionTimestamp !== undefined;
}
