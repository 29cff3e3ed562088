/**
 * Rendering: from a template and its binding to the Work of one cluster.
 *
 * The steps: the cluster's replicas, a Job's completions, overrides, state of an earlier cluster, pruning, and the marks
 * by which the object in the member, its Work, its binding and its template find each other.
 *
 * 1. Same view, same Work, byte for byte; a manifest rendered again (without overrides) is the same manifest.
 * 2. A copy is always the object that the template is: overrides cannot change its kind, name or namespace. Only the copies
 *    of a federated StatefulSet have names of their own (D15).
 * 3. Nothing throws: what cannot be rendered is `failed`, for this cluster only, with a reason and a message.
 * 4. The marks are written last, so neither a template nor a policy can forge them.
 */
import type { New, ObjectKey, Work } from "@lifeboat/api";
import { anew, deepFreeze } from "@lifeboat/base";
import { isDispatchingSuspended } from "../../binding/index.ts";
import {
  compareText,
  type Fields,
  fieldsAt,
  merged,
  textAt,
  textsAt,
  valueAt,
  withValue,
} from "../../fields.ts";
import { renderedIdentity } from "../../origin.ts";
import {
  APPLIED_CLUSTER_OVERRIDES,
  APPLIED_OVERRIDES,
  BINDING_ID,
  BINDING_NAME,
  BINDING_NAMESPACE,
  CLUSTER_BINDING_ID,
  CLUSTER_BINDING_NAME,
  CONFLICT_RESOLUTION,
  EXECUTION_FINALIZER,
  MANAGED,
  MANAGED_ANNOTATIONS,
  MANAGED_LABELS,
  TEMPLATE_GENERATION,
  TEMPLATE_UID,
  WORK_ID,
  WORK_NAME,
  WORK_NAMESPACE,
} from "../../well-known.ts";
import { federatedCopy } from "./federated-copy.ts";
import { executionNamespace, workName } from "./names.ts";
import { OverrideError } from "./overriders.ts";
import { type AppliedOverride, applyOverrides, overridesFor } from "./overrides.ts";
import { injectState } from "./preserved-state.ts";
import { prune } from "./prune.ts";
import type { RenderReason } from "./reasons.ts";
import { withCompletions, withReplicas } from "./shares.ts";

type Texts = Readonly<Record<string, string>>;

export interface RenderView {
  readonly template: Fields;
  /** The template asking for this cluster's replicas, where a script and not a built-in interpreter knows how. */
  readonly revised?: Fields;
  /** The template's ResourceBinding or ClusterResourceBinding. */
  readonly binding: object;
  readonly cluster: object;
  readonly clusterOverridePolicies: readonly object[];
  /** Those of other namespaces are ignored. */
  readonly overridePolicies: readonly object[];
  /** The permanent id of the Work: that of the existing one, or a new one. */
  readonly workId: string;
  /** The Work that is there does not name what happens in a conflict, which means abort: then neither does its copy. */
  readonly leavesAbortOut?: boolean;
}

export type Rendered =
  | {
      readonly outcome: "rendered";
      readonly reason: "Rendered";
      /** The Work as it is to be: its labels and annotations are added to those it has, its spec replaces. */
      readonly work: New<Work>;
      readonly manifest: Fields;
      readonly hasOverrides: boolean;
    }
  | {
      readonly outcome: "failed";
      readonly reason: Exclude<RenderReason, "Rendered">;
      readonly message: string;
    };

/** The Work of one cluster. */
export function renderWork(view: RenderView): Rendered {
  const { template, cluster } = view;
  if (textAt(template, "kind") === "" || textAt(template, "metadata", "name") === "")
    return failed("TemplateIncomplete", "the template has no kind or no name");
  const clusterOverrides = overridesFor(template, cluster, view.clusterOverridePolicies);
  const namespaced = textAt(template, "metadata", "namespace") !== "";
  const overrides = namespaced ? overridesFor(template, cluster, view.overridePolicies) : [];
  let copy: Fields;
  try {
    copy = applyOverrides(shareOf(view), [...clusterOverrides, ...overrides]);
  } catch (error) {
    if (error instanceof OverrideError) return failed("OverrideFailed", error.message);
    throw error;
  }
  if (!isSameObject(template, copy))
    return failed("IdentityOverridden", "an override changes apiVersion, kind, name or namespace");
  const key = workKeyOf(view);
  const own = federatedCopy(copy, view.binding, textAt(cluster, "metadata", "name"));
  if (own === undefined)
    return failed("SharesUnreadable", "the shares of the federated StatefulSet cannot be read");
  const manifest = manifestOf(view, own, key);
  const annotations = {
    ...anew,
    ...recordOf(APPLIED_OVERRIDES, overrides),
    ...recordOf(APPLIED_CLUSTER_OVERRIDES, clusterOverrides),
  };
  const work = workOf(view, manifest, key, annotations);
  const hasOverrides = clusterOverrides.length + overrides.length > 0;
  return deepFreeze({ outcome: "rendered", reason: "Rendered", work, manifest, hasOverrides });
}

