/** The zone of the federation's names, as core decides them. */
import { addressBytes, type NameRecord, type ZoneNames } from "@lifeboat/core/names";
import { TYPES } from "../wire/constants.ts";
import { wireName } from "../wire/names.ts";
import type { RecordData } from "../wire/records.ts";
import { Zone } from "./zone.ts";

export interface NameServer {
  readonly name: string;
  /** Where its name is inside the zone. */
  readonly addresses: readonly string[];
}

export interface ServedSettings {
  readonly serial: number;
  readonly ttl: number;
  readonly nameServers: readonly NameServer[];
}

export function zoneFrom(names: ZoneNames, settings: ServedSettings): Zone {
  const { serial, ttl, nameServers } = settings;
  const servers = nameServers
    .filter(({ name }) => name.endsWith(`.${names.apex}`))
    .map(({ name, addresses }) => ({ name, records: addresses.flatMap(addressData) }));
  const known = new Map<string, readonly RecordData[]>();
  const dataFor = (records: readonly NameRecord[]): readonly RecordData[] =>
    records.flatMap((record) => shared(known, record));
  const owners = names.owners.map(({ name, records }) => ({ name, records: dataFor(records) }));
  const taken = new Set(owners.map(({ name }) => name));
  return new Zone({
    apex: names.apex,
    serial,
    ttl,
    nameServers: nameServers.map(({ name }) => name),
    names: [...owners, ...servers.filter(({ name }) => !taken.has(name))],
    reverse: names.reverse.map(({ name, records }) => ({ name, records: dataFor(records) })),
  });
}

function addressData(address: string): readonly RecordData[] {
  const bytes = addressBytes(address);
  if (bytes === undefined) return [];
  return [{ type: bytes.length === 16 ? TYPES.AAAA : TYPES.A, address: bytes }];
}

/** A member is in the records of several names: each of them is made once. */
function shared(
  known: Map<string, readonly RecordData[]>,
  record: NameRecord,
): readonly RecordData[] {
  if (record.type === "TXT") return dataOf(record);
  const text =
    record.type === "SRV"
      ? `SRV ${record.priority} ${record.weight} ${record.port} ${record.target}`
      : `${record.type} ${"target" in record ? record.target : record.address}`;
  const found = known.get(text) ?? dataOf(record);
  known.set(text, found);
  return found;
}

const TEXT = new TextEncoder();
/** Of one text in a TXT record. */
const MAX_TEXT = 255;

function dataOf(record: NameRecord): readonly RecordData[] {
  switch (record.type) {
    case "A":
    case "AAAA":
      return addressData(record.address);
    case "SRV":
      return [{ ...record, type: TYPES.SRV, target: wireName(record.target) }];
    case "CNAME":
    case "PTR":
      return [{ type: TYPES[record.type], target: wireName(record.target) }];
    case "TXT":
      return [{ type: TYPES.TXT, texts: [TEXT.encode(record.text).subarray(0, MAX_TEXT)] }];
  }
}
