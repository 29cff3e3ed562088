/**
 * A zone: names and their records, never changed. Another content is another Zone.
 *
 * 1. A lookup costs one hash of the name, whatever the size of the zone.
 * 2. Parents of names exist (empty non-terminals): they answer without data, not with "no such name".
 * 3. Names of addresses (`in-addr.arpa`, `ip6.arpa`) lie outside the zone: they are found one by one, have no parents, and are not
 *    part of a transfer.
 * 4. What a name answers to a type is written once, with names compressed, and put behind every question that has the same name.
 */
import { HEADER_BYTES, TYPES } from "../wire/constants.ts";
import { hashName, matchesName, wireName } from "../wire/names.ts";
import { type RecordData, writeRecord } from "../wire/records.ts";
import { Writer } from "../wire/writer.ts";

export interface ZoneName {
  readonly name: string;
  readonly records: readonly RecordData[];
}

export interface ZoneOptions {
  readonly apex: string;
  readonly serial: number;
  /** Of all records, in seconds. */
  readonly ttl: number;
  /** The names of the servers; those inside the zone have their addresses among `names`. */
  readonly nameServers: readonly string[];
  readonly names: readonly ZoneName[];
  /** The names of addresses. */
  readonly reverse?: readonly ZoneName[];
}

export interface ZoneNode {
  /** In wire form and lower case. */
  readonly name: Uint8Array;
  readonly records: readonly RecordData[];
  /** What was written for a type that the node has. */
  readonly written: Map<number, Sections>;
}

/** The sections behind a question, ready to be sent. */
export interface Sections {
  readonly answers: number;
  readonly authorities: number;
  readonly additionals: number;
  /** Answers and authorities. */
  readonly body: Uint8Array;
  /** May be left out where it does not fit. */
  readonly extra: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);

export class Zone {
  readonly apex: Uint8Array;
  readonly serial: number;
  readonly ttl: number;
  readonly soa: RecordData & { readonly type: typeof TYPES.SOA };
  readonly #nodes = new Map<number, ZoneNode[]>();
  readonly #all: ZoneNode[] = [];
  readonly #reverse = new Map<number, ZoneNode[]>();
  /** By the length of the question's name. */
  readonly #negative: (Sections | undefined)[] = [];

  constructor({ apex, serial, ttl, nameServers, names, reverse = [] }: ZoneOptions) {
    this.apex = wireName(apex);
    this.serial = serial;
    this.ttl = ttl;
    const servers = nameServers.map(wireName);
    this.soa = {
      type: TYPES.SOA,
      primary: servers[0] ?? this.apex,
      mailbox: wireName(`hostmaster.${apex}`),
      serial,
      ...SOA_TIMES,
      minimum: ttl,
    };
    const ownRecords = servers.map((target) => ({ type: TYPES.NS, target }));
    this.#put(this.apex, [this.soa, ...ownRecords]);
    for (const { name, records } of names) this.#put(wireName(name), unique(records));
    for (const { name, records } of reverse)
      keepNode(this.#reverse, wireName(name), unique(records));
    const named = this.#all.length;
    for (let at = 0; at < named; at += 1) this.#putParents((this.#all[at] as ZoneNode).name);
  }

  /** How many names there are, the parents included. */
  get size(): number {
    return this.#all.length;
  }

  /** All nodes, the apex first. */
  nodes(): readonly ZoneNode[] {
    return this.#all;
  }

  /** Whether a name in a message, which ends at `end`, is the apex or below it. */
  contains(message: Uint8Array, start: number, end: number): boolean {
    const at = end - this.apex.length;
    return at >= start && matchesName(this.apex, message, at) && isLabelStart(message, start, at);
  }

  find(message: Uint8Array, start: number, end: number): ZoneNode | undefined {
    return findNode(this.#nodes, message, start, end);
  }

  /** The name of a member's address; undefined: the name is none. */
  findReverse(message: Uint8Array, start: number, end: number): ZoneNode | undefined {
    return findNode(this.#reverse, message, start, end);
  }

  /** What a node answers to a type; undefined: it exists without data of that type. */
  answer(node: ZoneNode, type: number): Sections | undefined {
    const known = node.written.get(type);
    if (known !== undefined) return known;
    const records = matching(node, type);
    if (records.length === 0) return undefined;
    const written = this.#write(node, records);
    node.written.set(type, written);
    return written;
  }

  /** The start of authority, as negative answers carry it. */
  negative(nameBytes: number): Sections {
    const known = this.#negative[nameBytes];
    if (known !== undefined) return known;
    const writer = new Writer(HEADER_BYTES + nameBytes + 4, 128);
    writer.knows(this.apex, HEADER_BYTES + nameBytes - this.apex.length);
    writeRecord(writer, this.apex, this.ttl, this.soa);
    const body = writer.bytes().slice();
    const sections = { answers: 0, authorities: 1, additionals: 0, body, extra: NO_BYTES };
    this.#negative[nameBytes] = sections;
    return sections;
  }

  #write(node: ZoneNode, records: readonly RecordData[]): Sections {
    const writer = new Writer(HEADER_BYTES + node.name.length + 4);
    writer.knows(node.name, HEADER_BYTES);
    for (const data of records) writeRecord(writer, node.name, this.ttl, data);
    const bodyBytes = writer.length;
    let additionals = 0;
    for (const target of targetsOf(records)) {
      const found = this.find(target, 0, target.length);
      for (const data of found?.records ?? []) {
        if (data.type !== TYPES.A && data.type !== TYPES.AAAA) continue;
        writeRecord(writer, target, this.ttl, data);
        additionals += 1;
      }
    }
    const all = writer.bytes().slice();
    const [body, extra] = [all.subarray(0, bodyBytes), all.subarray(bodyBytes)];
    return { answers: records.length, authorities: 0, additionals, body, extra };
  }

  #put(name: Uint8Array, records: readonly RecordData[]): void {
    this.#all.push(keepNode(this.#nodes, name, records));
  }

  #putParents(name: Uint8Array): void {
    let parent = name.subarray((name[0] ?? 0) + 1);
    while (parent.length > this.apex.length) {
      if (this.find(parent, 0, parent.length) !== undefined) return;
      this.#put(parent, []);
      parent = parent.subarray((parent[0] ?? 0) + 1);
    }
  }
}

