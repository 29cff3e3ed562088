/** Reads a label selector out of an object that was not validated; undefined when there is none. */
import type { LabelExpression, LabelSelector } from "@lifeboat/api";
import { isFields, listAt, textAt, textsAt } from "../../fields.ts";

export function readLabelSelector(value: unknown): LabelSelector | undefined {
  if (!isFields(value)) return undefined;
  const matchExpressions = listAt(value, "matchExpressions").map((term): LabelExpression => ({
    key: textAt(term, "key"),
    operator: textAt(term, "operator"),
    values: listAt(term, "values").filter((item) => typeof item === "string"),
  }));
  return { matchLabels: textsAt(value, "matchLabels"), matchExpressions };
}
