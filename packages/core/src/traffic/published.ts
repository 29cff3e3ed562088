/**
 * What the control plane publishes of an ingress' backends: the annotation `lifeboat.dev/backends` of the MultiClusterIngress, as
 * JSON. A load balancer needs nothing else but the ingress itself: it reads neither Works, which hold the content of Secrets,
 * nor bindings.
 *
 * Annotations of an object are limited (256 KiB together), so nothing stands there twice: addresses that follow from `endpoints` are
 * left out.
 *
 * `generation` grows with every change. A load balancer confirms the generation that it has carried out.
 */
import type { MultiClusterIngress } from "@lifeboat/api";
import { type Fields, fieldsAt, integerAt, isFields, listAt, textAt, valueAt } from "../fields.ts";
import { type EndpointGroup, type Places, readGroups, readPlaces } from "./endpoints.ts";
import { isPort } from "./names.ts";
import * as wellKnown from "../well-known.ts";

export type BackendState = "serving" | "draining";

/**
 * Why a backend drains. `leaves`: its workload is evicted, and the substitute is healthy; until it is removed it can serve. `idle`: none
 * of its replicas is ready. `gone`: the Service or its workload is not placed there, or no longer.
 */
export type DrainCause = "leaves" | "idle" | "gone";

const CAUSES: readonly DrainCause[] = ["leaves", "idle", "gone"];

/** The backends of one Service in one cluster. */
export interface PublishedCluster extends Places {
  /** `draining`: requests under way end there, new ones go elsewhere. */
  readonly state: BackendState;
  /** Of one that drains; absent: it was published by a control plane of before. */
  readonly cause?: DrainCause;
  /** Of one that drains: since when; absent: it was published by a control plane of before. */
  readonly drainingSince?: string;
  readonly weight: number;
  /** Where the addresses are those of nodes: the node port of each port of the Service. */
  readonly nodePorts?: Readonly<Record<string, number>>;
  /** Where the addresses are those of pods: all of these, and which ports they serve. */
  readonly endpoints?: readonly EndpointGroup[];
  /** Since when the cluster has not been Ready; absent: its report is current. */
  readonly unconfirmedSince?: string;
  /** While a workload leaves: the bindings of the others behind the Service, which stay there and go on to serve. */
  readonly keptBy?: readonly string[];
}

export interface PublishedPort {
  readonly name: string;
  readonly port: number;
}

export interface PublishedService {
  readonly ports: readonly PublishedPort[];
  readonly clusters: Readonly<Record<string, PublishedCluster>>;
  /** The bindings of the Service and of the workloads that it selects: their old copies wait for this ingress (D27). */
  readonly bindings: readonly string[];
}

export interface PublishedBackends {
  readonly generation: number;
  readonly services: Readonly<Record<string, PublishedService>>;
}

const NONE: PublishedBackends = Object.freeze({ generation: 0, services: Object.freeze({}) });

/** What is published of an ingress; generation 0: nothing yet, or nothing that can be read. */
export function publishedBackends({
  metadata,
}: Pick<MultiClusterIngress, "metadata">): PublishedBackends {
  const text = metadata.annotations?.[wellKnown.BACKENDS];
  if (text === undefined) return NONE;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return NONE;
  }
  const services = Object.entries(fieldsAt(value, "services")).map(
    ([name, service]) => [name, readService(service)] as const,
  );
  return {
    generation: integerAt(value, "generation") ?? 0,
    services: Object.fromEntries(services),
  };
}

/** The text of the annotation. */
export function formatBackends({ generation, services }: PublishedBackends): string {
  return JSON.stringify({ generation, services }, (_key, value: unknown) => {
    if (!isFields(value) || !Array.isArray(value["endpoints"])) return value;
    const { addresses: _derived, ...rest } = value;
    return rest;
  });
}

/** The addresses that get requests, of all pods of a Service. */
export function readyAddresses(endpoints: readonly EndpointGroup[]): readonly string[] {
  return [...new Set(endpoints.flatMap(({ addresses }) => addresses))].sort();
}

/**
 * Whether a ready replica is behind the addresses, as far as is known. Where they are those of pods they are known to be ready; elsewhere
 * the workload counts. A cause that is not known counts as one that can serve.
 */
export function isReady({ addresses, endpoints, cause }: PublishedCluster): boolean {
  return addresses.length > 0 && (endpoints !== undefined || !isEmpty(cause));
}

/** Whether a backend drains because no replica there could answer. */
export function isEmpty(cause: DrainCause | undefined): boolean {
  return cause === "idle" || cause === "gone";
}

/** The clusters where a Service of an ingress has a ready backend; undefined: none is published, so nothing is known. */
export function readyClusters(
  ingress: Pick<MultiClusterIngress, "metadata">,
): ReadonlySet<string> | undefined {
  const ready = Object.values(publishedBackends(ingress).services).flatMap(({ clusters }) =>
    Object.entries(clusters)
      .filter(([, published]) => isReady(published))
      .map(([name]) => name),
  );
  return ready.length === 0 ? undefined : new Set(ready);
}

function readService(value: unknown): PublishedService {
  const clusters = Object.entries(fieldsAt(value, "clusters")).map(
    ([name, cluster]) => [name, readCluster(cluster)] as const,
  );
  return {
    ports: listAt(value, "ports")
      .filter(isFields)
      .map((port) => ({ name: textAt(port, "name"), port: integerAt(port, "port") ?? 0 })),
    clusters: Object.fromEntries(clusters),
    bindings: textsIn(listAt(value, "bindings")),
  };
}

function readCluster(value: unknown): PublishedCluster {
  const since = textAt(value, "unconfirmedSince");
  const keptBy = textsIn(listAt(value, "keptBy"));
  const nodePorts = numbersIn(fieldsAt(value, "nodePorts"));
  const endpoints = readGroups(listAt(value, "endpoints"));
  const state = textAt(value, "state") === "draining" ? "draining" : "serving";
  const cause = CAUSES.find((one) => one === textAt(value, "cause"));
  const drainingSince = textAt(value, "drainingSince");
  const hasEndpoints = valueAt(value, "endpoints") !== undefined;
  return {
    ...readPlaces(value, () => true),
    ...(hasEndpoints && { addresses: readyAddresses(endpoints) }),
    state,
    ...(state === "draining" && cause !== undefined && { cause }),
    ...(state === "draining" && drainingSince !== "" && { drainingSince }),
    weight: Math.max(1, integerAt(value, "weight") ?? 1),
    ...(valueAt(value, "nodePorts") !== undefined && { nodePorts }),
    ...(hasEndpoints && { endpoints }),
    ...(since !== "" && { unconfirmedSince: since }),
    ...(keptBy.length > 0 && { keptBy }),
  };
}

function numbersIn(values: Fields): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(values).filter(
      (entry): entry is [string, number] => typeof entry[1] === "number" && isPort(entry[1]),
    ),
  );
}

function textsIn(values: readonly unknown[]): readonly string[] {
  return values.filter((one) => typeof one === "string");
}
