/**
 * Where the pods of a Service are, as its EndpointSlices in a member have it: what the member's side adds to the report of the Service,
 * and what the control plane reads of that.
 *
 *   annotation `lifeboat.dev/traffic-target: Pods`   ──▶ `endpoints`: addresses of pods, by the ports that they serve
 *   NodePort with `externalTrafficPolicy: Local`     ──▶ `nodes`: addresses of the nodes on which a pod of it answers
 *
 * 1. An endpoint is `addresses` (gets requests), `draining` (terminates, and still serves) or `unready`. One that gets no requests is
 *    reported as long as it is in a slice, so that requests under way at it end.
 * 2. Of a Service at most `MAX_ENDPOINTS` are reported, those that get requests first.
 * 3. Pods with two addresses are reached by IPv4; only numbers are addresses of pods.
 * 4. Slices are written by a member: a field of the wrong type reads as an absent one.
 */
import type { AnyObject, KubeObject } from "@lifeboat/api";
import {
  compareText,
  type Fields,
  fieldsAt,
  integerAt,
  isFields,
  listAt,
  NO_FIELDS,
  textAt,
  valueAt,
  withValue,
} from "../fields.ts";
import * as wellKnown from "../well-known.ts";
import { isAddress, isNumericAddress, isPort } from "./names.ts";

/** So many of a Service are used in a member. */
export const MAX_ENDPOINTS = 64;
/** So many slices of a Service are read: a slice holds up to a thousand endpoints. */
const MAX_SLICES = 100;

/** Addresses of one Service in one cluster, by what they may get. */
export interface Places {
  /** They get requests. */
  readonly addresses: readonly string[];
  /** They terminate and still serve: no new requests while another address is ready. */
  readonly draining?: readonly string[];
  readonly unready?: readonly string[];
}

/** Pods that serve the ports of a Service on the same ports of theirs. */
export interface EndpointGroup extends Places {
  /** By the port of the Service. */
  readonly ports: Readonly<Record<string, number>>;
}

type State = "addresses" | "draining" | "unready";
const STATES: readonly State[] = ["addresses", "draining", "unready"];

interface Endpoint {
  readonly address: string;
  readonly state: State;
  readonly node: string;
}

/** What is kept of an EndpointSlice. */
export interface EndpointSlice extends KubeObject {
  readonly service: string;
  readonly isIpv4: boolean;
  readonly ports: readonly { readonly name: string; readonly port: number }[];
  readonly endpoints: readonly Endpoint[];
}

/** Whether a Service asks for its pods as backends. */
function asksForPods(service: Fields): boolean {
  return (
    textAt(service, "metadata", "annotations", wellKnown.TRAFFIC_TARGET) === "Pods" &&
    textAt(service, "spec", "type") !== "ExternalName"
  );
}

/** The Service that an EndpointSlice is of; "": of none. */
function serviceOfSlice(slice: object): string {
  return textAt(slice, "metadata", "labels", "kubernetes.io/service-name");
}

/** Reads a slice as a member gives it. */
export function readSlice(slice: KubeObject | AnyObject): EndpointSlice {
  const { apiVersion, kind } = slice;
  const { namespace, name, uid, resourceVersion, creationTimestamp } = slice.metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      ...(namespace !== undefined && { namespace }),
      name,
      uid,
      resourceVersion,
      creationTimestamp,
    },
    service: serviceOfSlice(slice),
    isIpv4: textAt(slice, "addressType") === "IPv4",
    ports: listAt(slice, "ports").flatMap((one) => {
      const port = integerAt(one, "port") ?? 0;
      const isTcp = ["", "TCP"].includes(textAt(one, "protocol"));
      return isTcp && isPort(port) ? [{ name: textAt(one, "name"), port }] : [];
    }),
    endpoints: listAt(slice, "endpoints").flatMap((one) => {
      const [address] = listAt(one, "addresses");
      if (typeof address !== "string" || !isNumericAddress(address)) return [];
      return [{ address, state: stateOf(one), node: textAt(one, "nodeName") }];
    }),
  };
}

/** What is not stated is: ready, and as serving as it is ready. */
function stateOf(endpoint: unknown): State {
  const isTrue = (name: string, otherwise: boolean): boolean => {
    const value = valueAt(endpoint, "conditions", name);
    return typeof value === "boolean" ? value : otherwise;
  };
  const isReady = isTrue("ready", true);
  if (isReady) return "addresses";
  return isTrue("terminating", false) && isTrue("serving", isReady) ? "draining" : "unready";
}

/** The pods behind a Service, grouped by the ports that they serve it on. */
function endpointsOf(service: Fields, slices: readonly EndpointSlice[]): readonly EndpointGroup[] {
  const groups = new Map<string, { ports: Record<string, number>; found: Map<string, State> }>();
  for (const { ports, endpoints } of usedSlices(slices)) {
    const served = servedPorts(service, ports);
    if (Object.keys(served).length === 0) continue;
    const id = JSON.stringify(served);
    const group = groups.get(id) ?? { ports: served, found: new Map<string, State>() };
    groups.set(id, group);
    for (const { address, state } of endpoints) keepBest(group.found, address, state);
  }
  const inOrder = [...groups].sort(([a], [b]) => compareText(a, b)).map(([, group]) => group);
  const places = bounded(inOrder.map(({ found }) => found));
  return inOrder.map(({ ports }, i) => ({ ports, ...(places[i] ?? { addresses: [] }) }));
}

/** The nodes on which pods of a Service answer; nodes without a known address are left out. */
function nodesOf(
  slices: readonly EndpointSlice[],
  addressOf: (node: string) => string | undefined,
): Places {
  const found = new Map<string, State>();
  for (const { endpoints } of slices.slice(0, MAX_SLICES))
    for (const { node, state } of endpoints) {
      const address = addressOf(node);
      if (address !== undefined) keepBest(found, address, state);
    }
  return bounded([found])[0] ?? { addresses: [] };
}

