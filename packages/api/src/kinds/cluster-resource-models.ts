/**
 * Grades of nodes: how much room a node of each grade has, so that the room of a cluster can be told as "so many nodes
 * of each grade". The ranges of neighbouring grades touch, the first starts at 0 and the last has no end.
 */
import { type FieldError, invalid } from "../field-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { compareQuantities, parseQuantity, type Quantity } from "../quantity/quantity.ts";
import { eachIn, isEmpty, isList, setTo } from "./builder/changes.ts";
import { list, longInteger, object, quantity, type Static, text } from "./builder/shape.ts";

export const resourceModels = list(
  "Grades of nodes, by which the room of the cluster is counted; nine grades of cpu and memory when absent.",
  object("One grade.", {
    grade: longInteger("Its number; higher grades have more room.", { minimum: 0 }),
    ranges: list(
      "How much of each resource a node of this grade has.",
      object("One resource.", {
        name: text("The resource, such as cpu."),
        min: quantity("From this amount, inclusive."),
        max: quantity("To this amount, exclusive."),
      }),
    ),
  }),
);

type ResourceModel = Static<typeof resourceModels>[number];

/** The largest amount: the last grade has no end. */
const ENDLESS = "9223372036854775807";
const CPU: readonly string[] = ["0", "1", "2", "4", "8", "16", "32", "64", "128", ENDLESS];
const MEMORY: readonly string[] = [
  "0",
  ...[4, 16, 32, 64, 128, 256, 512, 1024].map((gibibytes) => `${gibibytes}Gi`),
  ENDLESS,
];

const DEFAULT_MODELS: readonly Json[] = CPU.slice(1).map((max, grade) => ({
  grade,
  ranges: [
    { name: "cpu", min: CPU[grade], max },
    { name: "memory", min: MEMORY[grade], max: MEMORY[grade + 1] },
  ],
}));

/** Sorts the grades and opens both ends; a new cluster without grades gets the usual ones. */
export function prepareResourceModels(spec: JsonObject, isNew: boolean): JsonObject {
  const models = spec["resourceModels"];
  if (isEmpty(models) || (isList(models) && models.length === 0))
    return isNew ? { ...spec, resourceModels: DEFAULT_MODELS } : spec;
  if (!isList(models) || !models.every(isJsonObject)) return spec;
  const sorted = models.toSorted((a, b) => Number(a["grade"]) - Number(b["grade"]));
  const ordered = sorted.every((model, i) => model === models[i])
    ? spec
    : { ...spec, resourceModels: sorted };
  return eachIn(ordered, "resourceModels", (model, i) => {
    const started = i === 0 ? eachIn(model, "ranges", (range) => setTo(range, "min", "0")) : model;
    return i === sorted.length - 1
      ? eachIn(started, "ranges", (range) => setTo(range, "max", ENDLESS))
      : started;
  });
}

export function validateResourceModels(
  models: readonly ResourceModel[] | undefined,
  field: string,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, model] of (models ?? []).entries()) {
    const below = models?.[i - 1];
    const at = `${field}[${i}]`;
    if (below !== undefined && below.grade === model.grade)
      errors.push(invalid(`${at}.grade`, model.grade, "each grade must occur once"));
    if (below !== undefined && below.ranges.length !== model.ranges.length)
      errors.push(
        invalid(`${at}.ranges`, model.ranges.length, "all grades must have the same resources"),
      );
    errors.push(...validateRanges(model, below, `${at}.ranges`));
  }
  return errors;
}

function validateRanges(
  model: ResourceModel,
  below: ResourceModel | undefined,
  field: string,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [j, { name, min, max }] of model.ranges.entries()) {
    const at = `${field}[${j}]`;
    const low = amountOf(min);
    const high = amountOf(max);
    if (low === undefined || high === undefined) {
      errors.push(invalid(at, { name, min, max }, "min and max must be quantities"));
      continue;
    }
    if (compareQuantities(high, low) <= 0)
      errors.push(invalid(`${at}.max`, max, "must be greater than min"));
    const previous = below?.ranges[j];
    if (previous === undefined) continue;
    const end = amountOf(previous.max);
    if (previous.name !== name)
      errors.push(invalid(`${at}.name`, name, "all grades must name the resources in one order"));
    else if (end === undefined || compareQuantities(end, low) !== 0)
      errors.push(invalid(`${at}.min`, min, "must be the max of the grade below"));
  }
  return errors;
}

function amountOf(value: string | number): Quantity | undefined {
  return parseQuantity(String(value));
}
