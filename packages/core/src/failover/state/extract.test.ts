/** State that travels: what is read, what is refused, what is skipped. */
import { stateLabelProblem } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import * as wellKnown from "../../well-known.ts";
import { type ExtractedState, extractState, type StateView } from "./extract.ts";

const rule = (
  jsonPath: string,
  aliasLabelName = "app.example/job",
): StateView["rules"][number] => ({
  aliasLabelName,
  jsonPath,
});

function extract(view: Partial<StateView>): ExtractedState {
  return extractState({
    rules: [],
    heldAll: true,
    status: {},
    template: {},
    holdOnMissing: false,
    ...view,
  });
}

describe("values", () => {
  it.each([
    ["a text", "{.jobStatus.jobId}", { jobStatus: { jobId: "ab12" } }, "ab12"],
    ["an integer", "{.replicas}", { replicas: 3 }, "3"],
    [
      "an integer that Go would write with an exponent",
      "{.at}",
      { at: 1_730_000_000_000 },
      "1730000000000",
    ],
    ["the largest exact integer", "{.at}", { at: 2 ** 53 - 1 }, "9007199254740991"],
    ["a fraction", "{.share}", { share: 0.5 }, "0.5"],
    ["a truth", "{.done}", { done: false }, "false"],
    ["an empty text", "{.empty}", { empty: "" }, ""],
    ["one of a list", "{.items[0].id}", { items: [{ id: "x" }, { id: "y" }] }, "x"],
    [
      "the one that a filter finds",
      '{.c[?(@.type=="R")].v}',
      {
        c: [
          { type: "A", v: "1" },
          { type: "R", v: "2" },
        ],
      },
      "2",
    ],
  ])("%s is kept as a label", (_name, path, status, text) => {
    expect(extract({ rules: [rule(path)], status })).toMatchObject({
      outcome: "kept",
      reason: "Preserved",
      labels: { "app.example/job": text },
      warnings: [],
    });
  });

  it.each([
    ["SeveralValues", "{.items[*]}", { items: ["a", "b"] }],
    ["NotALabel", "{.v}", { v: "not a label!" }],
    ["NotALabel", "{.v}", { v: "x".repeat(64) }],
    ["NotALabel", "{.v}", { v: { a: 1 } }],
    ["NotALabel", "{.v}", { v: -5 }],
    ["InexactInteger", "{.v}", JSON.parse('{"v":9007199254740993}') as object],
    ["InexactInteger", "{.v}", JSON.parse('{"v":18446744073709551615}') as object],
    ["InexactInteger", "{.v}", { v: 1e21 }],
    ["BadPath", "{.v[}", {}],
  ])("%s holds the eviction and names the rule", (reason, path, status) => {
    const answer = extract({ rules: [rule(path)], status });
    expect(answer).toMatchObject({ outcome: "held", reason });
    expect(answer).toHaveProperty("message", expect.stringContaining("app.example/job"));
  });

  it("are found by keys whose case counts", () => {
    expect(
      extract({ rules: [rule("{.jobStatus.jobID}")], status: { jobStatus: { jobId: "a" } } }),
    ).toMatchObject({
      outcome: "kept",
      labels: {},
      warnings: [expect.stringContaining("finds nothing")],
    });
  });
});

describe("a key that is missing", () => {
  const rules = [rule("{.a}", "x/a"), rule("{.b}", "x/b")];
  it("skips its rule and keeps the others", () => {
    expect(extract({ rules, status: { b: "1", a: null } })).toMatchObject({
      outcome: "kept",
      labels: { "x/b": "1" },
      warnings: [expect.stringContaining("x/a")],
    });
  });
  it("holds where the policy asks for it", () => {
    expect(extract({ rules, status: { b: "1" }, holdOnMissing: true })).toMatchObject({
      outcome: "held",
      reason: "KeyMissing",
    });
    expect(extract({ rules, status: undefined, holdOnMissing: true })).toMatchObject({
      outcome: "held",
      reason: "StatusMissing",
    });
  });
  it("is no reason to stay for ever when there is no status at all", () => {
    expect(extract({ rules, status: undefined })).toMatchObject({
      outcome: "kept",
      reason: "StatusMissing",
      labels: {},
    });
  });
});

describe("labels", () => {
  it.each([
    ["a label of the template", "app", { metadata: { labels: { app: "web" } } }],
    ["a label of its selector", "app", { spec: { selector: { matchLabels: { app: "web" } } } }],
    [
      "a key of its selector",
      "app",
      { spec: { selector: { matchExpressions: [{ key: "app" }] } } },
    ],
    [
      "a label of its pods",
      "app",
      { spec: { template: { metadata: { labels: { app: "web" } } } } },
    ],
    ["one of ours", "karmada.io/managed", {}],
    ["one of Kubernetes", "app.kubernetes.io/name", {}],
    ["one of Kubernetes' other domain", "k8s.io/x", {}],
    ["no label key", "a b", {}],
  ])("that are %s hold the eviction", (_name, key, template) => {
    const answer = extract({ rules: [rule("{.a}", key)], status: { a: "1" }, template });
    expect(answer).toMatchObject({ outcome: "held", reason: "ForbiddenLabel" });
  });

  it.each(["cluster.karmada.io/job", "failover.karmada.io/id", "notkubernetes.io/a"])(
    "such as %s are free",
    (key) => {
      expect(extract({ rules: [rule("{.a}", key)], status: { a: "1" } })).toMatchObject({
        outcome: "kept",
        labels: { [key]: "1" },
      });
    },
  );
});

it("17.12: every key that the control plane leaves on objects is refused at admission", () => {
  const keys = Object.values(wellKnown).filter(
    (value) => typeof value === "string" && value.includes("/"),
  );
  expect(keys.length).toBeGreaterThan(20);
  for (const key of keys) expect([key, stateLabelProblem(String(key))]).not.toContain(undefined);
  const follows = `${wellKnown.DEPENDED_BY_PREFIX}5d7b`;
  expect(stateLabelProblem(follows)).toContain("control plane");
});

it("nothing is kept of a part of a workload, with a warning", () => {
  expect(extract({ rules: [rule("{.a}")], status: { a: "1" }, heldAll: false })).toMatchObject({
    outcome: "kept",
    reason: "NotAlone",
    labels: {},
    warnings: [expect.any(String)],
  });
  expect(extract({ heldAll: false })).toMatchObject({ reason: "NothingAsked", warnings: [] });
});

it("no status makes it throw", () => {
  for (const status of [null, 1, "x", [], [[]], { a: [{ b: {} }] }])
    expect(() => extract({ rules: [rule("{.a[0].b}")], status })).not.toThrow();
});
