/**
 * What the binding of a template must be, of the parts that follow from the template and its policy.
 *
 * 1. Fields of others are carried over untouched: the schedule, eviction tasks, the bindings that require it, when to
 *    reschedule, `suspension.scheduling`, and every label, annotation and finalizer that is not ours.
 * 2. `resource.resourceVersion` moves only when the user's part of the template moved (see digest.ts), so statuses that
 *    are written back to the template change no binding.
 * 3. A binding that is right already is answered as the same object: comparing is `===`.
 */
import {
  type BindingSpec,
  equalJson,
  type New,
  type NewMeta,
  type OwnerReference,
  parseApiVersion,
  type ResourceBinding,
} from "@lifeboat/api";
import { anew } from "@lifeboat/base";
import { type Fields, isFields, textAt, valueAt, without } from "../../fields.ts";
import type { Replicas } from "../interpretation/interpreter.ts";
import { federatedMarks } from "../../federated/marks.ts";
import { bindingName } from "../rendering/names.ts";
import { BINDING_FINALIZER, CLUSTER_BINDING_FINALIZER, TEMPLATE_DIGEST } from "../../well-known.ts";
import { claimAnnotations, claimLabels, claimTexts, withTexts } from "./claim.ts";
import type { Policy } from "./policy.ts";

/** A binding of either scope; the two have the same fields. */
export type Binding = ResourceBinding;

export interface BindingParts {
  readonly template: Fields;
  readonly digest: string;
  readonly policy: Policy;
  readonly replicas: Replicas;
}

const API_VERSION = "work.karmada.io/v1alpha2";

/** The binding that a template has none of yet. */
export function newBinding(parts: BindingParts): New<Binding> {
  const { kind, name, namespace } = identityOf(parts.template);
  const metadata: NewMeta = {
    name: bindingName(kind, name),
    ...(namespace === "" ? {} : { namespace }),
    ...metadataFor(parts, {}),
  };
  return {
    apiVersion: API_VERSION,
    kind: namespace === "" ? "ClusterResourceBinding" : "ResourceBinding",
    metadata,
    spec: specFor(parts, undefined),
  };
}

/** An existing binding as it must be; the same object when it already is. */
export function bindingFor(parts: BindingParts, existing: Binding): Binding {
  const metadata = { ...existing.metadata, ...metadataFor(parts, existing.metadata) };
  const spec = specFor(parts, existing);
  if (equalJson(metadata, existing.metadata) && equalJson(spec, existing.spec)) return existing;
  return { ...existing, metadata, spec };
}

/** An existing binding without a claim; the same object when it has none. */
export function releasedBinding(existing: Binding): Binding {
  const none = claimTexts(undefined);
  const { labels = {}, annotations = {} } = existing.metadata;
  const left = {
    labels: withTexts(labels, none.labels),
    annotations: withTexts(annotations, none.annotations),
  };
  if (left.labels === labels && left.annotations === annotations) return existing;
  return { ...existing, metadata: { ...existing.metadata, ...left } };
}

/** Whether a binding is about this object: the same kind of the same group, in any version. */
export function isAbout(binding: Binding, template: Fields): boolean {
  const { apiVersion, kind, name, namespace } = identityOf(template);
  const { resource } = binding.spec;
  return (
    parseApiVersion(resource.apiVersion).group === parseApiVersion(apiVersion).group &&
    resource.kind === kind &&
    resource.name === name &&
    (resource.namespace ?? "") === namespace
  );
}

/** The uid of the object that a binding belongs to; undefined when it has no owner. */
export function ownerOf({ metadata }: Binding): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

/** Whether two states of a binding agree in all that the detector writes. */
export function sameClaimedParts(a: Binding, b: Binding): boolean {
  return (
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
    OWN_LABELS.every((key) => a.metadata.labels?.[key] === b.metadata.labels?.[key]) &&
    OWN_ANNOTATIONS.every(
      (key) => a.metadata.annotations?.[key] === b.metadata.annotations?.[key],
    ) &&
    equalJson(a.metadata.finalizers, b.metadata.finalizers) &&
    equalJson(a.metadata.ownerReferences, b.metadata.ownerReferences) &&
    equalJson(without(a.spec, ...OTHERS), without(b.spec, ...OTHERS))
  );
}

/** What the detector writes on a binding, but for versions of the template: those are written along with it. */
export function claimedParts({ metadata, spec }: Binding): unknown {
  const { labels = {}, annotations = {}, ownerReferences = [] } = metadata;
  return [
    OWN_LABELS.map((key) => labels[key] ?? ""),
    OWN_ANNOTATIONS.map((key) => annotations[key] ?? ""),
    ownerReferences,
    without(spec, "resource", ...OTHERS),
  ];
}

