/**
 * Gives Services their cluster IP (from 10.96.0.0/12) and their node ports (30000 to 32767), and takes from them what
 * their type does not have.
 *
 * 1. No two stored Services have the same address or the same node port and protocol.
 * 2. A Service keeps what it has for life, also when an update leaves it out, until its type has no use for it.
 * 3. Nothing is taken by a dry run.
 */
import type { Clock } from "@lifeboat/base";
import { type AnyObject, type FieldError, invalid, invalidObject } from "@lifeboat/api";
import type { Change, Entry, Store } from "../store/store.ts";
import type { AdmissionPlugin, AdmissionRequest } from "./admission.ts";
import { ServiceRange } from "./service-ranges.ts";

const TABLE = "/services";
const HEADLESS = "None";
const NETWORK = ((10 << 24) | (96 << 16)) >>> 0;
/** Without the network's own address, that of the API server's Service and the broadcast address. */
const ADDRESSES = { first: NETWORK + 2, size: (1 << 20) - 3 };
const NODE_PORTS = { first: 30_000, size: 2768 };

interface Port {
  readonly protocol?: string;
  readonly port?: number;
  readonly nodePort?: number;
}

interface ServiceSpec {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly ipFamilies?: readonly string[];
  readonly ipFamilyPolicy?: string;
  readonly selector?: Readonly<Record<string, string>>;
  readonly ports?: readonly Port[];
  readonly allocateLoadBalancerNodePorts?: boolean;
}

export function createServiceAllocation(clock: Clock, store: Store): AdmissionPlugin {
  const allocator = new Allocator(clock, store);
  return {
    name: "ServiceAllocation",
    handles: ({ resource, operation, subresource }) =>
      resource.table === TABLE && operation !== "DELETE" && subresource === "",
    mutate: (request) => {
      const service = request.object as AnyObject;
      const old = request.old === undefined ? {} : specOf(request.old);
      const spec = allocator.allocate(request, withoutForeignFields(specOf(service), old), old);
      return { ...service, spec };
    },
  };
}

/** Fields that belong to the type the Service had, and not to the one it has now. */
const CLUSTER_FIELDS = [
  "clusterIP",
  "clusterIPs",
  "ipFamilies",
  "ipFamilyPolicy",
  "internalTrafficPolicy",
] as const;
const EXTERNAL_FIELDS = ["externalTrafficPolicy", "allocateLoadBalancerNodePorts"] as const;

function withoutForeignFields(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
  let next: ServiceSpec = spec;
  if (!hasClusterIp(spec) && hasClusterIp(old)) next = without(next, CLUSTER_FIELDS);
  if (!hasNodePorts(spec) && hasNodePorts(old)) {
    next = without(next, EXTERNAL_FIELDS);
    const ports = next.ports?.map(withoutNodePort);
    if (ports !== undefined) next = { ...next, ports };
  }
  return next;
}

function withoutNodePort(port: Port): Port {
  const { nodePort: _, ...rest } = port;
  return rest;
}

function without(spec: ServiceSpec, fields: readonly string[]): ServiceSpec {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !fields.includes(field)));
}

function hasClusterIp({ type }: ServiceSpec): boolean {
  return type !== undefined && type !== "ExternalName";
}

function hasNodePorts({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return (
    type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts !== false)
  );
}

class Allocator {
  readonly #addresses: ServiceRange;
  readonly #nodePorts: ReadonlyMap<string, ServiceRange>;

  constructor(clock: Clock, store: Store) {
    this.#addresses = new ServiceRange(clock, ADDRESSES);
    this.#nodePorts = new Map(
      ["TCP", "UDP", "SCTP"].map((protocol) => [protocol, new ServiceRange(clock, NODE_PORTS)]),
    );
    for (const entry of store.range(TABLE, {})) this.#claim(entry);
    const sink = { change: (change: Change) => this.#follow(change), end: () => undefined };
    store.watch(TABLE, { from: store.revision, needsPrevious: false }, sink);
  }

  allocate(request: AdmissionRequest, spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
    const withAddress = hasClusterIp(spec) ? this.#withAddress(request, spec, old) : spec;
    return hasNodePorts(spec) ? this.#withNodePorts(request, withAddress, old) : withAddress;
  }

