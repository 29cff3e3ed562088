/** What is known about a binding's Works, from caches: the view of `decideWorks`. */
import {
  type Cluster,
  isRefused,
  type ObjectKey,
  type OverridePolicy,
  type Work,
} from "@lifeboat/api";
import { type Fields, wellKnown } from "@lifeboat/core";
import { clusterNamesOf } from "@lifeboat/core/binding";
import { isWorkload, replicasIn } from "@lifeboat/core/propagation/rendering";
import { precision, precisionOf } from "@lifeboat/core/propagation/selectors";
import {
  clusterOfWork,
  decideWorks,
  workClustersOf,
  workKey,
  type WorksView,
} from "@lifeboat/core/propagation/works";
import { type ControllerWatch, watching } from "@lifeboat/kit";
import { type Binding, bindingOf } from "./bindings.ts";
import type { PlaneContext } from "./context.ts";
import { watchingTemplates } from "./templates.ts";

/** The view of a binding. The server is asked only whether the template of a binding that goes is really there. */
export async function observeWorks(
  context: PlaneContext,
  binding: Binding,
  signal: AbortSignal,
): Promise<WorksView> {
  const { informers } = context;
  const { namespace = "" } = binding.metadata;
  const template = await templateOf(context, binding, signal);
  const works = worksOf(context, binding);
  const wanted = [...workClustersOf(binding).wanted];
  const present = new Set(works.map(clusterOfWork));
  const clusters = clustersOf(context, new Set([...wanted, ...present]));
  const absent = wanted.filter((cluster) => !present.has(cluster));
  return {
    binding,
    template,
    works,
    clusters,
    occupants: template === undefined ? new Map() : occupantsOf(context, template, absent),
    clusterOverridePolicies: meaning(template, informers.clusterOverridePolicies.list()),
    overridePolicies: meaning(template, informers.overridePolicies.byIndex("namespace", namespace)),
    neededIn: neededIn(context, binding),
    revised: template === undefined ? new Map() : await revisedOf(context, binding, template),
    newWorkIds: new Map(absent.map((cluster) => [cluster, context.ids.uid()])),
  };
}

/**
 * The clusters of the result whose Work is not what it should be now: what such a copy reports is about what it was. A
 * caller watches overrides, templates and interpretation, so that these are known (`watchingRenderings`).
 */
export async function outdatedIn(
  context: PlaneContext,
  binding: Binding,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const view = await observeWorks(context, binding, signal);
  const { commands, failures, reason } = decideWorks(view);
  if (reason === "TemplateMissing") return new Set(clusterNamesOf(binding));
  return new Set([
    ...failures.map(({ cluster }) => cluster),
    ...commands.flatMap((command) => ("cluster" in command ? command.cluster : [])),
  ]);
}

/** Copies that are being brought up to date bring the next reconcile themselves; this is for when they need no change. */
export const OUTDATED_MS = 10_000;

/** What copies should be depends on these; their changes reach a controller as changes of Works. */
export function watchingRenderings({
  informers,
  interpretation,
  templates,
}: PlaneContext): readonly ControllerWatch[] {
  return [
    watching(informers.overridePolicies, () => []),
    watching(informers.clusterOverridePolicies, () => []),
    watchingTemplates(templates, () => []),
    { whenSynced: (signal) => interpretation.whenSynced(signal), subscribe: () => () => {} },
  ];
}

/** The Works that bear the binding's id. */
export function worksOf({ informers }: PlaneContext, { metadata }: Binding): readonly Work[] {
  const key =
    (metadata.namespace ?? "") === "" ? wellKnown.CLUSTER_BINDING_ID : wellKnown.BINDING_ID;
  const id = metadata.labels?.[key];
  return id === undefined ? [] : informers.works.byIndex("binding", id);
}

/** An object of the same name with another uid is another object: the binding's own template is gone. */
async function templateOf(
  context: PlaneContext,
  { metadata, spec }: Binding,
  signal: AbortSignal,
): Promise<Fields | undefined> {
  const { resource } = spec;
  const cached = context.templates.get(resource);
  if (cached === undefined || (resource.uid ?? cached.metadata.uid) !== cached.metadata.uid)
    return undefined;
  if (metadata.deletionTimestamp === undefined || cached.metadata.deletionTimestamp !== undefined)
    return cached;
  return readTemplate(context, resource, cached.metadata.uid, signal);
}

/** The cache may not know yet that the template went, and what follows from that is not to be counted by the brake. */
async function readTemplate(
  { templates, plane }: PlaneContext,
  resource: Binding["spec"]["resource"],
  uid: string,
  signal: AbortSignal,
): Promise<Fields | undefined> {
  const served = templates.resourceOf(resource.apiVersion, resource.kind);
  if (served === undefined) return undefined;
  const key: ObjectKey = { namespace: resource.namespace ?? "", name: resource.name };
  try {
    const template = await plane.get(served, key, { signal });
    return template.metadata.uid === uid ? template : undefined;
  } catch (error) {
    if (isRefused(error, "NotFound")) return undefined;
    throw error;
  }
}

/** Where the workloads that need the resource still have Works, those that are going included. */
function neededIn(context: PlaneContext, { spec }: Binding): ReadonlySet<string> {
  const clusters = new Set<string>();
  for (const { namespace = "", name } of spec.requiredBy ?? []) {
    const workload = bindingOf(context.informers, { namespace, name });
    if (workload === undefined) continue;
    for (const work of worksOf(context, workload)) clusters.add(clusterOfWork(work));
  }
  return clusters;
}

function clustersOf(
  { informers }: PlaneContext,
  names: ReadonlySet<string>,
): ReadonlyMap<string, Cluster> {
  const found = new Map<string, Cluster>();
  for (const name of names) {
    const cluster = informers.clusters.get({ namespace: "", name });
    if (cluster !== undefined) found.set(name, cluster);
  }
  return found;
}

function occupantsOf(
  { informers }: PlaneContext,
  template: Fields,
  clusters: readonly string[],
): ReadonlyMap<string, Work> {
  const found = new Map<string, Work>();
  for (const cluster of clusters) {
    const work = informers.works.get(workKey(template, cluster));
    if (work !== undefined) found.set(cluster, work);
  }
  return found;
}

/** The policies that mean the template: sorted out once, not once for each cluster. */
function meaning(
  template: Fields | undefined,
  policies: readonly OverridePolicy[],
): readonly object[] {
  if (template === undefined) return [];
  const found = policies.filter(({ spec: { resourceSelectors = [] } }) => {
    if (resourceSelectors.length === 0) return true;
    return precisionOf(template, resourceSelectors) !== precision.none;
  });
  return found;
}

/** The answers of a script, asked once for each number of replicas. */
async function revisedOf(
  { interpretation }: PlaneContext,
  binding: Binding,
  template: Fields,
): Promise<ReadonlyMap<string, Fields | Error>> {
  const { apiVersion, kind } = binding.spec.resource;
  const revised = new Map<string, Fields | Error>();
  if (binding.metadata.deletionTimestamp !== undefined || !isWorkload(binding)) return revised;
  if (!interpretation.isCustomized(apiVersion, kind, "reviseReplicas")) return revised;
  const answers = new Map<number, Fields | Error>();
  for (const name of clusterNamesOf(binding)) {
    const replicas = replicasIn(binding, name) ?? 0;
    const answer =
      answers.get(replicas) ??
      (await interpretation
        .reviseReplicas(template as never, replicas)
        .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error)))));
    answers.set(replicas, answer);
    revised.set(name, answer);
  }
  return revised;
}
