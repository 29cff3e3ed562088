/**
 * Kubernetes quantities: `500m`, `1.5`, `128Mi`, `1e3`.
 *
 * A quantity is a whole number of billionths (as a BigInt) and the family of suffixes it was written in. All
 * arithmetic is on that number, so nothing is ever lost.
 *
 * 1. What is accepted is what a Kubernetes API server accepts, including oddities such as `.5`, `5.`, `Ki` (zero).
 * 2. What is finer than a billionth is rounded away from zero, so that asking for something never becomes nothing.
 * 3. The canonical form has no fraction, the largest suffix that allows that, and the family it was written in.
 *    Binary amounts below 1Ki, and those that are no whole number, are written in the decimal family.
 * 4. Texts longer than 128 characters and exponents beyond 1000 are refused: a server that accepts them can be made
 *    to compute for hours.
 * 5. Decimal amounts above the largest suffix keep it and grow digits (`1000000E`); Go drops the suffix there.
 */

export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

export interface Quantity {
  /** The amount in billionths. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

const MAX_TEXT = 128;
const MAX_EXPONENT = 1000;
/** Longer runs of digits may not be exact as a JavaScript number. */
const EXACT_DIGITS = 15;
/** Where Go stops using machine integers, which decides whether it keeps a text as it was written. */
const GO_EXACT_DIGITS = 18;

const NANOS = 1_000_000_000n;
const MAX_BINARY_NANOS = (2n ** 63n - 1n) * NANOS;
const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL_SUFFIXES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];

/** Reads a quantity; undefined when the text is none. Spaces around it are ignored, as servers do. */
export function parseQuantity(text: string): Quantity | undefined {
  const parts = split(text);
  return parts === undefined ? undefined : amountOf(parts);
}

/**
 * The text a Kubernetes API server stores for this one: `1000m` becomes `1`, `0.5Gi` becomes `512Mi`. Undefined when
 * the text is no quantity.
 */
export function canonicalQuantity(text: string): string | undefined {
  const parts = split(text);
  if (parts === undefined) return undefined;
  if (isKeptAsWritten(parts)) return parts.text;
  return canonicalBinary(parts) ?? formatQuantity(amountOf(parts));
}

/** The canonical text of a quantity. */
export function formatQuantity(quantity: Quantity): string {
  const { nanos, format } = quantity;
  if (nanos === 0n) return "0";
  if (format === "BinarySI" && nanos % NANOS === 0n) {
    const whole = nanos / NANOS;
    if (whole >= 1024n || whole <= -1024n) return formatBinary(whole);
  }
  return formatDecimal(nanos, format === "DecimalExponent");
}

/** Negative when a is less than b, zero when they are the same amount, positive otherwise. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  if (a.nanos === b.nanos) return 0;
  return a.nanos < b.nanos ? -1 : 1;
}

/** The sum, in the format of `a` unless that is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/** The difference, in the format of `a` unless that is zero. It may be negative. */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos - b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/** The amount as a whole number, rounded away from zero. */
export function quantityValue(quantity: Quantity): bigint {
  return divideAwayFromZero(quantity.nanos, NANOS);
}

/** The amount in thousandths, rounded away from zero. */
export function quantityMilliValue(quantity: Quantity): bigint {
  return divideAwayFromZero(quantity.nanos, 1_000_000n);
}

/** A quantity taken apart: sign, digits before and after the point, and what the suffix stands for. */
interface Parts {
  /** Without the spaces around it. */
  readonly text: string;
  readonly negative: boolean;
  /** Without leading zeros; "0" when there are no others. */
  readonly whole: string;
  readonly fraction: string;
  readonly format: QuantityFormat;
  /** A power of ten, or of two in the binary family. */
  readonly exponent: number;
}

function split(padded: string): Parts | undefined {
  const text = padded.trim();
  const end = text.length;
  if (end === 0 || end > MAX_TEXT) return undefined;
  const negative = text[0] === "-";
  let at = negative || text[0] === "+" ? 1 : 0;
  while (at < end && text.charCodeAt(at) === 0x30) at++;
  const wholeStart = at;
  at = skipDigits(text, at);
  const whole = at === wholeStart ? "0" : text.slice(wholeStart, at);
  let fraction = "";
  if (text[at] === ".") {
    const fractionStart = at + 1;
    at = skipDigits(text, fractionStart);
    fraction = text.slice(fractionStart, at);
  }
  const suffix = readSuffix(text.slice(at));
  if (suffix === undefined) return undefined;
  const parts = { text, negative, whole, fraction, ...suffix };
  // A suffix alone is zero to a server, as long as it need not look closely.
  const hasDigits =
    fraction !== "" || isDigit(text.charCodeAt(at - 1)) || isDigit(text.charCodeAt(at - 2));
  return hasDigits || fitsMachineInteger(parts) ? parts : undefined;
}

