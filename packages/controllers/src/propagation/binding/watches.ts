/**
 * What makes a reconcile of a binding due. Each watch answers only the bindings that a change can concern, and none for
 * changes that Works do not depend on, such as heartbeats of clusters and status of templates.
 */
import {
  type AnyObject,
  type Cluster,
  equalJson,
  findCondition,
  formatKey,
  keyOf,
  type KubeObject,
  type ObjectKey,
  type OverridePolicy,
  type Work,
} from "@lifeboat/api";
import { type Fields, wellKnown } from "@lifeboat/core";
import { agentSupport } from "@lifeboat/core/clusters/agents";
import { isServing } from "@lifeboat/core/federated";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import { precision, precisionOf } from "@lifeboat/core/propagation/selectors";
import { isProvenHealthy } from "@lifeboat/core/propagation/works";
import { type ControllerWatch, watching } from "@lifeboat/kit";
import {
  allBindings,
  type Binding,
  bindingOf,
  bindingsBy,
  watchingBindings,
} from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import { kindIndexValue } from "../../context/informers.ts";
import { watchingTemplates } from "../../context/templates.ts";

/**
 * All watches of the binding controller; `spared` are the bindings that wait for a copy to become healthy, `rolling` those with a
 * cluster that waits for its turn to be updated.
 */
export function bindingWatches(
  context: PlaneContext,
  spared: ReadonlySet<string>,
  rolling: ReadonlySet<string>,
): readonly ControllerWatch[] {
  const { informers, templates } = context;
  return [
    ...watchingBindings(informers, (old, now) => {
      const keys = own(old, now);
      return isSameBinding(old, now)
        ? keys.filter((key) => spared.has(formatKey(key)) && isScheduledAnew(old, now))
        : keys;
    }),
    watching(informers.works, (old, now) => bindingsOfWork(context, spared, rolling, old, now)),
    watchingTemplates(templates, (_resource, old, now) => bindingOfTemplate(context, old, now)),
    watching(informers.overridePolicies, (old, now) => bindingsOfPolicy(context, old, now)),
    watching(informers.clusterOverridePolicies, (old, now) => bindingsOfPolicy(context, old, now)),
    watching(informers.clusters, (old, now) => bindingsOfCluster(context, rolling, old, now)),
    watchingCustomizations(context),
  ];
}

function own(old: Binding | undefined, now: Binding | undefined): readonly ObjectKey[] {
  const binding = now ?? old;
  return binding === undefined ? [] : [keyOf(binding)];
}

/** Whether nothing changed but the status. */
function isSameBinding(old: Binding | undefined, now: Binding | undefined): boolean {
  return old !== undefined && now !== undefined && isSameButStatus(old, now);
}

/** Whether the scheduler reports something else: a copy that is spared may depend on it. */
function isScheduledAnew(old: Binding | undefined, now: Binding | undefined): boolean {
  const [was, is] = [old, now].map((one) => findCondition(one?.status?.conditions, "Scheduled"));
  return was?.status !== is?.status || was?.reason !== is?.reason;
}

function isSameButStatus(old: KubeObject, now: KubeObject): boolean {
  return (
    old.metadata.uid === now.metadata.uid &&
    old.metadata.generation !== undefined &&
    old.metadata.generation === now.metadata.generation &&
    old.metadata.deletionTimestamp === now.metadata.deletionTimestamp &&
    equalJson(old.metadata.labels, now.metadata.labels) &&
    equalJson(old.metadata.annotations, now.metadata.annotations) &&
    equalJson(old.metadata.finalizers, now.metadata.finalizers)
  );
}

/** A Work that is gone may also let go what its workload needed there. */
function bindingsOfWork(
  { informers }: PlaneContext,
  spared: ReadonlySet<string>,
  rolling: ReadonlySet<string>,
  old: Work | undefined,
  now: Work | undefined,
): readonly ObjectKey[] {
  const ids = new Set([...idsOf(old), ...idsOf(now)]);
  const keys = keysOf([...ids].flatMap((id) => bindingsBy(informers, "id", id)));
  if (now === undefined) {
    const needed = keys.flatMap((key) => bindingsBy(informers, "requiredBy", formatKey(key)));
    return [...keys, ...keysOf(needed)];
  }
  if (old === undefined || !isSameButStatus(old, now)) return keys;
  const isChanged = isProvenHealthy(old) !== isProvenHealthy(now);
  return keys.filter((key) => {
    const id = formatKey(key);
    return rolling.has(id) || (isChanged && spared.has(id));
  });
}

