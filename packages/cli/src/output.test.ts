/** `-o` in one grammar, and what `top` and `describe` print of real objects. */
import type { Cluster, JsonObject } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { hasColours } from "./colours.ts";
import { describeLines } from "./describe-text.ts";
import { CommandFailed, UsageError } from "./failure.ts";
import { namedObjects } from "./named-objects.ts";
import { documentText, objectsText, outputFrom } from "./output.ts";
import { topLines, usesOf } from "./top-text.ts";

const asked = (text: string) => outputFrom({ requiredText: () => text }, ["text", "wide"]);
const value = { items: [{ name: "a", gone: undefined }, { name: "b" }] };

describe("-o", () => {
  it.each([
    ["text", { kind: "form", form: "text" }],
    ["wide", { kind: "form", form: "wide" }],
    ["json", { kind: "json" }],
    ["yaml", { kind: "yaml" }],
    ["jsonpath={.items[*].name}", { kind: "jsonpath", template: "{.items[*].name}" }],
    ["jsonpath=.items", { kind: "jsonpath", template: "{.items}" }],
  ])("%s", (text, output) => {
    expect(asked(text)).toEqual(output);
  });

  it.each(["xml", "JSON", "", "jsonpath", "jsonpath=", "jsonpath={.items[}", "name"])(
    "%j is refused with the forms that there are",
    (text) => {
      expect(() => asked(text)).toThrow(UsageError);
      expect(() => asked(text)).toThrow(/jsonpath/);
    },
  );

  it("prints the same document in each form", () => {
    expect(JSON.parse(documentText({ kind: "json" }, value))).toEqual({
      items: [{ name: "a" }, { name: "b" }],
    });
    expect(documentText({ kind: "yaml" }, value)).toBe("items:\n- name: a\n- name: b\n");
    const path = { kind: "jsonpath", template: "{.items[*].name}" } as const;
    expect(documentText(path, value)).toBe("a b\n");
  });

  it("a path that finds nothing is a sentence", () => {
    const path = { kind: "jsonpath", template: "{.nothing}" } as const;
    expect(() => documentText(path, value)).toThrow(CommandFailed);
  });

  it("one object that was named is printed alone, others as a List", () => {
    const [one, list] = [true, false].map((isOne) =>
      JSON.parse(objectsText({ kind: "json" }, [{ a: 1 }], isOne)),
    );
    expect(one).toEqual({ a: 1 });
    expect(list).toMatchObject({ kind: "List", items: [{ a: 1 }] });
  });
});

it("objects are named in two ways", () => {
  expect(namedObjects("deployment/web", [])).toEqual({ kind: "deployment", names: ["web"] });
  expect(namedObjects("deployment", ["web", "api"])).toEqual({
    kind: "deployment",
    names: ["web", "api"],
  });
  for (const wrong of ["/", "a/", "/b", "a/b/c"])
    expect(() => namedObjects(wrong, [])).toThrow(UsageError);
  expect(() => namedObjects("a/b", ["c"])).toThrow(UsageError);
});

it("colours need a terminal, and NO_COLOR takes them away", () => {
  expect(hasColours({ isTTY: true }, {})).toBe(true);
  expect(hasColours({ isTTY: true }, { NO_COLOR: "1" })).toBe(false);
  expect(hasColours({ isTTY: true }, { NO_COLOR: "" })).toBe(true);
  expect(hasColours({}, {})).toBe(false);
});

function cluster(name: string, ready: string, summary?: object): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Push" },
    status: {
      conditions: [{ type: "Ready", status: ready }],
      ...(summary && { resourceSummary: summary, nodeSummary: { readyNum: 2, totalNum: 3 } }),
    },
  } as unknown as Cluster;
}

it("top counts what runs and what waits, and marks what is not current", () => {
  const summary = {
    allocatable: { cpu: "32", memory: "128Gi", pods: "250" },
    allocated: { cpu: "3500m", memory: "16Gi", pods: "10" },
    allocating: { cpu: "500m", pods: "2" },
  };
  const uses = usesOf([
    cluster("b", "False", summary),
    cluster("a", "True", summary),
    cluster("c", "True"),
  ]);
  expect(topLines(uses)).toEqual([
    "CLUSTER  NODES  CPU       MEMORY          PODS       NOTE",
    "a        2/3    4/32 13%  16Gi/128Gi 13%  12/250 5%",
    "b        2/3    4/32 13%  16Gi/128Gi 13%  12/250 5%  not ready: as last reported",
    "c        ?      ?         ?               ?",
  ]);
});

it("describe tells the state first, fits the width, and obeys nothing that an object holds", () => {
  const now = instantOf(Date.UTC(2026, 0, 1, 12));
  const object: JsonObject = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: "web",
      namespace: "shop",
      creationTimestamp: "2026-01-01T11:00:00Z",
      labels: { app: "web\u001b[2J" },
      annotations: { "lifeboat.dev/x": '{"a":1}' },
    },
    spec: { replicas: 2, text: "x".repeat(300), resourceModels: [{ grade: 0 }] },
    status: {
      readyReplicas: 1,
      conditions: [
        {
          type: "Available",
          status: "False",
          reason: "Short",
          message: "one of two pods is ready, and that has been so for longer than anybody likes",
          lastTransitionTime: "2026-01-01T11:58:00Z",
        },
      ],
    },
  };
  const event = {
    type: "Warning",
    reason: "EvictionHeld",
    message: "no other cluster takes it",
    lastTimestamp: "2026-01-01T11:59:00Z",
  };
  const lines = describeLines({ object, events: [event], history: [] }, now);
  const text = lines.join("\n");
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  expect(text).not.toContain("\u001b");
  expect(text).not.toContain("resourceModels");
  expect(text).toContain("lifeboat.dev/x=… (-o yaml)");
  expect(text).toMatch(/Available +False +2m +Short: one of two/);
  expect(text).toMatch(/60s +Warning +EvictionHeld +no other cluster takes it/);
  expect(text.indexOf("Conditions:")).toBeLessThan(text.indexOf("Spec:"));
  expect(text).toContain("  replicas: 2");
});
