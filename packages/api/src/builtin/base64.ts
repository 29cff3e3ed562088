/**
 * The base64 of byte fields (Secret data, certificate bundles), read as Go's standard encoding reads it: padding is
 * required, line breaks are skipped, and a mistake is named by its position.
 */

export type Base64 =
  /** The text as the server writes it back: without line breaks, with clean trailing bits. */
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string };

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const NEWLINE = 10;
const RETURN = 13;
const PADDING = 61;

const VALUES = new Int8Array(128).fill(-1);
for (let i = 0; i < ALPHABET.length; i++) VALUES[ALPHABET.charCodeAt(i)] = i;

function valueOf(code: number): number {
  return code < 128 ? (VALUES[code] ?? -1) : -1;
}

/** Checks base64 text and brings it into canonical form. */
export function canonicalBase64(text: string): Base64 {
  const clean = cleanLength(text);
  if (clean === text.length) return { ok: true, text };
  return decodeSlowly(text);
}

/** How many characters from the start are whole groups of four without padding or line breaks; all, if the padding is clean. */
function cleanLength(text: string): number {
  const { length } = text;
  if (length % 4 !== 0) return -1;
  if (length === 0) return 0;
  let end = length;
  if (text.charCodeAt(end - 1) === PADDING) end -= text.charCodeAt(end - 2) === PADDING ? 2 : 1;
  for (let i = 0; i < end; i++) if (valueOf(text.charCodeAt(i)) < 0) return -1;
  const unusedBits = end === length - 2 ? 15 : end === length - 1 ? 3 : 0;
  return (valueOf(text.charCodeAt(end - 1)) & unusedBits) === 0 ? length : -1;
}

/** Follows Go's decoder group by group, so that mistakes are reported at the same position. */
function decodeSlowly(text: string): Base64 {
  const groups: string[] = [];
  let at = 0;
  for (;;) {
    const group = readGroup(text, at);
    if (typeof group === "number")
      return { ok: false, message: `illegal base64 data at input byte ${group}` };
    if (group.text !== "") groups.push(group.text);
    if (group.last) return { ok: true, text: groups.join("") };
    at = group.next;
  }
}

interface Group {
  readonly text: string;
  readonly next: number;
  readonly last: boolean;
}

/** The group of four that starts at `at`, or the position of the mistake in it. */
function readGroup(text: string, at: number): Group | number {
  let digits = "";
  while (digits.length < 4) {
    if (at === text.length)
      return digits === "" ? { text: "", next: at, last: true } : at - digits.length;
    const code = text.charCodeAt(at++);
    if (code === NEWLINE || code === RETURN) continue;
    if (code === PADDING) return readPadding(text, at, digits);
    if (valueOf(code) < 0) return at - 1;
    digits += text[at - 1];
  }
  return { text: digits, next: at, last: false };
}

/** What follows the first `=`, which stands before `at`. */
function readPadding(text: string, at: number, digits: string): Group | number {
  if (digits.length < 2) return at - 1;
  if (digits.length === 2) {
    at = skipLineBreaks(text, at);
    if (at === text.length) return text.length;
    if (text.charCodeAt(at) !== PADDING) return at - 1;
    at += 1;
  }
  at = skipLineBreaks(text, at);
  if (at < text.length) return at;
  return { text: withCleanBits(digits).padEnd(4, "="), next: at, last: true };
}

function skipLineBreaks(text: string, at: number): number {
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code !== NEWLINE && code !== RETURN) break;
    at += 1;
  }
  return at;
}

/** Bits of the last digit that stand for no byte are zero when the bytes are written again. */
function withCleanBits(digits: string): string {
  const last = valueOf(digits.charCodeAt(digits.length - 1));
  const mask = digits.length === 2 ? 48 : 60;
  return digits.slice(0, -1) + ALPHABET.charAt(last & mask);
}

/** Writes bytes as base64. */
export function encodeBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  // A chunk of a multiple of three bytes needs no padding, so the texts can be joined.
  for (let at = 0; at < bytes.length; at += CHUNK) {
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + CHUNK))));
  }
  return parts.join("");
}

const CHUNK = 3 * 2048;
