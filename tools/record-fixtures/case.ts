/** One thing to try on a real API server, and the makers of the objects that many cases share. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [field: string]: Json | undefined;
}

/** Sent as a dry-run create; the answer, good or bad, is recorded. An accepted object is asked for as a table row too. */
export interface CreateCase {
  readonly name: string;
  readonly object: JsonObject;
}

/**
 * Created for real, given its status, printed as a table row, and, where `change` is given, replaced by itself with this
 * merge patch applied.
 */
export interface StoredCase extends CreateCase {
  readonly status?: JsonObject;
  readonly change?: JsonObject;
}

/** The cases of one kind. */
export interface KindCases {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly creates: readonly CreateCase[];
  readonly stored: readonly StoredCase[];
}

/** Names the kind once and fills `apiVersion`, `kind` and a name into every object that lacks them. */
export function casesOf(
  apiVersion: string,
  kind: string,
  plural: string,
  scope: "namespaced" | "cluster",
  creates: Readonly<Record<string, JsonObject>>,
  stored: Readonly<Record<string, Omit<StoredCase, "name">>> = {},
): KindCases {
  const complete = (object: JsonObject): JsonObject => ({
    apiVersion,
    kind,
    ...object,
    metadata: { name: "sample", ...(object["metadata"] as JsonObject | undefined) },
  });
  return {
    apiVersion,
    kind,
    plural,
    namespaced: scope === "namespaced",
    creates: Object.entries(creates).map(([name, object]) => ({ name, object: complete(object) })),
    stored: Object.entries(stored).map(([name, entry]) => ({
      ...entry,
      name,
      object: complete(entry.object),
    })),
  };
}

export const container: JsonObject = { name: "c", image: "nginx" };
export const labels: JsonObject = { app: "a" };
export const selector: JsonObject = { matchLabels: labels };

/** A pod template with the shared labels, whose spec has one container unless `spec` says otherwise. */
export function template(spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return { metadata: { labels, ...metadata }, spec: { containers: [container], ...spec } };
}

/** A pod spec of one container with these fields. */
export function one(fields: JsonObject, spec: JsonObject = {}): JsonObject {
  return { containers: [{ ...container, ...fields }], ...spec };
}
