/**
 * The scale subresource: an autoscaling/v1 Scale that stands for three fields of the object. Reads build it, writes
 * put its replicas back; everything else of the object stays as it is.
 */
import {
  type AnyObject,
  formatLabelSelector,
  invalid,
  invalidObject,
  isJsonObject,
  type Json,
  type JsonObject,
  labelSelectorFrom,
} from "@lifeboat/api";
import type { ScaleSubresource, ServedResource } from "../catalog/served-resource.ts";
import type { VerbDeps } from "./deps.ts";
import { givenMetaOf } from "./metadata.ts";
import { applyPatch } from "./apply-patch.ts";
import { serverError } from "./refusals.ts";
import { replace } from "./replace.ts";
import { scaleSchema } from "./scale-schema.ts";
import type {
  Body,
  PatchBody,
  PatchParameters,
  RequestContext,
  Target,
  WriteAnswer,
  WriteParameters,
} from "./verbs.ts";

/** The Scale that an object shows. */
export function scaleOf(resource: ServedResource, object: AnyObject): AnyObject {
  const scale = requireScale(resource);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = numberAt(object, scale.specReplicasPath);
  if (replicas === undefined && resource.custom)
    throw serverError(`the spec replicas field "${scale.specReplicasPath}" does not exist`);
  const selector = selectorAt(object, scale.labelSelectorPath);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      uid,
      resourceVersion,
      creationTimestamp,
    },
    spec: replicas === undefined || replicas === 0 ? {} : { replicas },
    status: {
      replicas: numberAt(object, scale.statusReplicasPath) ?? 0,
      ...(selector !== "" && { selector }),
    },
  };
}

export function updateScale(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  body: Body,
  parameters: WriteParameters,
): Promise<WriteAnswer> {
  const decoded = decodeScale(body.object);
  return writeScale(deps, context, target, parameters, () => decoded);
}

export function patchScale(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  body: PatchBody,
  parameters: PatchParameters,
): Promise<WriteAnswer> {
  return writeScale(deps, context, target, parameters, (current) => {
    const scale = scaleOf(target.resource, current) as unknown as JsonObject;
    const patched = applyPatch(scale, body, scaleSchema());
    return decodeScale(isJsonObject(patched) ? patched : {});
  });
}

async function writeScale(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  parameters: WriteParameters,
  next: (current: AnyObject) => JsonObject,
): Promise<WriteAnswer> {
  const { resource } = target;
  const answer = await replace(deps, context, target, parameters, {
    next: (current) => withReplicas(resource, current, next(current)),
  });
  return { object: scaleOf(resource, answer.object), created: false };
}

/** The object with the replicas of a Scale, and with the preconditions the Scale carried. */
function withReplicas(resource: ServedResource, current: AnyObject, scale: JsonObject): JsonObject {
  const given = givenMetaOf(scale);
  const replicas = (scale["spec"] as JsonObject | undefined)?.["replicas"] ?? 0;
  if (typeof replicas === "number" && replicas < 0)
    throw invalidObject({ group: "autoscaling", kind: "Scale" }, current.metadata.name, [
      invalid("spec.replicas", replicas, "must be greater than or equal to 0"),
    ]);
  const metadata = {
    ...current.metadata,
    name: given.name ?? "",
    ...(given.namespace !== undefined && { namespace: given.namespace }),
    ...(given.uid !== undefined && { uid: given.uid }),
    // Unconditional unless the Scale names a version: it is one field of the object that is written.
    resourceVersion: given.resourceVersion ?? current.metadata.resourceVersion,
  };
  const path = fieldsOf(requireScale(resource).specReplicasPath);
  return setAt({ ...current, metadata } as unknown as JsonObject, path, replicas);
}

function decodeScale(body: JsonObject): JsonObject {
  const normalized = scaleSchema().normalize({
    ...body,
    kind: "Scale",
    apiVersion: "autoscaling/v1",
  });
  if (normalized.ok) return normalized.object;
  throw invalidObject({ group: "autoscaling", kind: "Scale" }, "", [
    invalid("spec", body["spec"], normalized.message),
  ]);
}

function requireScale(resource: ServedResource): ScaleSubresource {
  const { scale } = resource.subresources;
  if (scale === undefined) throw serverError(`${resource.plural} have no scale`);
  return scale;
}

/** `.spec.replicas` → its names. These paths have no brackets: CRDs with others are refused. */
function fieldsOf(path: string): readonly string[] {
  return path.split(".").filter((name) => name !== "");
}

function valueAt(object: AnyObject, path: string): unknown {
  let value: unknown = object;
  for (const name of fieldsOf(path)) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function numberAt(object: AnyObject, path: string): number | undefined {
  const value = valueAt(object, path);
  return typeof value === "number" ? value : undefined;
}

/** Selectors are texts on custom resources, label selectors on most built-ins, and plain maps on the oldest. */
function selectorAt(object: AnyObject, path: string | undefined): string {
  const value = path === undefined ? undefined : valueAt(object, path);
  if (typeof value === "string") return value;
  if (!isJsonObject(value)) return "";
  const isSelector = value["matchLabels"] !== undefined || value["matchExpressions"] !== undefined;
  return formatLabelSelector(labelSelectorFrom(isSelector ? value : { matchLabels: value }));
}

function setAt(object: JsonObject, path: readonly string[], value: Json): JsonObject {
  const [name, ...rest] = path;
  if (name === undefined) return object;
  if (rest.length === 0) return { ...object, [name]: value };
  const inner = object[name];
  return { ...object, [name]: setAt(isJsonObject(inner) ? inner : {}, rest, value) };
}
