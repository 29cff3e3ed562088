/**
 * What would be written in members if our controllers went on from a state that others left: where the Works that we render differ from
 * those that are there. Pure.
 *
 * Only the content for members counts: other labels or fields of a Work itself reach no member. Kinds whose replicas a script sets
 * are left out, and named.
 */
import {
  type AnyObject,
  type Cluster,
  clusterOverridePolicies,
  clusterResourceBindings,
  clusters,
  equalJson,
  formatKey,
  keyOf,
  namespaces,
  type ObjectKey,
  overridePolicies,
  type OverridePolicy,
  type Resource,
  type ResourceBinding,
  resourceBindings,
  resourceInterpreterCustomizations,
  type Work,
  works,
} from "@lifeboat/api";
import { textAt, wellKnown } from "@lifeboat/core";
import {
  decideNamespaceSync,
  executionNamespace,
  renderNamespaceWork,
  workName,
} from "@lifeboat/core/propagation/rendering";
import { decideWorks } from "@lifeboat/core/propagation/works";
import { differences } from "../install/merge.ts";
import type { Table } from "./inventory.ts";
import { objectsOf } from "./read-tables.ts";

export interface MemberWrite {
  readonly verb: "create" | "update" | "delete";
  /** `Deployment shop/web in m1`. */
  readonly subject: string;
  /** What differs in the content, as `-path: value` and `+path: value`. */
  readonly differences: readonly string[];
}

export interface MemberWrites {
  readonly writes: readonly MemberWrite[];
  /** What cannot be foretold: `apps.example.com/v1 Widget`. */
  readonly unknown: readonly string[];
}

/** `skipped`: namespaces that are not made in members, as `--skipped-propagating-namespaces` has them. */
export function memberWrites(tables: readonly Table[], skipped = /^kube-.*$/): MemberWrites {
  const world = worldOf(tables);
  const scripted = new Set(
    objectsOf(tables, resourceInterpreterCustomizations).map(
      (one) =>
        `${textAt(one, "spec", "target", "apiVersion")} ${textAt(one, "spec", "target", "kind")}`,
    ),
  );
  const bindings = [
    ...objectsOf(tables, resourceBindings),
    ...objectsOf(tables, clusterResourceBindings),
  ];
  const kindOf = ({ spec }: ResourceBinding): string =>
    `${spec.resource.apiVersion} ${spec.resource.kind}`;
  const isScripted = (binding: ResourceBinding): boolean => scripted.has(kindOf(binding));
  return {
    writes: [
      ...bindings.filter((one) => !isScripted(one)).flatMap((one) => ofBinding(world, one)),
      ...ofNamespaces(world, objectsOf(tables, namespaces), skipped),
    ],
    unknown: [...new Set(bindings.filter(isScripted).map(kindOf))],
  };
}

interface World {
  readonly clusters: ReadonlyMap<string, Cluster>;
  /** By `namespace/name`. */
  readonly works: ReadonlyMap<string, Work>;
  /** By the id of their binding. */
  readonly worksOf: ReadonlyMap<string, readonly Work[]>;
  /** By `templateKey`. */
  readonly templates: ReadonlyMap<string, AnyObject>;
  readonly clusterOverridePolicies: readonly object[];
  readonly overridePolicies: readonly OverridePolicy[];
}

function worldOf(tables: readonly Table[]): World {
  const all = objectsOf(tables, works);
  const worksOf = new Map<string, Work[]>();
  for (const work of all) {
    const { labels = {} } = work.metadata;
    const id = labels[wellKnown.BINDING_ID] ?? labels[wellKnown.CLUSTER_BINDING_ID];
    if (id === undefined) continue;
    const known = worksOf.get(id);
    if (known === undefined) worksOf.set(id, [work]);
    else known.push(work);
  }
  return {
    clusters: new Map(objectsOf(tables, clusters).map((one) => [one.metadata.name, one])),
    works: new Map(all.map((one) => [formatKey(keyOf(one)), one])),
    worksOf,
    templates: new Map(
      tables.flatMap(({ objects }) =>
        objects.map((one) => [templateKey(one.apiVersion, one.kind, keyOf(one)), one]),
      ),
    ),
    clusterOverridePolicies: objectsOf(tables, clusterOverridePolicies),
    overridePolicies: objectsOf(tables, overridePolicies),
  };
}

