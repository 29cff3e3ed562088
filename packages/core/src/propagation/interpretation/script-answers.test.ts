import { describe, expect, it } from "vitest";
import type { Fields } from "../../fields.ts";
import {
  aggregateFromScript,
  dependenciesFromScript,
  healthFromScript,
  objectFromScript,
  replicasFromScript,
  statusFromScript,
} from "./script-answers.ts";

const object = (metadata: Fields = {}, parts: Fields = {}): Fields => ({
  apiVersion: "ex.io/v1",
  kind: "Widget",
  metadata: { name: "w", namespace: "n", uid: "u", ...metadata },
  ...parts,
});

describe("replicas from a script", () => {
  it.each([
    [0, { replicas: 0 }],
    [3, { replicas: 3 }],
    [2 ** 31 - 1, { replicas: 2 ** 31 - 1 }],
  ])("are %s when it answers so", (count, value) => {
    expect(replicasFromScript(count, null)).toEqual({ value });
  });

  it.each([null, undefined, -1, 1.5, "3", true, 2 ** 31, {}, []])("are never %j", (count) => {
    expect(replicasFromScript(count, null)).toHaveProperty("problem");
  });

  it("come with what each needs, in the words of quantities", () => {
    const needs = {
      resourceRequest: { memory: 2 ** 30, cpu: 0.1, zero: "0" },
      nodeClaim: { nodeSelector: { a: "b" }, tolerations: [], hardNodeAffinity: {} },
      namespace: "n",
    };
    expect(replicasFromScript(1, needs)).toEqual({
      value: {
        replicas: 1,
        requirements: {
          nodeClaim: { nodeSelector: { a: "b" } },
          resourceRequest: { cpu: "100m", memory: "1073741824" },
        },
      },
    });
  });

  it.each([
    [{}, undefined],
    [[], undefined],
    [{ nodeClaim: {}, resourceRequest: [] }, undefined],
    ["much", "not a table"],
    [["much"], "not a table"],
    [{ resourceRequest: { cpu: "much" } }, "the request of cpu is"],
    [{ resourceRequest: { cpu: "-1" } }, "the request of cpu is"],
    [{ resourceRequest: { cpu: { a: 1 } } }, "the request of cpu is a table"],
  ])("with the needs %j are taken or refused", (needs, problem) => {
    const answer = replicasFromScript(1, needs);
    if (problem === undefined) expect(answer).toEqual({ value: { replicas: 1 } });
    else expect(answer).toMatchObject({ problem: expect.stringContaining(problem) });
  });
});

describe("an object from a script", () => {
  it.each([
    ["apiVersion", { apiVersion: "ex.io/v2" }],
    ["kind", { kind: "Gadget" }],
    ["metadata.name", { metadata: { name: "x", namespace: "n" } }],
    ["metadata.namespace", { metadata: { name: "w" } }],
    ["metadata.name", { metadata: "w" }],
  ])("with another %s is refused", (field, change) => {
    expect(objectFromScript({ ...object(), ...change }, object())).toEqual({
      problem: `the answer has another ${field} than the object`,
    });
  });

  it("keeps its metadata, but for labels and annotations of others", () => {
    const given = object({
      labels: { "karmada.io/managed": "true", app: "x", gone: "y" },
      annotations: { "work.karmada.io/name": "w" },
      finalizers: ["f"],
    });
    const answered = object({
      uid: "stolen",
      labels: { "karmada.io/managed": "false", app: "z", "not-karmada.io/x": "kept" },
      annotations: { "lifeboat.dev/purge-mode": "Directly" },
      finalizers: [],
    });
    expect(objectFromScript(answered, given)).toEqual({
      value: object({
        labels: { app: "z", "not-karmada.io/x": "kept", "karmada.io/managed": "true" },
        annotations: { "work.karmada.io/name": "w" },
        finalizers: ["f"],
      }),
    });
  });

  it.each([null, undefined, 1, "x", [object()]])("is not %j", (answered) => {
    expect(objectFromScript(answered, object())).toHaveProperty("problem");
  });
});

describe("a status from a script", () => {
  it("is a table with names, or nothing", () => {
    expect(statusFromScript({ ready: 1 })).toEqual({ value: { ready: 1 } });
    expect(statusFromScript(null)).toEqual({ value: undefined });
    expect(statusFromScript([])).toEqual({ value: undefined });
    expect(statusFromScript([1])).toHaveProperty("problem");
    expect(statusFromScript("well")).toHaveProperty("problem");
  });

  it("of the template is that of the object it gave back", () => {
    const answered = object({}, { status: { ready: 1 } });
    expect(aggregateFromScript(answered, object())).toEqual({ value: { ready: 1 } });
    expect(aggregateFromScript(object(), object())).toEqual({ value: undefined });
    expect(aggregateFromScript({ status: {} }, object())).toHaveProperty("problem");
  });
});

describe("health from a script", () => {
  it.each([
    [true, { value: "Healthy" }],
    [false, { value: "Unhealthy" }],
    [null, { problem: "the answer is nil, not true or false" }],
    [1, { problem: "the answer is 1, not true or false" }],
    ["x".repeat(99), { problem: `the answer is "${"x".repeat(39)}…, not true or false` }],
  ])("of %j is taken or refused", (answered, expected) => {
    expect(healthFromScript(answered)).toEqual(expected);
  });
});

describe("dependencies from a script", () => {
  it("are sorted, each once, with nothing that was not asked for", () => {
    const secret = { apiVersion: "v1", kind: "Secret", namespace: "n", name: "s" };
    const chosen = { apiVersion: "v1", kind: "ConfigMap", labelSelector: { matchLabels: {} } };
    expect(dependenciesFromScript([{ ...secret, extra: 1 }, chosen, secret])).toEqual({
      value: [chosen, secret],
    });
  });

  it.each([null, {}, []])("are none for %j", (answered) => {
    expect(dependenciesFromScript(answered)).toEqual({ value: [] });
  });

  it.each([
    ["x", "not a list"],
    [{ apiVersion: "v1" }, "not a list"],
    [[1], "dependency 1 is 1"],
    [[{ apiVersion: "v1" }], "no apiVersion or no kind"],
    [[{ apiVersion: "v1", kind: "Secret" }], "neither a name nor a labelSelector"],
    [Array.from({ length: 1001 }, () => 1), "more than 1000"],
  ])("are refused for %j", (answered, problem) => {
    expect(dependenciesFromScript(answered)).toMatchObject({
      problem: expect.stringContaining(problem),
    });
  });
});
