/**
 * Names on the wire: labels with their lengths, ended by a zero; pointers lead back to an earlier name.
 *
 * 1. Reading never loops and never leaves the message: each pointer must lead to before the place where it was found, so a name
 *    costs at most 255 bytes and 128 steps.
 * 2. Comparison ignores the case of ASCII letters.
 */
import { MAX_LABEL, MAX_NAME_BYTES } from "./constants.ts";

/** A message that breaks the rules of the protocol. */
export class Malformed extends Error {
  override readonly name = "Malformed";
}

/** Reads the name at an offset; answers it uncompressed, and where reading goes on. */
export function readName(
  message: Uint8Array,
  offset: number,
): { readonly name: Uint8Array; readonly end: number } {
  const name = new Uint8Array(MAX_NAME_BYTES);
  let length = 0;
  let at = offset;
  let end = -1;
  let limit = offset;
  for (;;) {
    const size = message[at];
    if (size === undefined) throw new Malformed("a name leaves the message");
    if (size >= 0xc0) {
      const low = message[at + 1];
      if (low === undefined) throw new Malformed("a pointer leaves the message");
      if (end < 0) end = at + 2;
      const target = (size & 0x3f) * 256 + low;
      if (target >= limit) throw new Malformed("a pointer does not lead back");
      at = limit = target;
      continue;
    }
    if (size > MAX_LABEL) throw new Malformed("a label has an unknown type");
    if (length + size + 1 > MAX_NAME_BYTES) throw new Malformed("a name is too long");
    if (at + size >= message.length) throw new Malformed("a label leaves the message");
    name.set(message.subarray(at, at + size + 1), length);
    length += size + 1;
    at += size + 1;
    if (size === 0) break;
  }
  return { name: name.slice(0, length), end: end < 0 ? at : end };
}

/** Where the name at an offset ends in the message, without following pointers. */
export function skipName(message: Uint8Array, offset: number): number {
  let at = offset;
  for (;;) {
    const size = message[at];
    if (size === undefined || at - offset > MAX_NAME_BYTES)
      throw new Malformed("a name has no end");
    if (size >= 0xc0) return at + 2;
    if (size > MAX_LABEL) throw new Malformed("a label has an unknown type");
    at += size + 1;
    if (size === 0) return at;
  }
}

const TEXT = new TextEncoder();

/** The wire form of a dotted name in ASCII, in lower case; "" and "." are the root. Throws on labels that are too long or empty. */
export function wireName(dotted: string): Uint8Array {
  const text = dotted.endsWith(".") ? dotted.slice(0, -1) : dotted;
  if (text === "") return new Uint8Array(1);
  const name = new Uint8Array(text.length + 2);
  // A dot stands where the length of the label behind it stands on the wire.
  let label = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at === text.length ? DOT : text.charCodeAt(at);
    if (code > 127) return encodedName(dotted, text);
    if (code !== DOT) name[at + 1] = lowered(code);
    else {
      name[label] = checkedSize(at - label, dotted);
      label = at + 1;
    }
  }
  name[label] = 0;
  if (name.length > MAX_NAME_BYTES) throw new Malformed(`"${dotted}" is not a name`);
  return name;
}

const DOT = 46;

function checkedSize(size: number, dotted: string): number {
  if (size < 1 || size > MAX_LABEL) throw new Malformed(`"${dotted}" is not a name`);
  return size;
}

/** The same for other characters, which are written as UTF-8. */
function encodedName(dotted: string, text: string): Uint8Array {
  const labels = text
    .toLowerCase()
    .split(".")
    .map((label) => TEXT.encode(label));
  const length = labels.reduce((sum, label) => sum + label.length + 1, 1);
  if (length > MAX_NAME_BYTES) throw new Malformed(`"${dotted}" is not a name`);
  const name = new Uint8Array(length);
  let at = 0;
  for (const label of labels) {
    name[at] = checkedSize(label.length, dotted);
    name.set(label, at + 1);
    at += label.length + 1;
  }
  return name;
}

/** The dotted form for people: no dot at its end, odd bytes as `\DDD`. */
export function dottedName(wire: Uint8Array): string {
  const labels: string[] = [];
  for (let at = 0; at < wire.length && wire[at] !== 0; at += (wire[at] ?? 0) + 1) {
    const label = wire.subarray(at + 1, at + 1 + (wire[at] ?? 0));
    labels.push(Array.from(label, readable).join(""));
  }
  return labels.join(".");
}

function readable(byte: number): string {
  const character = String.fromCharCode(byte);
  if (character === "." || character === "\\") return `\\${character}`;
  return byte > 32 && byte < 127 ? character : `\\${String(byte).padStart(3, "0")}`;
}

/** ASCII in lower case; other bytes as they are. Lengths of labels are below `A`. */
export function lowered(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte;
}

/** A hash of a name that ignores case; small enough to be a small integer everywhere. */
export function hashName(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1)
    hash = Math.imul(hash ^ lowered(bytes[at] as number), 0x01000193);
  return (hash ^ (hash >>> 15)) & 0x3fffffff;
}

/** Whether the bytes of a message at an offset are this name, which is in lower case. */
export function matchesName(name: Uint8Array, bytes: Uint8Array, start: number): boolean {
  if (start + name.length > bytes.length) return false;
  for (let at = 0; at < name.length; at += 1)
    if (lowered(bytes[start + at] as number) !== name[at]) return false;
  return true;
}

/** Whether two wire names are the same but for case. */
export function sameName(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => lowered(byte) === lowered(b[at] as number));
}
