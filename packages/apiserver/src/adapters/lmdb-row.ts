/**
 * The bytes of one stored row. A change is encoded once; the table of objects and the history keep the same bytes.
 *
 *     0      1      2          6               14          16        16+n
 *     | form | type | checksum | revision      | n         | key     | JSON of the object …
 *     | u8   | u8   | u32      | f64           | u16       | n bytes |
 *
 * The checksum (CRC-32) covers everything after it and the type, so a row that was damaged or that lies under a foreign
 * key is noticed. Numbers are big endian.
 */
import { crc32 } from "node:zlib";
import type { ChangeRow, ChangeType } from "../store/storage.ts";

const ROW_FORM = 1;
const TYPES: readonly ChangeType[] = ["ADDED", "MODIFIED", "DELETED"];
const CHECKED_FROM = 6;
const KEY_LENGTH_AT = 14;
const KEY_AT = 16;

/** A stored row cannot be what was written. */
export class DamagedRow extends Error {
  override readonly name = "DamagedRow";
}

export function encodeRow(row: ChangeRow): Buffer {
  const keyLength = Buffer.byteLength(row.key);
  const bytes = Buffer.allocUnsafe(KEY_AT + keyLength + row.bytes.length);
  const type = TYPES.indexOf(row.type);
  bytes[0] = ROW_FORM;
  bytes[1] = type;
  bytes.writeDoubleBE(row.revision, CHECKED_FROM);
  bytes.writeUInt16BE(keyLength, KEY_LENGTH_AT);
  bytes.write(row.key, KEY_AT);
  bytes.set(row.bytes, KEY_AT + keyLength);
  bytes.writeUInt32BE(crc32(bytes.subarray(CHECKED_FROM), type), 2);
  return bytes;
}

/** Throws DamagedRow, with a sentence, when the bytes are not a whole row. The answer shares memory with `bytes`. */
export function decodeRow(bytes: Buffer): ChangeRow {
  if (bytes.length < KEY_AT) throw new DamagedRow("a row is cut short");
  if (bytes[0] !== ROW_FORM) throw new DamagedRow(`a row has the unknown form ${bytes[0]}`);
  const type = TYPES[bytes[1] ?? TYPES.length];
  if (type === undefined) throw new DamagedRow("a row has an unknown type");
  if (crc32(bytes.subarray(CHECKED_FROM), bytes[1]) !== bytes.readUInt32BE(2))
    throw new DamagedRow("a row does not match its checksum");
  const end = KEY_AT + bytes.readUInt16BE(KEY_LENGTH_AT);
  return {
    revision: bytes.readDoubleBE(CHECKED_FROM),
    type,
    key: bytes.toString("utf8", KEY_AT, end),
    bytes: bytes.subarray(end),
  };
}
