/**
 * The KindSchema of a custom resource: its CRD's schema of one version, with what the server adds around it.
 *
 * 1. apiVersion, kind and metadata are never pruned; metadata is read as ObjectMeta.
 * 2. The order of errors is the server's: schema, scale, embedded resources, list types.
 * 3. CEL rules (`x-kubernetes-validations`) are not evaluated. When the schema has some and the object is wrong anyway, the
 *    answer says that they were not checked, as the server's does.
 */
import { type FieldError, MAX_ERRORS } from "../field-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import type { KindSchema, Normalized } from "../kind-schema.ts";
import type { AnyObject } from "../object.ts";
import { formatLikeGo, goTypeOf } from "../go-text.ts";
import { type CompiledSchema, compileSchema } from "./compile-schema.ts";
import { type CrdScale, type CustomResourceDefinition, crdVersion } from "./crd.ts";
import { normalizeObjectMeta } from "./object-meta.ts";
import { validateChangedValue } from "./validate.ts";

/** What the verbs need to know about objects of one version of a custom resource. */
export function customKindSchema(crd: CustomResourceDefinition, versionName: string): KindSchema {
  const version = crdVersion(crd, versionName);
  const schema = compileSchema(version?.schema?.openAPIV3Schema ?? {});
  const scale = compileScale(version?.subresources?.scale);
  return {
    normalize: (body) => normalizeCustom(schema, body),
    applyDefaults: (object) => schema.fillDefaults(object) as JsonObject,
    validateCreate: (object) => {
      const value = object as JsonObject;
      return joined(schema, [
        schema.validate(value),
        validateScale(value, scale, true),
        schema.validateEmbedded(value),
        schema.validateListTypes(value),
      ]);
    },
    validateUpdate: (object, old) => {
      const value = object as JsonObject;
      return joined(schema, [
        schema.validateUpdate(value, old as JsonObject),
        validateScale(value, scale, true),
        schema.validateEmbedded(value),
        changedListTypes(schema, value, old),
      ]);
    },
    validateStatusUpdate: (object, old) => {
      const value = object as JsonObject;
      return joined(schema, [
        validateStatus(schema, value, old),
        validateScale(value, scale, false),
        changedListTypes(schema, value, old),
      ]);
    },
  };
}

function normalizeCustom(schema: CompiledSchema, body: JsonObject): Normalized {
  for (const field of ["kind", "apiVersion"]) {
    const value = body[field];
    if (value !== undefined && typeof value !== "string")
      return { ok: false, message: accessorError(`.${field}`, value, "string") };
  }
  const given = body["metadata"];
  const meta = given === undefined ? undefined : normalizeObjectMeta(given, "metadata");
  if (meta?.ok === false) return meta;
  const pruned = schema.prune(body, true);
  const coerced = schema.coerceEmbedded(pruned.value);
  if (!coerced.ok) return coerced;
  const value = coerced.value as JsonObject;
  const object =
    meta === undefined || meta.object === given ? value : { ...value, metadata: meta.object };
  const unknown = [meta?.unknownFields ?? [], pruned.unknownFields, coerced.unknownFields];
  return { ok: true, object, unknownFields: unknown.flat() };
}

/** List types are not held against an object that broke them before. */
function changedListTypes(
  schema: CompiledSchema,
  value: JsonObject,
  old: AnyObject,
): readonly FieldError[] {
  const errors = schema.validateListTypes(value);
  if (errors.length === 0) return errors;
  return schema.validateListTypes(old as JsonObject).length === 0 ? errors : [];
}

function validateStatus(
  schema: CompiledSchema,
  value: JsonObject,
  old: AnyObject,
): readonly FieldError[] {
  const status = value["status"];
  const node = schema.root.properties.get("status");
  if (status === undefined || node === undefined) return [];
  return validateChangedValue(node, status, (old as JsonObject)["status"], "status");
}

const RULES_NOTE: FieldError = {
  reason: "FieldValueInvalid",
  field: "<nil>",
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
};

