/**
 * ASN.1 in DER, as much as certificates and requests for them need to be written: node:crypto signs and makes keys, but
 * writes neither.
 */

/** A distinguished name: attributes in order, each its own set. */
export type DistinguishedName = readonly (readonly [type: "CN" | "O", value: string])[];

const ATTRIBUTES = { CN: "2.5.4.3", O: "2.5.4.10" } as const;

const TRUE = Buffer.from([0x01, 0x01, 0xff]);
/** ECDSA with SHA-256. */
const ECDSA_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));

export const der = {
  TRUE,
  ECDSA_SHA256,
  tagged,
  sequence,
  integer,
  bitString,
  oid,
  time,
  name,
  pem,
} as const;

function name(attributes: DistinguishedName): Buffer {
  return sequence(
    ...attributes.map(([type, value]) =>
      tagged(0x31, sequence(oid(ATTRIBUTES[type]), tagged(0x0c, Buffer.from(value)))),
    ),
  );
}

function tagged(tag: number, content: Buffer): Buffer {
  const size = content.length;
  if (size < 0x80) return Buffer.concat([Buffer.from([tag, size]), content]);
  const digits = [];
  for (let left = size; left > 0; left = Math.floor(left / 0x100)) digits.unshift(left % 0x100);
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length, ...digits]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function bitString(bytes: Buffer, unusedBits: number): Buffer {
  return tagged(0x03, Buffer.concat([Buffer.from([unusedBits]), bytes]));
}

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): readonly number[] {
  const digits = [value & 0x7f];
  for (let left = value >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

/** UTCTime up to 2049, GeneralizedTime from then on, as RFC 5280 demands. */
function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, "");
  return date.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(digits.slice(2)))
    : tagged(0x18, Buffer.from(digits));
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
