import { describe, expect, it } from "vitest";
import {
  BINDING_ID,
  BINDING_NAME,
  BINDING_NAMESPACE,
  MANAGED,
  WORK_NAME,
  WORK_NAMESPACE,
} from "../../well-known.ts";
import { isEndorsed } from "./first-copy.ts";
import {
  formatStrays,
  parseStrays,
  removalWork,
  removesStray,
  strayReport,
} from "./stray-report.ts";

const COPY = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {
    namespace: "default",
    name: "web",
    uid: "u",
    labels: { [MANAGED]: "true", [BINDING_ID]: "b1", theirs: "x" },
    annotations: {
      [BINDING_NAMESPACE]: "default",
      [BINDING_NAME]: "web-deployment",
      [WORK_NAMESPACE]: "karmada-es-a",
      [WORK_NAME]: "web-1",
      secret: "text",
    },
  },
  spec: { replicas: 3 },
};
const report = strayReport("web-1", COPY, 60_000.4);

describe("the report of a stray copy", () => {
  it("is read as it was written, with our marks and nothing else", () => {
    expect(parseStrays(formatStrays([report]))).toEqual([report]);
    const text = JSON.stringify(report);
    for (const word of ["theirs", "secret", "replicas"]) expect(text).not.toContain(word);
  });
  it("is no annotation when there is none", () => {
    expect(formatStrays([])).toBeUndefined();
    expect(parseStrays(undefined)).toEqual([]);
  });
  it("is bounded, whatever a member writes", () => {
    const many = Array.from({ length: 50 }, () => report);
    expect(parseStrays(JSON.stringify(many))).toHaveLength(20);
    expect(parseStrays(formatStrays(many))).toHaveLength(20);
  });
  it.each([
    ["no JSON", "{"],
    ["no list", "{}"],
    ["no object", "[null, 1, []]"],
    ["no copy", JSON.stringify([{ work: "x", seenForMs: 1 }])],
    ["no kind", JSON.stringify([{ ...report, copy: { ...COPY, kind: 7 } }])],
    ["another Work's name", JSON.stringify([{ ...report, work: "web-2" }])],
    ["no time", JSON.stringify([{ ...report, seenForMs: "long" }])],
  ])("is left out when it is %s", (_name, text) => {
    expect(parseStrays(text)).toEqual([]);
  });
});

it("the Work that removes a copy can never be applied", () => {
  const made = removalWork("a", report);
  expect(made).toMatchObject({
    metadata: { namespace: "karmada-es-a", name: "web-1" },
    spec: { suspendDispatching: true },
  });
  const stored = { ...made, metadata: { ...made.metadata, uid: "u" } } as never;
  expect(removesStray(stored)).toBe(true);
  expect(isEndorsed(stored)).toBe(false);
});