const BLOCKING: ReadonlySet<FieldError["reason"]> = new Set<FieldError["reason"]>([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

/** All errors, at most as many as one answer carries, and the note about rules (3). */
function joined(
  schema: CompiledSchema,
  parts: readonly (readonly FieldError[])[],
): readonly FieldError[] {
  if (parts.every((part) => part.length === 0)) return NO_ERRORS;
  const errors = parts.flat().slice(0, MAX_ERRORS);
  const unchecked = schema.root.anyRules && errors.some((error) => BLOCKING.has(error.reason));
  return unchecked ? [...errors, RULES_NOTE] : errors;
}

const NO_ERRORS: readonly FieldError[] = [];
const INT32_MAX = 2_147_483_647;

/** The paths of a scale subresource, split into names. */
interface ScalePaths {
  readonly specReplicas: FieldPath;
  readonly statusReplicas: FieldPath;
  readonly labelSelector: FieldPath | undefined;
}

interface FieldPath {
  readonly text: string;
  readonly names: readonly string[];
}

function compileScale(scale: CrdScale | undefined): ScalePaths | undefined {
  if (scale === undefined) return undefined;
  const path = (text: string): FieldPath => ({ text, names: text.replace(/^\./, "").split(".") });
  const selector = scale.labelSelectorPath ?? "";
  return {
    specReplicas: path(scale.specReplicasPath ?? ""),
    statusReplicas: path(scale.statusReplicasPath ?? ""),
    labelSelector: selector === "" ? undefined : path(selector),
  };
}

function validateScale(
  object: JsonObject,
  scale: ScalePaths | undefined,
  withSpec: boolean,
): readonly FieldError[] {
  if (scale === undefined) return NO_ERRORS;
  return [
    ...(withSpec ? checkReplicas(object, scale.specReplicas) : NO_ERRORS),
    ...checkReplicas(object, scale.statusReplicas),
    ...checkSelector(object, scale.labelSelector),
  ];
}

function checkReplicas(object: JsonObject, path: FieldPath): readonly FieldError[] {
  const found = readPath(object, path);
  if (!found.ok) return [scaleError(path, "0", found.message)];
  const { value } = found;
  if (value === undefined) return NO_ERRORS;
  if (typeof value !== "number" || !Number.isSafeInteger(value))
    return [scaleError(path, "0", accessorError(path.text, value, "int64"))];
  if (value < 0) return [scaleError(path, String(value), "should be a non-negative integer")];
  if (value <= INT32_MAX) return NO_ERRORS;
  return [scaleError(path, String(value), `should be less than or equal to ${INT32_MAX}`)];
}

function checkSelector(object: JsonObject, path: FieldPath | undefined): readonly FieldError[] {
  if (path === undefined) return NO_ERRORS;
  const found = readPath(object, path);
  if (!found.ok) return [scaleError(path, '""', found.message)];
  if (found.value === undefined || typeof found.value === "string") return NO_ERRORS;
  return [scaleError(path, '""', accessorError(path.text, found.value, "string"))];
}

type PathValue =
  | { readonly ok: true; readonly value: Json | undefined }
  | { readonly ok: false; readonly message: string };

/** Follows a path of plain field names. */
function readPath(object: JsonObject, path: FieldPath): PathValue {
  let value: Json | undefined = object;
  for (const name of path.names) {
    if (value === undefined || value === null) return { ok: true, value: undefined };
    if (!isJsonObject(value))
      return { ok: false, message: accessorError(path.text, value, "map[string]interface{}") };
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return { ok: true, value };
}

function scaleError(path: FieldPath, value: string, detail: string): FieldError {
  const message = `Invalid value: ${value}: ${detail}`;
  return { reason: "FieldValueInvalid", field: path.text, message };
}

function accessorError(path: string, value: Json, wanted: string): string {
  const at = path.startsWith(".") ? path : `.${path}`;
  return `${at} accessor error: ${formatLikeGo(value)} is of the type ${goTypeOf(value)}, expected ${wanted}`;
}
