/**
 * What a CRD's schema may contain at all, beside being structural (structural.ts): keywords that are not supported,
 * contradictions, the Kubernetes extensions and their combinations, and defaults that must satisfy the schema.
 */
import { type FieldError, forbidden, invalid, notSupported, required } from "../field-error.ts";
import type { Json } from "../json.ts";
import { equalJson } from "../equal-json.ts";
import {
  additionalOf,
  isSchema,
  itemsOf,
  type JsonSchema,
  MAX_SCHEMA_DEPTH,
  type ValidationRule,
} from "./json-schema.ts";
import { prune } from "./prune.ts";
import { compileNode } from "./schema-node.ts";
import { structuralErrors } from "./structural.ts";
import { validateEmbedded } from "./embedded.ts";
import { validateValue } from "./validate.ts";

/** Checks the schema of a version. `at` is the path of the schema, `hasStatus` whether the status subresource is on. */
export function validateSchema(
  schema: JsonSchema,
  at: string,
  hasStatus: boolean,
): readonly FieldError[] {
  if (isTooDeep(schema, 0))
    return [forbidden(at, `must not be nested deeper than ${MAX_SCHEMA_DEPTH} levels`)];
  const errors: FieldError[] = hasStatus ? [...rootFieldErrors(schema, at)] : [];
  if (schema.nullable === true)
    errors.push(forbidden(`${at}.nullable`, "nullable cannot be true at the root"));
  const unsupported = unsupportedKeyword(schema);
  if (unsupported === undefined) {
    const structural = structuralErrors(schema, at);
    errors.push(...structural);
    if (structural.length === 0) checkDefaults(schema, at, true, errors);
  }
  checkKeywords(schema, at, ROOT, errors);
  if (errors.length === 0 && unsupported !== undefined)
    errors.push(invalid(at, "", `OpenAPIV3Schema '${unsupported}' is not supported`));
  return errors;
}

/** Looks only at containers, so that no recursion elsewhere can run away. */
function isTooDeep(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  // A level of schema takes at most two levels of JSON: the keyword, and the name or index below it.
  if (depth > 2 * MAX_SCHEMA_DEPTH) return true;
  return Object.values(value).some((inner) => isTooDeep(inner, depth + 1));
}

const ROOT_FIELDS: readonly (keyof JsonSchema)[] = [
  "description",
  "type",
  "format",
  "title",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "multipleOf",
  "required",
  "items",
  "properties",
  "externalDocs",
  "example",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-validations",
];
const ROOT_FIELD_NAMES =
  "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations";

