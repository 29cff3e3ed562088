import { type AnyObject, type CrdColumn } from "@lifeboat/api";
import { type Instant, parseTime } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { customPrinter } from "./crd-printer.ts";

const NOW = parseTime("2026-01-01T00:01:40Z") as Instant;
const object = {
  apiVersion: "ex.io/v1",
  kind: "Widget",
  metadata: { name: "w", creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: { text: "red", count: 3, ratio: 1.5, flag: true, when: "soon", list: [1, { b: 2, a: 1 }] },
  status: {
    conditions: [
      { type: "Other", status: "False" },
      { type: "Ready", status: "True" },
    ],
  },
} as unknown as AnyObject;

function cellOf(column: CrdColumn): unknown {
  return customPrinter([{ name: "x", ...column }]).cells(object, NOW)[1];
}

describe("customPrinter", () => {
  const cases: readonly (readonly [type: string, jsonPath: string, cell: unknown])[] = [
    ["string", ".spec.text", "red"],
    ["string", ".spec.count", "3"],
    ["string", ".spec.flag", "true"],
    ["string", ".spec.list", '[1,{"a":1,"b":2}]'],
    ["string", '.status.conditions[?(@.type=="Ready")].status', "True"],
    ["string", ".spec.absent.deeper", null],
    ["string", ".spec.list[", null],
    ["integer", ".spec.count", 3],
    ["integer", ".spec.ratio", 1],
    ["integer", ".spec.text", null],
    ["number", ".spec.ratio", 1.5],
    ["number", ".spec.count", 3],
    ["boolean", ".spec.flag", true],
    ["boolean", ".spec.text", null],
    ["date", ".metadata.creationTimestamp", "100s"],
    ["date", ".spec.when", "<invalid>"],
    ["date", ".spec.count", null],
  ];
  for (const [type, jsonPath, cell] of cases) {
    it(`shows ${jsonPath} as ${type}: ${JSON.stringify(cell)}`, () => {
      expect(cellOf({ type, jsonPath })).toEqual(cell);
    });
  }

  it("starts with the name and shows the age when the CRD asks for nothing", () => {
    const printer = customPrinter([]);
    expect(printer.columns.map(({ name, type }) => [name, type])).toEqual([
      ["Name", "string"],
      ["Age", "date"],
    ]);
    expect(printer.cells(object, NOW)).toEqual(["w", "100s"]);
  });

  it("describes a column by its path when the CRD does not", () => {
    const { columns } = customPrinter([
      { name: "Color", type: "string", jsonPath: ".spec.text", priority: 1 },
    ]);
    expect(columns[1]).toEqual({
      name: "Color",
      type: "string",
      format: "",
      description: "Custom resource definition column (in JSONPath format): .spec.text",
      priority: 1,
    });
  });
});
