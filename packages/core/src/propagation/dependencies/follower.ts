/**
 * Deciding where an object has to be because workloads need it: the `requiredBy` part of its binding.
 *
 * The object's binding may be one that a policy made; then only `requiredBy` and the depended-by labels are ours, and the
 * policy rules over everything else. Otherwise it is made here, as a policy would have made it.
 *
 * 1. An object is wherever a workload that needs it is, including clusters that the workload has not left yet.
 * 2. A workload stops counting only when it is gone, is being deleted, or has a readable record without the object:
 *    a record that cannot be read keeps what is. One that has nowhere to go is still named, with no cluster: its last copy
 *    may run on where its schedule does not name it (D9), and what removes Works reads the workloads that are named.
 * 3. `Overwrite` and `preserveResourcesOnDeletion` hold when any of the workloads sets them; a difference is reported. Both
 *    are written in either case, as clients of such bindings expect.
 * 4. The answer does not depend on the order of the workloads.
 * 5. `resource.resourceVersion` moves only when the user's part of the object moved (annotation `follower-digest`), so
 *    statuses that come back cause no work. It is not the detector's digest, which also changes when a policy takes hold.
 */
import {
  type AnyObject,
  apiVersionOf,
  equalJson,
  type New,
  type OwnerReference,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { deepFreeze } from "@lifeboat/base";
import { compareText } from "../../fields.ts";
import type { Plan, PlannedEvent } from "../../plan.ts";
import { digestOf } from "../matching/digest.ts";
import { bindingName, dependedByLabel } from "../rendering/names.ts";
import {
  BINDING_FINALIZER,
  BINDING_ID,
  CLUSTER_POLICY_ID,
  DEPENDED_BY_PREFIX,
  DEPENDENCIES_FINALIZER,
  FOLLOWER_DIGEST,
  POLICY_ID,
} from "../../well-known.ts";
import { clustersInUse } from "./copies.ts";
import { recordedDependencies, refersTo } from "./recorded.ts";
import type { FollowerReason } from "./reasons.ts";

export interface FollowerView {
  readonly object: AnyObject;
  /** The binding of the object's name; absent when there is none. */
  readonly attached?: ResourceBinding | undefined;
  /** Bindings that may refer to the object, and all that exist of those its binding names. */
  readonly referrers: readonly ResourceBinding[];
}

export type FollowerCommand =
  | { readonly kind: "create"; readonly binding: New<ResourceBinding> }
  | { readonly kind: "update"; readonly binding: ResourceBinding };

export interface FollowerPlan extends Plan<FollowerCommand, FollowerReason> {
  /** The workloads' bindings for which something changes. */
  readonly concerned: readonly ResourceBinding[];
}

type RequiredBy = NonNullable<ResourceBinding["spec"]["requiredBy"]>[number];
type Spec = ResourceBinding["spec"];

/** What becomes of the binding of an object that workloads need, or needed. */
export function decideFollower(view: FollowerView): FollowerPlan {
  const { object, attached } = view;
  if (attached?.metadata.deletionTimestamp !== undefined) return nothing("BeingDeleted");
  const referrers = referrersOf(view);
  if (attached === undefined) return decideNew(object, referrers);
  if (belongsToAnother(attached, object)) return nothing("OtherObject");
  if (referrers.length === 0 && !isFollowing(attached)) return nothing("NotNeeded");
  const binding = followed(attached, object, referrers);
  if (equalJson(binding, attached)) return nothing("UpToDate");
  return {
    commands: [{ kind: "update", binding: deepFreeze(binding) }],
    conditions: [],
    events: isClaimed(attached) ? [] : conflictsOf(referrers),
    concerned: referrers.filter(
      (referrer) => !equalJson(entryFor(attached.spec.requiredBy, referrer), entryOf(referrer)),
    ),
    reason: referrers.length === 0 ? "Released" : "Followed",
  };
}

/** Whether a policy rules over the binding. */
export function isClaimed({ metadata }: ResourceBinding): boolean {
  const labels = metadata.labels ?? {};
  return Object.hasOwn(labels, POLICY_ID) || Object.hasOwn(labels, CLUSTER_POLICY_ID);
}

function decideNew(object: AnyObject, referrers: readonly ResourceBinding[]): FollowerPlan {
  if (referrers.length === 0) return nothing("NotNeeded");
  if (object.metadata.deletionTimestamp !== undefined) return nothing("BeingDeleted");
  const binding: New<ResourceBinding> = {
    apiVersion: apiVersionOf(resourceBindings),
    kind: resourceBindings.kind,
    metadata: {
      namespace: object.metadata.namespace ?? "",
      name: bindingName(object.kind, object.metadata.name),
      labels: dependedBy(referrers),
      annotations: { [FOLLOWER_DIGEST]: digestOf(object) },
      finalizers: [BINDING_FINALIZER],
      ownerReferences: [ownerOf(object)],
    },
    spec: {
      resource: referenceTo(object, object.metadata.resourceVersion),
      requiredBy: referrers.map(entryOf),
      ...mergedRules(referrers),
    },
  };
  return {
    commands: [{ kind: "create", binding: deepFreeze(binding) }],
    conditions: [],
    events: conflictsOf(referrers),
    concerned: referrers,
    reason: "Attached",
  };
}

function nothing(reason: FollowerReason): FollowerPlan {
  return { commands: [], conditions: [], events: [], concerned: [], reason };
}

function referrersOf({ object, attached, referrers }: FollowerView): readonly ResourceBinding[] {
  const found = new Map<string, ResourceBinding>();
  for (const referrer of referrers) {
    const key = keyText(referrer);
    const isItself =
      referrer.metadata.namespace === object.metadata.namespace &&
      referrer.metadata.name === bindingName(object.kind, object.metadata.name);
    if (!isItself && needs(referrer, object, attached)) found.set(key, referrer);
  }
  return [...found].sort(([a], [b]) => compareText(a, b)).map(([, referrer]) => referrer);
}

function needs(
  referrer: ResourceBinding,
  object: AnyObject,
  attached: ResourceBinding | undefined,
): boolean {
  if (referrer.metadata.deletionTimestamp !== undefined) return false;
  const isNamed = entryFor(attached?.spec.requiredBy, referrer) !== undefined;
  if (clustersInUse(referrer).length === 0 && !isNamed) return false;
  const recorded = recordedDependencies(referrer);
  if (recorded !== undefined) return recorded.some((dependency) => refersTo(dependency, object));
  return expectsRecord(referrer) && isNamed;
}

/** Whether a record belongs on the binding, so that its absence means nothing. */
function expectsRecord({ metadata, spec }: ResourceBinding): boolean {
  return (
    spec.propagateDeps === true || (metadata.finalizers ?? []).includes(DEPENDENCIES_FINALIZER)
  );
}

function followed(
  attached: ResourceBinding,
  object: AnyObject,
  referrers: readonly ResourceBinding[],
): ResourceBinding {
  const { requiredBy: _, ...others } = attached.spec;
  const isNeeded = referrers.length > 0;
  const isTracked = isNeeded && !isClaimed(attached);
  const digest = isTracked ? digestOf(object) : "";
  const spec: Spec = {
    ...others,
    ...(isNeeded && { requiredBy: referrers.map(entryOf) }),
    ...(isTracked && { resource: referenceTo(object, versionOf(attached, object, digest)) }),
  };
  const { metadata } = attached;
  const labels = { ...withoutDependedBy(metadata.labels ?? {}), ...dependedBy(referrers) };
  const { annotations = {}, finalizers = [], ownerReferences = [] } = metadata;
  return {
    ...attached,
    metadata: {
      ...metadata,
      labels,
      ...(isTracked && { annotations: { ...annotations, [FOLLOWER_DIGEST]: digest } }),
      ...(isNeeded &&
        !finalizers.includes(BINDING_FINALIZER) && {
          finalizers: [...finalizers, BINDING_FINALIZER],
        }),
      ...(isNeeded &&
        controllerOf(ownerReferences) === undefined && {
          ownerReferences: [...ownerReferences, ownerOf(object)],
        }),
    },
    spec: isMadeHere(attached) ? withRules(spec, referrers) : spec,
  };
}

/** A binding that a policy made keeps what the policy set, also after the policy is gone. */
function isMadeHere(attached: ResourceBinding): boolean {
  return !isClaimed(attached) && attached.spec.placement === undefined;
}

function withRules(spec: Spec, referrers: readonly ResourceBinding[]): Spec {
  const { conflictResolution: _, preserveResourcesOnDeletion: __, ...others } = spec;
  return { ...others, ...mergedRules(referrers) };
}

function mergedRules(
  referrers: readonly ResourceBinding[],
): Pick<Spec, "conflictResolution" | "preserveResourcesOnDeletion"> {
  const preserves = referrers.some(({ spec }) => spec.preserveResourcesOnDeletion === true);
  return {
    conflictResolution: referrers.some(({ spec }) => spec.conflictResolution === "Overwrite")
      ? "Overwrite"
      : "Abort",
    preserveResourcesOnDeletion: preserves,
  };
}

function conflictsOf(referrers: readonly ResourceBinding[]): readonly PlannedEvent[] {
  const overwriting = referrers.filter(({ spec }) => spec.conflictResolution === "Overwrite");
  const preserving = referrers.filter(({ spec }) => spec.preserveResourcesOnDeletion === true);
  const differ = (some: readonly ResourceBinding[]): boolean =>
    some.length > 0 && some.length < referrers.length;
  const texts = [
    ...(differ(overwriting) ? ["ConflictResolution conflicted (Overwrite vs Abort)"] : []),
    ...(differ(preserving) ? ["PreserveResourcesOnDeletion conflicted (true vs false)"] : []),
  ];
  if (texts.length === 0) return [];
  const message = `Workloads that need this object disagree: ${texts.join("; ")}.`;
  return [{ type: "Warning", reason: "DependencyPolicyConflict", message }];
}

function entryOf(referrer: ResourceBinding): RequiredBy {
  const { namespace = "", name } = referrer.metadata;
  return { namespace, name, clusters: clustersInUse(referrer) };
}

function entryFor(
  requiredBy: Spec["requiredBy"],
  { metadata }: ResourceBinding,
): RequiredBy | undefined {
  return requiredBy?.find(
    ({ namespace, name }) => name === metadata.name && namespace === metadata.namespace,
  );
}

function dependedBy(referrers: readonly ResourceBinding[]): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const { metadata } of referrers)
    labels[dependedByLabel(metadata.namespace ?? "", metadata.name)] =
      metadata.labels?.[BINDING_ID] ?? "";
  return labels;
}

