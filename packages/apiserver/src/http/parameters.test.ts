import { isRefused, Refused } from "@lifeboat/api";
import { describe, expect, test } from "vitest";
import {
  deleteOptionsFromBody,
  deleteOptionsFromQuery,
  isWatch,
  listParameters,
  patchParameters,
  watchParameters,
  writeParameters,
} from "./parameters.ts";
import { Query } from "./query.ts";

function refusalOf(work: () => unknown): Refused["status"] {
  try {
    work();
  } catch (error) {
    if (error instanceof Refused) return error.status;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("lists and watches", () => {
  test("a query becomes list parameters", () => {
    const query = new Query(
      "labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&limit=5&continue=t&resourceVersion=7&resourceVersionMatch=Exact",
    );
    expect(listParameters(query)).toEqual({
      labelSelector: "a=b",
      fieldSelector: "metadata.name=x",
      limit: 5,
      continue: "t",
      resourceVersion: "7",
      resourceVersionMatch: "Exact",
    });
  });

  test("absent parameters are empty, a negative limit is none", () => {
    expect(listParameters(new Query("limit=-1"))).toMatchObject({ limit: 0, labelSelector: "" });
  });

  test("a query becomes watch parameters", () => {
    const query = new Query(
      "watch=1&allowWatchBookmarks=true&sendInitialEvents=false&timeoutSeconds=300",
    );
    expect(watchParameters(query)).toMatchObject({
      allowWatchBookmarks: true,
      sendInitialEvents: false,
      timeoutSeconds: 300,
    });
    expect(watchParameters(new Query(""))).not.toHaveProperty("sendInitialEvents");
  });

  test.each(["sendInitialEvents=true", "sendInitialEvents=0&resourceVersion=5"])(
    "a list refuses %s, as only watches send initial events",
    (text) => {
      const { code, details } = refusalOf(() => listParameters(new Query(text)));
      expect(code).toBe(422);
      expect(details?.causes).toMatchObject([{ field: "sendInitialEvents" }]);
    },
  );

  test.each([
    ["continue=abc", 422],
    ["continue=abc&resourceVersion=0", 422],
    ["continue=abc&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", 422],
    ["continue=abc&resourceVersion=1", undefined],
    ["continue=", undefined],
  ])("a watch with %s is refused with %s", (text, code) => {
    const watch = () => watchParameters(new Query(text));
    if (code === undefined) expect(watch).not.toThrow();
    else expect(refusalOf(watch).code).toBe(code);
  });

  test.each([
    ["watch", true],
    ["watch=1", true],
    ["watch=maybe", true],
    ["watch=0", false],
    ["watch=False", false],
    ["", false],
  ])("%j means watch: %s", (text, want) => {
    expect(isWatch(new Query(text))).toBe(want);
  });

  test.each([
    ["limit=abc", 'strconv.ParseInt: parsing "abc": invalid syntax'],
    ["limit=", 'strconv.ParseInt: parsing "": invalid syntax'],
    ["limit=1.5", 'strconv.ParseInt: parsing "1.5": invalid syntax'],
    [
      "limit=99999999999999999999",
      'strconv.ParseInt: parsing "99999999999999999999": value out of range',
    ],
    ["timeoutSeconds=abc", 'strconv.ParseInt: parsing "abc": invalid syntax'],
  ])("%s is refused", (text, message) => {
    expect(refusalOf(() => listParameters(new Query(text)))).toMatchObject({
      code: 400,
      reason: "BadRequest",
      message,
    });
  });
});

describe("writes", () => {
  test("defaults are: for real, no manager, warnings", () => {
    expect(writeParameters(new Query(""), "CreateOptions")).toEqual({
      dryRun: false,
      fieldValidation: "Warn",
    });
  });

  test("all parameters are read", () => {
    const query = new Query("dryRun=All&fieldManager=m&fieldValidation=Strict");
    expect(writeParameters(query, "CreateOptions")).toEqual({
      dryRun: true,
      fieldManager: "m",
      fieldValidation: "Strict",
    });
  });

  test.each([
    [
      "dryRun=x",
      'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported values: "All"',
    ],
    [
      "dryRun=",
      'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: [""]: supported values: "All"',
    ],
    [
      "fieldValidation=x",
      'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"',
    ],
    [
      `fieldManager=${"a".repeat(129)}&dryRun=x`,
      'CreateOptions.meta.k8s.io "" is invalid: [fieldManager: Too long: may not be more than 128 bytes, dryRun: Unsupported value: ["x"]: supported values: "All"]',
    ],
  ])("%s is refused in the server's words", (text, message) => {
    expect(refusalOf(() => writeParameters(new Query(text), "CreateOptions"))).toMatchObject({
      code: 422,
      reason: "Invalid",
      message,
    });
  });

  test("control characters in a field manager are refused with their place", () => {
    const status = refusalOf(() =>
      writeParameters(new Query("fieldManager=a%01b"), "CreateOptions"),
    );
    expect(status.message).toContain("invalid character U+0001 (at position 1)");
  });

  test("force is for apply alone", () => {
    expect(patchParameters(new Query("force=true"), true)).toMatchObject({ force: true });
    expect(refusalOf(() => patchParameters(new Query("force=true"), false)).message).toBe(
      'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    );
  });
});

describe("deletions", () => {
  test("options come from the query", () => {
    const query = new Query("gracePeriodSeconds=5&propagationPolicy=Orphan&dryRun=All");
    expect(deleteOptionsFromQuery(query)).toEqual({
      gracePeriodSeconds: 5,
      propagationPolicy: "Orphan",
      dryRun: ["All"],
    });
  });

  test("options come from a body, unknown fields and nulls do not count", () => {
    const body = {
      kind: "DeleteOptions",
      apiVersion: "apps/v1",
      gracePeriodSeconds: 0,
      propagationPolicy: null,
      preconditions: { uid: "u", resourceVersion: "7" },
      foo: 1,
    };
    expect(deleteOptionsFromBody(body)).toEqual({
      gracePeriodSeconds: 0,
      preconditions: { uid: "u", resourceVersion: "7" },
    });
  });

  test("an unknown policy is refused in the server's words", () => {
    expect(refusalOf(() => deleteOptionsFromQuery(new Query("propagationPolicy=Z"))).message).toBe(
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Z": supported values: "Foreground", "Background", "Orphan", "nil"',
    );
  });

  test.each([
    [
      { gracePeriodSeconds: "x" },
      "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
    ],
    [
      { dryRun: "All" },
      "json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string",
    ],
    [
      { preconditions: [] },
      "json: cannot unmarshal array into Go struct field DeleteOptions.preconditions of type v1.Preconditions",
    ],
    [
      { preconditions: { uid: 1 } },
      "json: cannot unmarshal number into Go struct field Preconditions.uid of type types.UID",
    ],
  ])("%j is refused", (body, message) => {
    expect(refusalOf(() => deleteOptionsFromBody(body))).toMatchObject({ code: 400, message });
  });

  test("something that is not DeleteOptions is refused", () => {
    let error: unknown;
    try {
      deleteOptionsFromBody({ kind: "ConfigMap", apiVersion: "v1" });
    } catch (thrown) {
      error = thrown;
    }
    expect(isRefused(error, "BadRequest")).toBe(true);
  });
});
