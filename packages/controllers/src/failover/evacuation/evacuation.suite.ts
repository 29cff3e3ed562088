/** A fleet with the production controllers, workloads on it, and a history of every eviction that was decided. */
import {
  type Cluster,
  clusters,
  type Evacuation,
  type EvacuationBudget,
  evacuationBudgets,
  evacuations,
  type EvacuationSlice,
  evacuationSlices,
  FLEET_BUDGET,
  type New,
  type Placement,
  type PropagationPolicy,
  propagationPolicies,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { type ControllersOptions, createControllers, DEFAULT_CONTROLLERS } from "@lifeboat/plane";
import { configMap, createFleet, deployment, type Fleet, resources } from "@lifeboat/testkit";
import { wellKnown } from "@lifeboat/core";
import { formatPlacement } from "@lifeboat/core/placement";
import type { PlaneContext } from "../../context/context.ts";
import { createScheduler } from "../../placement/scheduler/create-scheduler.ts";
import {
  createEvacuations,
  DEFAULT_EVACUATIONS,
  type EvacuationsOptions,
} from "./create-evacuations.ts";

export interface FleetSettings {
  readonly members?: readonly string[];
  readonly seed?: number;
  readonly options?: Partial<ControllersOptions>;
  /** Changes what controllers see of the control plane, such as by letting writes fail. */
  readonly through?: (context: PlaneContext) => PlaneContext;
}

/** A fleet whose clusters are ready. */
export async function evacuationFleet(settings: FleetSettings = {}): Promise<Fleet> {
  const options = { ...DEFAULT_CONTROLLERS, failover: true, ...settings.options };
  const { through = (context) => context } = settings;
  const fleet = await createFleet({
    members: settings.members ?? ["m1", "m2", "m3"],
    seed: settings.seed ?? 1,
    services: (context) => createControllers(through(context), options),
  });
  await fleet.advance("15s");
  return fleet;
}

export interface BareSettings {
  readonly clusters: readonly string[];
  /** Pods that each cluster has room for. */
  readonly pods?: number;
  readonly seed?: number;
  readonly options?: Partial<EvacuationsOptions>;
  readonly through?: (context: PlaneContext) => PlaneContext;
  /** false: nothing places again what was evicted. */
  readonly scheduler?: boolean;
}

/** A control plane with evacuations and a scheduler only: clusters and bindings are objects without anything behind. */
export async function bareFleet(settings: BareSettings): Promise<Fleet> {
  const { through = (context) => context, options } = settings;
  const fleet = await createFleet({
    seed: settings.seed ?? 1,
    services: (context) => [
      ...createEvacuations(through(context), {
        ...DEFAULT_EVACUATIONS,
        failover: true,
        ...options,
      }),
      ...(settings.scheduler === false ? [] : [createScheduler(context)]),
    ],
  });
  for (const name of settings.clusters) await addCluster(fleet, name, settings.pods ?? 1000);
  await fleet.settle();
  return fleet;
}

export async function addCluster(fleet: Fleet, name: string, pods = 1000): Promise<void> {
  const created = await fleet.plane.create(clusters, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Push" },
  });
  const status = {
    apiEnablements: [
      { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
      { groupVersion: "v1", resources: [{ name: "configmaps", kind: "ConfigMap" }] },
    ],
    resourceSummary: { allocatable: { pods: String(pods) } },
  };
  await fleet.plane.update(clusters, { ...created, status }, { subresource: "status" });
}

/** A binding as the detector and the scheduler leave it: on these clusters, and settled. */
export async function bind(
  fleet: Fleet,
  name: string,
  on: readonly string[],
  spec: Partial<ResourceBinding["spec"]> = {},
): Promise<void> {
  await createBinding(fleet, name, on, spec);
  await fleet.settle();
  await settleBinding(fleet, name);
  await fleet.settle();
}

/** Bindings `<set>-0` and so on, each on one cluster. */
export async function bindMany(
  fleet: Fleet,
  set: string,
  count: number,
  cluster: string,
  spec: Partial<ResourceBinding["spec"]> = {},
): Promise<void> {
  for (let i = 0; i < count; i++) await createBinding(fleet, `${set}-${i}`, [cluster], spec);
  await fleet.settle();
  for (let i = 0; i < count; i++) await settleBinding(fleet, `${set}-${i}`);
  await fleet.settle();
}

/** Bindings without a report. */
export async function createMany(
  fleet: Fleet,
  set: string,
  count: number,
  cluster: string,
): Promise<void> {
  for (let i = 0; i < count; i++) await createBinding(fleet, `${set}-${i}`, [cluster], {});
  await fleet.settle();
}

async function createBinding(
  fleet: Fleet,
  name: string,
  on: readonly string[],
  spec: Partial<ResourceBinding["spec"]>,
): Promise<void> {
  const placement = spec.placement ?? (SINGLE as Placement);
  const replicas = spec.replicas ?? 1;
  await fleet.plane.create(resourceBindings, {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      name,
      namespace: "default",
      labels: { [wellKnown.POLICY_ID]: "p" },
      annotations: { [wellKnown.APPLIED_PLACEMENT]: formatPlacement(placement) },
    },
    spec: {
      resource: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        namespace: "default",
        name,
        uid: name,
      },
      replicas,
      placement,
      conflictResolution: "Abort",
      clusters: on.map((cluster) => ({ name: cluster, ...(replicas > 0 && { replicas }) })),
      ...spec,
    },
  });
}