function usedSlices(slices: readonly EndpointSlice[]): readonly EndpointSlice[] {
  const ipv4 = slices.filter(({ isIpv4, endpoints }) => isIpv4 && endpoints.length > 0);
  const used = ipv4.length > 0 ? ipv4 : slices;
  return used
    .toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))
    .slice(0, MAX_SLICES);
}

function servedPorts(service: Fields, ports: EndpointSlice["ports"]): Record<string, number> {
  const served = listAt(service, "spec", "ports").flatMap((one) => {
    const port = integerAt(one, "port") ?? 0;
    const isTcp = ["", "TCP"].includes(textAt(one, "protocol"));
    const target = ports.find(({ name }) => name === textAt(one, "name"));
    return isTcp && isPort(port) && target !== undefined ? [[String(port), target.port]] : [];
  });
  return Object.fromEntries(served) as Record<string, number>;
}

/** While a pod moves from one slice to another it is in both. */
function keepBest(found: Map<string, State>, address: string, state: State): void {
  const before = found.get(address);
  if (before === undefined || STATES.indexOf(state) < STATES.indexOf(before))
    found.set(address, state);
}

function bounded(groups: readonly ReadonlyMap<string, State>[]): readonly Places[] {
  let left = MAX_ENDPOINTS;
  const kept = groups.map((): Partial<Record<State, readonly string[]>> => ({}));
  for (const state of STATES)
    for (const [i, found] of groups.entries()) {
      const all = [...found].filter(([, one]) => one === state).map(([address]) => address);
      const some = all.sort(compareText).slice(0, left);
      left -= some.length;
      if (some.length > 0) kept[i] = { ...kept[i], [state]: some };
    }
  return kept.map((one) => ({ addresses: [], ...one }));
}

/** What a report holds of pods; undefined: the member does not report them. */
export function reportedEndpoints(status: unknown): readonly EndpointGroup[] | undefined {
  if (!Array.isArray(valueAt(status, "endpoints"))) return undefined;
  return readGroups(listAt(status, "endpoints"));
}

/** What a report holds of the nodes that answer; undefined: every node does. */
export function reportedNodes(status: unknown): Places | undefined {
  const nodes = valueAt(status, "nodes");
  return isFields(nodes) ? readPlaces(nodes, isAddress) : undefined;
}

/** Reads groups of pods, reported or published. */
export function readGroups(values: readonly unknown[]): readonly EndpointGroup[] {
  return values.slice(0, MAX_ENDPOINTS).flatMap((group) => {
    const ports = Object.entries(fieldsAt(group, "ports")).filter(
      (entry): entry is [string, number] =>
        typeof entry[1] === "number" && isPort(entry[1]) && isPort(Number(entry[0])),
    );
    return ports.length === 0
      ? []
      : [{ ports: Object.fromEntries(ports), ...readPlaces(group, isNumericAddress) }];
  });
}

/** Reads places, reported or published. */
export function readPlaces(value: unknown, isKnown: (address: string) => boolean): Places {
  const textsOf = (state: State): readonly string[] => {
    const all = listAt(value, state).filter((one) => typeof one === "string");
    return [...new Set(all.filter(isKnown))].slice(0, MAX_ENDPOINTS);
  };
  const [addresses = [], draining = [], unready = []] = STATES.map(textsOf);
  return {
    addresses,
    ...(draining.length > 0 && { draining }),
    ...(unready.length > 0 && { unready }),
  };
}

/** The labels of slices are those of their Service, so those of our Services bear our mark. */
export const SLICE_SELECTOR = `${wellKnown.MANAGED}=true`;

/** What the report of a Service needs beside the Service itself. */
export interface ReportNeeds {
  /** Its EndpointSlices, and with `nodes` the addresses of nodes. */
  readonly slices: boolean;
  readonly nodes: boolean;
}

/** What is needed for the report of an object; `status` is what the object itself reports. */
export function needsOf(manifest: Fields, status: unknown): ReportNeeds {
  if (textAt(manifest, "kind") !== "Service" || textAt(manifest, "apiVersion") !== "v1")
    return { slices: false, nodes: false };
  const nodes = valueAt(status, "nodes") !== undefined;
  return { slices: nodes || asksForPods(manifest), nodes };
}

/** What the member's side knows of one Service; absent: not yet. */
export interface EndpointsView {
  readonly manifest: Fields;
  /** What the Service itself reports. */
  readonly status: unknown;
  /** What was reported last. */
  readonly before: unknown;
  readonly slices?: readonly EndpointSlice[];
  readonly addressOf?: (node: string) => string | undefined;
}

/** The report of a Service with its pods or nodes. What is not known yet stays as it was reported: it may still answer. */
export function completeReport(view: EndpointsView): unknown {
  const { manifest, status, before, slices, addressOf } = view;
  const needs = needsOf(manifest, status);
  let report = isFields(status) ? status : NO_FIELDS;
  if (asksForPods(manifest)) {
    const pods =
      slices === undefined ? valueAt(before, "endpoints") : endpointsOf(manifest, slices);
    report = withValue(report, ["endpoints"], pods);
  }
  if (needs.nodes) {
    const isKnown = slices !== undefined && addressOf !== undefined;
    const nodes = isKnown ? nodesOf(slices, addressOf) : (valueAt(before, "nodes") ?? NO_FIELDS);
    report = withValue(report, ["nodes"], nodes);
  }
  return Object.keys(report).length > 0 ? report : status;
}
