/**
 * Signatures of transactions (RFC 8945): a shared key proves that a secondary asks for a transfer, and that an answer is ours.
 *
 * 1. A signature is checked before anything is done for its sake: key, then signature, then time.
 * 2. Comparing takes the same time wherever a difference is.
 * 3. In an answer of several messages every message is signed, chained to the one before.
 */
import { CLASS_ANY, TSIG_ERRORS, TYPES } from "./constants.ts";
import { Malformed, readName, sameName, wireName } from "./names.ts";
import { type ReadRecord, u16, u32 } from "./records.ts";
import { Writer } from "./writer.ts";

/** As `dig -y hmac-sha256:name:secret` has it. */
export interface TsigKey {
  /** In wire form and lower case. */
  readonly name: Uint8Array;
  readonly algorithm: TsigAlgorithm;
  readonly secret: Uint8Array;
}

export const TSIG_ALGORITHMS = Object.freeze([
  "hmac-sha256",
  "hmac-sha384",
  "hmac-sha512",
] as const);
export type TsigAlgorithm = (typeof TSIG_ALGORITHMS)[number];

/** The port that makes a keyed hash. */
export type Hmac = (
  algorithm: TsigAlgorithm,
  secret: Uint8Array,
  parts: readonly Uint8Array[],
) => Uint8Array;

/** How far clocks may be apart, in seconds. */
const FUDGE = 300;

interface Signature {
  readonly algorithm: Uint8Array;
  readonly time: number;
  readonly fudge: number;
  readonly mac: Uint8Array;
  readonly originalId: number;
  readonly error: number;
  readonly other: Uint8Array;
}

export type Checked =
  | { readonly kind: "valid"; readonly key: TsigKey; readonly mac: Uint8Array }
  | {
      readonly kind: "refused";
      readonly error: number;
      /** Present where the signature was right: then the refusal is signed. */
      readonly key?: TsigKey;
      readonly name: Uint8Array;
      readonly algorithm: Uint8Array;
      readonly mac: Uint8Array;
      readonly time: number;
    };

/** Checks the signature of a message; throws Malformed. `now` is in seconds. */
export function checkSignature(
  message: Uint8Array,
  record: ReadRecord,
  {
    keys,
    hmac,
    now,
  }: { readonly keys: readonly TsigKey[]; readonly hmac: Hmac; readonly now: number },
  requestMac: Uint8Array = NONE,
): Checked {
  const signature = parse(record);
  const { algorithm, mac, time } = signature;
  const refused = { kind: "refused", name: record.name, algorithm, mac: NONE, time } as const;
  const key = keys.find(
    (candidate) =>
      sameName(candidate.name, record.name) && sameName(wireName(candidate.algorithm), algorithm),
  );
  if (key === undefined) return { ...refused, error: TSIG_ERRORS.BADKEY };
  const unsigned = message.slice(0, record.start);
  unsigned[0] = signature.originalId >> 8;
  unsigned[1] = signature.originalId & 0xff;
  const count = u16(message, 10) - 1;
  unsigned[10] = count >> 8;
  unsigned[11] = count & 0xff;
  const expected = hmac(key.algorithm, key.secret, [
    prefixed(requestMac),
    unsigned,
    variables(key, signature),
  ]);
  if (!equal(expected, mac)) return { ...refused, error: TSIG_ERRORS.BADSIG };
  if (Math.abs(now - time) > signature.fudge)
    return { ...refused, error: TSIG_ERRORS.BADTIME, key, mac };
  return { kind: "valid", key, mac };
}

/** A message with its signature behind it, and the signature itself. */
export interface Signed {
  readonly message: Uint8Array;
  readonly mac: Uint8Array;
}

export interface SignOptions {
  readonly hmac: Hmac;
  /** In seconds. */
  readonly now: number;
  /** The signature of the request, or of the message before. */
  readonly before?: Uint8Array;
  /** Whether the message follows a signed one: then only its times are covered. */
  readonly follows?: boolean;
  readonly error?: number;
  /** Of the refused request, for BADTIME. */
  readonly requestTime?: number;
}

