/**
 * namespace-sync: makes every namespace of the control plane in every member, by a Work that belongs to the Namespace.
 *
 * A key is a pair, cluster and namespace: a new namespace costs a reconcile per cluster, a new cluster a reconcile per
 * namespace, and everything else only what it concerns.
 *
 * 1. Works are made and kept up to date, never deleted here: they go with their Namespace by garbage collection, and
 *    stay when the Namespace is kept from members later.
 * 2. A Work of the same name that belongs to another object (a binding, an earlier Namespace) is left alone.
 * 3. Nothing is made for a cluster that leaves, nor before its execution namespace exists, nor for a Namespace that the
 *    server does not have any more.
 */
import {
  type AnyObject,
  type Cluster,
  type ClusterOverridePolicy,
  equalJson,
  type ObjectKey,
  type Resource,
  type Work,
  works,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import {
  clusterOfExecutionNamespace,
  decideNamespaceSync,
  executionNamespace,
  type Rendered,
  renderNamespaceWork,
  workName,
} from "@lifeboat/core/propagation/rendering";
import { precision, precisionOf } from "@lifeboat/core/propagation/selectors";
import { createController, done, type Outcome, type Service, watching } from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import { isOnServer, watchingTemplates } from "../../context/templates.ts";
import { mergedWork } from "./merge-work.ts";

export interface NamespaceSyncOptions {
  /** A regular expression for whole names of namespaces that are kept from members, such as `kube-.*`. */
  readonly skippedNamespaces: string;
}

const CONCURRENCY = 8;
const NAMESPACE = { apiVersion: "v1", kind: "Namespace" } as const;

/** Builds the controller. Throws a SyntaxError for an expression that is none. */
export function createNamespaceSync(
  context: PlaneContext,
  options: NamespaceSyncOptions,
): readonly Service[] {
  const { informers, templates } = context;
  const skipped = new RegExp(`^(?:${options.skippedNamespaces})$`);
  const keys = pairsOf(context);
  return [
    createController(context, {
      name: "namespace-sync",
      concurrency: CONCURRENCY,
      watches: [
        watching(informers.clusters, keys.ofCluster),
        watching(informers.clusterOverridePolicies, keys.ofPolicy),
        watching(informers.works, keys.ofWork),
        watchingTemplates(templates, keys.ofTemplate),
      ],
      reconcile: (key) => look(context, skipped, key),
    }),
  ];
}

async function look(context: PlaneContext, skipped: RegExp, key: ObjectKey): Promise<Outcome> {
  const { informers, ids, plane, events } = context;
  const cluster = informers.clusters.get({ namespace: "", name: key.namespace });
  const namespace = namespaceNamed(context, key.name);
  if (cluster === undefined || isLeaving(cluster) || namespace === undefined) return done;
  const space = namespaceNamed(context, executionNamespace(key.namespace));
  if (space === undefined || isLeaving(space)) return done;
  if (decideNamespaceSync(namespace, skipped) !== "Synced") return done;
  const existing = informers.works.get(workKeyOf(key));
  if (existing !== undefined && (isLeaving(existing) || !isOwnedBy(existing, namespace)))
    return done;
  const rendered = renderNamespaceWork({
    namespace,
    cluster,
    clusterOverridePolicies: informers.clusterOverridePolicies.list(),
    workId: existing?.metadata.labels?.[wellKnown.WORK_ID] ?? ids.uid(),
    existing,
  });
  if (rendered.outcome === "failed") {
    events.record(namespace, failureEvent(key.namespace, rendered));
    return done;
  }
  const wanted = rendered.work;
  if (existing === undefined) {
    const resource = context.templates.resourceOf(NAMESPACE.apiVersion, NAMESPACE.kind);
    if (resource !== undefined && (await isOnServer(plane, resource, namespace)))
      await plane.create(works, wanted);
    return done;
  }
  const next = mergedWork(existing, wanted);
  if (next !== existing) await plane.update(works, next);
  return done;
}

function failureEvent(cluster: string, { message }: Extract<Rendered, { outcome: "failed" }>) {
  return {
    type: "Warning",
    reason: "ApplyOverridePolicyFailed",
    message: `cluster ${cluster}: ${message}`,
  } as const;
}

/** Which pairs a change concerns. */
function pairsOf(context: PlaneContext) {
  const { informers } = context;
  const namespaces = (): readonly AnyObject[] =>
    context.templates.list(NAMESPACE.apiVersion, NAMESPACE.kind);
  const inCluster = (cluster: string): readonly ObjectKey[] =>
    namespaces().map(({ metadata }) => ({ namespace: cluster, name: metadata.name }));
  const inAllClusters = (name: string): readonly ObjectKey[] =>
    informers.clusters.list().map(({ metadata }) => ({ namespace: metadata.name, name }));
  return {
    ofCluster: (old: Cluster | undefined, now: Cluster | undefined) =>
      now === undefined || isSameTarget(old, now) ? [] : inCluster(now.metadata.name),
    ofTemplate: (
      { group, kind }: Resource,
      old: AnyObject | undefined,
      now: AnyObject | undefined,
    ): readonly ObjectKey[] => {
      if (group !== "" || kind !== NAMESPACE.kind || now === undefined) return [];
      const cluster = clusterOfExecutionNamespace(now.metadata.name);
      if (cluster === undefined) return inAllClusters(now.metadata.name);
      return old === undefined ? inCluster(cluster) : [];
    },
    ofPolicy: (
      old: ClusterOverridePolicy | undefined,
      now: ClusterOverridePolicy | undefined,
    ): readonly ObjectKey[] =>
      namespaces()
        .filter((namespace) => selects(old, namespace) || selects(now, namespace))
        .flatMap(({ metadata }) => inAllClusters(metadata.name)),
    ofWork: (old: Work | undefined, now: Work | undefined): readonly ObjectKey[] => {
      const { metadata } = now ?? old ?? {};
      const owner = metadata?.ownerReferences?.find(isNamespaceReference);
      const cluster = clusterOfExecutionNamespace(metadata?.namespace ?? "");
      if (owner === undefined || cluster === undefined || isSameWork(old, now)) return [];
      return [{ namespace: cluster, name: owner.name }];
    },
  };
}

/** Whether nothing changed of a cluster that a Namespace's Work depends on. */
function isSameTarget(old: Cluster | undefined, now: Cluster): boolean {
  return (
    old !== undefined &&
    isLeaving(old) === isLeaving(now) &&
    equalJson(old.metadata.labels, now.metadata.labels) &&
    // Most changes are of the status, and leave the spec the same object or the same generation.
    (old.metadata.generation === now.metadata.generation || equalJson(old.spec, now.spec))
  );
}

/** Whether a Work changed in nothing but its status. */
function isSameWork(old: Work | undefined, now: Work | undefined): boolean {
  if (old === undefined || now === undefined) return false;
  return (
    old.metadata.generation === now.metadata.generation &&
    isLeaving(old) === isLeaving(now) &&
    equalJson(old.metadata.labels, now.metadata.labels) &&
    equalJson(old.metadata.annotations, now.metadata.annotations)
  );
}

function selects(policy: ClusterOverridePolicy | undefined, namespace: AnyObject): boolean {
  if (policy === undefined) return false;
  const selectors = policy.spec.resourceSelectors ?? [];
  return selectors.length === 0 || precisionOf(namespace, selectors) !== precision.none;
}

function isOwnedBy({ metadata }: Work, namespace: AnyObject): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === namespace.metadata.uid) === true;
}

function isNamespaceReference(reference: { readonly apiVersion: string; readonly kind: string }) {
  return reference.apiVersion === NAMESPACE.apiVersion && reference.kind === NAMESPACE.kind;
}

function workKeyOf({ namespace: cluster, name }: ObjectKey): ObjectKey {
  return {
    namespace: executionNamespace(cluster),
    name: workName({ kind: NAMESPACE.kind, namespace: "", name }),
  };
}

function namespaceNamed({ templates }: PlaneContext, name: string): AnyObject | undefined {
  return templates.get({ ...NAMESPACE, name });
}

function isLeaving({ metadata }: { readonly metadata: { readonly deletionTimestamp?: string } }) {
  return metadata.deletionTimestamp !== undefined;
}
