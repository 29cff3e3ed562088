/**
 * Reads JSON bodies.
 *
 * A pass over the text counts its values before anything is made of them, so that no text costs more than its bound
 * (limits.ts). Then `JSON.parse` does the work; what it hides is found by a walk over its result, which costs little beside it:
 *
 * 1. Duplicate keys: the text has more keys than the result. Only then the slow inspection names them.
 * 2. Integers beyond ±(2^53 - 1) and numbers too large for a double: refused, because they would come out changed.
 * 3. Nesting deeper than 256 (Go stops at 10,000; nothing real comes near either): refused.
 * 4. The key `__proto__`: refused, so that no code behind this point has to be afraid of it.
 * 5. Bytes that are not UTF-8: refused. (Go replaces them, which changes the document silently.)
 *
 * Errors are worded as a Kubernetes API server words them; the caller adds what the body was to be.
 */
import { badRequest, type Refused } from "../status.ts";
import type { Json } from "../json.ts";
import { MAX_DEPTH } from "./depth.ts";
import { inspectJson } from "./inspect-json.ts";
import { MAX_VALUES } from "./limits.ts";
import { runSteps, type Steps } from "./steps.ts";

/** The body cannot be read; the message says where it breaks. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/** The body may be right, but it holds more than a server reads; the message names the bound. */
export class TooLargeError extends DecodeError {}

export interface Decoded {
  readonly value: Json;
  /** Paths such as `spec.containers[0].name`, in the order of the text, each once; the last value won. */
  readonly duplicateFields: readonly string[];
}

const NO_DUPLICATES: readonly string[] = [];
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads one JSON document; throws DecodeError. The value is new and not frozen. */
export function decodeJson(body: Uint8Array | string): Decoded {
  return runSteps(decodeJsonInSteps(body));
}

/** The same, in pieces. */
export function* decodeJsonInSteps(body: Uint8Array | string): Steps<Decoded> {
  const text = typeof body === "string" ? body : decodeUtf8(body);
  const { values, keys } = measure(text);
  if (values > MAX_VALUES)
    throw new TooLargeError(`the document holds more than ${MAX_VALUES} values`);
  yield;
  const value = parseOrUndefined(text);
  if (value === undefined) {
    yield;
    throw new DecodeError(inspectJson(text, MAX_DEPTH).problem ?? "invalid JSON");
  }
  yield;
  if (countKeys(value, 0) === keys) return { value, duplicateFields: NO_DUPLICATES };
  yield;
  const { problem, duplicateFields } = inspectJson(text, MAX_DEPTH);
  if (problem !== undefined) throw new DecodeError(problem);
  return { value, duplicateFields };
}

function parseOrUndefined(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The text of a body; throws DecodeError when it is not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new DecodeError("invalid UTF-8 in the body");
  }
}

/** The 400 for a body that could not be read as an object of this kind. */
export function unreadableBody(kind: string, problem: string, body: Uint8Array | string): Refused {
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): ` +
      `couldn't get version/kind; json parse error: ${problem} (${summarize(body)})`,
  );
}

const SUMMARY_LENGTH = 30;

/** The beginning of a body as servers quote it: text when it looks like an object, else hexadecimal. */
function summarize(body: Uint8Array | string): string {
  const start =
    typeof body === "string"
      ? new TextEncoder().encode(body.slice(0, SUMMARY_LENGTH + 1))
      : body.subarray(0, SUMMARY_LENGTH + 1);
  if (start.length === 0) return "<empty>";
  const shown = start.subarray(0, SUMMARY_LENGTH);
  const more = start.length > SUMMARY_LENGTH ? " ..." : "";
  if (shown[0] === 0x7b) return new TextDecoder().decode(shown) + more;
  return Array.from(shown, (byte) => byte.toString(16).padStart(2, "0")).join("") + more;
}

/** How many keys the objects of a value have; NaN when the text must be looked at more closely. */
function countKeys(value: Json | undefined, depth: number): number {
  if (typeof value === "number")
    return Number.isSafeInteger(value) || isFraction(value) ? 0 : Number.NaN;
  if (typeof value !== "object" || value === null) return 0;
  if (depth >= MAX_DEPTH) return Number.NaN;
  let count = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) count += countKeys(value[i] as Json, depth + 1);
    return count;
  }
  const object = value as { readonly [field: string]: Json };
  for (const key in object) {
    if (key === "__proto__") return Number.NaN;
    const child = object[key];
    count += typeof child === "string" ? 1 : 1 + countKeys(child, depth + 1);
  }
  return count;
}

function isFraction(value: number): boolean {
  return Number.isFinite(value) && !Number.isInteger(value);
}

interface Measures {
  /** At least one for each object, list, key and scalar that is not the only one of its container. */
  readonly values: number;
  readonly keys: number;
}

/** Counts what a text would hold if it is JSON; ends early when that is too much. Refuses what is nested too deep. */
function measure(text: string): Measures {
  let values = 0;
  let keys = 0;
  let depth = 0;
  for (let at = 0; at < text.length && values <= MAX_VALUES; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = endOfString(text, at);
        break;
      case 0x2c:
        values += 1;
        break;
      case 0x5b:
      case 0x7b:
        values += 1;
        if (++depth > MAX_DEPTH) throw new DecodeError("exceeded max depth");
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
      case 0x3a:
        keys += 1;
        break;
      default:
    }
  }
  return { values, keys };
}

/** Where the string that opens at `open` is closed; the end of the text when it is not. */
function endOfString(text: string, open: number): number {
  let close = text.indexOf('"', open + 1);
  while (close >= 0 && isEscaped(text, close)) close = text.indexOf('"', close + 1);
  return close < 0 ? text.length : close;
}

function isEscaped(text: string, quote: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(quote - 1 - slashes) === 0x5c) slashes += 1;
  return slashes % 2 === 1;
}
