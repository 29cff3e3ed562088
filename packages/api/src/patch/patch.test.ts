import { deepFreeze } from "@lifeboat/base";
import { describe, expect, test } from "vitest";
import { builtinSchema } from "../builtin/schema.ts";
import type { Json, JsonObject } from "../json.ts";
import { Refused, type Status } from "../status.ts";
import jsonPatchCases from "./fixtures/json-patch.json" with { type: "json" };
import mergePatchCases from "./fixtures/merge-patch.json" with { type: "json" };
import strategicCases from "./fixtures/strategic.json" with { type: "json" };
import { applyJsonPatch } from "./json-patch.ts";
import { applyMergePatch } from "./merge-patch.ts";
import type { MergeShape } from "./merge-shape.ts";
import { applyStrategicMerge } from "./strategic-merge.ts";

/** Recorded from the real libraries: tools/api-fixtures. */
interface Case {
  readonly question: { readonly document: JsonObject; readonly patch: Json };
  readonly answer: { readonly ok?: Json; readonly error?: string };
}

const asCases = (recorded: unknown): readonly Case[] => deepFreeze(recorded as readonly Case[]);

function refusalOf(patch: () => unknown): Status {
  try {
    patch();
  } catch (error) {
    if (error instanceof Refused) return error.status;
    throw error;
  }
  throw new Error("the patch was accepted");
}

function deploymentShape(): MergeShape {
  const shape = builtinSchema("apps/v1", "Deployment")?.mergeShape;
  if (shape === undefined) throw new Error("Deployment has no merge shape");
  return shape;
}

const UNPROCESSABLE = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: "the server rejected our request due to an error in our request",
  reason: "Invalid",
  details: {},
  code: 422,
};

describe("JSON patches do what Go does", () => {
  test.each(asCases(jsonPatchCases))("$question.patch", ({ question, answer }) => {
    const apply = (): Json => applyJsonPatch(question.document, question.patch);
    if (answer.error === undefined) expect(apply()).toEqual(answer.ok);
    else expect(refusalOf(apply)).toEqual(UNPROCESSABLE);
  });
});

describe("merge patches do what Go does", () => {
  test.each(asCases(mergePatchCases))("$question.patch", ({ question, answer }) => {
    expect(applyMergePatch(question.document, question.patch)).toEqual(answer.ok);
  });
});

describe("strategic merge patches do what Go does", () => {
  test.each(asCases(strategicCases))("$question.patch", ({ question, answer }) => {
    const apply = (): Json =>
      applyStrategicMerge(question.document, question.patch as JsonObject, deploymentShape());
    if (answer.error === undefined) expect(apply()).toEqual(answer.ok);
    else expect(refusalOf(apply).message).toBe(answer.error);
  });

  test.each([
    [{ spec: { $patch: "frob" } }, 500, undefined],
    [{ metadata: { $setElementOrder: [] } }, 400, "BadRequest"],
    [{ metadata: { $deleteFromPrimitiveList: [] } }, 400, "BadRequest"],
    [{ spec: { $retainKeys: 1 } }, 400, "BadRequest"],
    [{ metadata: { finalizers: [["a"]] } }, 422, "Invalid"],
  ])("%j is refused with %i", (patch, code, reason) => {
    const document = { metadata: { finalizers: [] }, spec: { replicas: 1 } };
    const status = refusalOf(() => applyStrategicMerge(document, patch, deploymentShape()));
    expect(status.code).toBe(code);
    expect(status.reason).toBe(reason);
  });
});

describe("what is no JSON patch", () => {
  const PREFIX = "error decoding patch: json: cannot unmarshal";
  test.each([
    [{ op: "add" }, `${PREFIX} object into Go value of type []handlers.jsonPatchOp`],
    ["x", `${PREFIX} string into Go value of type []handlers.jsonPatchOp`],
    [[1], `${PREFIX} number into Go value of type handlers.jsonPatchOp`],
    [[{ op: 1 }], `${PREFIX} number into Go struct field jsonPatchOp.op of type string`],
    [
      [{ op: "add", path: [] }],
      `${PREFIX} array into Go struct field jsonPatchOp.path of type string`,
    ],
  ])("%j", (operations, message) => {
    expect(refusalOf(() => applyJsonPatch({}, operations))).toMatchObject({ code: 400, message });
  });

  test("more than ten thousand operations are too many", () => {
    const operations = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/a" }));
    expect(refusalOf(() => applyJsonPatch({}, operations))).toMatchObject({
      code: 413,
      reason: "RequestEntityTooLarge",
      message:
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    });
    expect(applyJsonPatch({}, operations.slice(1))).toEqual({});
  });
});

