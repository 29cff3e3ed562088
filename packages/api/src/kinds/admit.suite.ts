/**
 * What the API server does with a body of one of our kinds, without a server: the schema's defaults, the kind's own, then
 * the schema's rules and, if it accepts, the kind's.
 */
import { expect } from "vitest";
import type { FieldError } from "../field-error.ts";
import type { JsonObject } from "../json.ts";
import type { KindSchema } from "../kind-schema.ts";
import type { AnyObject } from "../object.ts";
import { asCrd } from "../schema/crd.ts";
import { customKindSchema } from "../schema/custom-kind.ts";
import { crdOf } from "./builder/crd-of.ts";
import { defaultKind, kindDeclaration, validateKind } from "./control-plane-kinds.ts";

export const NOW = "2026-01-01T00:00:00Z";

/** A body of the kind, in namespace `ns` where the kind has one. */
export function body(kind: string, spec: unknown, metadata: JsonObject = {}): JsonObject {
  const declaration = declarationOf(kind);
  return {
    apiVersion: `${declaration.group}/${declaration.version}`,
    kind,
    metadata: { name: "x", ...(declaration.namespaced && { namespace: "ns" }), ...metadata },
    spec: spec as JsonObject,
  };
}

export interface Admitted {
  readonly object: AnyObject;
  readonly unknownFields: readonly string[];
  readonly errors: readonly FieldError[];
}

/** Admits a body; `old` is what is stored. */
export function admit(given: JsonObject, old?: AnyObject, now = NOW): Admitted {
  const schema = schemaOf(given["kind"] as string);
  const normalized = schema.normalize(given);
  if (!normalized.ok) throw new Error(normalized.message);
  const defaulted = schema.applyDefaults(normalized.object) as unknown as AnyObject;
  const newId = (): string => "id-1";
  const context =
    old === undefined ? { now, newId } : { now, newId, old: old as unknown as JsonObject };
  const object = defaultKind(defaulted, context);
  const bySchema =
    old === undefined ? schema.validateCreate(object) : schema.validateUpdate(object, old);
  const errors = bySchema.length > 0 ? bySchema : validateKind(object, old);
  return { object, unknownFields: normalized.unknownFields, errors };
}

/** Admits a body that must be accepted, and answers what is stored. */
export function accept(given: JsonObject, old?: AnyObject, now = NOW): AnyObject {
  const { object, errors, unknownFields } = admit(given, old, now);
  expect(errors).toEqual([]);
  expect(unknownFields).toEqual([]);
  return object;
}

const schemas = new Map<string, KindSchema>();

function schemaOf(kind: string): KindSchema {
  const known = schemas.get(kind);
  if (known !== undefined) return known;
  const declaration = declarationOf(kind);
  const crd = asCrd(crdOf(declaration) as unknown as AnyObject);
  const schema = customKindSchema(crd, declaration.version);
  schemas.set(kind, schema);
  return schema;
}

const VERSIONS = [
  "cluster.karmada.io/v1alpha1",
  "policy.karmada.io/v1alpha1",
  "work.karmada.io/v1alpha1",
  "work.karmada.io/v1alpha2",
  "config.karmada.io/v1alpha1",
  "apps.karmada.io/v1alpha1",
  "remedy.karmada.io/v1alpha1",
  "networking.karmada.io/v1alpha1",
  "lifeboat.dev/v1alpha1",
];

function declarationOf(kind: string) {
  for (const version of VERSIONS) {
    const found = kindDeclaration(version, kind);
    if (found !== undefined) return found;
  }
  throw new Error(`no kind ${kind}`);
}