const OWN_LABELS = [...claimLabels];
const OWN_ANNOTATIONS = [...claimAnnotations, TEMPLATE_DIGEST];

/** The parts of a binding's spec that others write; see invariant 1. */
const OTHERS = [
  "clusters",
  "components",
  "gracefulEvictionTasks",
  "requiredBy",
  "rescheduleTriggeredAt",
  "schedulePriority",
  "workloadAffinityGroups",
];

function metadataFor(
  { template, digest, policy }: BindingParts,
  existing: NewMeta,
): Required<Pick<NewMeta, "annotations" | "finalizers" | "labels" | "ownerReferences">> {
  const claim = claimTexts(policy);
  const annotations = {
    ...anew,
    ...claim.annotations,
    [TEMPLATE_DIGEST]: digest,
    ...federatedMarks(template, existing),
  };
  const finalizer =
    textAt(template, "metadata", "namespace") === ""
      ? CLUSTER_BINDING_FINALIZER
      : BINDING_FINALIZER;
  const finalizers = existing.finalizers ?? [];
  return {
    labels: withTexts(existing.labels ?? {}, claim.labels),
    annotations: withTexts(existing.annotations ?? {}, annotations),
    finalizers: finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer],
    ownerReferences: ownersFor(template, existing.ownerReferences ?? []),
  };
}

/** The template is the one controlling owner; others may own the binding besides. */
function ownersFor(
  template: Fields,
  existing: readonly OwnerReference[],
): readonly OwnerReference[] {
  const { apiVersion, kind, name } = identityOf(template);
  const uid = textAt(template, "metadata", "uid");
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  const others = existing.filter(
    (reference) => reference.uid !== uid && reference.controller !== true,
  );
  return [owner, ...others];
}

function specFor(parts: BindingParts, existing: Binding | undefined): BindingSpec {
  const { policy, replicas } = parts;
  const spec = policy.spec;
  const suspension = suspensionFor(spec.suspension, existing?.spec.suspension);
  const carried: Fields = existing === undefined ? {} : othersOf(existing.spec);
  const { requirements } = replicas;
  const namespace = textAt(parts.template, "metadata", "namespace");
  return {
    ...anew,
    ...carried,
    resource: resourceFor(parts, existing),
    ...(spec.propagateDeps === undefined ? {} : { propagateDeps: spec.propagateDeps }),
    ...(replicas.replicas > 0 ? { replicas: replicas.replicas } : {}),
    ...(requirements === undefined
      ? {}
      : {
          replicaRequirements: {
            ...anew,
            ...requirements,
            ...(namespace === "" ? {} : { namespace }),
          },
        }),
    ...(spec.placement === undefined ? {} : { placement: spec.placement }),
    ...(spec.schedulerName === undefined ? {} : { schedulerName: spec.schedulerName }),
    ...(spec.failover === undefined ? {} : { failover: spec.failover }),
    conflictResolution: spec.conflictResolution ?? "Abort",
    ...(suspension === undefined ? {} : { suspension }),
    ...(spec.preserveResourcesOnDeletion === undefined
      ? {}
      : { preserveResourcesOnDeletion: spec.preserveResourcesOnDeletion }),
  } as BindingSpec;
}

function othersOf(spec: BindingSpec): Fields {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => OTHERS.includes(field)));
}

function resourceFor(
  { template, digest }: BindingParts,
  existing: Binding | undefined,
): BindingSpec["resource"] {
  const { apiVersion, kind, name, namespace } = identityOf(template);
  const uid = textAt(template, "metadata", "uid");
  const before = existing?.spec.resource;
  const isSame =
    before?.uid === uid && existing?.metadata.annotations?.[TEMPLATE_DIGEST] === digest;
  const resourceVersion = isSame
    ? before.resourceVersion
    : textAt(template, "metadata", "resourceVersion");
  return {
    apiVersion,
    kind,
    ...(namespace === "" ? {} : { namespace }),
    name,
    uid,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

/** The policy sets what is dispatched; only the binding itself sets whether it is scheduled. */
function suspensionFor(
  policy: Policy["spec"]["suspension"],
  existing: BindingSpec["suspension"],
): BindingSpec["suspension"] {
  const scheduling = valueAt(existing, "scheduling");
  const dispatching = isFields(policy) ? policy : {};
  if (scheduling === undefined && policy === undefined) return undefined;
  return {
    ...dispatching,
    ...(typeof scheduling === "boolean" ? { scheduling } : {}),
  };
}

function identityOf(template: Fields): {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
} {
  return {
    apiVersion: textAt(template, "apiVersion"),
    kind: textAt(template, "kind"),
    namespace: textAt(template, "metadata", "namespace"),
    name: textAt(template, "metadata", "name"),
  };
}