type Nodes = Map<number, ZoneNode[]>;

function findNode(
  nodes: Nodes,
  message: Uint8Array,
  start: number,
  end: number,
): ZoneNode | undefined {
  const bucket = nodes.get(hashName(message, start, end));
  if (bucket === undefined) return undefined;
  for (const node of bucket)
    if (node.name.length === end - start && matchesName(node.name, message, start)) return node;
  return undefined;
}

function keepNode(nodes: Nodes, name: Uint8Array, records: readonly RecordData[]): ZoneNode {
  const hash = hashName(name, 0, name.length);
  const bucket = nodes.get(hash);
  const node = { name, records, written: new Map() };
  if (bucket === undefined) nodes.set(hash, [node]);
  else bucket.push(node);
  return node;
}

/** A secondary is notified of changes; these times matter when that fails. */
const SOA_TIMES = { refresh: 300, retry: 60, expire: 604_800 } as const;

/** RFC 8482: a question for everything is answered with a hint. */
const ANY_HINT: RecordData = Object.freeze({
  type: TYPES.HINFO,
  texts: [new TextEncoder().encode("RFC8482"), new Uint8Array(0)],
});

function matching({ records }: ZoneNode, type: number): readonly RecordData[] {
  if (type === TYPES.ANY) return records.length === 0 ? [] : [ANY_HINT];
  const alias = records.filter((data) => data.type === TYPES.CNAME);
  return alias.length > 0 ? alias : records.filter((data) => data.type === type);
}

function targetsOf(records: readonly RecordData[]): readonly Uint8Array[] {
  return records.flatMap((data) =>
    data.type === TYPES.SRV || data.type === TYPES.NS ? [data.target] : [],
  );
}

/** Whether `at` is where a label begins of the name at `start`. */
function isLabelStart(message: Uint8Array, start: number, at: number): boolean {
  let label = start;
  while (label < at) label += (message[label] as number) + 1;
  return label === at;
}

/** Each record once. Records that hash differently are different: almost always that is all there is to do. */
function unique(records: readonly RecordData[]): readonly RecordData[] {
  const hashes = new Set(records.map(roughHash));
  if (hashes.size === records.length) return records;
  const seen = new Set<string>();
  return records.filter((data) => {
    const writer = new Writer();
    writeRecord(writer, ROOT, 0, data);
    const key = String.fromCharCode(...writer.bytes());
    return seen.has(key) ? false : Boolean(seen.add(key));
  });
}

function roughHash(data: RecordData): number {
  if ("address" in data) return data.type + hashName(data.address, 0, data.address.length);
  if (!("target" in data)) return data.type;
  const hash = data.type + hashName(data.target, 0, data.target.length);
  return "port" in data ? hash + data.port * 65_537 : hash;
}

const ROOT = new Uint8Array(1);
