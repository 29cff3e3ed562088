/** The message by which secondaries learn that a zone changed. */
import { CLASS_IN, FLAGS, HEADER_BYTES, OPCODES, TYPES } from "./wire/constants.ts";
import { u16, writeRecord } from "./wire/records.ts";
import { Writer } from "./wire/writer.ts";
import type { Zone } from "./zone/zone.ts";

export function notifyMessage(id: number, zone: Zone): Uint8Array {
  const writer = new Writer(0, 256).u16(id).u16((OPCODES.NOTIFY << 11) | FLAGS.AA);
  writer.u16(1).u16(1).u16(0).u16(0);
  writer.name(zone.apex).u16(TYPES.SOA).u16(CLASS_IN);
  writeRecord(writer, zone.apex, zone.ttl, zone.soa);
  return writer.bytes();
}

/** Whether a message answers the one with this id. What it answers matters little: it arrived. */
export function isNotifyAnswer(message: Uint8Array, id: number): boolean {
  if (message.length < HEADER_BYTES || u16(message, 0) !== id) return false;
  const flags = u16(message, 2);
  return (flags & FLAGS.QR) !== 0 && (flags & FLAGS.OPCODE) >> 11 === OPCODES.NOTIFY;
}
