/**
 * The string formats a Kubernetes API server checks in custom resources. All other formats are ignored (a CRD that uses
 * one gets a warning).
 *
 * The checks follow the server's: some are more lenient than the name promises, and data that a server stored must not be
 * refused here. Every check takes linear time.
 */
import { parseDuration } from "@lifeboat/base";

export type FormatCheck = (text: string) => boolean;

/** The check behind a format name; undefined when the server does not know the format. Dashes do not count. */
export function stringFormat(name: string): FormatCheck | undefined {
  return CHECKS.get(name.replaceAll("-", ""));
}

/** Numeric formats by type; other names mean nothing. */
export function isNumericFormat(type: string, format: string): boolean {
  if (type === "integer") return format === "int32" || format === "int64";
  return type === "number" && (format === "float" || format === "double");
}

/** Whether the server knows this format for this type. */
export function isKnownFormat(type: string, format: string): boolean {
  if (type === "" || type === "string") return stringFormat(format) !== undefined;
  return isNumericFormat(type, format);
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const UUID5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const SHORT_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
const CHANNEL = "(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])";
const RGB = new RegExp(`^rgb\\(\\s*${CHANNEL}\\s*,\\s*${CHANNEL}\\s*,\\s*${CHANNEL}\\s*\\)$`);

const CHECKS: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ["bsonobjectid", (text) => /^[0-9a-fA-F]{24}$/.test(text)],
  ["uri", isRequestUri],
  ["email", isEmail],
  ["hostname", isHostname],
  ["ipv4", isIpv4],
  ["ipv6", isIpv6],
  ["cidr", isCidr],
  ["mac", isMac],
  ["uuid", (text) => UUID.test(text)],
  ["uuid3", (text) => UUID3.test(text)],
  ["uuid4", (text) => UUID4.test(text)],
  ["uuid5", (text) => UUID5.test(text)],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text) => /^\d{3}[- ]\d{2}[- ]\d{4}$/.test(text)],
  ["hexcolor", (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)],
  ["rgbcolor", (text) => text.length <= 64 && RGB.test(text)],
  ["byte", (text) => text !== "" && text.length % 4 === 0 && BASE64.test(text)],
  ["password", () => true],
  ["date", isDate],
  ["duration", isDuration],
  ["datetime", isDateTime],
  ["k8sshortname", (text) => text.length <= 63 && SHORT_NAME.test(text)],
  ["k8slongname", isLongName],
]);

function isLongName(text: string): boolean {
  return text.length <= 253 && text.split(".").every((part) => SHORT_NAME.test(part));
}

const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (match === null) return false;
  const year = Number(match[1]);
  const month = Number(match[2]);
  const day = Number(match[3]);
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 1 : 0;
  return day >= 1 && day <= (DAYS_IN_MONTH[month - 1] ?? 0) + leap;
}

function isDateTime(text: string): boolean {
  const [date = "", time = ""] = text.toLowerCase().split("t");
  const match = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/.exec(
    time,
  );
  if (match === null || !isDate(date)) return false;
  return Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3]) <= 59;
}

const LOOSE_UNITS =
  /^(?:ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/i;

/** Go's durations, and beside them any text that holds a number followed by a unit: `3 days`. */
function isDuration(text: string): boolean {
  if (parseDuration(text) !== undefined) return true;
  for (const match of text.matchAll(/\d+\s*([A-Za-zµ]+)/g)) {
    if (LOOSE_UNITS.test(match[1] ?? "")) return true;
  }
  return false;
}

function isIpv4(text: string): boolean {
  if (text.includes(":")) return text.includes(".") && isIpv6(text);
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^\d{1,}$/.test(part) && Number(part) <= 255);
}

/** The text form of RFC 4291, with `::` at most once and an optional IPv4 tail. */
function isIpv6(text: string): boolean {
  if (!text.includes(":") || text.length > 45) return false;
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const compressed = halves.length === 2;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  let count = groups.length;
  const last = groups.at(-1) ?? "";
  if (last.includes(".")) {
    if (!isIpv4(last) || text.endsWith("::")) return false;
    groups.pop();
    count += 1;
  }
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return false;
  return compressed ? count <= 7 : count === 8;
}

function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return false;
  const address = text.slice(0, slash);
  const size = text.slice(slash + 1);
  if (!/^\d{1,3}$/.test(size)) return false;
  if (address.includes(":")) return isIpv6(address) && Number(size) <= 128;
  return isIpv4(address) && Number(size) <= 32;
}

/** 6, 8 or 20 bytes: two digits each between colons or dashes, four between dots, or all in a row. */
function isMac(text: string): boolean {
  const separator = /[:.-]/.exec(text)?.[0] ?? "";
  const parts = separator === "" ? (text.match(/../g) ?? []) : text.split(separator);
  const digits = separator === "." ? 4 : 2;
  const wellFormed = parts.every((part) => part.length === digits && /^[0-9a-fA-F]+$/.test(part));
  return wellFormed && text.length <= 60 && MAC_SIZES.includes((parts.length * digits) / 2);
}
const MAC_SIZES: readonly number[] = [6, 8, 20];

/** Letters, digits, symbols and dashes in labels of at most 63 characters. */
function isHostname(text: string): boolean {
  if (text.length > 255 || !HOSTNAME.test(text)) return false;
  return text.split(".").every((label) => new TextEncoder().encode(label).length <= 63);
}
const HOSTNAME =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u;

/** `user@host`, alone or as `Some Name <user@host>`; the user may be quoted. */
function isEmail(text: string): boolean {
  if (text.length > 1024) return false;
  const open = text.lastIndexOf("<");
  const address = open >= 0 && text.endsWith(">") ? text.slice(open + 1, -1) : text;
  const at = address.lastIndexOf("@");
  if (at <= 0) return false;
  const user = address.slice(0, at);
  return (isMailName(user) || /^"[^"\\\r\n]+"$/.test(user)) && isMailName(address.slice(at + 1));
}

/** Words between single dots. */
function isMailName(text: string): boolean {
  return text.split(".").every((word) => /^[^\s@<>(),;:\\"[\].]+$/.test(word));
}

/** An absolute path or a URI with a scheme, without control characters. */
function isRequestUri(text: string): boolean {
  if (text === "*") return true;
  if (!/^(?:\/|[a-zA-Z][a-zA-Z0-9+.-]*:)/.test(text)) return false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return false;
  }
  return !/%(?![0-9a-fA-F]{2})/.test(text) && !/^[^/?#]*:\/\/[^/?#]* /.test(text);
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 9; i++) sum += (i + 1) * Number(digits[i]);
  sum += 10 * (digits[9] === "X" ? 10 : Number(digits[9]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 13; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i]);
  return sum % 10 === 0;
}

/** A number of a known issuer whose check digit is right (Luhn). */
function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  if (!CARD.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
