/**
 * Gives Services their cluster IP, from 10.96.0.0/12.
 *
 * The address is derived from the Service's namespace and name, so that the same template gets the same address
 * again; when that one is taken, the next free one. What is taken follows from the stored Services: the plugin watches
 * the table, and remembers what it gave out until it sees it stored.
 *
 * 1. No two stored Services have the same address, unless one of them was there before this plugin.
 * 2. A Service keeps its address for life, also when an update leaves it out.
 * 3. An address that was given to a write that then failed is free again after a minute.
 */
import { type Clock, hashText } from "@lifeboat/base";
import { type AnyObject, invalid, invalidObject } from "@lifeboat/api";
import type { Change, Store } from "../store/store.ts";
import type { AdmissionPlugin, AdmissionRequest } from "./admission.ts";

const TABLE = "/services";
const NETWORK = (10 << 24) | (96 << 16);
const SIZE = 1 << 20;
/** The network's own address and that of the API server's Service are not given out. */
const FIRST = 2;
const RESERVED_FOR_MS = 60_000;

interface ServiceSpec {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly ipFamilies?: readonly string[];
  readonly ipFamilyPolicy?: string;
}

export function createClusterIpAllocator(clock: Clock, store: Store): AdmissionPlugin {
  const addresses = new Addresses(clock, store);
  return {
    name: "ClusterIPAllocation",
    handles: ({ resource, operation, subresource }) =>
      resource.table === TABLE && operation !== "DELETE" && subresource === "",
    mutate: (request) => allocate(addresses, request),
  };
}

function allocate(addresses: Addresses, request: AdmissionRequest): AnyObject {
  const service = request.object as AnyObject;
  const spec = specOf(service);
  if (spec.type === "ExternalName") return service;
  const kept = request.old === undefined ? undefined : specOf(request.old).clusterIP;
  const asked = spec.clusterIP ?? "";
  const key = `${request.namespace}/${request.name}`;
  const clusterIP = asked !== "" ? asked : (kept ?? addresses.pick(key, request.dryRun));
  if (asked !== "" && asked !== "None" && asked !== kept)
    requireFree(addresses, request, asked, key);
  const families = asked === "None" ? spec.ipFamilies : (spec.ipFamilies ?? ["IPv4"]);
  return {
    ...service,
    spec: {
      ...(service["spec"] as object),
      clusterIP,
      clusterIPs: spec.clusterIPs ?? [clusterIP],
      ...(families !== undefined && { ipFamilies: families }),
      ...(spec.ipFamilies === undefined && asked === "None" && { ipFamilies: ["IPv4"] }),
      ipFamilyPolicy: spec.ipFamilyPolicy ?? "SingleStack",
    },
  };
}

function requireFree(
  addresses: Addresses,
  request: AdmissionRequest,
  asked: string,
  key: string,
): void {
  if (addresses.take(asked, key, request.dryRun)) return;
  throw invalidObject(request.resource, request.name, [
    invalid(
      "spec.clusterIPs",
      [asked],
      `failed to allocate IP ${asked}: provided IP is already allocated`,
    ),
  ]);
}

/** Which address belongs to which Service. */
class Addresses {
  readonly #clock: Clock;
  readonly #owners = new Map<string, string>();
  /** Given out and not seen stored yet, with when that ends. */
  readonly #reserved = new Map<string, { readonly key: string; readonly until: number }>();

  constructor(clock: Clock, store: Store) {
    this.#clock = clock;
    for (const { key, object } of store.range(TABLE, {})) this.#own(key, object);
    store.watch(
      TABLE,
      { from: store.revision, needsPrevious: false },
      { change: (change) => this.#follow(change), end: () => undefined },
    );
  }

  /** A free address for this Service. */
  pick(key: string, dryRun: boolean): string {
    const start = hashText(key) % (SIZE - FIRST - 1);
    for (let i = 0; i < SIZE - FIRST - 1; i++) {
      const address = format(NETWORK + FIRST + ((start + i) % (SIZE - FIRST - 1)));
      if (this.take(address, key, dryRun)) return address;
    }
    return "";
  }

  /** Whether the address was free, or this Service's own. */
  take(address: string, key: string, dryRun: boolean): boolean {
    const owner = this.#owners.get(address) ?? this.#reservation(address);
    if (owner !== undefined && owner !== key) return false;
    if (!dryRun)
      this.#reserved.set(address, { key, until: this.#clock.monotonic() + RESERVED_FOR_MS });
    return true;
  }

  #reservation(address: string): string | undefined {
    const found = this.#reserved.get(address);
    if (found === undefined) return undefined;
    if (found.until > this.#clock.monotonic()) return found.key;
    this.#reserved.delete(address);
    return undefined;
  }

  #follow({ type, entry }: Change): boolean {
    if (type !== "DELETED") this.#own(entry.key, entry.object);
    else {
      const address = specOf(entry.object).clusterIP ?? "";
      if (this.#owners.get(address) === entry.key) this.#owners.delete(address);
    }
    return true;
  }

  #own(key: string, service: AnyObject): void {
    const address = specOf(service).clusterIP ?? "";
    if (address === "" || address === "None") return;
    this.#owners.set(address, key);
    this.#reserved.delete(address);
  }
}

function specOf(service: AnyObject): ServiceSpec {
  return service["spec"] ?? {};
}

function format(address: number): string {
  const unsigned = address >>> 0;
  return `${unsigned >>> 24}.${(unsigned >>> 16) & 255}.${(unsigned >>> 8) & 255}.${unsigned & 255}`;
}
