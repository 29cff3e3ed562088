/** A template that was moved is rendered as it was before, and goes on counting from there. */
import { describe, expect, it } from "vitest";
import { digestOf } from "./propagation/matching/digest.ts";
import { aggregateWorkload } from "./propagation/interpretation/statuses.ts";
import { formatOrigin, originOf, renderedIdentity } from "./origin.ts";
import { renderWork } from "./propagation/rendering/render.ts";

const OLD = { uid: "5f0c-old", generation: 7 };

function deployment(metadata: object): { readonly metadata: object } & Record<string, unknown> {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace: "default", name: "web", annotations: { team: "a" }, ...metadata },
    spec: { replicas: 2 },
  };
}

const before = deployment({ uid: OLD.uid, generation: OLD.generation });
const moved = (generation: number, origin = formatOrigin(OLD)): ReturnType<typeof deployment> =>
  deployment({
    uid: "new",
    generation,
    annotations: { team: "a", "lifeboat.dev/origin": origin },
  });

function rendered(template: object): unknown {
  const result = renderWork({
    template: template as never,
    binding: { metadata: { namespace: "default", name: "web-deployment" }, spec: {} },
    cluster: { metadata: { name: "m1" } },
    clusterOverridePolicies: [],
    overridePolicies: [],
    workId: "w-1",
  });
  return result.outcome === "rendered" ? result.work : result;
}

describe("a template that was moved", () => {
  it("has the Work that it had, byte for byte, and the same digest", () => {
    expect(JSON.stringify(rendered(moved(1)))).toBe(JSON.stringify(rendered(before)));
    expect(digestOf(moved(1))).toBe(digestOf(before));
  });

  it.each([
    [1, 7],
    [2, 8],
    [5, 11],
    [0, 7],
  ])("at generation %d counts as %d", (generation, expected) => {
    expect(renderedIdentity(moved(generation))).toEqual({ uid: OLD.uid, generation: expected });
  });

  it("has no generation where its kind has none", () => {
    const origin = formatOrigin({ uid: "u", generation: 0 });
    expect(renderedIdentity(moved(0, origin)).generation).toBe(0);
    expect(renderedIdentity(moved(3, origin)).generation).toBe(0);
  });

  it("is observed in its own generation once copies of the rendered one report it", () => {
    const status = { generation: 1, observedGeneration: 1, resourceTemplateGeneration: 7 };
    const counters = { always: [], nonZero: [] };
    const of = (template: object): unknown =>
      aggregateWorkload(template as never, [{ clusterName: "m1", status }] as never, counters);
    expect(of(moved(1))).toMatchObject({ observedGeneration: 1 });
    expect(of(moved(2))).not.toHaveProperty("observedGeneration");
  });
});

it.each([
  "",
  "{",
  "[]",
  "null",
  '"text"',
  '{"uid":"u"}',
  '{"uid":"","generation":1}',
  '{"uid":"a b","generation":1}',
  '{"uid":"u","generation":-1}',
  '{"uid":"u","generation":1.5}',
  `{"uid":"${"u".repeat(65)}","generation":1}`,
  `{"uid":"u","generation":1,"x":"${"x".repeat(200)}"}`,
])("an origin that is %j counts as none", (origin) => {
  expect(originOf(moved(3, origin))).toBeUndefined();
  expect(renderedIdentity(moved(3, origin))).toEqual({ uid: "new", generation: 3 });
});
