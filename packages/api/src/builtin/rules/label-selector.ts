/** Selectors inside objects (`matchLabels`, `matchExpressions`): validity, matching, and their text form in tables. */
import { forbidden, invalid, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { isEmpty, items, type Problems, pushInvalid, text, textMap, texts } from "./fields.ts";
import { labelValue, qualifiedName } from "./names.ts";

type Labels = Readonly<Record<string, string>>;

/** Keys and values of labels; all problems carry the field of the map itself. */
export function checkLabels(problems: Problems, field: string, labels: Labels): void {
  for (const key in labels) {
    pushInvalid(problems, field, key, qualifiedName(key));
    const value = labels[key] as string;
    pushInvalid(problems, field, value, labelValue(value));
  }
}

export function checkLabelSelector(
  problems: Problems,
  field: string,
  selector: JsonObject | undefined,
): void {
  if (selector === undefined) return;
  checkLabels(problems, `${field}.matchLabels`, textMap(selector, "matchLabels"));
  for (const [index, expression] of items(selector, "matchExpressions").entries()) {
    checkExpression(problems, `${field}.matchExpressions[${index}]`, expression);
  }
}

function checkExpression(problems: Problems, field: string, expression: JsonObject): void {
  const values = texts(expression, "values");
  const operator = text(expression, "operator");
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0) {
      problems.push(
        required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"),
      );
    }
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0) {
      problems.push(
        forbidden(
          `${field}.values`,
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
      );
    }
  } else {
    problems.push(invalid(`${field}.operator`, operator, "not a valid selector operator"));
  }
  const key = text(expression, "key");
  pushInvalid(problems, `${field}.key`, key, qualifiedName(key));
  for (const [index, value] of values.entries()) {
    pushInvalid(problems, `${field}.values[${index}]`, value, labelValue(value));
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
  const wanted = textMap(selector, "matchLabels");
  for (const key in wanted) if (valueOf(labels, key) !== wanted[key]) return false;
  return items(selector, "matchExpressions").every((expression) => holds(expression, labels));
}

function holds(expression: JsonObject, labels: Labels): boolean {
  const value = valueOf(labels, text(expression, "key"));
  const values = texts(expression, "values");
  switch (text(expression, "operator")) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    default:
      return value === undefined;
  }
}

function valueOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** `a=b,c=d` with sorted keys, or `<none>`. */
export function formatLabels(labels: Labels): string {
  const pairs = Object.keys(labels)
    .toSorted()
    .map((key) => `${key}=${labels[key]}`);
  return pairs.length === 0 ? "<none>" : pairs.join(",");
}

/** `a=b,c in (x,y)` with sorted keys; "" selects everything. */
export function formatSelector(selector: JsonObject | undefined): string {
  if (selector === undefined) return "";
  const labels = textMap(selector, "matchLabels");
  const terms = Object.keys(labels).map((key) => ({ key, term: `${key}=${labels[key]}` }));
  for (const expression of items(selector, "matchExpressions")) {
    terms.push({ key: text(expression, "key"), term: formatExpression(expression) });
  }
  terms.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return terms.map(({ term }) => term).join(",");
}

/** `formatSelector`, with words for a selector that selects nothing or everything. */
export function formatSelectorOrNone(selector: JsonObject | undefined): string {
  if (selector === undefined || isEmpty(selector)) return "<none>";
  const formatted = formatSelector(selector);
  return formatted === "" ? "<none>" : formatted;
}

function formatExpression(expression: JsonObject): string {
  const key = text(expression, "key");
  const values = texts(expression, "values").toSorted().join(",");
  switch (text(expression, "operator")) {
    case "In":
      return `${key} in (${values})`;
    case "NotIn":
      return `${key} notin (${values})`;
    case "Exists":
      return key;
    default:
      return `!${key}`;
  }
}
