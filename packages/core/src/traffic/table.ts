/**
 * The routing table of a load balancer: which request goes to which backends. It follows from MultiClusterIngresses alone: their
 * spec, `status.trafficBlockClusters`, and the backends that the control plane published.
 *
 * 1. What is not plainly a host, a path, a name or an address is left out and reported; everything else of the ingress works.
 *    So is an address that load balancers never dial: a member reports its addresses, and may lie.
 * 2. A cluster that is blocked or left gets no new requests, unless nothing else is there: then all serve (D16), and the
 *    generation is not confirmed for that Service. The other Services of the ingress are confirmed one by one.
 *    A single address that terminates, or is not ready, gets no new requests either, unless nothing better is there; nor does a
 *    cluster without a ready replica: a blocked one with ready replicas comes before it.
 * 3. Of two ingresses with the same host and path the older one gets the requests; the other is reported.
 * 4. The order of the input does not matter.
 * 5. A pool has each cluster, address and port once, in an order in which states have no part: a load balancer names its servers by
 *    them, and one that only drains changes nothing but its state.
 */
import { formatKey, keyOf, type MultiClusterIngress, type ObjectKey } from "@lifeboat/api";
import type { Places } from "./endpoints.ts";
import { isAddress, isHost, isLabel, isNumericAddress, isPath, isPort } from "./names.ts";
import {
  type BackendState,
  isEmpty,
  publishedBackends,
  type PublishedCluster,
  type PublishedService,
} from "./published.ts";

/** One place that requests can go to. */
export interface Backend {
  readonly cluster: string;
  readonly address: string;
  readonly port: number;
  readonly weight: number;
  readonly state: BackendState;
  readonly unconfirmedSince?: string;
}

/** The backends of one Service port, for one ingress. */
export interface Pool {
  /** `namespace/ingress/service/port`, of plain names. */
  readonly id: string;
  readonly backends: readonly Backend[];
}

export interface Route {
  /** "": any; `*.example.com`: every name with one more label. */
  readonly host: string;
  readonly path: string;
  readonly pathType: "Exact" | "Prefix";
  readonly pool: string;
  /** The default backend of an ingress: every rule comes first. */
  readonly isDefault: boolean;
}

/** A certificate that an ingress names. */
export interface TableCertificate {
  readonly secret: ObjectKey;
  readonly hosts: readonly string[];
}

/** What an ingress asks for and does not get. */
export interface TableProblem {
  readonly ingress: string;
  readonly field: string;
  readonly message: string;
}

/** The part of the table that one ingress gives. */
export interface CompiledIngress {
  readonly key: string;
  readonly created: string;
  readonly generation: number;
  readonly routes: readonly Route[];
  readonly pools: readonly Pool[];
  readonly certificates: readonly TableCertificate[];
  readonly problems: readonly TableProblem[];
  /** The Services of which blocked or left clusters serve because nothing else is there. */
  readonly overridden: ReadonlySet<string>;
  /** The Services of which backends are published, whether or not a route leads to them. */
  readonly services: readonly string[];
  /** Those of them that have to leave a cluster. */
  readonly draining: readonly string[];
}

export interface RoutingTable {
  /** The most precise first. */
  readonly routes: readonly Route[];
  readonly pools: readonly Pool[];
  readonly certificates: readonly TableCertificate[];
  readonly problems: readonly TableProblem[];
  /** By ingress, or by ingress and Service: the generation of its backends, where it is carried out as it was published. */
  readonly generations: Readonly<Record<string, number>>;
  /** The keys of `generations` that a leaving copy may wait for. A Service without a route is one, too: nothing is to be drained. */
  readonly draining: ReadonlySet<string>;
}

export const EMPTY_TABLE: RoutingTable = Object.freeze({
  routes: [],
  pools: [],
  certificates: [],
  problems: [],
  generations: {},
  draining: new Set<string>(),
});

type IngressBackend = NonNullable<MultiClusterIngress["spec"]["defaultBackend"]>;

/** Why an address in numbers is not dialled, in words that follow "the address … "; undefined: it is. */
type JudgeAddress = (address: string) => string | undefined;