/** With a status subresource the schema of status is used alone, so nothing at the root may depend on the whole. */
function rootFieldErrors(schema: JsonSchema, at: string): readonly FieldError[] {
  if (schema.type !== undefined && schema.type !== "" && schema.type !== "object") {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalid(`${at}.type`, schema.type, detail)];
  }
  const stray = (Object.keys(schema) as (keyof JsonSchema)[]).find(
    (name) => schema[name] !== undefined && !ROOT_FIELDS.includes(name),
  );
  if (stray === undefined) return [];
  const detail = `only [${ROOT_FIELD_NAMES}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalid(at, schema, detail)];
}

/** A keyword that makes the schema impossible to read as a structural one, anywhere in it. */
function unsupportedKeyword(schema: JsonSchema): string | undefined {
  if ((schema.id ?? "") !== "") return "id";
  if ((schema.$schema ?? "") !== "") return "schema";
  if ((schema.$ref ?? "") !== "") return "$ref";
  if (Object.keys(schema.patternProperties ?? {}).length > 0) return "patternProperties";
  if (Object.keys(schema.dependencies ?? {}).length > 0) return "dependencies";
  if (schema.additionalItems !== undefined) return "additionalItems";
  if (Object.keys(schema.definitions ?? {}).length > 0) return "definitions";
  if (Array.isArray(schema.items)) return "items";
  if (schema["x-kubernetes-preserve-unknown-fields"] === false)
    return "x-kubernetes-preserve-unknown-fields";
  for (const inner of childSchemas(schema)) {
    const found = unsupportedKeyword(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

function childSchemas(schema: JsonSchema): readonly JsonSchema[] {
  return [
    ...Object.values(schema.properties ?? {}),
    additionalOf(schema),
    itemsOf(schema),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    schema.not,
  ].filter(isSchema);
}

/** Defaults must be free of unknown fields and satisfy their own schema. Those of map values are not looked at. */
function checkDefaults(
  schema: JsonSchema,
  at: string,
  isRoot: boolean,
  errors: FieldError[],
): void {
  if (schema.default !== undefined && schema.default !== null)
    errors.push(...defaultErrors(schema, schema.default, `${at}.default`, isRoot));
  const items = itemsOf(schema);
  if (items !== undefined) checkDefaults(items, `${at}.items`, false, errors);
  for (const [name, inner] of Object.entries(schema.properties ?? {}))
    checkDefaults(inner, `${at}.properties[${name}]`, false, errors);
}

function defaultErrors(
  schema: JsonSchema,
  value: Json,
  at: string,
  isRoot: boolean,
): readonly FieldError[] {
  const node = compileNode({ ...schema, default: null });
  const pruned = prune(node, value, isRoot || node.embedded);
  const errors: FieldError[] = [];
  if (pruned.unknownFields.length > 0 || !equalJson(pruned.value, value))
    errors.push(invalid(at, value, "must not have unknown fields"));
  const embedded = validateEmbedded(node, value).map((error) => ({
    ...error,
    field: `${at}.${error.field}`,
  }));
  return [...errors, ...(embedded.length > 0 ? embedded : validateValue(node, value, at))];
}

const TYPES: readonly string[] = ["array", "boolean", "integer", "number", "object", "string"];

/** Where in a schema we are: what is forbidden depends on it. */
interface Place {
  readonly isRoot: boolean;
  /** Why no default may stand here; "" when it may. */
  readonly noDefaults: string;
  /** Inside apiVersion, kind or metadata of a resource. */
  readonly inMeta: boolean;
}

const ROOT: Place = { isRoot: true, noDefaults: "", inMeta: false };

function checkKeywords(schema: JsonSchema, at: string, place: Place, errors: FieldError[]): void {
  checkUnsupported(schema, at, place, errors);
  if (schema.uniqueItems === true)
    errors.push(
      forbidden(
        `${at}.uniqueItems`,
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      ),
    );
  checkChildren(schema, at, place, errors);
  if (schema["x-kubernetes-preserve-unknown-fields"] === false)
    errors.push(
      invalid(`${at}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"),
    );
  checkMapType(schema, at, errors);
  checkListType(schema, at, errors);
  schema["x-kubernetes-validations"]?.forEach((rule, i) =>
    checkRule(rule, `${at}.x-kubernetes-validations[${i}]`, errors),
  );
}

