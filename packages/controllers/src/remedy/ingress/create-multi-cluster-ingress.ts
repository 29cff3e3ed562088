/**
 * Writes the status of each MultiClusterIngress: where its backends are, which clusters get no traffic, and why. The rules are in
 * core/remedy/ingress. A provider of load balancers needs nothing but this status.
 *
 * 1. A binding or a MultiClusterService concerns only the ingresses that name its Service; the action of a Cluster and whether
 *    it is Ready concern all.
 * 2. Which backends are ready is read from what is published for load balancers: a change of that annotation is one of the ingress.
 * 3. The write carries the resourceVersion that was decided on: a provider writes other fields of the same status.
 */
import {
  type Cluster,
  findCondition,
  keyOf,
  multiClusterIngresses,
  type MultiClusterService,
  type ObjectKey,
  type ResourceBinding,
  TRAFFIC_CONTROL,
} from "@lifeboat/api";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import { hasAction } from "@lifeboat/core/remedy/actions";
import { type BackendView, backendServices, decideIngress } from "@lifeboat/core/remedy/ingress";
import { readyClusters } from "@lifeboat/core/traffic";
import {
  checkAgainAt,
  createController,
  done,
  type Outcome,
  ownKey,
  type Service,
  watching,
  whenChanged,
} from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import { backendIndexValue } from "../../context/informers.ts";

const CONCURRENCY = 4;

/** Builds the controller. */
export function createMultiClusterIngress(context: PlaneContext): readonly Service[] {
  const { informers } = context;
  const naming = (service: ObjectKey | undefined): readonly ObjectKey[] =>
    service === undefined
      ? []
      : informers.multiClusterIngresses
          .byIndex("backend", backendIndexValue(service.namespace, service.name))
          .map(keyOf);
  return [
    createController(context, {
      name: "multi-cluster-ingress",
      concurrency: CONCURRENCY,
      watches: [
        watching(informers.multiClusterIngresses, ownKey),
        watching(
          informers.resourceBindings,
          whenChanged(reportOf, (binding) => naming(serviceOf(binding))),
        ),
        watching(informers.multiClusterServices, (old, now) => ownKey(old, now).flatMap(naming)),
        watching(
          informers.clusters,
          whenChanged(whatCounts, () => informers.multiClusterIngresses.list().map(keyOf)),
        ),
      ],
      reconcile: (key, signal) => reconcile(context, key, signal),
    }),
  ];
}

/** The Service of a binding; undefined: the binding is of another kind. */
function serviceOf(binding: ResourceBinding | undefined): ObjectKey | undefined {
  if (binding === undefined) return undefined;
  const { apiVersion, kind, namespace = "", name } = binding.spec.resource;
  return apiVersion === "v1" && kind === "Service" ? { namespace, name } : undefined;
}

/** Where copies are applied. */
function reportOf({ status }: ResourceBinding): unknown {
  return (status?.aggregatedStatus ?? []).map(({ clusterName, applied }) => [
    clusterName,
    applied === true,
  ]);
}

/** Of a Cluster: whether it is blocked, and since when it has been Ready or not. */
function whatCounts(cluster: Cluster): unknown {
  const { status, lastTransitionTime } = findCondition(cluster.status?.conditions, "Ready") ?? {};
  return [isBlocked(cluster), status, lastTransitionTime];
}

function isBlocked(cluster: Cluster): boolean {
  return hasAction(cluster, TRAFFIC_CONTROL);
}

async function reconcile(
  context: PlaneContext,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Outcome> {
  const { informers, plane, clock, events } = context;
  const ingress = informers.multiClusterIngresses.get(key);
  if (ingress === undefined || ingress.metadata.deletionTimestamp !== undefined) return done;
  const backends = backendServices(ingress).map((name) => backendOf(context, key.namespace, name));
  const clusters = informers.clusters.list();
  const ready = readyClusters(ingress);
  const plan = decideIngress({ ingress, backends, clusters, ready }, clock.now());
  const { status, events: planned, checkAt } = plan;
  if (status !== undefined)
    await plane.update(
      multiClusterIngresses,
      { ...ingress, status },
      { subresource: "status", signal },
    );
  for (const event of planned) events.record(ingress, event);
  return checkAt === undefined ? done : checkAgainAt(checkAt);
}

function backendOf({ informers }: PlaneContext, namespace: string, name: string): BackendView {
  const binding = informers.resourceBindings.get({
    namespace,
    name: bindingName("Service", name),
  });
  const isOfService = serviceOf(binding)?.name === name;
  const exposure: MultiClusterService | undefined = informers.multiClusterServices.get({
    namespace,
    name,
  });
  return { name, binding: isOfService ? binding : undefined, exposure };
}
