/**
 * Where the requests of an ingress can go: the addresses of its Services in each cluster, as members reported them, and which of
 * them have to be left.
 *
 *   the Service or every workload behind it has left the cluster (`gone`), or leaves it and its substitute is healthy (`leaves`), or
 *   has no ready replica there (`idle`) ──▶ draining, with the cause: a load balancer that has nothing else prefers what can serve
 *
 * 1. An old copy gets no new requests once the substitute is healthy, and before it is removed (D27). In mode Directly the
 *    eviction itself takes the traffic away.
 * 2. A graceful eviction never takes the last address of a Service: it is drained once another cluster serves.
 * 3. A copy without a ready replica gets no requests as long as another one has some, be it one that leaves.
 * 4. Queued, held and exempt entries have no task yet, so they keep their traffic.
 * 5. Of several workloads behind a Service one may leave while others stay: the cluster serves, and `keptBy` names those that stay.
 * 6. A Service of type NodePort is reached at nodes of its cluster, on the ports that the member gave it: at those with a pod of it,
 *    where only they answer. One that asks for its pods is reached at these, wherever the member reports them.
 * 7. A MultiClusterService of the same name narrows the clusters to those that provide it, as in the status of the ingress.
 * 8. Equal content has an equal generation: at rest nothing is written.
 */
import {
  type Cluster,
  equalJson,
  findCondition,
  type MultiClusterIngress,
  type MultiClusterService,
  type ResourceBinding,
  type Work,
} from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";
import { isDirect, isOn, shareIn, taskOf } from "../binding/index.ts";
import {
  evictionPlugins,
  type TasksView,
  worksByCluster,
} from "../failover/eviction-tasks/index.ts";
import { fieldsAt, integerAt, isFields, listAt, textAt, textsAt } from "../fields.ts";
import { mayServe } from "../propagation/works/index.ts";
import { providersOf } from "../remedy/ingress/index.ts";
import { reportedEndpoints, reportedNodes } from "./endpoints.ts";
import { isAddress, isLabel, isPort } from "./names.ts";
import { MAX_NODES } from "./node-addresses.ts";
import {
  type DrainCause,
  publishedBackends,
  type PublishedBackends,
  type PublishedCluster,
  type PublishedPort,
  type PublishedService,
  readyAddresses,
} from "./published.ts";

/** A binding, and its copies in clusters. */
export interface Copies {
  readonly binding: ResourceBinding;
  readonly works: readonly Work[];
}

export interface BackendsView {
  readonly ingress: MultiClusterIngress;
  /** The Services of the ingress that have a binding, by name. */
  readonly services: ReadonlyMap<string, Copies>;
  /** Everything in the namespace that may have pods. */
  readonly workloads: readonly Copies[];
  readonly clusters: ReadonlyMap<string, Cluster>;
  /** The MultiClusterServices of the names of its Services. */
  readonly exposures: ReadonlyMap<string, Pick<MultiClusterService, "spec">>;
}

/** What is to be published; the generation is the one before when nothing changed. */
export function decideBackends(view: BackendsView, now: Instant): PublishedBackends {
  const before = publishedBackends(view.ingress);
  const services: Record<string, PublishedService> = {};
  for (const name of serviceNames(view.ingress)) {
    const copies = view.services.get(name);
    if (copies !== undefined) {
      const found = serviceOf(view, copies, providersOf(view.exposures.get(name)));
      services[name] = dated(found, before.services[name], now);
    }
  }
  if (before.generation > 0 && equalJson(services, before.services)) return before;
  // The time: also after the annotation was lost a new generation is not one that was confirmed before.
  const generation = Math.max(before.generation + 1, Math.floor(now / 1000));
  return { generation, services };
}

/** The names of the Services that an ingress sends requests to, sorted. */
export function serviceNames({ spec }: Pick<MultiClusterIngress, "spec">): readonly string[] {
  const names = new Set<string>();
  const add = (backend: { readonly service?: { readonly name: string } } | undefined): void => {
    const name = backend?.service?.name ?? "";
    if (isLabel(name)) names.add(name);
  };
  add(spec.defaultBackend);
  for (const { http } of spec.rules ?? []) for (const path of http?.paths ?? []) add(path.backend);
  return [...names].sort();
}