function withoutDependedBy(
  labels: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(labels).filter(([key]) => !key.startsWith(DEPENDED_BY_PREFIX)),
  );
}

function isFollowing({ metadata, spec }: ResourceBinding): boolean {
  return (
    (spec.requiredBy ?? []).length > 0 ||
    Object.keys(metadata.labels ?? {}).some((key) => key.startsWith(DEPENDED_BY_PREFIX))
  );
}

function belongsToAnother({ metadata, spec }: ResourceBinding, object: AnyObject): boolean {
  const owner = controllerOf(metadata.ownerReferences ?? []);
  if (owner !== undefined) return owner.uid !== object.metadata.uid;
  return spec.resource.kind !== object.kind || spec.resource.name !== object.metadata.name;
}

function controllerOf(owners: readonly OwnerReference[]): OwnerReference | undefined {
  return owners.find(({ controller }) => controller === true);
}

function ownerOf({ apiVersion, kind, metadata }: AnyObject): OwnerReference {
  const { name, uid } = metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

function referenceTo(
  { apiVersion, kind, metadata }: AnyObject,
  resourceVersion: string,
): Spec["resource"] {
  const { namespace = "", name, uid } = metadata;
  return { apiVersion, kind, namespace, name, uid, resourceVersion };
}

function versionOf({ metadata, spec }: ResourceBinding, object: AnyObject, digest: string): string {
  const isSame =
    spec.resource.uid === object.metadata.uid && metadata.annotations?.[FOLLOWER_DIGEST] === digest;
  return (isSame ? spec.resource.resourceVersion : undefined) ?? object.metadata.resourceVersion;
}

function keyText({ metadata }: ResourceBinding): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}
