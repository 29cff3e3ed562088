/**
 * The permanent id: a label with a random UUID that policies, bindings and Works carry from birth, by which what was made
 * of them finds them. It is filled in when absent, also when a replacing client left it out, and cannot be changed.
 */
import { anew } from "@lifeboat/base";
import { type FieldError, invalid } from "../../field-error.ts";
import { isJsonObject, type JsonObject } from "../../json.ts";
import { isEmpty } from "../builder/changes.ts";
import type { KubeObject } from "../../object.ts";
import type { WriteContext } from "../builder/kind-declaration.ts";

/** The object with its permanent id: the one it has, the one it had, or a new one. */
export function withPermanentId(
  object: JsonObject,
  label: string,
  { old, newId }: WriteContext,
): JsonObject {
  const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : {};
  const labels = metadata["labels"] ?? {};
  if (!isJsonObject(labels) || !isEmpty(labels[label])) return object;
  const id = (old === undefined ? undefined : labelOf(old, label)) ?? newId();
  return {
    ...anew,
    ...object,
    metadata: { ...anew, ...metadata, labels: { ...anew, ...labels, [label]: id } },
  };
}

export function validatePermanentId(
  object: KubeObject,
  old: KubeObject | undefined,
  label: string,
): FieldError[] {
  const before = old?.metadata.labels?.[label];
  const now = object.metadata.labels?.[label];
  if (before === undefined || before === now) return [];
  return [invalid(`metadata.labels[${label}]`, now, "the permanent id cannot be changed")];
}

function labelOf(object: JsonObject, label: string): string | undefined {
  const metadata = object["metadata"];
  const labels = isJsonObject(metadata) ? metadata["labels"] : undefined;
  const value = isJsonObject(labels) ? labels[label] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}
