/**
 * The GlobalSets of a control plane, read from its objects.
 *
 * 1. The identities are those of the headless Service's replica list. A member with an address is listed whether its pod is ready
 *    or not: a quorum forms before its members are ready (D28).
 * 2. A member whose cluster is not Ready, whose traffic is blocked, or that has left is not listed; if no member were left, all
 *    that have an address are (D16).
 * 3. Nothing throws: a field of the wrong type reads as an absent one.
 */
import { type Cluster, findCondition } from "@lifeboat/api";
import { compareText, integerAt, isFields, listAt, textAt, textsAt } from "../fields.ts";
import { addressBytes, hostNameOf, isLabel } from "./addresses.ts";
import {
  FEDERATED,
  FEDERATED_REPLICAS,
  FEDERATED_SERVICES,
  FEDERATED_SHARES,
} from "../well-known.ts";
import type { GlobalMember, GlobalPort, GlobalSet } from "./global-set.ts";
import type { ListingReason } from "./reasons.ts";

/** Objects are read as they are: `unknown` is any object of the kind. */
export interface NamesView {
  readonly statefulSets: Iterable<unknown>;
  service(namespace: string, name: string): unknown;
  /** The binding of the StatefulSet, or of the Service, of this name. */
  binding(kind: "StatefulSet" | "Service", namespace: string, name: string): unknown;
  cluster(name: string): Cluster | undefined;
}

/** What names are made of in an object: when it does not change, nothing does. */
export function namesIn(
  kind: "StatefulSet" | "Service" | "Binding" | "Cluster",
  object: unknown,
): unknown {
  if (object === undefined) return undefined;
  const annotations = textsAt(object, "metadata", "annotations");
  switch (kind) {
    case "StatefulSet":
      if (annotations[FEDERATED] !== "true") return undefined;
      return [annotations[FEDERATED_SERVICES], textAt(object, "spec", "serviceName")];
    case "Service":
      return [
        annotations[FEDERATED_SERVICES],
        annotations[FEDERATED_REPLICAS],
        portsOf(object),
        textAt(object, "spec", "type"),
        listAt(object, "status", "loadBalancer", "ingress"),
      ];
    case "Binding":
      return textAt(object, "spec", "resource", "kind") === "Service"
        ? listAt(object, "status", "aggregatedStatus")
        : annotations[FEDERATED_SHARES];
    case "Cluster": {
      const { conditions, remedyActions } = (object as Cluster).status ?? {};
      return [findCondition(conditions, "Ready")?.status, remedyActions];
    }
  }
}

/** Every federated StatefulSet that has global names, in the order of namespace and name. */
export function readGlobalSets(view: NamesView): readonly GlobalSet[] {
  const sets: GlobalSet[] = [];
  for (const object of view.statefulSets) {
    const set = readSet(view, object);
    if (set !== undefined) sets.push(set);
  }
  return sets.sort((a, b) => compareText(a.namespace, b.namespace) || compareText(a.set, b.set));
}

function readSet(view: NamesView, object: unknown): GlobalSet | undefined {
  const annotations = textsAt(object, "metadata", "annotations");
  if (annotations[FEDERATED] !== "true") return undefined;
  const namespace = textAt(object, "metadata", "namespace");
  const set = textAt(object, "metadata", "name");
  const service = textAt(object, "spec", "serviceName");
  if (![namespace, set, service].every(isLabel)) return undefined;
  const wanted = annotations[FEDERATED_SERVICES] === "true";
  const governing = view.service(namespace, service);
  const named = textsAt(governing, "metadata", "annotations");
  // The Service carries the set's value; while it does not, the set itself decides whether something is missing.
  if (named[FEDERATED_SERVICES] !== "true" && !wanted) return undefined;
  const identity = { namespace, set, service };
  if (governing === undefined) return { ...identity, ports: [], members: [], missing: "Service" };
  const ports = portsOf(governing);
  const list = named[FEDERATED_REPLICAS];
  if (list === undefined) return { ...identity, ports, members: [], missing: "ReplicaList" };
  const pods = [...new Set(list.split(",").map((pod) => pod.trim()))].filter(isLabel);
  const shares = sharesOf(view.binding("StatefulSet", namespace, set));
  const members = pods.sort(compareText).map((pod) => readMember(view, identity, pod, shares));
  return { ...identity, ports, members: orAll(members) };
}

