/** The seed's example on a fleet with the production controllers, and short ways to ask where its pods are. */
import {
  type AnyObject,
  clusters,
  events,
  findCondition,
  pods,
  propagationPolicies,
  type ResourceBinding,
  resourceBindings,
  services,
  statefulSets,
} from "@lifeboat/api";
import { decideForget, decideLetGo } from "@lifeboat/core/federated";
import { readGlobalSets } from "@lifeboat/core/names";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import type { MemberOptions } from "@lifeboat/members";
import { createFleet, type Fleet } from "@lifeboat/testkit";
import { vi } from "vitest";
import {
  type ControllersOptions,
  createControllers,
  DEFAULT_CONTROLLERS,
} from "../../src/controllers.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

export const NS = "default";
export const STORE = { namespace: NS, name: "store" };
const LABELS = { app: "etcd" };

interface Told {
  readonly reason: string;
  readonly involvedObject: { readonly kind?: string; readonly name?: string };
}

export async function openFederation(
  members: readonly string[] = ["c1", "c2", "c3"],
  options: Partial<ControllersOptions> = {},
  member: Partial<MemberOptions> = {},
): Promise<Federation> {
  const fleet = await createFleet({
    members,
    member,
    services: (context) => createControllers(context, { ...DEFAULT_CONTROLLERS, ...options }),
  });
  await fleet.advance("15s");
  return new Federation(fleet);
}

export class Federation {
  readonly fleet: Fleet;

  constructor(fleet: Fleet) {
    this.fleet = fleet;
  }

  /** The headless Service of the example; it has no policy of its own. */
  async service(): Promise<void> {
    await this.fleet.plane.create(services, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace: NS, name: "etcd", labels: LABELS },
      spec: { clusterIP: "None", selector: LABELS, ports: [{ name: "store", port: 80 }] },
    });
  }

  /** The StatefulSet of the example, and the policy that propagates it. */
  async set(
    replicas: number,
    annotations: Record<string, string> = {},
    policy: object = {},
  ): Promise<void> {
    await this.fleet.plane.create(propagationPolicies, {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { namespace: NS, name: "store" },
      spec: {
        resourceSelectors: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "store" }],
        ...policy,
      },
    });
    await this.fleet.plane.create(statefulSets, {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: {
        ...STORE,
        annotations: { "federation.kubernetes.io/federated": "true", ...annotations },
      },
      spec: {
        serviceName: "etcd",
        replicas,
        podManagementPolicy: "Parallel",
        selector: { matchLabels: LABELS },
        template: {
          metadata: { labels: LABELS },
          spec: { containers: [{ name: "etcd", image: "etcd:3.5" }] },
        },
      },
    });
  }

  async scale(replicas: number): Promise<void> {
    await this.edit({ spec: { replicas } });
  }

  async edit(body: object): Promise<AnyObject> {
    return this.fleet.plane.patch(statefulSets, STORE, { type: "merge", body: body as never });
  }

  /** What `lifeboat statefulset forget` writes. */
  async forget(cluster: string): Promise<void> {
    const plan = decideForget(await this.binding(), cluster, new Set());
    if (plan.outcome === "refused") throw new Error(plan.message);
    await this.fleet.plane.update(resourceBindings, plan.binding);
  }

  /** What `lifeboat statefulset let-go` writes. */
  async letGo(pod: string): Promise<void> {
    const plan = decideLetGo(await this.binding(), pod);
    if (plan.outcome === "refused") throw new Error(plan.message);
    await this.edit({ metadata: { annotations: { "lifeboat.dev/let-go": plan.value } } });
  }

  binding(): Promise<ResourceBinding> {
    return this.fleet.plane.get(resourceBindings, { namespace: NS, name: "store-statefulset" });
  }

  async shares(): Promise<unknown> {
    const { metadata } = await this.binding();
    return JSON.parse(metadata.annotations?.["lifeboat.dev/federated-shares"] ?? "null");
  }

  async condition(type: string): Promise<string> {
    const found = findCondition((await this.binding()).status?.conditions, type);
    return found === undefined ? "" : `${found.status} ${found.reason}`;
  }

  /** The pods of a member, with the uids by which one that was made again is known. */
  async pods(member: string): Promise<ReadonlyMap<string, AnyObject>> {
    const { items } = await this.fleet.member(member).client.list(pods, { namespace: NS });
    return new Map(items.map((pod) => [pod.metadata.name, pod]));
  }

  async podNames(...members: readonly string[]): Promise<readonly string[]> {
    const names: string[] = [];
    for (const member of members) names.push(...(await this.pods(member)).keys());
    return names.sort();
  }

  /** The reasons of the Events about an object. */
  async eventsOf(kind: string, name: string): Promise<readonly string[]> {
    const { items } = await this.fleet.plane.list(events, { namespace: NS });
    return (items as unknown as readonly Told[])
      .filter(({ involvedObject: about }) => about.kind === kind && about.name === name)
      .map(({ reason }) => reason);
  }

  /** By pod: the addresses that the federation's names answer with. */
  globalAddresses(): ReadonlyMap<string, readonly string[]> {
    const { informers, templates } = this.fleet.context;
    const sets = readGlobalSets({
      statefulSets: templates.list("apps/v1", "StatefulSet", NS),
      service: (namespace, name) =>
        templates.get({ apiVersion: "v1", kind: "Service", namespace, name }),
      binding: (kind, namespace, name) =>
        informers.resourceBindings.get({ namespace, name: bindingName(kind, name) }),
      cluster: (name) => informers.clusters.get({ namespace: "", name }),
    });
    return new Map(sets.flatMap(({ members }) => members.map((one) => [one.pod, one.addresses])));
  }

  async uids(member: string): Promise<readonly string[]> {
    return [...(await this.pods(member)).values()].map(({ metadata }) => metadata.uid).sort();
  }

  async ready(member: string): Promise<string> {
    const { status } = await this.fleet.plane.get(clusters, { namespace: "", name: member });
    return findCondition(status?.conditions, "Ready")?.status ?? "";
  }
}
