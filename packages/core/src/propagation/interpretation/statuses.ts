/**
 * Parts of reflecting and aggregating that several kinds share.
 *
 * 1. Counters that are zero are left out, except where the API always writes them.
 * 2. The template's `observedGeneration` advances only when every copy has seen the template's generation and acted on
 *    it; until then the old value stays, so that `kubectl rollout status` waits.
 * 3. Clusters are taken in the order of their names.
 */
import { anew } from "@lifeboat/base";
import {
  compareText,
  countAt,
  type Fields,
  fieldsAt,
  integerAt,
  textAt,
  valueAt,
  without,
} from "../../fields.ts";
import { TEMPLATE_GENERATION } from "../../well-known.ts";
import { renderedIdentity } from "../../origin.ts";
import type { StatusItem } from "./interpreter.ts";

export interface Counters {
  /** Written even when zero. */
  readonly always: readonly string[];
  readonly nonZero: readonly string[];
}

/** Status of a workload copy: its counters, and how far it has got with which generation of the template. */
export function reflectWorkload(object: Fields, counters: Counters): Fields {
  const status = fieldsAt(object, "status");
  const reflected: Record<string, number> = {};
  setNonZero(reflected, "generation", countAt(object, "metadata", "generation"));
  setNonZero(reflected, "resourceTemplateGeneration", templateGeneration(object));
  for (const name of counters.always) reflected[name] = countAt(status, name);
  for (const name of counters.nonZero) setNonZero(reflected, name, countAt(status, name));
  setNonZero(reflected, "observedGeneration", countAt(status, "observedGeneration"));
  return reflected;
}

/** The template's status: sums of the counters; what else was in the status stays. */
export function aggregateWorkload(
  template: Fields,
  items: readonly StatusItem[],
  counters: Counters,
): Fields {
  const { observedGeneration, ...rest } = sumInto(template, items, counters);
  const generation = countAt(template, "metadata", "generation");
  const rendered = renderedIdentity(template).generation;
  const observed = items.every((item) => hasSeen(item, rendered)) ? generation : observedGeneration;
  return observed === undefined ? rest : { ...anew, ...rest, observedGeneration: observed };
}

/** The template's status with the counters replaced by their sums. */
export function sumInto(
  template: Fields,
  items: readonly StatusItem[],
  counters: Counters,
): Record<string, unknown> {
  const others = without(fieldsAt(template, "status"), ...counters.nonZero);
  const status: Record<string, unknown> = { ...anew, ...others };
  for (const name of counters.nonZero) setNonZero(status, name, sumOf(items, name));
  for (const name of counters.always) status[name] = sumOf(items, name);
  return status;
}

export function sumOf(items: readonly StatusItem[], name: string): number {
  let sum = 0;
  for (const item of items) sum += countAt(item.status, name);
  return sum;
}

function hasSeen(item: StatusItem, generation: number): boolean {
  return (
    item.status !== undefined &&
    countAt(item.status, "observedGeneration") >= countAt(item.status, "generation") &&
    countAt(item.status, "resourceTemplateGeneration") >= generation
  );
}

/** Whether the copy's own controller has acted on its current generation. */
export function isObserved(object: Fields): boolean {
  return (
    integerAt(object, "status", "observedGeneration") ===
    integerAt(object, "metadata", "generation")
  );
}

export function byClusterName(items: readonly StatusItem[]): StatusItem[] {
  return items.toSorted((a, b) => compareText(a.clusterName, b.clusterName));
}

/** The fields of a status that are there, by name. */
export function pick(status: Fields, names: readonly string[]): Fields {
  const picked: Record<string, unknown> = {};
  for (const name of names) {
    const value = valueAt(status, name);
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

/** The status "True" in a list of conditions. */
export function isTrue(conditions: readonly unknown[], type: string): boolean {
  return conditions.some(
    (condition) => textAt(condition, "type") === type && textAt(condition, "status") === "True",
  );
}

/** The latest of some timestamps; all have the same form, so their texts are ordered as they are. */
export function latest(times: readonly string[]): string | undefined {
  return times
    .filter((time) => time !== "")
    .toSorted(compareText)
    .at(-1);
}

export function earliest(times: readonly string[]): string | undefined {
  return times
    .filter((time) => time !== "")
    .toSorted(compareText)
    .at(0);
}

export function setNonZero(target: Record<string, unknown>, name: string, value: number): void {
  if (value !== 0) target[name] = value;
}

function templateGeneration(object: Fields): number {
  const text = textAt(object, "metadata", "annotations", TEMPLATE_GENERATION);
  const generation = text === "" ? 0 : Number(text);
  return Number.isSafeInteger(generation) ? Math.max(0, generation) : 0;
}