export function sign(message: Uint8Array, key: TsigKey, options: SignOptions): Signed {
  const { hmac, now, before = NONE, follows = false, error = 0, requestTime } = options;
  const other = requestTime === undefined ? NONE : new Writer(0, 8).u48(now).bytes();
  const signature = {
    algorithm: wireName(key.algorithm),
    time: requestTime ?? now,
    fudge: FUDGE,
    originalId: u16(message, 0),
    error,
    other,
  };
  const covered = follows
    ? new Writer(0, 8).u48(signature.time).u16(FUDGE).bytes()
    : variables(key, signature);
  const mac = hmac(key.algorithm, key.secret, [prefixed(before), message, covered]);
  return { message: append(message, key.name, { ...signature, mac }), mac };
}

/** A refusal that cannot be signed: its key or its signature was wrong. */
export function unsignedRefusal(
  message: Uint8Array,
  { name, algorithm, error, time }: Checked & { readonly kind: "refused" },
): Uint8Array {
  const originalId = u16(message, 0);
  const signature = { algorithm, time, fudge: FUDGE, originalId, error, other: NONE, mac: NONE };
  return append(message, name, signature);
}

const NONE = new Uint8Array(0);

function append(message: Uint8Array, name: Uint8Array, signature: Signature): Uint8Array {
  const { algorithm, time, fudge, mac, originalId, error, other } = signature;
  const data = new Writer(0, 128).raw(algorithm).u48(time).u16(fudge).u16(mac.length).raw(mac);
  data.u16(originalId).u16(error).u16(other.length).raw(other);
  const writer = new Writer(0, message.length + 128).raw(message);
  writer.raw(name).u16(TYPES.TSIG).u16(CLASS_ANY).u32(0).u16(data.length).raw(data.bytes());
  writer.patch16(10, u16(message, 10) + 1);
  return writer.bytes();
}

function variables(key: TsigKey, signature: Omit<Signature, "mac">): Uint8Array {
  const { algorithm, time, fudge, error, other } = signature;
  const writer = new Writer(0, 128).raw(key.name).u16(CLASS_ANY).u32(0);
  writer.raw(lowered(algorithm)).u48(time).u16(fudge).u16(error).u16(other.length).raw(other);
  return writer.bytes();
}

/** The signature of the request counts with its length. */
function prefixed(mac: Uint8Array): Uint8Array {
  return mac.length === 0 ? mac : new Writer(0, 128).u16(mac.length).raw(mac).bytes();
}

function parse({ data, class: recordClass, ttl }: ReadRecord): Signature {
  if (recordClass !== CLASS_ANY || ttl !== 0) throw new Malformed("a signature has another class");
  const { name: algorithm, end } = readName(data, 0);
  const macStart = end + 10;
  if (macStart > data.length) throw new Malformed("a signature is too short");
  const macEnd = macStart + u16(data, end + 8);
  if (macEnd + 6 > data.length) throw new Malformed("a signature leaves its record");
  const otherEnd = macEnd + 6 + u16(data, macEnd + 4);
  if (otherEnd !== data.length) throw new Malformed("a signature has another size");
  return {
    algorithm,
    time: u16(data, end) * 0x1_0000_0000 + u32(data, end + 2),
    fudge: u16(data, end + 6),
    mac: data.slice(macStart, macEnd),
    originalId: u16(data, macEnd),
    error: u16(data, macEnd + 2),
    other: data.slice(macEnd + 6, otherEnd),
  };
}

function lowered(name: Uint8Array): Uint8Array {
  return name.map((byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (const [at, byte] of a.entries()) difference |= byte ^ (b[at] ?? 0);
  return difference === 0;
}

const KEY = /^(hmac-sha(?:256|384|512)):([^:\s]+):([A-Za-z0-9+/=]+)$/;

/** A key as `dig -y` takes it; undefined when the text is none. `decode` reads base64. */
export function parseKey(
  text: string,
  decode: (base64: string) => Uint8Array,
): TsigKey | undefined {
  const [, algorithm, name = "", secret = ""] = KEY.exec(text.trim()) ?? [];
  if (algorithm === undefined) return undefined;
  const bytes = decode(secret);
  return bytes.length < MIN_SECRET
    ? undefined
    : { name: wireName(name), algorithm: algorithm as TsigAlgorithm, secret: bytes };
}

/** A shorter secret can be guessed. */
const MIN_SECRET = 16;
