/** Records as data, and their form on the wire in both directions. */
import { CLASS_IN, TYPES } from "./constants.ts";
import { dottedName, Malformed, readName } from "./names.ts";
import type { Writer } from "./writer.ts";

/** Names are in wire form and lower case. */
export type RecordData =
  | { readonly type: typeof TYPES.A | typeof TYPES.AAAA; readonly address: Uint8Array }
  | {
      readonly type: typeof TYPES.NS | typeof TYPES.CNAME | typeof TYPES.PTR;
      readonly target: Uint8Array;
    }
  | {
      readonly type: typeof TYPES.SRV;
      readonly priority: number;
      readonly weight: number;
      readonly port: number;
      readonly target: Uint8Array;
    }
  | { readonly type: typeof TYPES.TXT; readonly texts: readonly Uint8Array[] }
  | { readonly type: typeof TYPES.HINFO; readonly texts: readonly Uint8Array[] }
  | {
      readonly type: typeof TYPES.SOA;
      readonly primary: Uint8Array;
      readonly mailbox: Uint8Array;
      readonly serial: number;
      readonly refresh: number;
      readonly retry: number;
      readonly expire: number;
      readonly minimum: number;
    };

/** Writes one record of class IN. */
export function writeRecord(
  writer: Writer,
  owner: Uint8Array,
  ttl: number,
  data: RecordData,
): void {
  writer.name(owner).u16(data.type).u16(CLASS_IN).u32(ttl);
  const at = writer.length;
  writer.u16(0);
  writeData(writer, data);
  writer.patch16(at, writer.length - at - 2);
}

function writeData(writer: Writer, data: RecordData): void {
  switch (data.type) {
    case TYPES.A:
    case TYPES.AAAA:
      writer.raw(data.address);
      return;
    case TYPES.NS:
    case TYPES.CNAME:
    case TYPES.PTR:
      writer.name(data.target);
      return;
    case TYPES.SRV:
      // RFC 2782 asks for targets without compression, and every resolver reads them with it; without it the federation's
      // own example would not fit into one datagram.
      writer.u16(data.priority).u16(data.weight).u16(data.port).name(data.target);
      return;
    case TYPES.TXT:
    case TYPES.HINFO:
      for (const text of data.texts) writer.u8(text.length).raw(text);
      return;
    case TYPES.SOA:
      writer.name(data.primary).name(data.mailbox).u32(data.serial);
      writer.u32(data.refresh).u32(data.retry).u32(data.expire).u32(data.minimum);
      return;
  }
}

/** A record as a message has it. Data of types that are not known stays bytes. */
export interface ReadRecord {
  readonly name: Uint8Array;
  readonly type: number;
  readonly class: number;
  readonly ttl: number;
  readonly data: Uint8Array;
  /** Where the record and its data begin in the message. */
  readonly start: number;
  readonly dataStart: number;
}

/** Reads the record at an offset; throws Malformed. */
export function readRecord(
  message: Uint8Array,
  offset: number,
): { readonly record: ReadRecord; readonly end: number } {
  const { name, end } = readName(message, offset);
  const dataStart = end + 10;
  if (dataStart > message.length) throw new Malformed("a record leaves the message");
  const length = u16(message, end + 8);
  if (dataStart + length > message.length)
    throw new Malformed("the data of a record leaves the message");
  const record = {
    name,
    type: u16(message, end),
    class: u16(message, end + 2),
    ttl: u32(message, end + 4),
    data: message.subarray(dataStart, dataStart + length),
    start: offset,
    dataStart,
  };
  return { record, end: dataStart + length };
}

export function u16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

export function u32(bytes: Uint8Array, at: number): number {
  return u16(bytes, at) * 0x10000 + u16(bytes, at + 2);
}

/** The data of a record of a known type, names uncompressed; undefined for types that are not known. Throws Malformed. */
export function parseData(message: Uint8Array, record: ReadRecord): RecordData | undefined {
  const { type, data, dataStart } = record;
  const end = dataStart + data.length;
  const nameAt = (at: number): { readonly name: Uint8Array; readonly end: number } => {
    const found = readName(message, at);
    if (found.end > end) throw new Malformed("a name leaves the data of its record");
    return { name: found.name.map(lower), end: found.end };
  };
  const exactly = <T>(size: number, value: T): T => {
    if (size !== data.length) throw new Malformed("the data of a record has another size");
    return value;
  };
  switch (type) {
    case TYPES.A:
      return exactly(4, { type, address: data.slice() });
    case TYPES.AAAA:
      return exactly(16, { type, address: data.slice() });
    case TYPES.NS:
    case TYPES.CNAME:
    case TYPES.PTR: {
      const target = nameAt(dataStart);
      return exactly(target.end - dataStart, { type, target: target.name });
    }
    case TYPES.SRV: {
      if (data.length < 7) throw new Malformed("a service record is too short");
      const target = nameAt(dataStart + 6);
      const [priority, weight, port] = [u16(data, 0), u16(data, 2), u16(data, 4)];
      return exactly(target.end - dataStart, { type, priority, weight, port, target: target.name });
    }
    case TYPES.TXT:
    case TYPES.HINFO:
      return { type, texts: parseTexts(data) };
    case TYPES.SOA: {
      const primary = nameAt(dataStart);
      const mailbox = nameAt(primary.end);
      const at = mailbox.end;
      if (at + 20 !== end) throw new Malformed("a start of authority has another size");
      const [serial, refresh, retry, expire, minimum] = [0, 4, 8, 12, 16].map((plus) =>
        u32(message, at + plus),
      ) as [number, number, number, number, number];
      const names = { primary: primary.name, mailbox: mailbox.name };
      return { type, ...names, serial, refresh, retry, expire, minimum };
    }
    default:
      return undefined;
  }
}

function lower(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte;
}

function parseTexts(data: Uint8Array): readonly Uint8Array[] {
  const texts: Uint8Array[] = [];
  for (let at = 0; at < data.length;) {
    const size = data[at] as number;
    if (at + 1 + size > data.length) throw new Malformed("a text leaves the data of its record");
    texts.push(data.slice(at + 1, at + 1 + size));
    at += size + 1;
  }
  return texts;
}

/** The data of a record as zone files write it. */
export function dataText(data: RecordData): string {
  const name = (wire: Uint8Array): string => `${dottedName(wire)}.`;
  switch (data.type) {
    case TYPES.A:
      return data.address.join(".");
    case TYPES.AAAA:
      return sixText(data.address);
    case TYPES.NS:
    case TYPES.CNAME:
    case TYPES.PTR:
      return name(data.target);
    case TYPES.SRV:
      return `${data.priority} ${data.weight} ${data.port} ${name(data.target)}`;
    case TYPES.TXT:
    case TYPES.HINFO:
      return data.texts.map(quoted).join(" ");
    case TYPES.SOA: {
      const { serial, refresh, retry, expire, minimum } = data;
      const numbers = [serial, refresh, retry, expire, minimum].join(" ");
      return `${name(data.primary)} ${name(data.mailbox)} ${numbers}`;
    }
  }
}

function quoted(text: Uint8Array): string {
  const inside = Array.from(text, (byte) => {
    const character = String.fromCharCode(byte);
    if (character === '"' || character === "\\") return `\\${character}`;
    return byte >= 32 && byte < 127 ? character : `\\${String(byte).padStart(3, "0")}`;
  });
  return `"${inside.join("")}"`;
}

function sixText(bytes: Uint8Array): string {
  const groups: string[] = [];
  for (let at = 0; at < bytes.length; at += 2) groups.push(u16(bytes, at).toString(16));
  return groups.join(":");
}
