/**
 * Keeps what a federated StatefulSet has in the control plane beside its copies: one Service per pod with the policies that place
 * them, the list of pods on its headless Service and in a ConfigMap, and the conditions on its binding. One key is one binding.
 *
 *   observe (caches) ──▶ decideFederated, federatedConditions ──▶ writes, one after the other; then the conditions
 *
 * 1. Shares are read from the binding alone. While the template is not in sight nothing is made, changed or removed.
 * 2. Every write carries the version it was decided on; what is removed is removed under its uid and version.
 * 3. Services and policies belong to the StatefulSet and go with it; what is written on the headless Service is taken back
 *    while the binding is going.
 * 4. A change that another writer undid a moment ago waits (../../context/recent-writes.ts).
 * 5. At rest nothing is written.
 */
import {
  type AnyObject,
  type Condition,
  configMaps,
  equalJson,
  findCondition,
  isRefused,
  keptAs,
  keyOf,
  type ObjectKey,
  propagationPolicies,
  type Resource,
  type ResourceBinding,
  resourceBindings,
  services,
  setCondition,
  type Work,
} from "@lifeboat/api";
import { valueAt, wellKnown } from "@lifeboat/core";
import { isFederated, peersName, podsOf, readFederated } from "@lifeboat/core/federated";
import {
  asksForServices,
  decideFederated,
  decideHeadless,
  type FederatedCommand,
  type FederatedKind,
  federatedConditions,
  federatedConditionTypes,
  type GoverningSet,
} from "@lifeboat/core/federated/objects";
import { lostNames, type NameClash, readGlobalSets } from "@lifeboat/core/names";
import { decideWorks, type WorksPlan } from "@lifeboat/core/propagation/works";
import { identityIndex, recordedDependencies } from "@lifeboat/core/propagation/dependencies";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import {
  checkAgainAt,
  createController,
  done,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import { kindIndexValue } from "../../context/informers.ts";
import { bindingsBy, bindingsOfWork } from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import { observeWorks } from "../../context/observe-works.ts";
import { RecentWrites } from "../../context/recent-writes.ts";
import { isOnServer, watchingTemplates } from "../../context/templates.ts";

const RESOURCES: Readonly<Record<FederatedKind, Resource>> = {
  Service: services,
  ConfigMap: configMaps,
  PropagationPolicy: keptAs(propagationPolicies),
};

/** The controller of what federated StatefulSets have beside their copies. */
export function createFederatedObjects(context: PlaneContext): readonly Service[] {
  const { informers, templates } = context;
  const recentWrites = new RecentWrites();
  return [
    createController(context, {
      name: "federated-objects",
      concurrency: 4,
      watches: [
        watching(informers.resourceBindings, (old, now) =>
          [old, now].some((one) => one !== undefined && isFederated(one)) ? ownKey(old, now) : [],
        ),
        watchingTemplates(templates, (resource, old, now) => [
          ...keysOfTemplate(context, resource, now ?? old),
          ...keysOfNames(context, resource, old, now),
        ]),
        watching(informers.works, (old, now) => keysOfWork(context, now ?? old)),
        watching(informers.propagationPolicies, (old, now) => keysOfPart(now ?? old)),
      ],
      reconcile: (key, signal) => look(context, recentWrites, key, signal),
    }),
  ];
}

/** The binding of the set that an object was made for. */
function keysOfPart(object: { metadata: AnyObject["metadata"] } | undefined): readonly ObjectKey[] {
  const { namespace = "", labels = {} } = object?.metadata ?? {};
  const set = labels[wellKnown.FEDERATED_SET];
  return set === undefined ? [] : [{ namespace, name: bindingName("StatefulSet", set) }];
}

/** The binding of a federated set whose copy a Work is: how far an update has come follows from what copies report. */
function keysOfWork({ informers }: PlaneContext, work: Work | undefined): readonly ObjectKey[] {
  return bindingsOfWork(informers, work)
    .filter((binding) => isFederated(binding))
    .map(keyOf);
}

/** The federated sets of a namespace in which a set came, went or changed its names: they may have the same ones (D28). */
function keysOfNames(
  { informers }: PlaneContext,
  { kind }: Resource,
  old: AnyObject | undefined,
  now: AnyObject | undefined,
): readonly ObjectKey[] {
  if (kind !== "StatefulSet") return [];
  const namesOf = (set: AnyObject | undefined): unknown => [
    set?.metadata.annotations?.[wellKnown.FEDERATED],
    set?.metadata.annotations?.[wellKnown.FEDERATED_SERVICES],
    (set?.["spec"] as { readonly serviceName?: string } | undefined)?.serviceName,
  ];
  if (equalJson(namesOf(old), namesOf(now))) return [];
  const { namespace = "" } = (now ?? old)?.metadata ?? {};
  const value = kindIndexValue({ apiVersion: "apps/v1", kind }, namespace);
  return bindingsBy(informers, "kind", value)
    .filter((binding) => isFederated(binding))
    .map(keyOf);
}

function keysOfTemplate(
  { informers }: PlaneContext,
  { kind }: Resource,
  object: AnyObject | undefined,
): readonly ObjectKey[] {
  const { namespace = "", name = "" } = object?.metadata ?? {};
  if (kind === "StatefulSet") {
    const key = { namespace, name: bindingName(kind, name) };
    const binding = informers.resourceBindings.get(key);
    return binding !== undefined && isFederated(binding) ? [key] : [];
  }
  if (kind !== "Service" && kind !== "ConfigMap") return [];
  // The headless Service follows the set, so its own binding names the set; a new one is recorded as a dependency.
  const [needed] = identityIndex({ apiVersion: "v1", kind, namespace, name });
  const dependent = informers.resourceBindings
    .byIndex("dependency", needed)
    .filter((binding) => isFederated(binding))
    .map(keyOf);
  return [...keysOfPart(object), ...dependent];
}

interface Observed {
  readonly set: AnyObject;
  readonly headless: AnyObject | undefined;
  readonly services: readonly AnyObject[];
  readonly lostNames: readonly NameClash[];
  readonly rollout: WorksPlan["rollout"];
}

async function look(
  context: PlaneContext,
  recentWrites: RecentWrites,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Outcome> {
  const { informers, templates, plane } = context;
  const binding = informers.resourceBindings.get(key);
  if (binding === undefined || !isFederated(binding)) return done;
  const set = setOf(context, binding);
  const headless = headlessOf(context, binding, set);
  const listed = decideHeadless(headless, governing(context, headless));
  const outcome = await carryOut(context, recentWrites, listed, signal);
  if (outcome !== done || isGoing(binding) || set === undefined || isGoing(set)) return outcome;
  const { namespace = "" } = set.metadata;
  const record = readFederated(binding);
  const { rollout } = decideWorks(await observeWorks(context, binding, signal));
  const observed = {
    set,
    headless,
    services: servicesOf(context, set, binding),
    lostNames: asksForServices(set) ? lostNamesOf(context, set) : [],
    rollout,
  };
  if (record !== undefined) {
    const peers = templates.get({
      apiVersion: "v1",
      kind: "ConfigMap",
      namespace,
      name: peersName(set.metadata.name),
    });
    const policies = informers.propagationPolicies
      .list()
      .filter(({ metadata }) => metadata.namespace === namespace && isOf(metadata, set));
    const plan = decideFederated({
      ...observed,
      record,
      peers,
      policies,
    });
    const makes = plan.commands.some(({ kind }) => kind === "create");
    const resource = templates.resourceOf("apps/v1", "StatefulSet");
    if (makes && resource !== undefined && !(await isOnServer(plane, resource, set, signal)))
      return done;
    const made = await carryOut(context, recentWrites, plan.commands, signal);
    if (made !== done) return made;
    for (const event of plan.events) context.events.record(set, event);
  }
  await report(context, binding, observed, signal);
  return done;
}

/** The StatefulSet of a binding, as long as it is the one that was bound. */
function setOf({ templates }: PlaneContext, { spec }: ResourceBinding): AnyObject | undefined {
  const set = templates.get(spec.resource);
  const { uid = set?.metadata.uid } = spec.resource;
  return set?.metadata.uid === uid ? set : undefined;
}

/** The Service that a set names; of a set that is gone, the one that its binding records. */
function headlessOf(
  { templates }: PlaneContext,
  binding: ResourceBinding,
  set: AnyObject | undefined,
): AnyObject | undefined {
  const { serviceName } = (set?.["spec"] ?? {}) as { readonly serviceName?: string };
  const recorded = (recordedDependencies(binding) ?? []).find(({ kind }) => kind === "Service");
  const name = set === undefined ? recorded?.name : serviceName;
  if (name === undefined) return undefined;
  const { namespace = "" } = binding.metadata;
  return templates.get({ apiVersion: "v1", kind: "Service", namespace, name });
}

/** The federated sets that record a Service as theirs and are not going. */
function governing(
  context: PlaneContext,
  headless: AnyObject | undefined,
): readonly GoverningSet[] {
  if (headless === undefined) return [];
  const [value] = identityIndex({ apiVersion: "v1", kind: "Service", ...keyOf(headless) });
  return context.informers.resourceBindings.byIndex("dependency", value).flatMap((binding) => {
    const record = readFederated(binding);
    if (!isFederated(binding) || isGoing(binding) || record === undefined) return [];
    const { name } = binding.spec.resource;
    return [{ name, record, asksForServices: asksForServices(setOf(context, binding) ?? {}) }];
  });
}

function isGoing({ metadata }: { readonly metadata: AnyObject["metadata"] }): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isOf({ labels = {} }: AnyObject["metadata"], set: AnyObject): boolean {
  return labels[wellKnown.FEDERATED_SET] === set.metadata.name;
}

/** The global names of the set that another set or Service of its namespace has. */
function lostNamesOf({ informers, templates }: PlaneContext, set: AnyObject): readonly NameClash[] {
  const { namespace = "", name } = set.metadata;
  const sets = readGlobalSets({
    statefulSets: templates.list("apps/v1", "StatefulSet", namespace),
    service: (where, service) =>
      templates.get({ apiVersion: "v1", kind: "Service", namespace: where, name: service }),
    binding: (kind, where, one) =>
      informers.resourceBindings.get({ namespace: where, name: bindingName(kind, one) }),
    cluster: (cluster) => informers.clusters.get({ namespace: "", name: cluster }),
  });
  return lostNames(sets, { namespace, set: name });
}

/** The Services that bear the label of the set, and those of its pods' names. */
function servicesOf(
  { templates }: PlaneContext,
  set: AnyObject,
  binding: ResourceBinding,
): readonly AnyObject[] {
  const record = readFederated(binding);
  const names = new Set(
    record === undefined ? [] : podsOf(set.metadata.name, record).map(({ name }) => name),
  );
  return templates
    .list("v1", "Service", set.metadata.namespace ?? "")
    .filter(({ metadata }) => isOf(metadata, set) || names.has(metadata.name));
}

async function carryOut(
  context: PlaneContext,
  recentWrites: RecentWrites,
  commands: readonly FederatedCommand[],
  signal: AbortSignal,
): Promise<Outcome> {
  const { time } = context;
  for (const command of commands) {
    const id = `${command.of} ${command.object.metadata.namespace ?? ""}/${command.object.metadata.name ?? ""}`;
    const content = contentOf(command);
    const moment = time.moment();
    const again = recentWrites.heldUntil(id, content, moment);
    if (again !== undefined) return checkAgainAt(again);
    await write(context, command, signal);
    recentWrites.note(id, content, moment.now);
  }
  return done;
}

function contentOf({ kind, object }: FederatedCommand): unknown {
  const { annotations = {} } = object.metadata;
  return [kind, valueAt(object, "spec") ?? {}, valueAt(object, "data") ?? {}, annotations];
}

async function write(
  { plane }: PlaneContext,
  { kind, of, object }: FederatedCommand,
  signal: AbortSignal,
): Promise<void> {
  const resource = RESOURCES[of];
  try {
    if (kind === "create") await plane.create(resource, object, { signal });
    else if (kind === "update") await plane.update(resource, object, { signal });
    else {
      const { uid, resourceVersion } = object.metadata;
      const preconditions = { uid, resourceVersion };
      await plane.delete(resource, keyOf(object), { preconditions, signal });
    }
  } catch (error) {
    // What went or was made meanwhile shows in the cache, and brings the next reconcile.
    if (kind === "delete" && isRefused(error, "NotFound")) return;
    throw error;
  }
}

/** An Event about the set when an update begins, stops, or is over. */
function recordRollout(
  events: PlaneContext["events"],
  { set, rollout }: Observed,
  before: readonly Condition[],
): void {
  const former = findCondition(before, "RolloutComplete")?.reason;
  if (rollout === undefined || former === undefined || former === rollout.reason) return;
  const isWell = rollout.reason === "UpToDate" || rollout.reason === "Updating";
  const type = isWell ? "Normal" : "Warning";
  events.record(set, { type, reason: rollout.reason, message: rollout.message });
}

async function report(
  { plane, clock, events }: PlaneContext,
  binding: ResourceBinding,
  observed: Observed,
  signal: AbortSignal,
): Promise<void> {
  const reported = federatedConditions({ binding, ...observed });
  const types = new Set(reported.map(({ type }) => type));
  const before = binding.status?.conditions ?? [];
  const now = clock.now();
  const kept = before.filter(
    ({ type }) => types.has(type) || !federatedConditionTypes.includes(type),
  );
  const conditions = reported.reduce(
    (all, one) => setCondition(all, one, now),
    kept as typeof before,
  );
  if (equalJson(conditions, before)) return;
  recordRollout(events, observed, before);
  const status = { ...binding.status, conditions };
  await plane.update(resourceBindings, { ...binding, status }, { subresource: "status", signal });
}