/** Reads one ingress. */
export function compileIngress(
  ingress: MultiClusterIngress,
  judge: JudgeAddress = () => undefined,
): CompiledIngress {
  const compiling = new Compiling(ingress, judge);
  const { spec, metadata } = ingress;
  const routes: Route[] = [];
  for (const [i, rule] of (spec.rules ?? []).entries()) {
    const at = `spec.rules[${i}]`;
    const host = (rule.host ?? "").toLowerCase();
    if (!isHost(host)) {
      compiling.report(`${at}.host`, "it is not a DNS name");
      continue;
    }
    for (const [j, path] of (rule.http?.paths ?? []).entries())
      routes.push(...compiling.route(host, path, `${at}.http.paths[${j}]`));
  }
  if (spec.defaultBackend !== undefined) {
    const pool = compiling.pool(spec.defaultBackend, "spec.defaultBackend");
    const any = { host: "", path: "/", pathType: "Prefix", isDefault: true } as const;
    if (pool !== undefined) routes.push({ ...any, pool });
  }
  return {
    key: compiling.key,
    created: metadata.creationTimestamp ?? "",
    generation: compiling.generation,
    routes,
    pools: [...compiling.pools.values()],
    certificates: certificatesOf(ingress, compiling),
    problems: compiling.problems,
    overridden: compiling.overridden,
    services: compiling.services(),
    draining: compiling.services(({ clusters }) =>
      Object.values(clusters).some(({ state }) => state === "draining"),
    ),
  };
}

class Compiling {
  readonly key: string;
  readonly generation: number;
  readonly pools = new Map<string, Pool>();
  readonly problems: TableProblem[] = [];
  readonly overridden = new Set<string>();
  readonly #blocked: ReadonlySet<string>;
  readonly #services: Readonly<Record<string, PublishedService>>;
  readonly #judge: JudgeAddress;

  constructor(ingress: MultiClusterIngress, judge: JudgeAddress) {
    this.#judge = judge;
    this.key = formatKey(keyOf(ingress));
    const { generation, services } = publishedBackends(ingress);
    this.generation = generation;
    this.#services = services;
    this.#blocked = new Set(ingress.status?.trafficBlockClusters ?? []);
  }

