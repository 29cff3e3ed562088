/**
 * The catalog: which resources are served now. Built-ins are given once; CRDs come and go.
 *
 * 1. Lookups are one map access: they are on the path of every request.
 * 2. Built-in groups stand first, in the order a real server shows them, then the groups of CRDs by name.
 * 3. A CRD never replaces a built-in resource.
 * 4. `revision` moves with every change, before the listeners are called.
 */
import { apiVersionOf } from "@lifeboat/api";
import type { Catalog, ServedResource } from "./served-resource.ts";
import { compareVersions } from "./version-order.ts";

/** As /apis of a real server lists them. */
const GROUP_ORDER: readonly string[] = [
  "",
  "apiregistration.k8s.io",
  "apps",
  "events.k8s.io",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "networking.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "storage.k8s.io",
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "scheduling.k8s.io",
  "coordination.k8s.io",
  "node.k8s.io",
  "discovery.k8s.io",
  "resource.k8s.io",
  "flowcontrol.apiserver.k8s.io",
];

/** A catalog whose custom part can be changed. */
export interface MutableCatalog extends Catalog {
  /** Serves these resources for the CRD of this name, instead of what it had before. */
  setCustom(crdName: string, resources: readonly ServedResource[]): void;
  /** Ends serving what the CRD brought; unknown names are ignored. */
  removeCustom(crdName: string): void;
}

interface Snapshot {
  readonly byPath: ReadonlyMap<string, ServedResource>;
  readonly byKind: ReadonlyMap<string, ServedResource>;
  readonly byGroupVersion: ReadonlyMap<string, readonly ServedResource[]>;
  readonly groups: readonly { readonly name: string; readonly versions: readonly string[] }[];
  readonly all: readonly ServedResource[];
}

/** Builds a catalog that serves `builtins` and nothing else yet. */
export function createCatalog(builtins: readonly ServedResource[]): MutableCatalog {
  const custom = new Map<string, readonly ServedResource[]>();
  const listeners: (() => void)[] = [];
  let snapshot = takeSnapshot(builtins, custom);
  let revision = 1;

  const changed = (): void => {
    snapshot = takeSnapshot(builtins, custom);
    revision += 1;
    for (const listener of listeners) listener();
  };
  return {
    get revision() {
      return revision;
    },
    find: (group, version, plural) => snapshot.byPath.get(`${group}/${version}/${plural}`),
    findKind: (apiVersion, kind) => snapshot.byKind.get(`${apiVersion}/${kind}`),
    groups: () => snapshot.groups,
    resources: (group, version) => snapshot.byGroupVersion.get(`${group}/${version}`) ?? [],
    all: () => snapshot.all,
    onChange: (listener) => {
      listeners.push(listener);
    },
    setCustom: (crdName, resources) => {
      custom.set(crdName, resources);
      changed();
    },
    removeCustom: (crdName) => {
      if (custom.delete(crdName)) changed();
    },
  };
}

function takeSnapshot(
  builtins: readonly ServedResource[],
  custom: ReadonlyMap<string, readonly ServedResource[]>,
): Snapshot {
  const byPath = new Map<string, ServedResource>();
  const byKind = new Map<string, ServedResource>();
  const byGroupVersion = new Map<string, ServedResource[]>();
  const versionsByGroup = new Map<string, Set<string>>();
  const add = (resource: ServedResource): void => {
    const groupVersion = `${resource.group}/${resource.version}`;
    const path = `${groupVersion}/${resource.plural}`;
    if (byPath.has(path)) return;
    byPath.set(path, resource);
    const kindKey = `${apiVersionOf(resource)}/${resource.kind}`;
    if (!byKind.has(kindKey)) byKind.set(kindKey, resource);
    entryOf(byGroupVersion, groupVersion, () => []).push(resource);
    entryOf(versionsByGroup, resource.group, () => new Set<string>()).add(resource.version);
  };
  builtins.forEach(add);
  for (const name of [...custom.keys()].toSorted()) custom.get(name)?.forEach(add);
  const groups = [...versionsByGroup]
    .map(([name, versions]) => ({ name, versions: [...versions].toSorted(compareVersions) }))
    .toSorted((a, b) => compareGroups(a.name, b.name));
  return { byPath, byKind, byGroupVersion, groups, all: [...byPath.values()] };
}

function entryOf<V>(map: Map<string, V>, key: string, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

function compareGroups(a: string, b: string): number {
  const left = GROUP_ORDER.indexOf(a);
  const right = GROUP_ORDER.indexOf(b);
  if (left >= 0 || right >= 0) {
    if (left < 0) return 1;
    if (right < 0) return -1;
    return left - right;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}