/** `overwrite` or `abort`: the template's value, if it is valid, else the policy's. */
export function conflictResolutionOf(template: Fields, binding: object): "overwrite" | "abort" {
  const own = textAt(template, "metadata", "annotations", CONFLICT_RESOLUTION);
  if (own === "overwrite" || own === "abort") return own;
  return valueAt(binding, "spec", "conflictResolution") === "Overwrite" ? "overwrite" : "abort";
}

function failed(reason: Exclude<RenderReason, "Rendered">, message: string): Rendered {
  return { outcome: "failed", reason, message };
}

/** The template as this cluster is to run it, before overrides. */
function shareOf({ template, revised, binding, cluster }: RenderView): Fields {
  const name = textAt(cluster, "metadata", "name");
  return withCompletions(revised ?? withReplicas(template, binding, name), template, binding, name);
}

function isSameObject(template: Fields, copy: Fields): boolean {
  return (
    valueAt(template, "apiVersion") === valueAt(copy, "apiVersion") &&
    valueAt(template, "kind") === valueAt(copy, "kind") &&
    valueAt(template, "metadata", "name") === valueAt(copy, "metadata", "name") &&
    valueAt(template, "metadata", "namespace") === valueAt(copy, "metadata", "namespace")
  );
}

function manifestOf(view: RenderView, copy: Fields, key: ObjectKey): Fields {
  const { template, binding, cluster } = view;
  const carried = prune(injectState(copy, binding, textAt(cluster, "metadata", "name")));
  const labels = merged(textsAt(carried, "metadata", "labels"), {
    ...anew,
    ...bindingIdOf(binding),
    [MANAGED]: "true",
    [WORK_ID]: view.workId,
  });
  const annotations = merged(textsAt(carried, "metadata", "annotations"), {
    ...anew,
    ...generationOf(template),
    ...uidOf(template),
    ...bindingReferenceOf(binding),
    [WORK_NAMESPACE]: key.namespace,
    [WORK_NAME]: key.name,
    ...conflictMark(view),
    [MANAGED_LABELS]: "",
    [MANAGED_ANNOTATIONS]: "",
  });
  return withValue(carried, ["metadata"], {
    ...anew,
    ...fieldsAt(carried, "metadata"),
    labels,
    annotations: {
      ...anew,
      ...annotations,
      [MANAGED_LABELS]: sortedKeys(labels),
      [MANAGED_ANNOTATIONS]: sortedKeys(annotations),
    },
  });
}

function conflictMark({ template, binding, leavesAbortOut }: RenderView): Texts {
  const resolution = conflictResolutionOf(template, binding);
  return resolution === "abort" && leavesAbortOut === true
    ? {}
    : { [CONFLICT_RESOLUTION]: resolution };
}

function workOf(view: RenderView, manifest: Fields, key: ObjectKey, annotations: Texts): New<Work> {
  const { binding } = view;
  const cluster = textAt(view.cluster, "metadata", "name");
  return {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: {
      ...anew,
      ...key,
      labels: { ...anew, ...bindingIdOf(binding), [WORK_ID]: view.workId },
      annotations: {
        ...anew,
        ...bindingReferenceOf(binding),
        ...conflictMark(view),
        ...annotations,
      },
      finalizers: [EXECUTION_FINALIZER],
    },
    spec: {
      workload: { manifests: [manifest] },
      suspendDispatching: isDispatchingSuspended(binding, cluster),
      preserveResourcesOnDeletion: valueAt(binding, "spec", "preserveResourcesOnDeletion") === true,
    },
  };
}

function workKeyOf({ template, cluster }: RenderView): ObjectKey {
  const kind = textAt(template, "kind");
  const name = textAt(template, "metadata", "name");
  const namespace = textAt(template, "metadata", "namespace");
  return {
    namespace: executionNamespace(textAt(cluster, "metadata", "name")),
    name: workName({ kind, namespace, name }),
  };
}

function isClusterBinding(binding: object): boolean {
  return textAt(binding, "metadata", "namespace") === "";
}

function bindingIdOf(binding: object): Texts {
  const key = isClusterBinding(binding) ? CLUSTER_BINDING_ID : BINDING_ID;
  const id = textAt(binding, "metadata", "labels", key);
  return id === "" ? {} : { [key]: id };
}

function bindingReferenceOf(binding: object): Texts {
  const name = textAt(binding, "metadata", "name");
  if (name === "") return {};
  if (isClusterBinding(binding)) return { [CLUSTER_BINDING_NAME]: name };
  return { [BINDING_NAMESPACE]: textAt(binding, "metadata", "namespace"), [BINDING_NAME]: name };
}

function generationOf(template: Fields): Texts {
  const generation = renderedIdentity(template).generation;
  return generation === 0 ? {} : { [TEMPLATE_GENERATION]: String(generation) };
}

function uidOf(template: Fields): Texts {
  const { uid } = renderedIdentity(template);
  return uid === "" ? {} : { [TEMPLATE_UID]: uid };
}

function recordOf(key: string, overrides: readonly AppliedOverride[]): Texts {
  return overrides.length === 0 ? {} : { [key]: JSON.stringify(overrides) };
}

function sortedKeys(texts: Fields): string {
  return Object.keys(texts).toSorted(compareText).join(",");
}
