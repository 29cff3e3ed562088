/**
 * Replays what a real API server was recorded to do (tools/record-fixtures) through our schemas: the same defaults, the
 * same refusals in the same words and order, the same table rows.
 */
import { instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import columns from "../../../fixtures/columns.json" with { type: "json" };
import core from "../../../fixtures/core.json" with { type: "json" };
import others from "../../../fixtures/others.json" with { type: "json" };
import pods from "../../../fixtures/pods.json" with { type: "json" };
import workloads from "../../../fixtures/workloads.json" with { type: "json" };
import type { FieldError } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import type { AnyObject } from "../../object.ts";
import { builtinSchema } from "../schema.ts";
import { kindRules } from "./index.ts";

interface Recorded {
  readonly apiVersion: string;
  readonly kind: string;
  readonly case: string;
  readonly verb: string;
  readonly input?: JsonObject;
  readonly old?: JsonObject;
  readonly object?: JsonObject;
  readonly code?: number;
  readonly output?: JsonObject;
  readonly refused?: { readonly details?: { readonly causes?: readonly FieldError[] } };
  readonly cells?: readonly unknown[];
}

const all = [...pods, ...core, ...workloads, ...others] as unknown as readonly Recorded[];
/** The year the fixtures speak of; ages in them are counted in years. */
const NOW = instantOf(Date.parse("2026-11-15T00:00:00Z"));

function named(recorded: Recorded): string {
  return `${recorded.apiVersion}/${recorded.kind} ${recorded.verb}: ${recorded.case}`;
}

function schemaOf(recorded: Recorded) {
  const schema = builtinSchema(recorded.apiVersion, recorded.kind);
  if (schema === undefined) throw new Error(`no schema for ${recorded.kind}`);
  return schema;
}

function normalized(recorded: Recorded, body: JsonObject): JsonObject {
  const result = schemaOf(recorded).normalize(body);
  if (!result.ok) throw new Error(result.message);
  return result.object;
}

const NO_UID = "00000000-0000-0000-0000-000000000000";

/** The object as it stands before validation. */
function prepared(recorded: Recorded, body: JsonObject): AnyObject {
  const object = schemaOf(recorded).applyDefaults(normalized(recorded, body));
  const metadata = { namespace: "default", uid: NO_UID, ...(object["metadata"] as JsonObject) };
  const complete = { ...object, metadata } as unknown as AnyObject;
  const { prepareCreate } = kindRules[`${recorded.apiVersion}/${recorded.kind}`] ?? {};
  return prepareCreate?.(complete) ?? complete;
}

/** What the server decides with knowledge that a schema has not: what is allocated, and the time. */
const ALLOCATED = new Set(["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "nodePort"]);
const SERVER_WRITTEN = new Set(["lastPhaseTransitionTime", "finalizers"]);
const BY_OTHERS = new Set(["CustomResourceDefinition", "APIService"]);

/** What the schema is answerable for: everything but the metadata that the server itself writes. */
function comparable(object: JsonObject): JsonObject {
  const { labels } = (object["metadata"] ?? {}) as JsonObject;
  const { status, ...rest } = object;
  const service = object["kind"] === "Service";
  const text = JSON.stringify(
    {
      ...rest,
      metadata: { labels },
      status: BY_OTHERS.has(object["kind"] as string) ? {} : status,
    },
    (key, value: unknown) =>
      (service && ALLOCATED.has(key)) || SERVER_WRITTEN.has(key) ? undefined : value,
  );
  return JSON.parse(text) as JsonObject;
}

describe("defaults", () => {
  const accepted = all.filter(({ verb, output }) => verb === "create" && output !== undefined);
  it.each(accepted.map((recorded) => ({ name: named(recorded), recorded })))(
    "$name",
    ({ recorded }) => {
      const ours = prepared(recorded, recorded.input ?? {}) as unknown as JsonObject;
      expect(comparable(ours)).toEqual(comparable(recorded.output ?? {}));
    },
  );

  it("change nothing when applied again", () => {
    for (const recorded of accepted) {
      const schema = schemaOf(recorded);
      const once = schema.applyDefaults(normalized(recorded, recorded.input ?? {}));
      expect(schema.applyDefaults(once), named(recorded)).toBe(once);
    }
  });
});

/** Where the server goes through a map, it answers in no particular order. */
const UNORDERED = new Set(["refused: keys", "refused: resources", "refused: hard"]);

/** A difference between two versions of an object, which the server prints in its own types, is left out. */
function firstLine(message: string): string {
  return message.split("\n", 1)[0] ?? "";
}

/** Here the server shows the whole value in the field names of its own code; only where and why is compared. */
const SHOWN_DIFFERENTLY = new Set([
  "refused: security context",
  "refused: template may not change",
]);

/** What we accept though the server does not, and why. */
const ACCEPTED = new Set([
  // A schema cannot tell a new pod from one that was given such containers later.
  "refused: ephemeral containers on create",
  // An empty list is an absent one to us, and then has defaults.
  "refused: no policies",
]);

function causesOf(recorded: Recorded, errors: readonly FieldError[]): readonly string[] {
  const lines = errors.map(({ reason, field, message }) =>
    SHOWN_DIFFERENTLY.has(recorded.case)
      ? `${field} (${reason})`
      : `${field}: ${firstLine(message)} (${reason})`,
  );
  return UNORDERED.has(recorded.case) ? lines.toSorted() : lines;
}

describe("refusals of new objects", () => {
  const refused = all.filter(
    ({ verb, code, case: name }) => verb === "create" && code === 422 && !ACCEPTED.has(name),
  );
  it.each(refused.map((recorded) => ({ name: named(recorded), recorded })))(
    "$name",
    ({ recorded }) => {
      const errors = schemaOf(recorded).validateCreate(prepared(recorded, recorded.input ?? {}));
      const want = recorded.refused?.details?.causes ?? [];
      expect(causesOf(recorded, errors)).toEqual(causesOf(recorded, want));
    },
  );
});

describe("acceptance of new objects", () => {
  const accepted = all.filter(({ verb, output }) => verb === "create" && output !== undefined);
  it.each(accepted.map((recorded) => ({ name: named(recorded), recorded })))(
    "$name",
    ({ recorded }) => {
      expect(schemaOf(recorded).validateCreate(prepared(recorded, recorded.input ?? {}))).toEqual(
        [],
      );
    },
  );
});

describe("updates", () => {
  const updates = all.filter(({ verb }) => verb === "update");
  it.each(updates.map((recorded) => ({ name: named(recorded), recorded })))(
    "$name",
    ({ recorded }) => {
      const schema = schemaOf(recorded);
      const next = schema.applyDefaults(
        normalized(recorded, recorded.input ?? {}),
      ) as unknown as AnyObject;
      const errors = schema.validateUpdate(next, recorded.old as unknown as AnyObject);
      const want = recorded.refused?.details?.causes ?? [];
      expect(causesOf(recorded, errors)).toEqual(causesOf(recorded, want));
    },
  );
});

describe("table rows", () => {
  const printed = all.filter(({ cells }) => cells !== undefined);
  it.each(printed.map((recorded) => ({ name: named(recorded), recorded })))(
    "$name",
    ({ recorded }) => {
      const printer = kindRules[`${recorded.apiVersion}/${recorded.kind}`]?.printer;
      const object = (recorded.object ?? recorded.output) as unknown as AnyObject;
      const cells = printer
        ?.cells(object, NOW)
        .map((cell, index) => (printer.columns[index]?.name === "Age" ? "<age>" : cell));
      expect(cells).toEqual(recorded.cells);
    },
  );
});

describe("table columns", () => {
  it.each(columns.map(([name, want]) => ({ name: name as string, want })))(
    "of $name",
    ({ name, want }) => {
      const ours = kindRules[name]?.printer?.columns.map(
        ({ description: _none, ...column }) => column,
      );
      expect(ours).toEqual(want);
    },
  );
});
