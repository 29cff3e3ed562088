/**
 * Labels and selectors (`matchLabels`, `matchExpressions`) as they stand in JSON of built-in kinds: the checks, the matching
 * and the text form are those of metadata/ and selectors/, in the shape that rules and printers need.
 */
import type { JsonObject } from "../../json.ts";
import { validateLabels } from "../../metadata/validate-metadata.ts";
import {
  formatLabelSelector,
  type Labels,
  labelSelectorFrom,
  matchesLabels,
  validateLabelSelector,
} from "../../selectors/label-selector.ts";
import type { Problems } from "./fields.ts";

/** Keys and values of labels; all problems carry the field of the map itself. */
export function checkLabels(problems: Problems, field: string, labels: Labels): void {
  for (const problem of validateLabels(labels, field)) problems.push(problem);
}

/** Appends what is wrong with a selector; an absent one is fine. */
export function checkLabelSelector(
  problems: Problems,
  field: string,
  selector: JsonObject | undefined,
): void {
  if (selector === undefined) return;
  for (const problem of validateLabelSelector(selector, field)) {
    problems.push(problem);
  }
}

/** Whether the selector can be compiled at all. No selector selects nothing, which is sound. */
export function isSoundSelector(selector: JsonObject | undefined): boolean {
  const problems: Problems = [];
  checkLabelSelector(problems, "", selector);
  return problems.length === 0;
}

/** An absent selector matches nothing, an empty one everything. The selector is sound. */
export function selectorMatches(selector: JsonObject | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  return matchesLabels(labelSelectorFrom(selector), labels);
}

/** `a=b,c=d` with sorted keys, or `<none>`. */
export function formatLabels(labels: Labels): string {
  return formatSelectorOrNone({ matchLabels: labels });
}

/** `a=b,c in (x,y)` with sorted keys; "" when nothing or everything is selected. */
export function formatSelector(selector: JsonObject | undefined): string {
  if (selector === undefined) return "";
  return formatLabelSelector(labelSelectorFrom(selector));
}

/** `formatSelector`, with a word where it is empty. */
export function formatSelectorOrNone(selector: JsonObject | undefined): string {
  return formatSelector(selector) || "<none>";
}