/** The copies run and report; the scheduler has seen the binding. */
async function settleBinding(fleet: Fleet, name: string): Promise<void> {
  const found = await bindingOf(fleet, name);
  const { generation = 1 } = found.metadata;
  const aggregatedStatus = (found.spec.clusters ?? []).map(({ name: clusterName, replicas }) => ({
    clusterName,
    applied: true,
    health: "Healthy" as const,
    status: { replicas: replicas ?? 0 },
  }));
  await fleet.plane.update(
    resourceBindings,
    {
      ...found,
      status: { ...found.status, schedulerObservedGeneration: generation, aggregatedStatus },
    },
    { subresource: "status" },
  );
}

/** What the graceful-eviction controller does when all is well. */
export async function finishTasks(fleet: Fleet): Promise<void> {
  for (const binding of await bindings(fleet))
    if ((binding.spec.gracefulEvictionTasks ?? []).length > 0)
      await fleet.plane.update(resourceBindings, {
        ...binding,
        spec: { ...binding.spec, gracefulEvictionTasks: [] },
      });
  await fleet.settle();
}

/** How many objects of these kinds were written up to now. */
export async function versionNow(fleet: Fleet): Promise<string> {
  return (await fleet.plane.list(evacuations)).metadata.resourceVersion ?? "";
}

export const SINGLE = {
  spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
};
export const DIVIDED = {
  replicaScheduling: {
    replicaSchedulingType: "Divided",
    replicaDivisionPreference: "Aggregated",
  },
};

/** A policy for everything with the label `set`. */
export function policy(set: string, placement: object, spec: object = {}): New<PropagationPolicy> {
  const selector = { labelSelector: { matchLabels: { set } } };
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: set, namespace: "default" },
    spec: {
      resourceSelectors: [
        { apiVersion: "apps/v1", kind: "Deployment", ...selector },
        { apiVersion: "v1", kind: "ConfigMap", ...selector },
      ],
      placement,
      ...spec,
    },
  };
}

/** Deployments `<set>-0` and so on, first bound to one cluster and then free to go elsewhere. */
export async function deployOn(
  fleet: Fleet,
  set: string,
  count: number,
  cluster: string,
  placement: object = SINGLE,
  spec: object = {},
): Promise<void> {
  const pinned = { ...placement, clusterAffinity: { clusterNames: [cluster] } };
  await fleet.plane.create(propagationPolicies, policy(set, pinned, spec));
  for (let i = 0; i < count; i++)
    await fleet.plane.create(
      resources.deployments,
      deployment(`${set}-${i}`, {}, { labels: { set, app: `${set}-${i}` } }),
    );
  await fleet.advance("10s");
  await freePolicy(fleet, set, placement);
}