function skipDigits(text: string, from: number): number {
  let at = from;
  while (at < text.length && isDigit(text.charCodeAt(at))) at++;
  return at;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function readSuffix(
  suffix: string,
): { readonly format: QuantityFormat; readonly exponent: number } | undefined {
  if (suffix.length <= 1) {
    const place = DECIMAL_SUFFIXES.indexOf(suffix);
    return place < 0 ? undefined : { format: "DecimalSI", exponent: 3 * place - 9 };
  }
  const place = BINARY_SUFFIXES.indexOf(suffix);
  if (place > 0) return { format: "BinarySI", exponent: 10 * place };
  const exponent = readExponent(suffix);
  return exponent === undefined ? undefined : { format: "DecimalExponent", exponent };
}

function readExponent(suffix: string): number | undefined {
  if (suffix[0] !== "e" && suffix[0] !== "E") return undefined;
  const digitsStart = suffix[1] === "-" || suffix[1] === "+" ? 2 : 1;
  if (digitsStart === suffix.length || skipDigits(suffix, digitsStart) !== suffix.length)
    return undefined;
  const exponent = Number(suffix.slice(1));
  return Math.abs(exponent) > MAX_EXPONENT ? undefined : exponent;
}

/** Whether Go computes this one on machine integers. Two oddities of servers depend on it. */
function fitsMachineInteger(parts: Parts): boolean {
  const { whole, fraction, exponent } = parts;
  if (parts.format === "BinarySI")
    return fraction === "" && whole.length + Math.trunc((exponent * 3) / 10) <= 14;
  return whole.length + fraction.length <= GO_EXACT_DIGITS && exponent - fraction.length >= -9;
}

/** Go keeps some texts as they were written, to save time; servers therefore store `1.500` and `+1` unchanged. */
function isKeptAsWritten(parts: Parts): boolean {
  if (parts.text === "0") return true;
  if (!fitsMachineInteger(parts)) return false;
  if (parts.format === "BinarySI") return Number(parts.whole) % 8 !== 0;
  const digits = parts.whole + parts.fraction;
  const scale = parts.exponent - parts.fraction.length;
  return scale % 3 === 0 && digits[0] !== "0" && !digits.endsWith("000");
}

/** Whole binary amounts of ordinary size, without BigInt; undefined when this is not one. */
function canonicalBinary(parts: Parts): string | undefined {
  const { format, whole, fraction } = parts;
  if (format !== "BinarySI" || fraction !== "" || whole.length > EXACT_DIGITS - 12)
    return undefined;
  let value = Number(whole);
  if (value === 0) return "0";
  let place = parts.exponent / 10;
  while (value % 1024 === 0 && place < 6) {
    value /= 1024;
    place += 1;
  }
  if (place === 6 && value >= 8) return undefined;
  return `${parts.negative ? "-" : ""}${value}${BINARY_SUFFIXES[place]}`;
}

function amountOf(parts: Parts): Quantity {
  const digits = BigInt(parts.whole + parts.fraction);
  if (parts.format !== "BinarySI") {
    const magnitude = scaleToNanos(digits, parts.exponent - parts.fraction.length + 9);
    return { nanos: parts.negative ? -magnitude : magnitude, format: parts.format };
  }
  const exact = scaleToNanos(digits << BigInt(parts.exponent), 9 - parts.fraction.length);
  const magnitude = exact > MAX_BINARY_NANOS ? MAX_BINARY_NANOS : exact;
  // Below one there is nothing binary left to show.
  const format = magnitude > 0n && magnitude < NANOS ? "DecimalSI" : "BinarySI";
  return { nanos: parts.negative ? -magnitude : magnitude, format };
}

/** value × 10^power, rounded away from zero: see 2. */
function scaleToNanos(value: bigint, power: number): bigint {
  if (power >= 0) return value * 10n ** BigInt(power);
  return divideAwayFromZero(value, 10n ** BigInt(-power));
}

function divideAwayFromZero(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  if (quotient * divisor === value) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

function formatBinary(whole: bigint): string {
  let value = whole;
  let place = 0;
  while (place < 6 && value % 1024n === 0n) {
    value /= 1024n;
    place += 1;
  }
  return `${value}${BINARY_SUFFIXES[place]}`;
}

function formatDecimal(nanos: bigint, asExponent: boolean): string {
  const largest = asExponent ? Infinity : 18;
  let value = nanos;
  let exponent = -9;
  while (exponent < largest && value % 1000n === 0n) {
    value /= 1000n;
    exponent += 3;
  }
  if (!asExponent) return `${value}${DECIMAL_SUFFIXES[(exponent + 9) / 3]}`;
  return exponent === 0 ? `${value}` : `${value}e${exponent}`;
}
