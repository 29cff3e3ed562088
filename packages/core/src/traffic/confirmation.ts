/**
 * Whether the traffic of a leaving copy has been taken away, by what load balancers confirm on their Leases (D27).
 *
 * 1. Drained means: every load balancer with a fresh Lease has carried out exactly the generation in which the cluster drains.
 * 2. A lapsed Lease counts as not serving.
 * 3. Where no Lease is fresh, or none is of the class of the ingress, no load balancer of ours can confirm: the answer is
 *    `unconfirmable`, never `drained`.
 * 4. Where a workload leaves and others behind the same Service stay in the cluster, they go on to serve: nothing is to be drained.
 * 5. Where no other cluster serves, a confirmation cannot come before one does: `needed`.
 */
import { formatKey, keyOf, type MultiClusterIngress } from "@lifeboat/api";
import { fieldsAt } from "../fields.ts";
import * as wellKnown from "../well-known.ts";
import { publishedBackends, type PublishedCluster, type PublishedService } from "./published.ts";
import { compileIngress } from "./table.ts";

/** What one load balancer has carried out. */
export interface ProviderView {
  readonly isFresh: boolean;
  /** The generation by ingress, or by ingress and Service. */
  readonly applied: Readonly<Record<string, number>>;
  /** It serves ingresses of this class and those without one; absent: it did not state it, so every class may be its own. */
  readonly ingressClass?: string;
}

/** In this order: of several ingresses the last one counts. `none`: no ingress sends requests there that have to leave. */
const STATES = ["none", "drained", "unconfirmable", "awaited", "needed"] as const;
export type TrafficState = (typeof STATES)[number];

/** What an ingress with a draining backend needs of one entry: more are not confirmed. */
const MAX_ENTRIES = 2000;

/** The text of a Lease: the ingresses and Services that have draining backends, since only these are waited for. */
export function formatApplied(
  generations: Readonly<Record<string, number>>,
  draining: ReadonlySet<string>,
): string {
  const entries = Object.entries(generations)
    .filter(([key]) => draining.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MAX_ENTRIES);
  return JSON.stringify(Object.fromEntries(entries));
}

export function readApplied(text: string | undefined): Readonly<Record<string, number>> {
  try {
    const fields = fieldsAt(JSON.parse(text ?? "{}"));
    const entries = Object.entries(fields).filter(([, value]) => Number.isInteger(value));
    return Object.fromEntries(entries) as Record<string, number>;
  } catch {
    return {};
  }
}

interface Annotated {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}

/** What a Lease reports of its load balancer. */
export function providerOn({ metadata }: Annotated, isFresh: boolean): ProviderView {
  const { annotations = {} } = metadata;
  const ingressClass = annotations[wellKnown.TRAFFIC_CLASS];
  return {
    isFresh,
    applied: readApplied(annotations[wellKnown.TRAFFIC_APPLIED]),
    ...(ingressClass !== undefined && { ingressClass }),
  };
}

/** The names of the bindings whose copies an ingress sends requests to, as keys. */
export function bindingsBehind(ingress: MultiClusterIngress): readonly string[] {
  const { namespace = "" } = ingress.metadata;
  const names = new Set(
    Object.values(publishedBackends(ingress).services).flatMap(({ bindings }) => bindings),
  );
  return [...names].map((name) => formatKey({ namespace, name }));
}

/** What becomes of requests to the copy of a binding in a cluster; `ingresses` are those that have it behind them. */
export function trafficTo(
  bindingName: string,
  cluster: string,
  ingresses: readonly MultiClusterIngress[],
  providers: readonly ProviderView[],
): TrafficState {
  const fresh = providers.filter(({ isFresh }) => isFresh);
  const states = ingresses.map((ingress) => trafficOf(ingress, bindingName, cluster, fresh));
  return STATES.findLast((state) => states.includes(state)) ?? "none";
}

function trafficOf(
  ingress: MultiClusterIngress,
  bindingName: string,
  cluster: string,
  fresh: readonly ProviderView[],
): TrafficState {
  const { generation, services } = publishedBackends(ingress);
  const used = Object.entries(services).filter(
    ([, { bindings, clusters }]) =>
      bindings.includes(bindingName) && hasToLeave(clusters[cluster], bindingName),
  );
  if (used.length === 0) return "none";
  const { ingressClassName = "" } = ingress.spec;
  const own = fresh.filter(({ ingressClass = ingressClassName }) =>
    ["", ingressClass].includes(ingressClassName),
  );
  if (own.length === 0) return "unconfirmable";
  const key = formatKey(keyOf(ingress));
  const open = used.filter(
    ([name, { clusters }]) =>
      clusters[cluster]?.state !== "draining" ||
      !own.every(({ applied }) => [applied[key], applied[`${key}/${name}`]].includes(generation)),
  );
  if (open.length === 0) return "drained";
  return open.some(([name, service]) => isLastServed(ingress, name, service, cluster))
    ? "needed"
    : "awaited";
}

/** Whether requests to a copy have to leave before it does. */
function hasToLeave(published: PublishedCluster | undefined, bindingName: string): boolean {
  if (published === undefined || published.addresses.length === 0) return false;
  const { keptBy = [] } = published;
  return keptBy.length === 0 || keptBy.includes(bindingName);
}

/** Whether requests that an ingress routes to a Service can go nowhere else than to this cluster. */
function isLastServed(
  ingress: MultiClusterIngress,
  name: string,
  { clusters }: PublishedService,
  cluster: string,
): boolean {
  const blocked = ingress.status?.trafficBlockClusters ?? [];
  const hasOther = Object.entries(clusters).some(
    ([other, { state, addresses }]) =>
      other !== cluster && state === "serving" && addresses.length > 0 && !blocked.includes(other),
  );
  return !hasOther && compileIngress(ingress).pools.some(({ id }) => id.split("/")[2] === name);
}