  /** The published Services, or some of them, by name. */
  services(isMeant: (service: PublishedService) => boolean = () => true): readonly string[] {
    const all = Object.entries(this.#services);
    return all.filter(([name, one]) => isLabel(name) && isMeant(one)).map(([name]) => name);
  }

  report(field: string, message: string): void {
    this.problems.push({ ingress: this.key, field, message });
  }

  route(
    host: string,
    given: { readonly path?: string; readonly pathType: string; readonly backend: IngressBackend },
    field: string,
  ): readonly Route[] {
    const path = given.path ?? "/";
    if (!isPath(path)) {
      this.report(
        `${field}.path`,
        "it is not a path that begins with / and has only plain characters",
      );
      return [];
    }
    if (!["Exact", "Prefix", "ImplementationSpecific"].includes(given.pathType)) {
      this.report(`${field}.pathType`, "Exact, Prefix or ImplementationSpecific is needed");
      return [];
    }
    const pool = this.pool(given.backend, `${field}.backend`);
    if (pool === undefined) return [];
    const pathType = given.pathType === "Exact" ? "Exact" : "Prefix";
    const trimmed = pathType === "Prefix" ? path.replace(/\/+$/, "") || "/" : path;
    return [{ host, path: trimmed, pathType, pool, isDefault: false }];
  }

  /** The pool of a backend; undefined: there cannot be one, which is reported. */
  pool(backend: IngressBackend, field: string): string | undefined {
    const { name = "", port = {} } = backend.service ?? {};
    if (backend.service === undefined) {
      this.report(field, "only a Service can be a backend");
      return undefined;
    }
    if (!isLabel(name)) {
      this.report(`${field}.service.name`, "it is not the name of a Service");
      return undefined;
    }
    const service = this.#services[name];
    const wanted = port.name ?? "";
    const number =
      port.number ?? service?.ports.find((one) => one.name === wanted)?.port ?? Number.NaN;
    if (!isPort(number)) {
      // Before the Service has a copy its named ports are unknown: nothing is wrong yet.
      if (service !== undefined || !isLabel(wanted))
        this.report(`${field}.service.port`, `Service ${name} has no such port`);
      return undefined;
    }
    if (service !== undefined && !service.ports.some((one) => one.port === number)) {
      this.report(`${field}.service.port`, `Service ${name} has no port ${number}`);
      return undefined;
    }
    const id = `${this.key}/${name}/${number}`;
    if (!this.pools.has(id)) this.pools.set(id, this.#poolOf(id, name, number));
    return id;
  }

  #isDialled(service: string, cluster: string, address: string): boolean {
    const problem = isNumericAddress(address) ? this.#judge(address) : undefined;
    if (problem !== undefined)
      this.report(`Service ${service} in ${cluster}`, `the address ${address} ${problem}`);
    return problem === undefined;
  }

  #poolOf(id: string, service: string, port: number): Pool {
    const clusters = Object.entries(this.#services[service]?.clusters ?? {})
      .filter(([cluster]) => isLabel(cluster))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([cluster, published]) => {
        const isDialled = (one: Place): boolean => this.#isDialled(service, cluster, one.address);
        return { cluster, published, places: placesOf(published, port).filter(isDialled) };
      });
    const most = Math.max(...clusters.map(({ places }) => sharesOf(places)));
    const wanted = clusters.flatMap(({ cluster, places, published }) => {
      const { state, weight, unconfirmedSince } = published;
      const isBlocked = this.#blocked.has(cluster);
      const isLeft = isBlocked || state === "draining";
      // The addresses of pods are known to be ready or not one by one.
      const isNothingReady = isEmpty(published.cause) && published.endpoints === undefined;
      return places.map((place): Ranked => ({
        rank: isNothingReady ? rankOf(EMPTY_PLACE, isBlocked) : rankOf(place, isLeft),
        isLeft,
        backend: {
          cluster,
          address: place.address,
          port: place.port,
          // All addresses of a cluster that get requests together have its weight.
          weight: Math.max(1, Math.round((weight * most) / sharesOf(places))),
          state: "serving",
          ...(unconfirmedSince !== undefined && { unconfirmedSince }),
        },
      }));
    });
    const best = Math.min(...wanted.map(({ rank }) => rank));
    // seed: some-serve
    if (wanted.length === 0 || wanted.some(({ rank }) => rank === 0))
      return { id, backends: servingAt(wanted, 0) };
    if (wanted.some(({ rank, isLeft }) => rank === best && isLeft)) this.overridden.add(service);
    return { id, backends: servingAt(wanted, best) };
  }
}

interface Place {
  readonly address: string;
  readonly port: number;
  readonly state: keyof Places;
}

interface Ranked {
  readonly backend: Backend;
  /** Of all backends those with the lowest serve. */
  readonly rank: number;
  /** Whether the whole cluster is blocked or left. */
  readonly isLeft: boolean;
}

/** A ready address of a cluster that is left comes before one that terminates elsewhere; what is left and not ready comes last. */
function rankOf({ state }: Pick<Place, "state">, isLeft: boolean): number {
  const own = { addresses: 0, draining: 2, unready: 3 }[state];
  if (!isLeft) return own;
  return own === 0 ? 1 : own + 2;
}

/** What an address is worth in a cluster without a ready replica. */
const EMPTY_PLACE = { state: "unready" } as const;

function servingAt(wanted: readonly Ranked[], best: number): readonly Backend[] {
  return wanted.map(({ backend, rank }) => ({
    ...backend,
    state: rank === best ? "serving" : "draining",
  }));
}

/** Among how many addresses the weight of a cluster is shared. */
function sharesOf(places: readonly Place[]): number {
  const ready = places.filter(({ state }) => state === "addresses").length;
  return ready > 0 ? ready : Math.max(1, places.length);
}

/** Where a port of the Service is reached in a cluster; nowhere if it has no such port there. Each place once, in the order of addresses. */
function placesOf(published: PublishedCluster, port: number): readonly Place[] {
  const { nodePorts, endpoints } = published;
  if (endpoints !== undefined)
    return inOrder(endpoints.flatMap((group) => placesAt(group, group.ports[String(port)] ?? 0)));
  return inOrder(
    placesAt(published, nodePorts === undefined ? port : (nodePorts[String(port)] ?? 0)),
  );
}

