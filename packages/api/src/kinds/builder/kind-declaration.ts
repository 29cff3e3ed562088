/**
 * One declaration per kind. Its type, its CRD, its defaults, its rules, its columns and its page in the reference
 * documentation all follow from it.
 *
 * 1. `prepare` runs on every write before the object is validated; it must take any JSON and throw nothing.
 * 2. `rules` run after the schema has accepted the object; they say what a schema cannot.
 * 3. `warnings` tell what is accepted and has no effect: the client gets them with the answer.
 * 4. All are pure, so that they run in the API server or behind a webhook alike.
 */
import type { FieldError } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import type { AnyObject, KubeObject } from "../../object.ts";
import type { Resource } from "../../resource.ts";
import type { CrdColumn } from "../../schema/crd.ts";
import type { Shape, Static } from "./shape.ts";

/** What `prepare` may know about the write. */
export interface WriteContext {
  /** The object as it is stored; absent on create. */
  readonly old?: JsonObject;
  /** The present time as objects carry it, RFC 3339. */
  readonly now: string;
  /** A new UUID. */
  readonly newId: () => string;
}

/** What `warnings` may know about the control plane. */
export interface KindSettings {
  /** The gate StatefulFailoverInjection; absent: not known here. */
  readonly statefulFailoverInjection?: boolean | undefined;
}

export interface KindDeclaration {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly description: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly columns: readonly CrdColumn[];
  /** A field named status that is written through its own subresource. */
  readonly hasStatus: boolean;
  readonly spec: Shape<unknown>;
  readonly status?: Shape<unknown>;
  readonly prepare?: (object: JsonObject, context: WriteContext) => JsonObject;
  readonly rules?: (object: AnyObject, old?: AnyObject) => readonly FieldError[];
  readonly warnings?: (object: AnyObject, settings: KindSettings) => readonly string[];
}

/** The objects of a kind with this spec and status. */
export type KindObject<S, T = Shape<never>> = KubeObject & {
  readonly spec: Static<S>;
  readonly status?: Static<T>;
};

/** The objects of a declared kind. */
export type DeclaredObject<D> = D extends DeclaredKind<infer S, infer T> ? KindObject<S, T> : never;

export interface DeclaredKind<S, T> extends KindDeclaration {
  readonly resource: Resource<KindObject<S, T>>;
}

interface KindParts<S extends Shape<unknown>, T extends Shape<unknown>> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly description: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly columns?: readonly CrdColumn[];
  readonly spec: S;
  readonly status?: T;
  readonly prepare?: (object: JsonObject, context: WriteContext) => JsonObject;
  readonly rules?: (object: KindObject<S, T>, old?: KindObject<S, T>) => readonly FieldError[];
  readonly warnings?: (object: KindObject<S, T>, settings: KindSettings) => readonly string[];
}

/** Declares a kind; a kind with a status has the status subresource. */
export function declareKind<S extends Shape<unknown>, T extends Shape<unknown> = Shape<never>>(
  parts: KindParts<S, T>,
): DeclaredKind<S, T> {
  const { group, version, plural, kind, namespaced, rules, warnings, ...rest } = parts;
  const resource: Resource<KindObject<S, T>> = { group, version, plural, kind, namespaced };
  return Object.freeze({
    shortNames: [],
    categories: [],
    columns: [],
    hasStatus: parts.status !== undefined,
    ...rest,
    ...resource,
    resource: Object.freeze(resource),
    // The schema has accepted the object before rules and warnings see it, so it has the declared type.
    ...(rules !== undefined && {
      rules: rules as unknown as NonNullable<KindDeclaration["rules"]>,
    }),
    ...(warnings !== undefined && {
      warnings: warnings as unknown as NonNullable<KindDeclaration["warnings"]>,
    }),
  });
}

/** The column every kind of ours ends with. */
export const ageColumn: CrdColumn = Object.freeze({
  name: "AGE",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
});

/** A column with the status of a condition. */
export function conditionColumn(name: string, type: string): CrdColumn {
  return { name, type: "string", jsonPath: `.status.conditions[?(@.type=="${type}")].status` };
}
