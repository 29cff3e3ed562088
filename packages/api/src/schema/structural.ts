/**
 * Whether a schema is structural: every field it speaks of is declared, with its type, outside of allOf, anyOf, oneOf and
 * not. Only then can pruning and defaulting know what a place holds.
 *
 * Two kinds of places: declared ones (`checkDeclared`), and constraints inside of allOf and its like (`checkConstraint`),
 * which must not say what only a declaration may say.
 */
import { type FieldError, forbidden, invalid, required } from "../field-error.ts";
import { additionalOf, itemsOf, type JsonSchema } from "./json-schema.ts";
import { compilePattern } from "./pattern.ts";

/** Errors sorted by their text, as the server gives them. `at` is the path of the schema. */
export function structuralErrors(schema: JsonSchema, at: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  checkDeclared(schema, "root", at, errors);
  checkComplete(schema, schema, at, at, errors);
  const text = (error: FieldError): string => `${error.field}: ${error.message}`;
  return errors.sort((a, b) => (text(a) < text(b) ? -1 : 1));
}

type Level = "root" | "item" | "field";

const TYPE_REQUIRED: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

function checkDeclared(schema: JsonSchema, level: Level, at: string, errors: FieldError[]): void {
  const items = itemsOf(schema);
  if (schema.type === "array" && items === undefined)
    errors.push(required(`${at}.items`, "must be specified"));
  if (items !== undefined) checkDeclared(items, "item", `${at}.items`, errors);
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    checkDeclared(property, "field", `${at}.properties[${name}]`, errors);
  if (schema.additionalProperties !== undefined) {
    if (level === "root")
      errors.push(forbidden(`${at}.additionalProperties`, "must not be used at the root"));
    const values = additionalOf(schema);
    if (values !== undefined) checkDeclared(values, "field", `${at}.additionalProperties`, errors);
  }
  checkExtensions(schema, at, errors);
  checkConstraints(schema, isIntOrString(schema.anyOf), isIntOrStringFirst(schema), at, errors);
  checkType(schema, level, at, errors);
  checkIdentity(schema, level, at, errors);
}

function checkExtensions(schema: JsonSchema, at: string, errors: FieldError[]): void {
  if (schema["x-kubernetes-int-or-string"] !== true) return;
  for (const name of [
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
  ] as const) {
    if (schema[name] === true)
      errors.push(
        invalid(`${at}.${name}`, true, "must be false if x-kubernetes-int-or-string is true"),
      );
  }
}

function checkType(schema: JsonSchema, level: Level, at: string, errors: FieldError[]): void {
  const type = schema.type ?? "";
  const field = `${at}.type`;
  if (schema["x-kubernetes-embedded-resource"] === true && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(type === "" ? required(field, detail) : invalid(field, type, detail));
  } else if (
    type === "" &&
    schema["x-kubernetes-int-or-string"] !== true &&
    schema["x-kubernetes-preserve-unknown-fields"] !== true
  ) {
    errors.push(required(field, TYPE_REQUIRED[level]));
  }
  if (level === "root" && type !== "" && type !== "object")
    errors.push(invalid(field, type, "must be object at the root"));
}

/** What a schema may say about apiVersion, kind and metadata of a resource. */
function checkIdentity(schema: JsonSchema, level: Level, at: string, errors: FieldError[]): void {
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  const properties = schema.properties ?? {};
  if (embedded && schema.additionalProperties !== undefined)
    errors.push(
      forbidden(
        `${at}.additionalProperties`,
        "must not be used if x-kubernetes-embedded-resource is set",
      ),
    );
  const metadata = property(schema, "metadata");
  if (level === "root" || embedded) {
    for (const name of ["kind", "apiVersion"]) {
      const declared = property(schema, name);
      if (declared !== undefined && declared.type !== "string")
        errors.push(
          invalid(`${at}.properties[${name}].type`, declared.type ?? "", "must be string"),
        );
    }
    if (metadata !== undefined && metadata.type !== "object")
      errors.push(
        invalid(`${at}.properties[metadata].type`, metadata.type ?? "", "must be object"),
      );
  }
  if (level === "root" && metadata !== undefined && !restrictsNamesOnly(metadata))
    errors.push(
      forbidden(
        `${at}.properties[metadata]`,
        "must not specify anything other than name and generateName, but metadata is implicitly specified",
      ),
    );
  const keepsAll = schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (embedded && !keepsAll && Object.keys(properties).length === 0)
    errors.push(
      required(
        `${at}.properties`,
        "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
      ),
    );
}