function templateKey(apiVersion: string, kind: string, key: ObjectKey): string {
  return `${apiVersion} ${kind} ${formatKey(key)}`;
}

function ofBinding(world: World, binding: ResourceBinding): readonly MemberWrite[] {
  const { metadata, spec } = binding;
  const { apiVersion, kind, name, namespace = "" } = spec.resource;
  const { labels = {} } = metadata;
  const id = labels[wellKnown.BINDING_ID] ?? labels[wellKnown.CLUSTER_BINDING_ID] ?? "";
  const own = world.worksOf.get(id) ?? [];
  const plan = decideWorks({
    binding,
    template: world.templates.get(templateKey(apiVersion, kind, { namespace, name })),
    works: own,
    occupants: new Map(),
    clusters: world.clusters,
    clusterOverridePolicies: world.clusterOverridePolicies,
    overridePolicies: world.overridePolicies.filter(
      (one) => one.metadata.namespace === metadata.namespace,
    ),
    neededIn: new Set(),
    revised: new Map(),
    newWorkIds: new Map([...world.clusters.keys()].map((cluster) => [cluster, "new"])),
  });
  const subject = (cluster: string): string =>
    `${kind} ${formatKey({ namespace, name })} in ${cluster}`;
  return plan.commands.flatMap((command): readonly MemberWrite[] => {
    if (command.kind === "create" || command.kind === "delete")
      return [{ verb: command.kind, subject: subject(command.cluster), differences: [] }];
    if (command.kind !== "update") return [];
    const before = own.find(({ metadata: one }) => one.uid === command.work.metadata.uid);
    return updateOf(subject(command.cluster), before, command.work);
  });
}

function ofNamespaces(
  world: World,
  all: readonly AnyObject[],
  skipped: RegExp,
): readonly MemberWrite[] {
  const synced = all.filter((namespace) => decideNamespaceSync(namespace, skipped) === "Synced");
  return synced.flatMap((namespace) =>
    [...world.clusters.values()].flatMap((cluster): readonly MemberWrite[] => {
      const { name } = namespace.metadata;
      const space = executionNamespace(cluster.metadata.name);
      const work = workName({ kind: "Namespace", namespace: "", name });
      const existing = world.works.get(formatKey({ namespace: space, name: work }));
      const rendered = renderNamespaceWork({
        namespace,
        cluster,
        clusterOverridePolicies: world.clusterOverridePolicies,
        workId: existing?.metadata.labels?.[wellKnown.WORK_ID] ?? "new",
        existing,
      });
      const subject = `Namespace ${name} in ${cluster.metadata.name}`;
      if (rendered.outcome === "failed") return [];
      if (existing === undefined) return [{ verb: "create", subject, differences: [] }];
      return updateOf(subject, existing, rendered.work);
    }),
  );
}

function updateOf(
  subject: string,
  before: Pick<Work, "spec"> | undefined,
  after: Pick<Work, "spec">,
): readonly MemberWrite[] {
  const [old, next] = [before?.spec.workload?.manifests, after.spec.workload?.manifests];
  if (equalJson(old, next)) return [];
  return [{ verb: "update", subject, differences: differences(old?.[0], next?.[0]) }];
}

/** The kinds that the answer depends on, besides the templates. */
export function isRead({ kind }: Resource, templates: ReadonlySet<string>): boolean {
  return NEEDED.has(kind) || templates.has(kind);
}

const NEEDED: ReadonlySet<string> = new Set([
  "Cluster",
  "Work",
  "Namespace",
  "ResourceBinding",
  "ClusterResourceBinding",
  "OverridePolicy",
  "ClusterOverridePolicy",
  "PropagationPolicy",
  "ClusterPropagationPolicy",
  "ResourceInterpreterCustomization",
]);