  #withAddress(request: AdmissionRequest, spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
    const asked = spec.clusterIP ?? "";
    const kept = old.clusterIP ?? "";
    const clusterIP =
      asked === "" && kept !== "" ? kept : asked === "" ? this.#pickAddress(request) : asked;
    if (asked !== "" && asked !== kept && asked !== HEADLESS) this.#takeAddress(request, asked);
    const anywhere = clusterIP === HEADLESS && Object.keys(spec.selector ?? {}).length === 0;
    return {
      ...spec,
      clusterIP,
      clusterIPs: spec.clusterIPs ?? [clusterIP],
      ipFamilies: spec.ipFamilies ?? old.ipFamilies ?? (anywhere ? ["IPv4", "IPv6"] : ["IPv4"]),
      ipFamilyPolicy:
        spec.ipFamilyPolicy ??
        old.ipFamilyPolicy ??
        (anywhere ? "RequireDualStack" : "SingleStack"),
    };
  }

  #pickAddress(request: AdmissionRequest): string {
    const key = ownerOf(request);
    const address = request.dryRun ? ADDRESSES.first : this.#addresses.pick(key, key);
    if (address !== undefined) return formatAddress(address);
    throw refused(request, invalid("spec.clusterIPs", [], "failed to allocate IP: range is full"));
  }

  /** What is no address at all is left to the Service's own validation. */
  #takeAddress(request: AdmissionRequest, asked: string): void {
    const address = parseAddress(asked);
    if (address === undefined) return;
    const refuse = (why: string): Error =>
      refused(
        request,
        invalid("spec.clusterIPs", [asked], `failed to allocate IP ${asked}: ${why}`),
      );
    if (!this.#addresses.contains(address))
      throw refuse("the provided network does not match the current range");
    const free = request.dryRun
      ? this.#addresses.isFree(address, ownerOf(request))
      : this.#addresses.take(address, ownerOf(request));
    if (!free) throw refuse("provided IP is already allocated");
  }

  #withNodePorts(request: AdmissionRequest, spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
    const ports = spec.ports?.map((port, i) => {
      const kept = old.ports?.find(
        (one) => one.port === port.port && one.protocol === port.protocol,
      );
      const nodePort = (port.nodePort ?? 0) !== 0 ? port.nodePort : kept?.nodePort;
      if (nodePort === undefined)
        return { ...port, nodePort: this.#pickNodePort(request, port, i) };
      if (nodePort !== kept?.nodePort) this.#takeNodePort(request, { ...port, nodePort }, i);
      return { ...port, nodePort };
    });
    return ports === undefined ? spec : { ...spec, ports };
  }

  #pickNodePort(request: AdmissionRequest, port: Port, index: number): number {
    const owner = ownerOf(request);
    const range = this.#rangeOf(port);
    const hint = `${owner}:${port.port ?? 0}`;
    const nodePort = request.dryRun ? NODE_PORTS.first : range?.pick(owner, hint);
    if (nodePort !== undefined) return nodePort;
    const field = `spec.ports[${index}].nodePort`;
    throw refused(request, invalid(field, 0, "failed to allocate a nodePort: range is full"));
  }

  #takeNodePort(request: AdmissionRequest, port: Port, index: number): void {
    const field = `spec.ports[${index}].nodePort`;
    const nodePort = port.nodePort ?? 0;
    const range = this.#rangeOf(port);
    if (range === undefined) return;
    if (!range.contains(nodePort))
      throw refused(
        request,
        invalid(
          field,
          nodePort,
          "provided port is not in the valid range. The range of valid ports is 30000-32767",
        ),
      );
    const owner = ownerOf(request);
    const free = request.dryRun ? range.isFree(nodePort, owner) : range.take(nodePort, owner);
    if (!free)
      throw refused(request, invalid(field, nodePort, "provided port is already allocated"));
  }

  #rangeOf({ protocol = "TCP" }: Port): ServiceRange | undefined {
    return this.#nodePorts.get(protocol);
  }

  #follow({ type, entry, previous }: Change): boolean {
    if (previous !== undefined) this.#release(previous);
    if (type === "DELETED") this.#release(entry);
    else this.#claim(entry);
    return true;
  }

  #claim({ key, object }: Entry): void {
    const spec = specOf(object);
    const address = parseAddress(spec.clusterIP ?? "");
    if (address !== undefined) this.#addresses.stored(address, key);
    for (const port of spec.ports ?? [])
      if (port.nodePort !== undefined) this.#rangeOf(port)?.stored(port.nodePort, key);
  }

  #release({ key, object }: Entry): void {
    const spec = specOf(object);
    const address = parseAddress(spec.clusterIP ?? "");
    if (address !== undefined) this.#addresses.released(address, key);
    for (const port of spec.ports ?? [])
      if (port.nodePort !== undefined) this.#rangeOf(port)?.released(port.nodePort, key);
  }
}

function refused(request: AdmissionRequest, error: FieldError): Error {
  return invalidObject(request.resource, request.name, [error]);
}

/** A Service as the store names it. */
function ownerOf({ namespace, name }: AdmissionRequest): string {
  return `${namespace}/${name}`;
}

function specOf(service: AnyObject): ServiceSpec {
  return service["spec"] ?? {};
}

function formatAddress(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}

function parseAddress(text: string): number | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let address = 0;
  for (const part of parts) {
    const value = Number(part);
    if (part === "" || !Number.isInteger(value) || value < 0 || value > 255) return undefined;
    address = address * 256 + value;
  }
  return address;
}