describe("hostile JSON patches", () => {
  test("ten thousand operations on a large object and a large list take no time to speak of", () => {
    const map = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]));
    const operations = Array.from({ length: 10_000 }, (_, i) =>
      i % 2 === 0
        ? { op: "add", path: `/map/new${i}`, value: i }
        : { op: "add", path: "/list/0", value: i },
    );
    const result = applyJsonPatch(deepFreeze({ map, list: [] }), operations) as JsonObject;
    expect(Object.keys(result["map"] as JsonObject)).toHaveLength(10_000);
    expect(result["list"]).toHaveLength(5000);
  });

  test("copies that double the document again and again are stopped", () => {
    const operations = Array.from({ length: 60 }, (_, i) => ({
      op: "copy",
      from: "/a",
      path: `/a/c${i}`,
    }));
    expect(refusalOf(() => applyJsonPatch({ a: { x: "y" } }, operations))).toEqual(UNPROCESSABLE);
  });

  test("moves that nest deeper and deeper are stopped", () => {
    const operations = Array.from({ length: 300 }, () => [
      { op: "add", path: "/b", value: {} },
      { op: "move", from: "/a", path: "/b/a" },
      { op: "move", from: "/b", path: "/a" },
    ]).flat();
    expect(refusalOf(() => applyJsonPatch({ a: {} }, operations))).toEqual(UNPROCESSABLE);
  });

  test.each(["/__proto__", "/a/__proto__", "/__proto__/polluted", "/constructor/prototype/x"])(
    "the path %s reaches no prototype",
    (path) => {
      const add = [{ op: "add", path, value: { polluted: true } }];
      expect(refusalOf(() => applyJsonPatch({ a: {} }, add))).toEqual(UNPROCESSABLE);
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    },
  );
});

describe("unchanged parts are shared", () => {
  const document = deepFreeze({
    metadata: { labels: { a: "1" } },
    spec: { list: [{ name: "x" }] },
  });

  test("by a JSON patch", () => {
    const operations = [{ op: "add", path: "/metadata/labels/b", value: "2" }];
    expect((applyJsonPatch(document, operations) as JsonObject)["spec"]).toBe(document.spec);
  });

  test("by a merge patch, which answers the document when nothing changes", () => {
    const patch = { metadata: { labels: { b: "2" } } };
    expect(applyMergePatch(document, patch)["spec"]).toBe(document.spec);
    expect(applyMergePatch(document, { metadata: { labels: { a: "1" } } })).toBe(document);
    expect(applyMergePatch(document, { nothing: null })).toBe(document);
  });

  test("by a strategic merge patch", () => {
    const patch = { metadata: { labels: { b: "2" } } };
    expect(applyStrategicMerge(document, patch, deploymentShape())["spec"]).toBe(document.spec);
  });
});

test.each([[[]], ["x"], [1], [true], [null]])("the merge patch %j is refused", (patch) => {
  expect(refusalOf(() => applyMergePatch({}, patch)).code).toBe(400);
});

test("a null merge patch has a message of its own", () => {
  expect(refusalOf(() => applyMergePatch({}, null)).message).toBe("Invalid JSON Patch");
});

test("copies of copies end before they fill the server", () => {
  const operations = [
    { op: "add", path: "/a", value: [1] },
    ...Array.from({ length: 40 }, () => ({ op: "copy", from: "/a", path: "/a/-" })),
  ];
  expect(refusalOf(() => applyJsonPatch({}, operations)).code).toBe(422);
  expect(applyJsonPatch({}, operations.slice(0, 10))).toBeTypeOf("object");
});