function checkUnsupported(
  schema: JsonSchema,
  at: string,
  place: Place,
  errors: FieldError[],
): void {
  const type = schema.type ?? "";
  if (type !== "" && !TYPES.includes(type)) errors.push(notSupported(`${at}.type`, type, TYPES));
  if (schema.default !== undefined && schema.default !== null && place.noDefaults !== "")
    errors.push(forbidden(`${at}.default`, `must not be set ${place.noDefaults}`));
  const refuse = (name: string, isSet: boolean): void => {
    if (isSet) errors.push(forbidden(`${at}.${name}`, `${name} is not supported`));
  };
  refuse("id", (schema.id ?? "") !== "");
  refuse("additionalItems", schema.additionalItems !== undefined);
  refuse("patternProperties", Object.keys(schema.patternProperties ?? {}).length > 0);
  refuse("definitions", Object.keys(schema.definitions ?? {}).length > 0);
  refuse("dependencies", schema.dependencies !== undefined);
  refuse("$ref", schema.$ref !== undefined);
  if (type === "null")
    errors.push(
      forbidden(`${at}.type`, "type cannot be set to null, use nullable as an alternative"),
    );
  if (Array.isArray(schema.items) && schema.items.length > 0)
    errors.push(forbidden(`${at}.items`, "items must be a schema object and not an array"));
  if (place.inMeta && schema["x-kubernetes-embedded-resource"] === true)
    errors.push(
      forbidden(`${at}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta"),
    );
}

const META_FIELDS: readonly string[] = ["metadata", "kind", "apiVersion"];

function checkChildren(schema: JsonSchema, at: string, place: Place, errors: FieldError[]): void {
  const inner: Place = { ...place, isRoot: false };
  const { additionalProperties, properties } = schema;
  const additional = additionalOf(schema);
  if (
    additionalProperties !== undefined &&
    additionalProperties !== true &&
    Object.keys(properties ?? {}).length > 0
  ) {
    const detail = "additionalProperties and properties are mutual exclusive";
    errors.push(forbidden(`${at}.additionalProperties`, detail));
  }
  if (additional !== undefined) {
    const reason = "inside additionalProperties applying to object metadata";
    const values = place.inMeta ? { ...inner, noDefaults: reason } : inner;
    checkKeywords(additional, `${at}.additionalProperties`, values, errors);
  }
  for (const [name, child] of Object.entries(properties ?? {}))
    checkKeywords(child, `${at}.properties[${name}]`, propertyPlace(schema, place, name), errors);
  if (schema.not !== undefined) checkKeywords(schema.not, `${at}.not`, inner, errors);
  for (const keyword of ["allOf", "oneOf", "anyOf"] as const) {
    schema[keyword]?.forEach((child, i) =>
      checkKeywords(child, `${at}.${keyword}[${i}]`, inner, errors),
    );
  }
  for (const [name, child] of Object.entries(schema.definitions ?? {}))
    checkKeywords(child, `${at}.definitions[${name}]`, inner, errors);
  const items = itemsOf(schema);
  if (items !== undefined) checkKeywords(items, `${at}.items`, inner, errors);
}

function propertyPlace(schema: JsonSchema, place: Place, name: string): Place {
  const isResource = place.isRoot || schema["x-kubernetes-embedded-resource"] === true;
  const inner: Place = { ...place, isRoot: false };
  if (!isResource || !META_FIELDS.includes(name)) return inner;
  const noDefaults = place.isRoot ? `in top-level ${name}` : place.noDefaults;
  return { isRoot: false, inMeta: true, noDefaults };
}

function checkMapType(schema: JsonSchema, at: string, errors: FieldError[]): void {
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType === undefined) return;
  checkExtensionType(schema, "object", "x-kubernetes-map-type", at, errors);
  if (mapType !== "atomic" && mapType !== "granular")
    errors.push(notSupported(`${at}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
}

/** Answers whether the type is right. */
function checkExtensionType(
  schema: JsonSchema,
  wanted: string,
  extension: string,
  at: string,
  errors: FieldError[],
): boolean {
  const type = schema.type ?? "";
  if (type === wanted) return true;
  const detail = `must be ${wanted} if ${extension} is specified`;
  errors.push(type === "" ? required(`${at}.type`, detail) : invalid(`${at}.type`, type, detail));
  return false;
}

function checkListType(schema: JsonSchema, at: string, errors: FieldError[]): void {
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const items = itemsOf(schema);
  if (listType !== undefined) {
    const isList = checkExtensionType(schema, "array", "x-kubernetes-list-type", at, errors);
    if (isList && listType === "set" && items !== undefined) checkSetItems(items, at, errors);
    if (!["atomic", "set", "map"].includes(listType))
      errors.push(notSupported(`${at}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]));
  }
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    const field = `${at}.x-kubernetes-list-type`;
    errors.push(
      listType === undefined ? required(field, detail) : invalid(field, listType, detail),
    );
  }
  if (listType === "map") checkMapItems(schema, keys, at, errors);
  if (items !== undefined && (listType === "set" || listType === "map"))
    checkItemsNullable(items, listType, keys, at, errors);
}

function checkSetItems(items: JsonSchema, at: string, errors: FieldError[]): void {
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items["x-kubernetes-list-type"];
  if (items.type === "array" && listType !== undefined && listType !== "atomic")
    errors.push(invalid(`${at}.items.x-kubernetes-list-type`, listType, detail));
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic")
    errors.push(invalid(`${at}.items.x-kubernetes-map-type`, listType, detail));
}

function checkMapItems(
  schema: JsonSchema,
  keys: readonly string[],
  at: string,
  errors: FieldError[],
): void {
  const items = itemsOf(schema);
  const keysField = `${at}.x-kubernetes-list-map-keys`;
  if (keys.length === 0)
    errors.push(required(keysField, "must not be empty if x-kubernetes-list-type is map"));
  if (schema.items === undefined)
    errors.push(required(`${at}.items`, "must have a schema if x-kubernetes-list-type is map"));
  if (items === undefined) return;
  if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(`${at}.items.type`, items.type ?? "", detail));
    return;
  }
  const seen = new Set<string>();
  for (const key of keys) {
    const declared = Object.hasOwn(items.properties ?? {}, key)
      ? items.properties?.[key]
      : undefined;
    if (declared === undefined)
      errors.push(invalid(keysField, keys, "entries must all be names of item properties"));
    else if (declared.type === "array" || declared.type === "object")
      errors.push(
        invalid(
          `${at}.items.properties[${key}].type`,
          items.type,
          "must be a scalar type if parent array's x-kubernetes-list-type is map",
        ),
      );
    if (seen.has(key)) errors.push(invalid(keysField, keys, "must not contain duplicate entries"));
    seen.add(key);
  }
}

function checkItemsNullable(
  items: JsonSchema,
  listType: string,
  keys: readonly string[],
  at: string,
  errors: FieldError[],
): void {
  if (items.nullable === true)
    errors.push(
      forbidden(
        `${at}.items.nullable`,
        `cannot be nullable when x-kubernetes-list-type is ${listType}`,
      ),
    );
  if (listType !== "map") return;
  for (const key of keys) {
    const declared = Object.hasOwn(items.properties ?? {}, key)
      ? items.properties?.[key]
      : undefined;
    if (declared === undefined) continue;
    const field = `${at}.items.properties[${key}]`;
    const hasDefault = declared.default !== undefined && declared.default !== null;
    if (items.required?.includes(key) !== true && !hasDefault)
      errors.push(
        required(
          `${field}.default`,
          "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ),
      );
    if (declared.nullable === true)
      errors.push(
        forbidden(
          `${field}.nullable`,
          "this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
        ),
      );
  }
}

const RULE_REASONS: readonly string[] = [
  "FieldValueDuplicate",
  "FieldValueForbidden",
  "FieldValueInvalid",
  "FieldValueRequired",
];

/** The form of a CEL rule. The expression itself is not looked at. */
function checkRule(rule: ValidationRule, at: string, errors: FieldError[]): void {
  const message = rule.message ?? "";
  const text = (rule.rule ?? "").trim();
  const newline = /[\n\r]/;
  if (text === "") errors.push(required(`${at}.rule`, "rule is not specified"));
  else if (message !== "" && message.trim() === "")
    errors.push(invalid(`${at}.message`, message, "must be non-empty if specified"));
  else if (newline.test(message.trim()))
    errors.push(invalid(`${at}.message`, message, "must not contain line breaks"));
  else if (newline.test(text) && message.trim() === "")
    errors.push(
      required(`${at}.message`, "message must be specified if rule contains line breaks"),
    );
  if (
    rule.messageExpression !== undefined &&
    rule.messageExpression !== "" &&
    rule.messageExpression.trim() === ""
  )
    errors.push(
      required(`${at}.messageExpression`, "messageExpression must be non-empty if specified"),
    );
  if (rule.reason !== undefined && !RULE_REASONS.includes(rule.reason))
    errors.push(notSupported(`${at}.reason`, rule.reason, RULE_REASONS));
  const path = rule.fieldPath ?? "";
  if (path !== "" && path.trim() === "")
    errors.push(invalid(`${at}.fieldPath`, path, "must be non-empty if specified"));
  if (newline.test(path))
    errors.push(invalid(`${at}.fieldPath`, path, "must not contain line breaks"));
}