function serviceOf(
  view: BackendsView,
  service: Copies,
  provides: ReadonlySet<string> | undefined,
): PublishedService {
  const works = worksByCluster(service.works);
  const selector = selectorOf(service);
  const workloads = view.workloads.filter((one) => selects(selector, one));
  const names = [...works.keys()]
    .filter((name) => isLabel(name) && (provides?.has(name) ?? true))
    .sort();
  const found = names.map((name) => clusterOf(view, { service, workloads }, name));
  const another = found.some(({ state, addresses }) => state === "serving" && addresses.length > 0);
  const isLeaving = found.some(
    ({ cause, addresses }) => cause === "leaves" && addresses.length > 0,
  );
  const lastResort: DrainCause = isLeaving ? "leaves" : "idle";
  return {
    ports: portsOf(service),
    clusters: Object.fromEntries(
      found.map(({ cause, ...one }, i) => {
        if (cause === undefined) return [names[i], one];
        const isNeeded = cause === lastResort && !another;
        return [names[i], isNeeded ? { ...one, state: "serving" } : { ...one, cause }];
      }),
    ) as Record<string, PublishedCluster>,
    bindings: [service, ...workloads].map(({ binding }) => binding.metadata.name).sort(),
  };
}

/** With the time since when each cluster drains, which is kept from what was published before. */
function dated(
  { clusters, ...service }: PublishedService,
  before: PublishedService | undefined,
  now: Instant,
): PublishedService {
  const all = Object.entries(clusters).map(([name, one]) => {
    if (one.state !== "draining") return [name, one] as const;
    const was = before?.clusters[name];
    const drainingSince = was?.state === "draining" ? was.drainingSince : formatTime(now);
    return [name, drainingSince === undefined ? one : { ...one, drainingSince }] as const;
  });
  return { ...service, clusters: Object.fromEntries(all) };
}

interface Behind {
  readonly service: Copies;
  readonly workloads: readonly Copies[];
}

function clusterOf(
  view: BackendsView,
  { service, workloads }: Behind,
  name: string,
): PublishedCluster {
  const own = presenceIn(view, service, name);
  const all = workloads.map((one) => workloadIn(view, one, name));
  const cause = causeOf(own, all);
  const isServing = cause === undefined;
  const replicas = workloads.map(({ binding }) => shareIn(binding, name)?.replicas ?? 0);
  const ready = findCondition(view.clusters.get(name)?.status?.conditions, "Ready");
  const isLeft = workloads.some(({ binding }) => taskOf(binding, name) !== undefined);
  const keptBy = workloads
    .filter(({ binding }, i) => all[i] === "stays" && taskOf(binding, name) === undefined)
    .map(({ binding }) => binding.metadata.name)
    .sort();
  return {
    ...placesOf(worksByCluster(service.works).get(name), view.clusters.get(name)),
    state: isServing ? "serving" : "draining",
    ...(!isServing && { cause }),
    weight: Math.max(
      1,
      replicas.reduce((sum, one) => sum + one, 0),
    ),
    ...(ready !== undefined &&
      ready.status !== "True" && { unconfirmedSince: ready.lastTransitionTime }),
    ...(isServing && isLeft && keptBy.length > 0 && { keptBy }),
  };
}

/** `stays`: nothing takes it away now, and it can serve. */
type Presence = "stays" | DrainCause;

const PRESENCES = ["stays", "leaves", "idle", "gone"] as const;

/** Why a backend drains; undefined: it serves. Of several workloads behind a Service the best counts. */
function causeOf(own: Presence, workloads: readonly Presence[]): DrainCause | undefined {
  if (own === "gone") return own;
  const best = PRESENCES.find((one) => workloads.length === 0 || workloads.includes(one)) ?? "gone";
  if (best === "stays") return own === "stays" ? undefined : own;
  return best;
}

