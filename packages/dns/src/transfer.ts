/** A transfer of the whole zone (RFC 5936) as messages: the start of authority first and last, everything else between. */
import { FLAGS, HEADER_BYTES } from "./wire/constants.ts";
import type { Query } from "./wire/query.ts";
import { u16, writeRecord } from "./wire/records.ts";
import { Writer } from "./wire/writer.ts";
import { matchesName } from "./wire/names.ts";
import type { Zone } from "./zone/zone.ts";

/** Of one message, before its signature: names are compressed within the first 16 KiB only. */
const MESSAGE_BYTES = 16_000;

/** Undefined: the name is not the zone's. */
export function transferMessages(
  message: Uint8Array,
  query: Query,
  zone: Zone | undefined,
): readonly Uint8Array[] | undefined {
  const nameBytes = query.questionEnd - 4 - HEADER_BYTES;
  if (zone === undefined || nameBytes !== zone.apex.length) return undefined;
  if (!matchesName(zone.apex, message, HEADER_BYTES)) return undefined;
  const messages: Uint8Array[] = [];
  const id = u16(message, 0);
  let part = begin(id, message.subarray(HEADER_BYTES, query.questionEnd), zone);
  const put = (name: Uint8Array, data: Parameters<typeof writeRecord>[3]): void => {
    if (part.writer.length > MESSAGE_BYTES) {
      messages.push(end(part));
      part = begin(id, NO_QUESTION, zone);
    }
    writeRecord(part.writer, name, zone.ttl, data);
    part.answers += 1;
  };
  put(zone.apex, zone.soa);
  for (const { name, records } of zone.nodes())
    for (const data of records) if (data !== zone.soa) put(name, data);
  put(zone.apex, zone.soa);
  messages.push(end(part));
  return messages;
}

const NO_QUESTION = new Uint8Array(0);

interface Part {
  readonly writer: Writer;
  answers: number;
}

function begin(id: number, question: Uint8Array, zone: Zone): Part {
  const writer = new Writer(0, MESSAGE_BYTES + 1024);
  writer.u16(id).u16(FLAGS.QR | FLAGS.AA);
  writer
    .u16(question.length === 0 ? 0 : 1)
    .u16(0)
    .u16(0)
    .u16(0)
    .raw(question);
  if (question.length > 0) writer.knows(zone.apex, HEADER_BYTES);
  return { writer, answers: 0 };
}

function end({ writer, answers }: Part): Uint8Array {
  writer.patch16(6, answers);
  return writer.bytes();
}
