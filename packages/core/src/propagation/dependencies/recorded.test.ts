import { describe, expect, it } from "vitest";
import type { Fields } from "../../fields.ts";
import { workloadBinding } from "./binding.suite.ts";
import {
  dependenciesToRecord,
  dependencyIndex,
  formatDependencies,
  identityIndex,
  parseDependencies,
  type RecordedDependency,
  recordedDependencies,
  refersTo,
} from "./recorded.ts";

const SUBJECT = { apiVersion: "v1", kind: "ConfigMap", namespace: "default" };
const template = (annotations: Fields, labels: Fields = { app: "web" }): Fields => ({
  metadata: { namespace: "default", name: "web", annotations },
  spec: { template: { metadata: { labels } } },
});

describe("a record", () => {
  it("is the same text for the same dependencies in any order", () => {
    const a = { ...SUBJECT, name: "a" };
    const b = { ...SUBJECT, labelSelector: { matchLabels: { x: "y" } } };
    expect(formatDependencies([a, b, a])).toBe(formatDependencies([b, a]));
    expect(parseDependencies(formatDependencies([a, b]))).toEqual(expect.arrayContaining([a, b]));
  });

  it.each(["", "{", "null", "{}", '"x"', "1"])("of the text %j reads as undefined", (text) => {
    expect(parseDependencies(text)).toBeUndefined();
  });

  it("leaves out entries that name nothing", () => {
    const entries = [null, 1, {}, { ...SUBJECT }, { ...SUBJECT, namespace: "", name: "x" }];
    expect(parseDependencies(JSON.stringify(entries))).toEqual([]);
  });

  it("keeps what belongs to the prototype of objects an ordinary key", () => {
    const text =
      '[{"apiVersion":"v1","kind":"Service","namespace":"d","podLabels":{"__proto__":"x"}}]';
    const entries = parseDependencies(text) ?? [];
    expect(entries.map(({ podLabels }) => Object.keys(podLabels ?? {}))).toEqual([["__proto__"]]);
    expect(formatDependencies(entries)).toContain('"__proto__":"x"');
  });

  it("is absent from a binding without the annotation", () => {
    expect(recordedDependencies(workloadBinding("web"))).toBeUndefined();
  });
});

describe("what is recorded of a template", () => {
  it("is in the template's namespace unless a dependency names another", () => {
    const needed = [
      { apiVersion: "v1", kind: "ConfigMap", name: "a" },
      { apiVersion: "v1", kind: "ConfigMap", namespace: "other", name: "b" },
    ];
    expect(dependenciesToRecord(template({}), needed)).toEqual([
      { ...SUBJECT, name: "a" },
      { ...SUBJECT, namespace: "other", name: "b" },
    ]);
  });

  it("includes the Services of its pods only when it asks for them", () => {
    const asked = { "lifeboat.dev/propagate-services": "true" };
    expect(dependenciesToRecord(template(asked), [])).toEqual([
      { ...SUBJECT, kind: "Service", podLabels: { app: "web" } },
    ]);
    expect(dependenciesToRecord(template({}), [])).toEqual([]);
    expect(dependenciesToRecord(template(asked, {}), [])).toEqual([]);
    expect(
      dependenciesToRecord(template({ "lifeboat.dev/propagate-services": "yes" }), []),
    ).toEqual([]);
  });
});

describe("a dependency", () => {
  const object = (changes: Fields = {}, labels: Fields = { tier: "a" }): Fields => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "default", name: "c", labels },
    ...changes,
  });
  const service = (selector?: Fields) => object({ kind: "Service", spec: { selector } });
  const pods = { ...SUBJECT, kind: "Service", podLabels: { app: "web", tier: "a" } };

  it.each<[string, RecordedDependency, Fields, boolean]>([
    ["the name", { ...SUBJECT, name: "c" }, object(), true],
    ["another name", { ...SUBJECT, name: "d" }, object(), false],
    ["another kind", { ...SUBJECT, kind: "Secret", name: "c" }, object(), false],
    ["another namespace", { ...SUBJECT, namespace: "x", name: "c" }, object(), false],
    ["its labels", { ...SUBJECT, labelSelector: { matchLabels: { tier: "a" } } }, object(), true],
    [
      "other labels",
      { ...SUBJECT, labelSelector: { matchLabels: { tier: "b" } } },
      object(),
      false,
    ],
    [
      "an expression",
      {
        ...SUBJECT,
        labelSelector: { matchExpressions: [{ key: "tier", operator: "In", values: ["a"] }] },
      },
      object(),
      true,
    ],
    [
      "an invalid expression",
      { ...SUBJECT, labelSelector: { matchExpressions: [{ key: "tier", operator: "Near" }] } },
      object(),
      false,
    ],
    [
      "no list of expressions",
      { ...SUBJECT, labelSelector: { matchExpressions: 1 } },
      object(),
      false,
    ],
    ["an empty selector", { ...SUBJECT, labelSelector: {} }, object(), false],
    ["a Service of the pods", pods, service({ app: "web" }), true],
    ["a Service of some pods more", pods, service({ app: "web", x: "y" }), false],
    ["a Service without selector", pods, service(), false],
    ["a Service with an empty selector", pods, service({}), false],
    ["a Service that names a prototype", pods, service({ constructor: "web" }), false],
  ])("chooses by %s", (_, dependency, subject, expected) => {
    expect(refersTo(dependency, subject)).toBe(expected);
  });

  it("is found from the object by name, and from any object by selector", () => {
    const entries = [
      { ...SUBJECT, name: "c" },
      { ...SUBJECT, labelSelector: { matchLabels: { a: "b" } } },
    ];
    const annotations = { "resourcebinding.karmada.io/dependencies": JSON.stringify(entries) };
    const values = dependencyIndex(workloadBinding("web", {}, { annotations }));
    expect(values).toEqual([...identityIndex({ ...SUBJECT, name: "c" })]);
  });
});
