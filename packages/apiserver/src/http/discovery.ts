/**
 * Discovery: what the server serves, in the two ways clients ask for. The legacy way is one document for the groups,
 * one per group and one per version; the aggregated way is one document for everything, with an ETag. Documents are
 * made when asked for and kept until the catalog changes.
 */
import { apiVersionOf } from "@lifeboat/api";
import { hashText } from "@lifeboat/base";
import type { Catalog, ServedResource } from "../catalog/served-resource.ts";
import { type MediaType, notAcceptable, parseAccept } from "./media-type.ts";

export interface DiscoveryDocument {
  readonly contentType: string;
  readonly body: Uint8Array;
  /** Aggregated documents only. */
  readonly etag?: string;
}

export interface Discovery {
  /** `/api` and `/apis`; the Accept header chooses between legacy and aggregated. */
  root(root: "api" | "apis", accept: string | undefined): DiscoveryDocument;
  /** `/apis/{group}`; undefined when the group is not served. */
  group(group: string): DiscoveryDocument | undefined;
  /** `/api/{version}` and `/apis/{group}/{version}`; undefined when it is not served. */
  version(group: string, version: string): DiscoveryDocument | undefined;
}

type AggregatedVersion = "v2" | "v2beta1";

const JSON_TYPE = "application/json";
const AGGREGATED_GROUP = "apidiscovery.k8s.io";
const AGGREGATED_KIND = "APIGroupDiscoveryList";
const SUBRESOURCE_VERBS = {
  approval: ["get", "patch", "update"],
  binding: ["create"],
  eviction: ["create"],
  finalize: ["update"],
  scale: ["get", "patch", "update"],
  status: ["get", "patch", "update"],
  token: ["create"],
} as const;

type SubresourceName = keyof typeof SUBRESOURCE_VERBS;

/** A subresource that is a connection and not an object: `clusters/proxy`, `pods/exec`. */
export interface ConnectedSubresource {
  readonly group: string;
  readonly plural: string;
  readonly name: string;
  /** Absent: that of the resource. */
  readonly kind?: string;
  readonly verbs: readonly string[];
}

/** Subresources that are objects of another kind, as discovery writes it; the group is left out where it is the same. */
const FOREIGN_KINDS: Readonly<
  Partial<Record<SubresourceName, { group?: string; version?: string; kind: string }>>
> = {
  binding: { kind: "Binding" },
  eviction: { group: "policy", version: "v1", kind: "Eviction" },
  scale: { group: "autoscaling", version: "v1", kind: "Scale" },
  token: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" },
};

/** `connected`: what is served beside the subresources of the catalog. */
export function createDiscovery(
  catalog: Catalog,
  connected: readonly ConnectedSubresource[] = [],
): Discovery {
  const cache = new Map<string, DiscoveryDocument | undefined>();
  let revision = catalog.revision;
  const cached = (
    key: string,
    make: () => DiscoveryDocument | undefined,
  ): DiscoveryDocument | undefined => {
    if (revision !== catalog.revision) {
      cache.clear();
      revision = catalog.revision;
    }
    let document = cache.get(key);
    if (document === undefined) {
      document = make();
      // Only what exists is kept: the names of what does not exist are the client's to choose, without bound.
      if (document !== undefined) cache.set(key, document);
    }
    return document;
  };
  return {
    root(root, accept) {
      const aggregated = negotiateRoot(accept);
      const document = cached(`/${root} ${aggregated ?? ""}`, () =>
        aggregated === undefined
          ? legacyRoot(catalog, root)
          : aggregatedRoot(catalog, connected, root, aggregated),
      );
      return document as DiscoveryDocument;
    },
    group: (group) => cached(`/apis/${group}`, () => legacyGroup(catalog, group)),
    version: (group, version) =>
      cached(`/apis/${group}/${version}`, () => legacyVersion(catalog, connected, group, version)),
  };
}

/** The aggregated version asked for, undefined for legacy; the first alternative that can be served decides. */
function negotiateRoot(accept: string | undefined): AggregatedVersion | undefined {
  if (accept === undefined || accept === "") return undefined;
  for (const type of parseAccept(accept)) {
    if (type.name !== JSON_TYPE && !type.name.endsWith("/*")) continue;
    const parameters = new Map(type.parameters);
    const kind = parameters.get("as");
    if (kind === undefined) return undefined;
    const version = parameters.get("v");
    if (isAggregated(type, kind) && (version === "v2" || version === "v2beta1")) return version;
  }
  throw notAcceptable("only the following media types are accepted: application/json");
}

function isAggregated(type: MediaType, kind: string): boolean {
  return (
    kind === AGGREGATED_KIND &&
    type.parameters.some(([name, value]) => name === "g" && value === AGGREGATED_GROUP)
  );
}

function document(value: object): DiscoveryDocument {
  return { contentType: JSON_TYPE, body: Buffer.from(`${JSON.stringify(value)}\n`) };
}

function legacyRoot(catalog: Catalog, root: "api" | "apis"): DiscoveryDocument {
  if (root === "apis") {
    const groups = namedGroups(catalog).map(legacyGroupValue);
    return document({ kind: "APIGroupList", apiVersion: "v1", groups });
  }
  const core = catalog.groups().find((group) => group.name === "");
  return document({
    kind: "APIVersions",
    versions: core?.versions ?? [],
    serverAddressByClientCIDRs: [],
  });
}