export async function freePolicy(fleet: Fleet, set: string, placement: object): Promise<void> {
  const found = await fleet.plane.get(propagationPolicies, { namespace: "default", name: set });
  await fleet.plane.update(propagationPolicies, { ...found, spec: { ...found.spec, placement } });
  await fleet.advance("10s");
}

export async function configMapsOn(
  fleet: Fleet,
  set: string,
  count: number,
  cluster: string,
): Promise<void> {
  const pinned = { ...SINGLE, clusterAffinity: { clusterNames: [cluster] } };
  await fleet.plane.create(propagationPolicies, policy(set, pinned));
  for (let i = 0; i < count; i++)
    await fleet.plane.create(
      resources.configMaps,
      configMap(`${set}-${i}`, {}, { labels: { set } }),
    );
  await fleet.advance("10s");
  await freePolicy(fleet, set, SINGLE);
}

type Taints = NonNullable<Cluster["spec"]["taints"]>;
export const DOWN: Taints[number] = { key: "down", effect: "NoExecute" };
export const DRAIN: Taints[number] = { key: "lifeboat.dev/drain", effect: "NoExecute" };

export async function setTaints(fleet: Fleet, name: string, ...taints: Taints): Promise<void> {
  const cluster = await fleet.plane.get(clusters, { namespace: "", name });
  await fleet.plane.update(clusters, { ...cluster, spec: { ...cluster.spec, taints } });
  await fleet.settle();
}

export interface Decision {
  readonly at: number;
  readonly binding: string;
  readonly cluster: string;
}

/** Notes every eviction from now on: a task that was not there before. It outlives restarts when called after each. */
export function watchDecisions(fleet: Fleet, into: Decision[] = []): Decision[] {
  const seen = new Set(into.map(({ binding, cluster }) => `${binding} ${cluster}`));
  fleet.plane.watch(
    resourceBindings,
    {},
    {
      event: (event) => {
        if (event.type === "BOOKMARK") return;
        const { metadata, spec } = event.object;
        const now = new Set(
          (spec.gracefulEvictionTasks ?? []).map(
            ({ fromCluster }) => `${metadata.name} ${fromCluster}`,
          ),
        );
        for (const one of now) {
          if (seen.has(one)) continue;
          const [binding = "", cluster = ""] = one.split(" ");
          into.push({ at: fleet.clock.now(), binding, cluster });
        }
        for (const one of seen)
          if (one.startsWith(`${metadata.name} `) && !now.has(one)) seen.delete(one);
        for (const one of now) seen.add(one);
      },
      end: () => {},
    },
  );
  return into;
}

export const evacuation = (fleet: Fleet, name: string): Promise<Evacuation> =>
  fleet.plane.get(evacuations, { namespace: "", name });
export const allEvacuations = async (fleet: Fleet): Promise<readonly Evacuation[]> =>
  (await fleet.plane.list(evacuations)).items;
export const allSlices = async (fleet: Fleet): Promise<readonly EvacuationSlice[]> =>
  (await fleet.plane.list(evacuationSlices)).items;
export const budget = (fleet: Fleet): Promise<EvacuationBudget> =>
  fleet.plane.get(evacuationBudgets, { namespace: "", name: FLEET_BUDGET });
export const bindings = async (fleet: Fleet): Promise<readonly ResourceBinding[]> =>
  (await fleet.plane.list(resourceBindings)).items;
export const bindingOf = (fleet: Fleet, name: string): Promise<ResourceBinding> =>
  fleet.plane.get(resourceBindings, { namespace: "default", name });

/** The clusters of a binding's result. */
export const placed = ({ spec }: ResourceBinding): readonly string[] =>
  (spec.clusters ?? []).map(({ name }) => name);