function placesAt(places: Places, port: number): readonly Place[] {
  if (!isPort(port)) return [];
  return STATES.flatMap((state) =>
    (places[state] ?? []).filter(isAddress).map((address) => ({ address, port, state })),
  );
}

/** A member may report one place in several states or groups: the best state counts. The order does not follow states. */
function inOrder(places: readonly Place[]): readonly Place[] {
  const best = new Map<string, Place>();
  for (const place of places) {
    const id = `${place.address} ${place.port}`;
    const known = best.get(id);
    if (known === undefined || STATES.indexOf(place.state) < STATES.indexOf(known.state))
      best.set(id, place);
  }
  return [...best.values()].sort((a, b) => compare(a.address, b.address) || a.port - b.port);
}

const STATES = ["addresses", "draining", "unready"] as const;

function certificatesOf(
  { metadata, spec }: MultiClusterIngress,
  compiling: Compiling,
): readonly TableCertificate[] {
  const ofRules = new Set((spec.rules ?? []).map(({ host = "" }) => host.toLowerCase()));
  return (spec.tls ?? []).flatMap(({ hosts = [], secretName = "" }, i) => {
    const isNamed = secretName !== "" && secretName.split(".").every(isLabel);
    // Without hosts of its own it is for those of the rules. A rule whose host is no name is reported as a rule.
    const plain =
      hosts.length > 0
        ? hosts.map((host) => host.toLowerCase())
        : [...ofRules].filter((host) => host !== "" && isHost(host));
    const isWell = isNamed && plain.every((host) => host !== "" && isHost(host));
    if (!isWell || plain.length === 0) {
      compiling.report(
        `spec.tls[${i}]`,
        "it needs DNS names, its own or those of the rules, and the name of a Secret",
      );
      return [];
    }
    return [{ secret: { namespace: metadata.namespace ?? "", name: secretName }, hosts: plain }];
  });
}

/** Puts the ingresses together. */
export function assembleTable(ingresses: readonly CompiledIngress[]): RoutingTable {
  const inOrder = ingresses.toSorted(
    (a, b) => compare(a.created, b.created) || compare(a.key, b.key),
  );
  const taken = new Map<string, string>();
  const routes: Route[] = [];
  const problems: TableProblem[] = inOrder.flatMap((one) => one.problems);
  for (const ingress of inOrder)
    for (const route of ingress.routes) {
      const place = `${route.host} ${route.path} ${route.pathType} ${route.isDefault}`;
      const owner = taken.get(place);
      if (owner === undefined) {
        taken.set(place, ingress.key);
        routes.push(route);
      } else if (owner !== ingress.key) {
        const message = `ingress ${owner} is older and has the same: ${route.host || "any host"}${route.path}`;
        problems.push({ ingress: ingress.key, field: "spec.rules", message });
      }
    }
  return {
    routes: routes.toSorted(byPrecision),
    pools: inOrder.flatMap(({ pools }) => pools),
    certificates: inOrder.flatMap(({ certificates }) => certificates),
    problems,
    generations: Object.fromEntries(inOrder.flatMap(generationsOf)),
    draining: new Set(
      inOrder.flatMap(({ key, draining }) =>
        draining.flatMap((service) => [key, `${key}/${service}`]),
      ),
    ),
  };
}

/** One entry for the ingress, or one for each Service of it when not all are carried out as they were published. */
function generationsOf(ingress: CompiledIngress): readonly (readonly [string, number])[] {
  const { key, generation, services, overridden } = ingress;
  if (generation === 0) return [];
  if (overridden.size === 0) return [[key, generation]];
  return services
    .filter((service) => !overridden.has(service))
    .map((service) => [`${key}/${service}`, generation]);
}

function byPrecision(a: Route, b: Route): number {
  return (
    Number(a.isDefault) - Number(b.isDefault) ||
    hostRank(a) - hostRank(b) ||
    compare(a.host, b.host) ||
    b.path.length - a.path.length ||
    Number(a.pathType === "Prefix") - Number(b.pathType === "Prefix") ||
    compare(a.path, b.path)
  );
}

/** A host itself comes before a wildcard, and that before any host. */
function hostRank({ host }: Route): number {
  if (host === "") return 2;
  return host.startsWith("*.") ? 1 : 0;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