function property(schema: JsonSchema, name: string): JsonSchema | undefined {
  const properties = schema.properties ?? {};
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function restrictsNamesOnly(metadata: JsonSchema): boolean {
  const { type: _type, default: _default, properties, ...rest } = metadata;
  const names = Object.keys(properties ?? {});
  return (
    Object.keys(rest).length === 0 &&
    names.every((name) => name === "name" || name === "generateName")
  );
}

/** `anyOf: [{type: integer}, {type: string}]`: the one place where a constraint may name types. */
function isIntOrString(anyOf: readonly JsonSchema[] | undefined): boolean {
  if (anyOf?.length !== 2) return false;
  return ["integer", "string"].every((type, i) => {
    const alternative = anyOf[i] ?? {};
    return Object.keys(alternative).length === 1 && alternative.type === type;
  });
}

function isIntOrStringFirst(schema: JsonSchema): boolean {
  return isIntOrString(schema.allOf?.[0]?.anyOf);
}

function checkConstraints(
  schema: JsonSchema,
  skipAnyOf: boolean,
  skipFirstAllOf: boolean,
  at: string,
  errors: FieldError[],
): void {
  if (!skipAnyOf)
    schema.anyOf?.forEach((inner, i) => checkConstraint(inner, false, `${at}.anyOf[${i}]`, errors));
  schema.allOf?.forEach((inner, i) =>
    checkConstraint(inner, skipFirstAllOf && i === 0, `${at}.allOf[${i}]`, errors),
  );
  schema.oneOf?.forEach((inner, i) => checkConstraint(inner, false, `${at}.oneOf[${i}]`, errors));
  if (schema.not !== undefined) checkConstraint(schema.not, false, `${at}.not`, errors);
  const pattern = schema.pattern ?? "";
  if (pattern === "") return;
  const compiled = compilePattern(pattern);
  if (!compiled.ok)
    errors.push(
      invalid(
        `${at}.pattern`,
        pattern,
        `must be a valid regular expression, but isn't: ${compiled.reason}`,
      ),
    );
}

/** Fields that only a declaration may have, and what the server says about them. */
const DECLARATION_ONLY: readonly (readonly [
  name: keyof JsonSchema,
  detail: string,
  isSet: (value: unknown) => boolean,
])[] = [
  ["type", "must be empty to be structural", isFilled],
  ["additionalProperties", "must be undefined to be structural", (value) => value !== false],
  ["default", "must be undefined to be structural", (value) => value !== null],
  ["title", "must be empty to be structural", isFilled],
  ["description", "must be empty to be structural", isFilled],
  ["nullable", "must be false to be structural", isTrue],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural", isTrue],
  ["x-kubernetes-embedded-resource", "must be false to be structural", isTrue],
  ["x-kubernetes-int-or-string", "must be false to be structural", isTrue],
  ["x-kubernetes-list-map-keys", "must be empty to be structural", isFilled],
  ["x-kubernetes-list-type", "must be undefined to be structural", () => true],
  ["x-kubernetes-map-type", "must be undefined to be structural", () => true],
  ["x-kubernetes-validations", "must be empty to be structural", isFilled],
];

function isTrue(value: unknown): boolean {
  return value === true;
}

function isFilled(value: unknown): boolean {
  return (typeof value === "string" || Array.isArray(value)) && value.length > 0;
}

function checkConstraint(
  schema: JsonSchema,
  skipAnyOf: boolean,
  at: string,
  errors: FieldError[],
): void {
  checkConstraints(schema, skipAnyOf, false, at, errors);
  const items = itemsOf(schema);
  if (items !== undefined) checkConstraint(items, false, `${at}.items`, errors);
  for (const [name, inner] of Object.entries(schema.properties ?? {}))
    checkConstraint(inner, false, `${at}.properties[${name}]`, errors);
  for (const [name, detail, isSet] of DECLARATION_ONLY) {
    const value = schema[name];
    if (value !== undefined && isSet(value)) errors.push(forbidden(`${at}.${name}`, detail));
  }
  if (property(schema, "metadata") !== undefined)
    errors.push(
      forbidden(`${at}.properties[metadata]`, "must not be specified in a nested context"),
    );
}

/** Everything that constraints speak of must be declared. `declared` is undefined where it is not. */
function checkComplete(
  constraint: JsonSchema,
  declared: JsonSchema,
  at: string,
  constraintAt: string,
  errors: FieldError[],
): void {
  const inside = (inner: JsonSchema, where: string): void =>
    checkConstraintComplete(inner, declared, at, where, errors);
  if (constraint.not !== undefined) inside(constraint.not, `${constraintAt}.not`);
  constraint.allOf?.forEach((inner, i) => inside(inner, `${constraintAt}.allOf[${i}]`));
  constraint.anyOf?.forEach((inner, i) => inside(inner, `${constraintAt}.anyOf[${i}]`));
  constraint.oneOf?.forEach((inner, i) => inside(inner, `${constraintAt}.oneOf[${i}]`));
}

function checkConstraintComplete(
  constraint: JsonSchema,
  declared: JsonSchema | undefined,
  at: string,
  constraintAt: string,
  errors: FieldError[],
): void {
  if (declared === undefined) {
    errors.push(required(at, `because it is defined in ${constraintAt}`));
    return;
  }
  checkComplete(constraint, declared, at, constraintAt, errors);
  const items = itemsOf(constraint);
  if (items !== undefined)
    checkConstraintComplete(
      items,
      itemsOf(declared),
      `${at}.items`,
      `${constraintAt}.items`,
      errors,
    );
  for (const [name, inner] of Object.entries(constraint.properties ?? {}))
    checkConstraintComplete(
      inner,
      property(declared, name),
      `${at}.properties[${name}]`,
      `${constraintAt}.properties[${name}]`,
      errors,
    );
}
