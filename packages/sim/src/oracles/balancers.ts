/**
 * Oracles of load balancers, by the tables that they serve by: where requests go (J3), and that they leave a copy before it goes (D27).
 */
import type { AnyObject, MultiClusterIngress, ResourceBinding } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import type { Pool } from "@lifeboat/core/traffic";
import type { Committed } from "../disk/ledger.ts";
import { INGRESSES } from "./ingresses.ts";
import type { AlwaysOracle, ConvergedOracle } from "./oracle.ts";
import {
  BINDINGS,
  clusterNamed,
  type Edit,
  editOf,
  isTakenBack,
  modeOf,
  nameOf,
  readyOf,
  resultOf,
  tasksWithout,
} from "./reading.ts";
import { LAG_MS, tableOf, type Truth } from "./truth.ts";
import { backendName } from "./witness.ts";

const LEASES = "coordination.k8s.io/leases";
/** A Lease that was renewed so long ago is fresh for whoever has heard of it. */
const FRESH_MS = 10_000;

export const alwaysOracles: readonly AlwaysOracle[] = [
  {
    name: "traffic-leaves-before-the-copy",
    promise:
      "D27: a graceful eviction ends only when load balancers that can confirm it have no requests at the old copy",
    on: "plane",
    tables: [...BINDINGS, LEASES],
    start: (truth) => {
      /** By load balancer: when its Lease was last renewed. */
      const renewed = new Map<string, number>();
      return (change) => {
        if (change.table === LEASES) renewed.set(change.key, change.at);
        const edit = change.table === LEASES ? undefined : editOf(change);
        return edit === undefined ? [] : judgeEnd(truth, renewed, edit, change);
      };
    },
  },
];

export const convergedOracles: readonly ConvergedOracle[] = [
  {
    name: "requests-go-where-backends-are",
    promise:
      "J3: load balancers send requests only to addresses of clusters that have joined, hold the Service and are not blocked, unless all are (D16)",
    judge: (truth) =>
      [...truth.witness.balancers].flatMap(([balancer, { table }]) =>
        table.pools.flatMap((pool) =>
          judgePool(truth, pool).map((text) => `${balancer} sends ${pool.id} to ${text}`),
        ),
      ),
  },
];

function judgePool(truth: Truth, { id, backends }: Pool): readonly string[] {
  const [namespace = "", , service = ""] = id.split("/");
  const ingress = ingressOfPool(truth, id);
  const blocked = ingress?.status?.trafficBlockClusters ?? [];
  const places = (ingress?.status?.serviceLocations ?? []).find((one) => one.name === service);
  const serving = backends.filter(({ state }) => state === "serving");
  const hasOther = serving.some(({ cluster }) => !blocked.includes(cluster));
  if (serving.length === 0 && backends.length > 0) return ["nothing"];
  return serving.flatMap(({ cluster, address }) => {
    if (clusterNamed(truth, cluster) === undefined) return [`${cluster}, which has not joined`];
    if (places?.clusters?.includes(cluster) !== true) return [`${cluster}, which does not have it`];
    if (blocked.includes(cluster) && hasOther) return [`${cluster}, which is blocked`];
    const copy = truth.ledger.find(cluster, tableOf("Service"), `${namespace}/${service}`)?.object;
    return addressesOf(copy).includes(address) ? [] : [`${address}, which is not in ${cluster}`];
  });
}

function ingressNamed({ ledger }: Truth, key: string): MultiClusterIngress | undefined {
  const object = ledger.find("plane", INGRESSES, key)?.object;
  return object as unknown as MultiClusterIngress | undefined;
}

function addressesOf(service: AnyObject | undefined): readonly string[] {
  const { status } = (service ?? {}) as {
    readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly Address[] } };
  };
  return (status?.loadBalancer?.ingress ?? []).map(({ ip = "" }) => ip);
}

interface Address {
  readonly ip?: string;
}

function judgeEnd(
  truth: Truth,
  renewed: ReadonlyMap<string, number>,
  edit: Edit,
  { at }: Committed,
): readonly string[] {
  const { before, now } = edit;
  const left = tasksWithout(before, now)
    .filter((task) => modeOf(task) === "Gracefully" && task.suppressDeletion !== false)
    .filter((task) => !isTakenBack(task, edit) && !resultOf(now).has(task.fromCluster))
    .map(({ fromCluster }) => fromCluster)
    // Of a cluster that does not answer the guard waits for so long only.
    .filter((cluster) => readyOf(clusterNamed(truth, cluster)) === "True");
  const slackMs = truth.lagMs + truth.roundTripMs;
  if (left.length === 0 || slackMs > LAG_MS) return [];
  return [...truth.witness.balancers].flatMap(([balancer, { table, busy, since }]) => {
    const lease = `${wellKnown.OWN_NAMESPACE}/${balancer}`;
    const isFresh = at - (renewed.get(lease) ?? Number.NEGATIVE_INFINITY) <= FRESH_MS;
    if (!isFresh || truth.circumstances.disturbed.has(balancer)) return [];
    const open = table.pools
      .filter(({ id }) => isBehind(truth, id, now))
      .flatMap(({ id, backends }) =>
        backends
          .filter(({ cluster }) => left.includes(cluster))
          .filter(({ state, address }) =>
            state === "serving"
              ? at - since > slackMs
              : (busy.get(backendName(id, address)) ?? 0) > at,
          ),
      );
    return open.map(({ cluster }) => `${nameOf(now)} left ${cluster} while ${balancer} uses it`);
  });
}

/**
 * Whether load balancers can send requests nowhere else than to the copy that is left, because no other cluster has an address of the
 * Service or those that have are blocked: the copy stays then, until a person decides (D27).
 */
export function isLastServed(truth: Truth, binding: ResourceBinding, cluster: string): boolean {
  return [...truth.witness.balancers.values()].some(({ table }) =>
    table.pools.some(({ id, backends }) => {
      const serving = backends.filter(({ state }) => state === "serving");
      const blocked = ingressOfPool(truth, id)?.status?.trafficBlockClusters ?? [];
      return (
        isBehind(truth, id, binding) &&
        serving.some((one) => one.cluster === cluster) &&
        serving.every((one) => one.cluster === cluster || blocked.includes(one.cluster))
      );
    }),
  );
}

function ingressOfPool(truth: Truth, pool: string): MultiClusterIngress | undefined {
  return ingressNamed(truth, pool.split("/", 2).join("/"));
}

/** Whether the requests of a pool reach copies of a binding, as is published. */
function isBehind(truth: Truth, pool: string, { metadata }: ResourceBinding): boolean {
  const [namespace, , service = ""] = pool.split("/");
  if (namespace !== metadata.namespace) return false;
  const { annotations } = ingressOfPool(truth, pool)?.metadata ?? {};
  const { services = {} } = JSON.parse(annotations?.[wellKnown.BACKENDS] ?? "{}") as {
    readonly services?: Readonly<Record<string, { readonly bindings: readonly string[] }>>;
  };
  return services[service]?.bindings.includes(metadata.name) === true;
}
