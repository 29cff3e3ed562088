/**
 * Replays what a real kube-apiserver did with custom resources and CRDs (tools/record-crd-fixtures). Causes are compared
 * as sets: where they come from maps the real server has no fixed order.
 */
import { describe, expect, it } from "vitest";
import crdUpdates from "../../fixtures-crd/crd-updates.json" with { type: "json" };
import crds from "../../fixtures-crd/crds.json" with { type: "json" };
import objects from "../../fixtures-crd/objects.json" with { type: "json" };
import ratcheting from "../../fixtures-crd/ratcheting.json" with { type: "json" };
import { builtinSchema } from "../builtin/schema.ts";
import type { FieldError } from "../field-error.ts";
import type { JsonObject } from "../json.ts";
import type { AnyObject } from "../object.ts";
import { applyCrdDefaults, prepareCrd } from "./crd-defaults.ts";
import { validateCrd, validateCrdUpdate } from "./crd-validation.ts";
import { asCrd, type CustomResourceDefinition } from "./crd.ts";
import { customKindSchema } from "./custom-kind.ts";

interface Outcome {
  readonly object?: unknown;
  readonly code?: number;
  readonly message?: string;
  readonly causes?: readonly object[];
}

/** As texts, so that a difference is easy to read. */
function causes(list: readonly object[]): readonly string[] {
  return (
    list
      .map((item) => item as Record<string, string>)
      .map((item) => `${item["field"]} | ${item["reason"]} | ${item["message"]}`)
      // A whole schema or list of versions is shown in a form that only Go programs have.
      .map((text) =>
        text.replace(/Invalid value: [[{].*?[}\]]+: (only|must have|must contain)/, "… $1"),
      )
      .toSorted()
  );
}

function recordedCauses(outcome: Outcome): readonly string[] {
  return causes(outcome.causes ?? []);
}

function ours(errors: readonly FieldError[]): readonly string[] {
  return causes(errors);
}

describe("validateCrd says what a real server says", () => {
  for (const { name, crd, outcome } of crds as unknown as readonly {
    name: string;
    crd: AnyObject;
    outcome: Outcome;
  }[]) {
    it(name, () => {
      const prepared = prepareCrd(applyCrdDefaults(decodeCrd(crd)));
      expect(ours(validateCrd(prepared))).toEqual(withoutMetadata(recordedCauses(outcome)));
      if (outcome.object !== undefined) expect(prepared).toEqual(outcome.object);
    });
  }
});

describe("validateCrdUpdate says what a real server says", () => {
  for (const { name, old, crd, outcome } of crdUpdates as unknown as readonly {
    name: string;
    old: AnyObject;
    crd: AnyObject;
    outcome: Outcome;
  }[]) {
    it(name, () => {
      const prepared = prepareCrd(applyCrdDefaults(asCrd(crd)), asCrd(old));
      expect(ours(validateCrdUpdate(prepared, asCrd(old)))).toEqual(recordedCauses(outcome));
    });
  }
});

for (const { name, crd, creates, updates } of objects as unknown as readonly {
  name: string;
  crd: AnyObject;
  creates: readonly { name: string; object: JsonObject; outcome: Outcome; strict?: string }[];
  updates: readonly { name: string; before: unknown; after: unknown; outcome: Outcome }[];
}[]) {
  describe(`objects with the schema "${name}" are treated as by a real server`, () => {
    const schema = customKindSchema(applyCrdDefaults(asCrd(crd)), "v1");

    for (const { name: title, object, outcome, strict } of creates) {
      it(title, () => {
        const normalized = schema.normalize(object);
        if (!normalized.ok) {
          expect(outcome.message).toContain(normalized.message);
          return;
        }
        const stored = schema.applyDefaults(normalized.object) as unknown as AnyObject;
        expect(ours(schema.validateCreate(stored))).toEqual(recordedCauses(outcome));
        if (outcome.object !== undefined) expect(withoutNamespace(outcome.object)).toEqual(stored);
        expect(strictMessage(normalized.unknownFields)).toEqual(
          strict?.replace(/^.*strict decoding error: /, "") ?? "",
        );
      });
    }
    for (const { name: title, before, after, outcome } of updates) {
      it(title, () => {
        const old = { ...crdObject(crd), spec: before };
        const next = { ...crdObject(crd), spec: after };
        expect(ours(schema.validateUpdate(next, old))).toEqual(recordedCauses(outcome));
      });
    }
  });
}

describe("an object that a stricter schema refuses may change elsewhere", () => {
  const { crd, stored, changes } = ratcheting as unknown as {
    crd: AnyObject;
    stored: JsonObject;
    changes: readonly { name: string; change: JsonObject; outcome: Outcome }[];
  };
  const schema = customKindSchema(applyCrdDefaults(asCrd(crd)), "v1");
  const old = { ...crdObject(crd), spec: stored };
  for (const { name, change, outcome } of changes) {
    it(name, () => {
      const next = { ...old, spec: { ...stored, ...change } };
      expect(ours(schema.validateUpdate(next, old))).toEqual(recordedCauses(outcome));
    });
  }
});

/** As the server reads it. */
function decodeCrd(crd: AnyObject): CustomResourceDefinition {
  const schema = builtinSchema("apiextensions.k8s.io/v1", "CustomResourceDefinition");
  const normalized = schema?.normalize(crd as JsonObject);
  if (normalized?.ok !== true) throw new Error(`not a CRD: ${normalized?.message}`);
  return asCrd(normalized.object as unknown as AnyObject);
}

/** Rules of names in general are checked with all other metadata. */
function withoutMetadata(causes: readonly string[]): readonly string[] {
  return causes.filter((cause) => !/^metadata\.name .*RFC 1123/.test(cause));
}

/** An object of the CRD's kind without content. */
function crdObject(crd: AnyObject): AnyObject {
  const { group, names } = asCrd(crd).spec;
  return {
    apiVersion: `${group}/v1`,
    kind: names?.kind ?? "",
    metadata: { name: "sample" },
  } as unknown as AnyObject;
}

function withoutNamespace(object: unknown): unknown {
  const { namespace: _, ...metadata } = (object as AnyObject).metadata;
  return { ...(object as AnyObject), metadata };
}

function strictMessage(unknownFields: readonly string[]): string {
  return unknownFields.map((field) => `unknown field "${field}"`).join(", ");
}