function idsOf(work: Work | undefined): readonly string[] {
  const labels = work?.metadata.labels ?? {};
  return [wellKnown.BINDING_ID, wellKnown.CLUSTER_BINDING_ID].flatMap((key) => labels[key] ?? []);
}

function bindingOfTemplate(
  { informers }: PlaneContext,
  old: AnyObject | undefined,
  now: AnyObject | undefined,
): readonly ObjectKey[] {
  const template = now ?? old;
  if (template === undefined) return [];
  const { namespace = "", name } = template.metadata;
  const key = { namespace, name: bindingName(template.kind, name) };
  const binding = bindingOf(informers, key);
  if (binding === undefined) return [];
  return old !== undefined && now !== undefined && isSameButStatus(old, now) ? [] : [key];
}

/** The bindings whose template the policy meant before or means now. */
function bindingsOfPolicy(
  context: PlaneContext,
  old: OverridePolicy | undefined,
  now: OverridePolicy | undefined,
): readonly ObjectKey[] {
  if (old !== undefined && now !== undefined && equalJson(old.spec, now.spec)) return [];
  return keysOf(
    [old, now].flatMap((policy) => (policy === undefined ? [] : meantBy(context, policy))),
  );
}

function meantBy(context: PlaneContext, { metadata, spec }: OverridePolicy): readonly Binding[] {
  const { informers, templates } = context;
  const selectors = spec.resourceSelectors ?? [];
  const { namespace } = metadata;
  if (selectors.length === 0)
    return namespace === undefined
      ? allBindings(informers)
      : bindingsBy(informers, "kind", kindIndexValue(undefined, namespace));
  return selectors.flatMap((selector) =>
    bindingsBy(
      informers,
      "kind",
      kindIndexValue(selector, namespace ?? (selector.namespace || undefined)),
    ).filter(({ spec: { resource } }) => {
      const template = templates.get(resource);
      return template !== undefined && precisionOf(template, [selector]) !== precision.none;
    }),
  );
}

/**
 * Overrides depend on a cluster's labels and location, endorsements on its mode; its taints, conditions and capacity are not for
 * rendering. Whose turn it is to be updated depends on which clusters serve.
 */
function bindingsOfCluster(
  { informers }: PlaneContext,
  rolling: ReadonlySet<string>,
  old: Cluster | undefined,
  now: Cluster | undefined,
): readonly ObjectKey[] {
  const cluster = now ?? old;
  if (cluster === undefined) return [];
  const isSame = old !== undefined && now !== undefined && isSamePlace(old, now);
  if (isSame && (rolling.size === 0 || isServing(old) === isServing(now))) return [];
  const keys = keysOf(bindingsBy(informers, "cluster", cluster.metadata.name));
  return isSame ? keys.filter((key) => rolling.has(formatKey(key))) : keys;
}

function isSamePlace(old: Cluster, now: Cluster): boolean {
  const placeOf = (cluster: Cluster): Fields => {
    const { provider, region, zone, zones, syncMode } = cluster.spec;
    const { uid, labels, deletionTimestamp } = cluster.metadata;
    const agent = agentSupport(cluster);
    return { uid, labels, deletionTimestamp, provider, region, zone, zones, syncMode, agent };
  };
  return equalJson(placeOf(old), placeOf(now));
}

function watchingCustomizations({ informers, interpretation }: PlaneContext): ControllerWatch {
  return {
    whenSynced: (signal) => interpretation.whenSynced(signal),
    subscribe: (add) =>
      interpretation.onChange((apiVersion, kind) => {
        const value = kindIndexValue({ apiVersion, kind }, undefined);
        for (const binding of bindingsBy(informers, "kind", value)) add(keyOf(binding));
      }),
  };
}

function keysOf(bindings: readonly Binding[]): readonly ObjectKey[] {
  const keys = new Map(bindings.map((binding) => [formatKey(keyOf(binding)), keyOf(binding)]));
  return [...keys.values()];
}
