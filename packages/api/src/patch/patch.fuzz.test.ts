import { deepFreeze } from "@lifeboat/base";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../json.ts";
import { Refused } from "../status.ts";
import { applyJsonPatch } from "./json-patch.ts";
import { applyMergePatch } from "./merge-patch.ts";
import type { FieldShape, MergeShape } from "./merge-shape.ts";
import { applyStrategicMerge } from "./strategic-merge.ts";

const keys = fc.constantFrom(
  "a",
  "b",
  "keyed",
  "set",
  "map",
  "name",
  "0",
  "__proto__",
  "constructor",
);
const scalars = fc.constantFrom<Json>(null, 1, 2, "a", "b", true);

function json(directives: boolean): fc.Arbitrary<JsonObject> {
  const names = directives
    ? fc.oneof(
        keys,
        fc.constantFrom(
          "$patch",
          "$retainKeys",
          "$setElementOrder/keyed",
          "$setElementOrder/set",
          "$deleteFromPrimitiveList/set",
          "$setElementOrder",
        ),
      )
    : keys;
  const { object } = fc.letrec<{ object: JsonObject; value: Json }>((tie) => ({
    object: fc.dictionary(names, tie("value"), { maxKeys: 4 }),
    value: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      scalars,
      fc.constantFrom<Json>("delete", "replace", "merge"),
      fc.array(tie("value"), { maxLength: 3 }),
      tie("object"),
    ),
  }));
  return object;
}

/** A type that contains itself: keyed and set lists, a map, and plain fields. */
const shape: MergeShape = {
  field(name: string): FieldShape | undefined {
    if (name === "keyed") return { kind: "list", shape, merge: true, mergeKey: "name" };
    if (name === "set") return { kind: "list", merge: true };
    if (name === "map") return { kind: "map", shape };
    return name === "constructor" ? undefined : { kind: "object", shape };
  },
};

/** The patch is applied or refused; nothing else is thrown, and nothing that went in is changed (it is frozen). */
function expectAnswer(apply: () => Json): void {
  try {
    const result = apply();
    expect(JSON.stringify(result)).toBeTypeOf("string");
  } catch (error) {
    expect(error).toBeInstanceOf(Refused);
  }
  expect(Object.keys(Object.prototype)).toEqual([]);
}

test("any JSON patch is applied or refused", () => {
  const segment = fc.constantFrom(
    "a",
    "b",
    "0",
    "1",
    "-1",
    "-",
    "__proto__",
    "constructor",
    "~1",
    "",
  );
  const path = fc
    .array(segment, { maxLength: 4 })
    .map((parts) => parts.map((p) => `/${p}`).join(""));
  const operation = fc.record(
    {
      op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test", "x"),
      path,
      from: path,
      value: json(false),
    },
    { requiredKeys: ["op", "path"] },
  );
  fc.assert(
    fc.property(json(false), fc.array(operation, { maxLength: 6 }), (document, operations) => {
      expectAnswer(() => applyJsonPatch(deepFreeze(document), deepFreeze(operations)));
    }),
    { numRuns: 100_000 },
  );
});

test("any merge patch reaches a state that it no longer changes", () => {
  fc.assert(
    fc.property(json(false), json(false), (document, patch) => {
      expectAnswer(() => {
        const once = applyMergePatch(deepFreeze(document), deepFreeze(patch));
        // A list that replaces an object keeps its nulls the first time, as in Go.
        const twice = applyMergePatch(once, patch);
        expect(applyMergePatch(twice, patch)).toEqual(twice);
        return once;
      });
    }),
    { numRuns: 30_000 },
  );
});

test("any strategic merge patch is applied or refused", () => {
  fc.assert(
    fc.property(json(false), json(true), (document, patch) => {
      expectAnswer(() => applyStrategicMerge(deepFreeze(document), deepFreeze(patch), shape));
    }),
    { numRuns: 60_000 },
  );
});
