/**
 * Reads what arrives. A packet gets no answer when it is no query or has no whole header: an answer to it would only help
 * others to misuse the server. What is wrong otherwise is refused with a code.
 */
import { FLAGS, HEADER_BYTES, MAX_LABEL, MAX_NAME_BYTES, RCODES, TYPES } from "./constants.ts";
import { Malformed, skipName } from "./names.ts";
import { type ReadRecord, readRecord, u16 } from "./records.ts";

export interface Edns {
  readonly udpBytes: number;
  readonly version: number;
  readonly dnssecOk: boolean;
}

export interface Query {
  readonly id: number;
  readonly flags: number;
  readonly opcode: number;
  /** The question is `message[12, questionEnd)`; its name ends four bytes earlier. 12 when there is none. */
  readonly questionEnd: number;
  readonly type: number;
  readonly class: number;
  readonly edns: Edns | undefined;
  /** The last record, where it is a signature. */
  readonly tsig: ReadRecord | undefined;
  /** What is wrong with it; 0: nothing. */
  readonly problem: number;
}

/** More records than any query has. */
const MAX_RECORDS = 8;

/** Undefined: the packet gets no answer. */
export function readQuery(message: Uint8Array): Query | undefined {
  if (message.length < HEADER_BYTES) return undefined;
  const flags = u16(message, 2);
  if ((flags & FLAGS.QR) !== 0) return undefined;
  const id = u16(message, 0);
  const opcode = (flags & FLAGS.OPCODE) >> 11;
  const wrong = {
    id,
    flags,
    opcode,
    questionEnd: HEADER_BYTES,
    type: 0,
    class: 0,
    edns: undefined,
    tsig: undefined,
    problem: RCODES.FORMERR as number,
  };
  if (u16(message, 4) !== 1) return wrong;
  const nameEnd = questionNameEnd(message);
  if (nameEnd < 0 || nameEnd + 4 > message.length) return wrong;
  const question = {
    questionEnd: nameEnd + 4,
    type: u16(message, nameEnd),
    class: u16(message, nameEnd + 2),
  };
  const others = u16(message, 6) + u16(message, 8) + u16(message, 10);
  if (others === 0) return { ...wrong, ...question, problem: RCODES.NOERROR };
  if (others > MAX_RECORDS) return { ...wrong, ...question };
  try {
    const extra = readAdditional(message, question.questionEnd, others);
    return { ...wrong, ...question, ...extra, problem: RCODES.NOERROR };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return { ...wrong, ...question };
  }
}

/** A question's name has no pointers: nothing stands before it. -1: it is malformed. */
function questionNameEnd(message: Uint8Array): number {
  let at = HEADER_BYTES;
  for (;;) {
    const size = message[at];
    if (size === undefined || size > MAX_LABEL) return -1;
    at += size + 1;
    if (at - HEADER_BYTES > MAX_NAME_BYTES) return -1;
    if (size === 0) return at;
  }
}

function readAdditional(
  message: Uint8Array,
  start: number,
  count: number,
): Pick<Query, "edns" | "tsig"> {
  const before = count - u16(message, 10);
  let at = start;
  let edns: Edns | undefined;
  let tsig: ReadRecord | undefined;
  for (let index = 0; index < count; index += 1) {
    const { type, isRoot } = peek(message, at);
    if (tsig !== undefined) throw new Malformed("a signature is not the last record");
    const { record, end } = readRecord(message, at);
    at = end;
    if (index < before) continue;
    if (type === TYPES.TSIG) tsig = record;
    if (type !== TYPES.OPT) continue;
    if (edns !== undefined || !isRoot) throw new Malformed("there is more than one EDNS record");
    edns = {
      udpBytes: record.class,
      version: (record.ttl >>> 16) & 0xff,
      dnssecOk: (record.ttl & 0x8000) !== 0,
    };
  }
  return { edns, tsig };
}

function peek(
  message: Uint8Array,
  at: number,
): { readonly type: number; readonly isRoot: boolean } {
  const end = skipName(message, at);
  if (end + 2 > message.length) throw new Malformed("a record leaves the message");
  return { type: u16(message, end), isRoot: message[at] === 0 };
}
