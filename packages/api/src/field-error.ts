/**
 * What is wrong with one field, in the words of a Kubernetes API server. A list of these becomes the `causes` and
 * the message of a 422 answer (see status.ts).
 */
import { showJson } from "./go-text.ts";

export type FieldErrorReason =
  | "FieldValueRequired"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueDuplicate"
  | "FieldValueForbidden"
  | "FieldValueNotFound"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueTypeInvalid"
  | "InternalError";

/** No answer carries more causes than this: an object may be wrong in ten thousand places. */
export const MAX_ERRORS = 100;
/** Nor does a cause name more choices. */
const MAX_CHOICES = 100;

export interface FieldError {
  readonly reason: FieldErrorReason;
  /** `spec.template.spec.containers[0].name`. */
  readonly field: string;
  /** The sentence without the field: `Invalid value: "x": must be …`. */
  readonly message: string;
}

/** A value as the server shows it in messages: texts quoted, the rest as JSON with the fields in their own order. */
export function showValue(value: unknown): string {
  if (typeof value === "string" || typeof value === "number") return showJson(value);
  return value === undefined ? "null" : JSON.stringify(value);
}

export function required(field: string, detail = ""): FieldError {
  return {
    reason: "FieldValueRequired",
    field,
    message: detail === "" ? "Required value" : `Required value: ${detail}`,
  };
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return {
    reason: "FieldValueInvalid",
    field,
    message: `Invalid value: ${showValue(value)}: ${detail}`,
  };
}

export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return {
    reason: "FieldValueTypeInvalid",
    field,
    message: `Invalid value: ${showValue(value)}: ${detail}`,
  };
}

export function notSupported(
  field: string,
  value: unknown,
  supported: readonly string[],
): FieldError {
  const shown = supported.slice(0, MAX_CHOICES).map((item) => JSON.stringify(item));
  const list = [...shown, ...(supported.length > MAX_CHOICES ? ["..."] : [])].join(", ");
  return {
    reason: "FieldValueNotSupported",
    field,
    message: `Unsupported value: ${showValue(value)}: supported values: ${list}`,
  };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { reason: "FieldValueDuplicate", field, message: `Duplicate value: ${showValue(value)}` };
}

export function forbidden(field: string, detail: string): FieldError {
  return { reason: "FieldValueForbidden", field, message: `Forbidden: ${detail}` };
}

export function tooLong(field: string, maxBytes: number): FieldError {
  return {
    reason: "FieldValueTooLong",
    field,
    message: `Too long: may not be more than ${maxBytes} ${maxBytes === 1 ? "byte" : "bytes"}`,
  };
}

export function tooMany(field: string, actual: number, max: number): FieldError {
  return {
    reason: "FieldValueTooMany",
    field,
    message: `Too many: ${actual}: must have at most ${max} ${max === 1 ? "item" : "items"}`,
  };
}