function portsOf(service: unknown): readonly GlobalPort[] {
  return listAt(service, "spec", "ports").flatMap((entry) => {
    const port = integerAt(entry, "port") ?? 0;
    if (port < 1 || port > 65_535) return [];
    return [{ name: textAt(entry, "name"), protocol: textAt(entry, "protocol") || "TCP", port }];
  });
}

/** The clusters that have a share; undefined: none are recorded. */
function sharesOf(binding: unknown): ReadonlySet<string> | undefined {
  const text = textsAt(binding, "metadata", "annotations")[FEDERATED_SHARES];
  if (text === undefined) return undefined;
  const shares = parsed(text);
  return isFields(shares) ? new Set(Object.keys(shares)) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readMember(
  view: NamesView,
  { namespace, set }: Pick<GlobalSet, "namespace" | "set">,
  pod: string,
  shares: ReadonlySet<string> | undefined,
): GlobalMember {
  const service = view.service(namespace, pod);
  const cluster = clusterOf(set, pod);
  const found =
    textAt(service, "spec", "type") === "LoadBalancer"
      ? balancedAt(service)
      : { addresses: addressesIn(ownAddresses(view.binding("Service", namespace, pod), cluster)) };
  const reason = reasonOf(view, cluster, shares, service, found);
  const member = { pod, cluster, ...found };
  return reason === undefined ? { ...member, listed: true } : { ...member, listed: false, reason };
}

/** `store-c1-0` of the set `store` runs in `c1`; "" when the name is not one of the set's. */
export function clusterOf(set: string, pod: string): string {
  const match = /^(.+)-(?:0|[1-9]\d*)$/.exec(
    pod.startsWith(`${set}-`) ? pod.slice(set.length + 1) : "",
  );
  return match?.[1] ?? "";
}

type Reached = Pick<GlobalMember, "addresses" | "hostName">;

/** What a load balancer gave. */
function balancedAt(service: unknown): Reached {
  const ingress = listAt(service, "status", "loadBalancer", "ingress");
  const addresses = addressesIn(ingress.map((entry) => textAt(entry, "ip")));
  if (addresses.length > 0) return { addresses };
  const [hostName] = ingress.flatMap((entry) => hostNameOf(textAt(entry, "hostname")) ?? []);
  return hostName === undefined ? { addresses } : { addresses, hostName };
}

/**
 * What the member gave a Service without a load balancer. The plane gave its template an address, too, at which no pod
 * answers: in a member another Service may have it.
 */
function ownAddresses(binding: unknown, cluster: string): readonly unknown[] {
  const reports = listAt(binding, "status", "aggregatedStatus");
  const report = reports.find((item) => textAt(item, "clusterName") === cluster);
  return listAt(report, "status", "clusterIPs");
}

function addressesIn(texts: readonly unknown[]): readonly string[] {
  const found = texts.filter(
    (text): text is string => typeof text === "string" && addressBytes(text) !== undefined,
  );
  return [...new Set(found)].sort(compareText);
}

function reasonOf(
  view: NamesView,
  name: string,
  shares: ReadonlySet<string> | undefined,
  service: unknown,
  { addresses, hostName }: Reached,
): ListingReason | undefined {
  if (name === "" || shares?.has(name) === false) return "NotAssigned";
  if (service === undefined) return "NoService";
  if (addresses.length === 0 && hostName === undefined) return "NoAddress";
  const cluster = view.cluster(name);
  if (cluster === undefined) return "ClusterLeft";
  if (findCondition(cluster.status?.conditions, "Ready")?.status !== "True")
    return "ClusterNotReady";
  if (cluster.status?.remedyActions?.includes("TrafficControl") === true) return "TrafficBlocked";
  return undefined;
}

const BLOCKED: ReadonlySet<string | undefined> = new Set<ListingReason>([
  "ClusterLeft",
  "ClusterNotReady",
  "TrafficBlocked",
]);

/** If blocking left no member, it blocks none (D16). */
function orAll(members: readonly GlobalMember[]): readonly GlobalMember[] {
  if (members.some(({ listed }) => listed)) return members;
  return members.map((member) =>
    BLOCKED.has(member.reason)
      ? { ...member, listed: true, reason: "AllMembersBlocked" as const }
      : member,
  );
}