interface Group {
  readonly name: string;
  readonly versions: readonly string[];
}

function namedGroups(catalog: Catalog): readonly Group[] {
  return catalog.groups().filter((group) => group.name !== "");
}

function legacyGroupValue({ name, versions }: Group): object {
  const all = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: all, preferredVersion: all[0] };
}

function legacyGroup(catalog: Catalog, name: string): DiscoveryDocument | undefined {
  const group = namedGroups(catalog).find((candidate) => candidate.name === name);
  if (group === undefined) return undefined;
  return document({ kind: "APIGroup", apiVersion: "v1", ...legacyGroupValue(group) });
}

function legacyVersion(
  catalog: Catalog,
  connected: readonly ConnectedSubresource[],
  group: string,
  version: string,
): DiscoveryDocument | undefined {
  const served = catalog.resources(group, version);
  if (served.length === 0) return undefined;
  return document({
    kind: "APIResourceList",
    // The real server leaves apiVersion out for the core group alone.
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: apiVersionOf({ group, version }),
    resources: inOrder(served).flatMap((one) => legacyResources(one, connected)),
  });
}

/** By name, as the real server lists its own; discovery must not depend on the order of registration. */
function inOrder(served: readonly ServedResource[]): readonly ServedResource[] {
  return [...served].sort((a, b) => (a.plural < b.plural ? -1 : a.plural > b.plural ? 1 : 0));
}

function legacyResources(
  resource: ServedResource,
  connected: readonly ConnectedSubresource[],
): readonly object[] {
  const { plural, namespaced, kind } = resource;
  const own = {
    name: plural,
    singularName: resource.singular,
    namespaced,
    kind,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
    ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
  };
  const subresources = subresourcesOf(resource, connected).map(({ name, foreign, verbs }) => ({
    name: `${plural}/${name}`,
    singularName: "",
    namespaced,
    ...(foreign ?? { kind }),
    verbs,
  }));
  return [own, ...subresources];
}

interface Subresource {
  readonly name: string;
  /** Of another kind than its resource. */
  readonly foreign:
    | { readonly group?: string; readonly version?: string; readonly kind: string }
    | undefined;
  readonly verbs: readonly string[];
}

/** The subresources of a resource, by name. */
function subresourcesOf(
  resource: ServedResource,
  connected: readonly ConnectedSubresource[],
): readonly Subresource[] {
  const { approval, binding, eviction, finalize, scale, status, token } = resource.subresources;
  const names: SubresourceName[] = [];
  if (approval === true) names.push("approval");
  if (binding === true) names.push("binding");
  if (eviction === true) names.push("eviction");
  if (finalize === true) names.push("finalize");
  if (scale !== undefined) names.push("scale");
  if (status === true) names.push("status");
  if (token === true) names.push("token");
  const all: Subresource[] = names.map((name) => ({
    name,
    foreign: FOREIGN_KINDS[name],
    verbs: SUBRESOURCE_VERBS[name],
  }));
  for (const { group, plural, name, kind, verbs } of connected)
    if (group === resource.group && plural === resource.plural)
      all.push({ name, foreign: kind === undefined ? undefined : { kind }, verbs });
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function aggregatedRoot(
  catalog: Catalog,
  connected: readonly ConnectedSubresource[],
  root: "api" | "apis",
  version: AggregatedVersion,
): DiscoveryDocument {
  const groups =
    root === "api" ? catalog.groups().filter((group) => group.name === "") : namedGroups(catalog);
  const items = groups.map((group) => ({
    metadata: group.name === "" ? {} : { name: group.name },
    versions: group.versions.map((served) => ({
      version: served,
      resources: inOrder(catalog.resources(group.name, served)).map((one) =>
        aggregatedResource(one, connected),
      ),
      freshness: "Current",
    })),
  }));
  const apiVersion = `${AGGREGATED_GROUP}/${version}`;
  const text = JSON.stringify({ kind: AGGREGATED_KIND, apiVersion, metadata: {}, items });
  return {
    // Clients compare this text with the one they sent, in this order of parameters.
    contentType: `${JSON_TYPE};g=${AGGREGATED_GROUP};v=${version};as=${AGGREGATED_KIND}`,
    body: Buffer.from(`${text}\n`),
    etag: `"${fingerprint(text)}"`,
  };
}

const FINGERPRINT_SEEDS = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35];

/** 128 bits, enough to distinguish one state of the catalog from another. No safety depends on it. */
function fingerprint(text: string): string {
  return FINGERPRINT_SEEDS.map((seed) => hashText(text, seed).toString(16).padStart(8, "0"))
    .join("")
    .toUpperCase();
}

function aggregatedResource(
  resource: ServedResource,
  connected: readonly ConnectedSubresource[],
): object {
  // The aggregated form names group and version in any case.
  const own = { group: "", version: "", kind: resource.kind };
  const subresources = subresourcesOf(resource, connected).map(({ name, foreign, verbs }) => ({
    subresource: name,
    responseKind: { ...own, ...foreign },
    verbs,
  }));
  return {
    resource: resource.plural,
    responseKind: own,
    scope: resource.namespaced ? "Namespaced" : "Cluster",
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
    ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}
