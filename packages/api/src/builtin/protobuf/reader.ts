/**
 * Reads the protobuf wire format from bytes that nobody vouches for.
 *
 * 1. Every length is checked against the bytes that are left before anything is made of it.
 * 2. Numbers that JavaScript cannot hold exactly are refused.
 * 3. Whatever is wrong is a ProtobufError; too many values are a TooLargeError.
 */
import { TooLargeError } from "../../decode/json.ts";
import { MAX_VALUES } from "../../decode/limits.ts";

/** The bytes are not a message that could be read; the message says why. */
export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const FIXED32 = 5;

/** Go writes out zero values in protobuf, where JSON has none. */
const MAX_FIELDS = 2 * MAX_VALUES;
const TWO_32 = 2 ** 32;
/** Up to here appending characters is faster than a TextDecoder. */
const SHORT_TEXT = 24;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A position in bytes. `end` moves in for the duration of a nested message. */
export class Reader {
  readonly #bytes: Uint8Array;
  #at: number;
  #end: number;
  #values = 0;

  constructor(bytes: Uint8Array, start = 0) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = bytes.length;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  /** Field number and wire type in one: `number * 8 + type`. */
  key(): number {
    this.countValue();
    const key = this.#uint32();
    if (key >>> 3 === 0) throw new ProtobufError("illegal field number 0");
    return key;
  }

  /** Refuses more fields and elements than a body may hold; JSON inside of it counts by its signs. */
  countValue(): void {
    this.#count(1);
  }

  countJson(bytes: Uint8Array): void {
    let signs = 0;
    for (const byte of bytes) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) signs += 1;
    this.#count(signs);
  }

  #count(values: number): void {
    this.#values += values;
    if (this.#values > MAX_FIELDS)
      throw new TooLargeError(`the object holds more than ${MAX_FIELDS} fields`);
  }

  /** Enters a length-delimited value; answers what to give to `leave`. */
  enter(): number {
    const length = this.#length();
    const outer = this.#end;
    this.#end = this.#at + length;
    return outer;
  }

  leave(outer: number): void {
    this.#at = this.#end;
    this.#end = outer;
  }

  bool(): boolean {
    return this.#varint() !== 0;
  }

  /** The low 32 bits of a varint, signed: how protobuf writes int32. */
  int32(): number {
    this.#varint();
    return this.#low | 0;
  }

  /** A signed 64-bit varint. */
  int64(): number {
    const value = this.#varint();
    if (!Number.isSafeInteger(value))
      throw new ProtobufError("a number is beyond what can be kept exactly");
    return value;
  }

  float64(): number {
    const at = this.#take(8);
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + at, 8).getFloat64(0, true);
  }

  text(): string {
    const length = this.#length();
    const start = this.#take(length);
    const end = start + length;
    return this.#shortAscii(start, end) ?? this.#decode(start, end);
  }

  /** A view, not a copy. */
  bytes(): Uint8Array {
    const length = this.#length();
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** Passes over a value of this wire type. */
  skip(wireType: number): void {
    switch (wireType) {
      case VARINT:
        this.#varint();
        return;
      case FIXED64:
        this.#take(8);
        return;
      case BYTES:
        this.#take(this.#length());
        return;
      case FIXED32:
        this.#take(4);
        return;
      default:
        throw new ProtobufError(`illegal wire type ${wireType}`);
    }
  }

  #shortAscii(start: number, end: number): string | undefined {
    if (end - start > SHORT_TEXT) return undefined;
    let text = "";
    for (let i = start; i < end; i++) {
      const byte = this.#bytes[i] ?? 0;
      if (byte >= 128) return undefined;
      text += String.fromCharCode(byte);
    }
    return text;
  }

  #decode(start: number, end: number): string {
    try {
      return utf8.decode(this.#bytes.subarray(start, end));
    } catch {
      throw new ProtobufError("a text is not UTF-8");
    }
  }

  /** Moves on by `count` bytes and answers where they start. */
  #take(count: number): number {
    const start = this.#at;
    if (count > this.#end - start) throw new ProtobufError("unexpected end of the message");
    this.#at = start + count;
    return start;
  }

  #length(): number {
    const length = this.#uint32();
    if (length > this.#end - this.#at) throw new ProtobufError("unexpected end of the message");
    return length;
  }

  #uint32(): number {
    const value = this.#varint();
    if (value < 0 || value >= TWO_32)
      throw new ProtobufError("a length or field number is too big");
    return value;
  }

  /** The low 32 bits of the last varint. */
  #low = 0;

  /** A varint as a signed 64-bit number, which is exact only while it is a safe integer. */
  #varint(): number {
    const first = this.#bytes[this.#take(1)] ?? 0;
    if (first < 128) return (this.#low = first);
    return this.#longVarint(first & 127);
  }

  #longVarint(first: number): number {
    let low = first;
    let high = 0;
    for (let shift = 7; shift < 70; shift += 7) {
      const byte = this.#bytes[this.#take(1)] ?? 0;
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high |= bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 128) {
        this.#low = low;
        return high * TWO_32 + (low >>> 0);
      }
    }
    throw new ProtobufError("a number has more than ten bytes");
  }
}