function workloadIn(view: BackendsView, copies: Copies, name: string): Presence {
  const presence = presenceIn(view, copies, name);
  const work = worksByCluster(copies.works).get(name);
  return presence !== "gone" && work !== undefined && !mayServe(work) ? "idle" : presence;
}

function presenceIn({ clusters }: BackendsView, copies: Copies, name: string): Presence {
  const { binding } = copies;
  const works = worksByCluster(copies.works);
  const work = works.get(name);
  if (work === undefined || work.metadata.deletionTimestamp !== undefined) return "gone";
  if (isOn(binding, name) || isNeededIn(binding, name)) return "stays";
  const task = taskOf(binding, name);
  if (task === undefined || isDirect(task)) return "gone";
  const view: TasksView = {
    binding,
    works,
    clusters,
    outdated: new Set(),
    plugins: HEALTH,
    trustFencedCondition: false,
  };
  return HEALTH.some((plugin) => plugin.passes(view, task)) ? "leaves" : "stays";
}

/** Whether workloads there need it: it follows them. */
function isNeededIn({ spec }: ResourceBinding, name: string): boolean {
  return (spec.requiredBy ?? []).some(({ clusters = [] }) =>
    clusters.some((target) => target.name === name),
  );
}

const HEALTH = evictionPlugins(["ResourceHealth"]);

/** The first manifest of a copy: all copies of a binding are of one object. */
function manifestOf(work: Work | undefined): unknown {
  return work?.spec.workload?.manifests?.[0];
}

function selectorOf({ works }: Copies): Readonly<Record<string, string>> {
  return textsAt(manifestOf(works[0]), "spec", "selector");
}

function selects(selector: Readonly<Record<string, string>>, { works }: Copies): boolean {
  const wanted = Object.entries(selector);
  if (wanted.length === 0) return false;
  const labels = textsAt(manifestOf(works[0]), "spec", "template", "metadata", "labels");
  return wanted.every(([key, value]) => labels[key] === value);
}

function portsOf({ works }: Copies): readonly PublishedPort[] {
  return listAt(manifestOf(works[0]), "spec", "ports")
    .filter(isFields)
    .filter((port) => ["", "TCP"].includes(textAt(port, "protocol")))
    .map((port) => ({ name: textAt(port, "name"), port: integerAt(port, "port") ?? 0 }))
    .filter(({ port }) => isPort(port));
}

/** Where the Service is reached in a cluster: at its pods if it asks for them, else at its load balancer, else at nodes. */
function placesOf(
  work: Work | undefined,
  cluster: Cluster | undefined,
): Pick<PublishedCluster, "addresses" | "draining" | "unready" | "endpoints" | "nodePorts"> {
  const status = work?.status?.manifestStatuses?.[0]?.status;
  const endpoints = reportedEndpoints(status);
  if (endpoints !== undefined) return { addresses: readyAddresses(endpoints), endpoints };
  const addresses = addressesOf(status);
  const nodePorts = nodePortsOf(status);
  if (addresses.length > 0 || nodePorts.length === 0) return { addresses };
  const ports = { nodePorts: Object.fromEntries(nodePorts) };
  const answering = reportedNodes(status);
  if (answering !== undefined) return { ...answering, ...ports };
  const nodes = (cluster?.status?.nodeAddresses ?? []).filter(isAddress);
  return { addresses: nodes.slice(0, MAX_NODES), ...ports };
}

/** The node ports that the member reported, by the port of the Service. */
function nodePortsOf(status: unknown): readonly (readonly [string, number])[] {
  return listAt(status, "nodePorts").flatMap((one) => {
    const port = integerAt(one, "port") ?? 0;
    const nodePort = integerAt(one, "nodePort") ?? 0;
    return isPort(port) && isPort(nodePort) ? [[String(port), nodePort] as const] : [];
  });
}

/** The load-balancer addresses that the member reported, sorted. */
function addressesOf(status: unknown): readonly string[] {
  const found = listAt(fieldsAt(status, "loadBalancer"), "ingress").map(
    (one) => textAt(one, "ip") || textAt(one, "hostname").toLowerCase(),
  );
  return [...new Set(found.filter(isAddress))].sort();
}
