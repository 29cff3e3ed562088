/** The federation's example as a zone, questions and answers as data: for tests and fuzzing. */
import { type GlobalSet, zoneNames } from "@lifeboat/core/names";
import type { Answering } from "./answer.ts";
import { nodeHmac } from "./adapters/hmac.ts";
import { CLASS_IN, HEADER_BYTES, TYPES, type TypeName, typeName } from "./wire/constants.ts";
import { dottedName, readName, wireName } from "./wire/names.ts";
import { dataText, parseData, type ReadRecord, readRecord, u16 } from "./wire/records.ts";
import type { TsigKey } from "./wire/tsig.ts";
import { Writer } from "./wire/writer.ts";
import { zoneFrom } from "./zone/from-names.ts";
import type { Zone } from "./zone/zone.ts";

/** What a test knows to be there. */
export function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("nothing is there");
  return value;
}

export const APEX = "myfederation.svc.example.com";

/** The set `store` with so many members in each of so many clusters. */
export function exampleSet(clusters = 3, each = 4, set = "store"): GlobalSet {
  const members = Array.from({ length: clusters * each }, (_none, index) => ({
    pod: `${set}-c${Math.floor(index / each) + 1}-${index % each}`,
    cluster: `c${Math.floor(index / each) + 1}`,
    addresses: [`192.0.${Math.floor(index / 250)}.${(index % 250) + 1}`],
    listed: true,
  }));
  const ports = [{ name: "store", protocol: "TCP", port: 80 }];
  return { namespace: "mynamespace", set, service: "etcd", ports, members };
}

export function exampleZone(sets: readonly GlobalSet[] = [seedSet()], serial = 7): Zone {
  const names = zoneNames(sets, { zone: "example.com", federation: "myfederation" });
  const nameServers = [{ name: `ns.${APEX}`, addresses: ["192.0.2.53"] }];
  return zoneFrom(names, { serial, ttl: 5, nameServers });
}

/** Eleven replicas over three clusters: 4, 4 and 3. */
export function seedSet(): GlobalSet {
  const set = exampleSet();
  return { ...set, members: set.members.slice(0, 11) };
}

export const KEY: TsigKey = {
  name: wireName("transfer."),
  algorithm: "hmac-sha256",
  secret: new TextEncoder().encode("a secret of more than sixteen bytes"),
};

export function answeringWith(zone: Zone | undefined, changes: Partial<Answering> = {}): Answering {
  return { zone, maxUdpBytes: 1232, keys: [KEY], hmac: nodeHmac, now: () => 1_000_000, ...changes };
}

export interface AskOptions {
  readonly id?: number;
  readonly flags?: number;
  readonly class?: number;
  /** The size that EDNS offers; absent: no EDNS. */
  readonly edns?: number;
  readonly ednsVersion?: number;
}

export function ask(name: string, type: TypeName | number, options: AskOptions = {}): Uint8Array {
  const { id = 4711, flags = 0x0100, edns, ednsVersion = 0 } = options;
  const writer = new Writer().u16(id).u16(flags).u16(1).u16(0).u16(0);
  writer.u16(edns === undefined ? 0 : 1);
  writer.raw(mixedName(name)).u16(typeof type === "number" ? type : TYPES[type]);
  writer.u16(options.class ?? CLASS_IN);
  if (edns !== undefined)
    writer.u8(0).u16(TYPES.OPT).u16(edns).u8(0).u8(ednsVersion).u16(0x8000).u16(0);
  return writer.bytes().slice();
}

/** As written, upper case included. */
function mixedName(dotted: string): Uint8Array {
  const wire = wireName(dotted);
  const text = dotted.replace(/\.$/, "");
  for (let at = 0; at < text.length; at += 1)
    if (text[at] !== ".") wire[at + 1] = text.charCodeAt(at);
  return wire;
}

export interface ReadMessage {
  readonly id: number;
  readonly flags: number;
  readonly rcode: number;
  readonly isTruncated: boolean;
  /** As zone files write them: `name TYPE data`. */
  readonly answers: readonly string[];
  readonly authorities: readonly string[];
  readonly additionals: readonly string[];
}

/** Reads a whole message; throws Malformed on the first thing that is wrong, or on bytes behind it. */
export function readMessage(message: Uint8Array): ReadMessage {
  let at = HEADER_BYTES;
  for (let question = 0; question < u16(message, 4); question += 1)
    at = readName(message, at).end + 4;
  const section = (count: number): readonly string[] =>
    Array.from({ length: count }, () => {
      const { record, end } = readRecord(message, at);
      at = end;
      return recordText(message, record);
    });
  const read = {
    id: u16(message, 0),
    flags: u16(message, 2),
    rcode: u16(message, 2) & 0xf,
    isTruncated: (u16(message, 2) & 0x200) !== 0,
    answers: section(u16(message, 6)),
    authorities: section(u16(message, 8)),
    additionals: section(u16(message, 10)),
  };
  if (at !== message.length) throw new Error("bytes stand behind the message");
  return read;
}

function recordText(message: Uint8Array, record: ReadRecord): string {
  const data = parseData(message, record);
  const text = data === undefined ? `${record.data.length} bytes` : dataText(data);
  return `${dottedName(record.name)} ${typeName(record.type)} ${text}`;
}
