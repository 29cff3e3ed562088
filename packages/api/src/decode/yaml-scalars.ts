/**
 * What a plain YAML scalar means to kubectl and to Kubernetes API servers: YAML 1.1 with a few habits of Go.
 *
 * `yes`, `on` and `y` are booleans, `010` is eight, `1_000` a thousand; dates and `1:30` stay texts.
 */
import type { Json } from "../json.ts";

const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ...wordsFor(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], true),
  ...wordsFor(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], false),
  ...wordsFor(["", "~", "null", "Null", "NULL"], null),
]);

const INFINITE: ReadonlySet<string> = new Set([
  ".nan",
  ".NaN",
  ".NAN",
  ...["", "+", "-"].flatMap((sign) => [`${sign}.inf`, `${sign}.Inf`, `${sign}.INF`]),
]);

const DECIMAL = /^[-+]?[0-9]+$/;
const OCTAL = /^[-+]?0[oO]?[0-7]+$/;
const RADIX = /^([-+]?)0([xX][0-9a-fA-F]+|[bB][01]+)$/;
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;

/** The meaning of a plain scalar. Numbers that JSON cannot hold, and integers it would change, throw RangeError. */
export function resolvePlainScalar(text: string): Json {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (INFINITE.has(text)) throw new RangeError(`unsupported value: ${text}`);
  const first = text.charCodeAt(0);
  // A point, a sign or a digit: everything else is text, and most scalars are.
  if (first === 0x2e) return resolveFloat(text, text);
  if (first !== 0x2b && first !== 0x2d && (first < 0x30 || first > 0x39)) return text;
  const digits = text.includes("_") ? text.replaceAll("_", "") : text;
  const integer = resolveInteger(digits);
  if (integer === undefined) return resolveFloat(text, digits);
  if (!Number.isSafeInteger(integer))
    throw new RangeError(`integer ${text} is beyond the supported range of ±(2^53 - 1)`);
  return integer;
}

/** Whether a text must be quoted to remain a text. */
export function isAmbiguousScalar(text: string): boolean {
  try {
    return resolvePlainScalar(text) !== text || looksLikeTimeOrDate(text);
  } catch (error) {
    if (error instanceof RangeError) return true;
    throw error;
  }
}

function wordsFor<T>(words: readonly string[], value: T): [string, T][] {
  return words.map((word) => [word, value]);
}

function resolveInteger(digits: string): number | undefined {
  const sign = digits[0] === "-" ? -1 : 1;
  const radix = RADIX.exec(digits);
  if (radix !== null) return sign * Number(`0${radix[2]}`);
  if (OCTAL.test(digits) && digits.length > 1) {
    const octal = digits.replace(/^[-+]?0[oO]?/, "");
    return sign * Number.parseInt(octal, 8);
  }
  if (!DECIMAL.test(digits)) return undefined;
  return Number(digits);
}

function resolveFloat(text: string, digits: string): Json {
  if (!FLOAT.test(digits)) return text;
  const value = Number(digits);
  return Number.isFinite(value) ? value : text;
}

/** Other readers take these for numbers and dates. */
function looksLikeTimeOrDate(text: string): boolean {
  return (
    /^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/.test(text) ||
    /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ][0-9:.]+.*)?$/.test(text)
  );
}
