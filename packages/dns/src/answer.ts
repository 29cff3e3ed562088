/**
 * What a server answers: the bytes of a query in, the bytes of its answer out, or none.
 *
 * 1. Only names of the zone and of its members' addresses are answered; anything else is refused. There is no recursion.
 * 2. An answer is never larger than the asker takes. Additional records are left out first; only when the answer itself does not
 *    fit is it marked as truncated, and holds nothing.
 * 3. Whatever arrives, the answer is a message or nothing: nothing throws.
 * 4. A transfer of the zone needs a valid signature, and a connection.
 */
import {
  CLASS_ANY,
  CLASS_IN,
  FLAGS,
  HEADER_BYTES,
  OPCODES,
  RCODES,
  TYPES,
} from "./wire/constants.ts";
import { Malformed } from "./wire/names.ts";
import { type Query, readQuery } from "./wire/query.ts";
import {
  type Checked,
  checkSignature,
  type Hmac,
  sign,
  type TsigKey,
  unsignedRefusal,
} from "./wire/tsig.ts";
import { transferMessages } from "./transfer.ts";
import type { Sections, Zone } from "./zone/zone.ts";

export interface Answering {
  /** Undefined: nothing was read from the control plane yet. */
  readonly zone: Zone | undefined;
  /** The most that an answer in one datagram has. */
  readonly maxUdpBytes: number;
  readonly keys: readonly TsigKey[];
  readonly hmac: Hmac;
  /** Seconds since 1970. */
  readonly now: () => number;
}

/** What resolvers take without fragments. */
export const DEFAULT_UDP_BYTES = 1232;
const SMALLEST_UDP = 512;
const TCP_BYTES = 65_535;
const OPT_BYTES = 11;

/** Answers a datagram; undefined: it gets no answer. */
export function answerDatagram(message: Uint8Array, answering: Answering): Uint8Array | undefined {
  const query = readQuery(message);
  if (query === undefined) return undefined;
  if (query.tsig !== undefined)
    return answerSigned(message, query, answering, udpLimit(query, answering))[0];
  return respond(message, query, answering, udpLimit(query, answering));
}

/** A datagram's answer that only asks to come again by TCP. */
export function truncatedAnswer(message: Uint8Array): Uint8Array | undefined {
  const query = readQuery(message);
  if (query === undefined || query.questionEnd === HEADER_BYTES) return undefined;
  return assemble(message, query, FLAGS.TC, RCODES.NOERROR, undefined, TCP_BYTES);
}

/** Answers a message of a connection: one message, several for a transfer, or none. */
export function answerStream(message: Uint8Array, answering: Answering): Iterable<Uint8Array> {
  const query = readQuery(message);
  if (query === undefined) return [];
  if (query.tsig !== undefined) return answerSigned(message, query, answering, TCP_BYTES);
  return [respond(message, query, answering, TCP_BYTES)];
}

function udpLimit({ edns }: Query, { maxUdpBytes }: Answering): number {
  if (edns === undefined) return SMALLEST_UDP;
  return Math.min(maxUdpBytes, Math.max(SMALLEST_UDP, edns.udpBytes));
}

function respond(
  message: Uint8Array,
  query: Query,
  { zone }: Answering,
  limit: number,
): Uint8Array {
  const refuse = (rcode: number): Uint8Array =>
    assemble(message, query, 0, rcode, undefined, limit);
  if (query.problem !== RCODES.NOERROR) return refuse(query.problem);
  if (query.opcode !== OPCODES.QUERY) return refuse(RCODES.NOTIMP);
  if (query.edns !== undefined && query.edns.version > 0) return refuse(RCODES.BADVERS);
  if (zone === undefined) return refuse(RCODES.SERVFAIL);
  const nameEnd = query.questionEnd - 4;
  if (query.class !== CLASS_IN && query.class !== CLASS_ANY) return refuse(RCODES.REFUSED);
  if (!zone.contains(message, HEADER_BYTES, nameEnd)) {
    const address = zone.findReverse(message, HEADER_BYTES, nameEnd);
    if (address === undefined) return refuse(RCODES.REFUSED);
    // Without data there is no start of authority either: the zone around it is another's (RFC 2308, 2.2).
    const sections = zone.answer(address, query.type);
    return assemble(message, query, FLAGS.AA, RCODES.NOERROR, sections, limit);
  }
  // Transfers are answered where their signature was checked.
  if (query.type === TYPES.AXFR || query.type === TYPES.IXFR) return refuse(RCODES.REFUSED);
  const node = zone.find(message, HEADER_BYTES, nameEnd);
  const found = node === undefined ? undefined : zone.answer(node, query.type);
  const sections = found ?? zone.negative(nameEnd - HEADER_BYTES);
  const rcode = node === undefined ? RCODES.NXDOMAIN : RCODES.NOERROR;
  return assemble(message, query, FLAGS.AA, rcode, sections, limit);
}

/** Header, question, sections as far as they fit, EDNS where the query has it. */
function assemble(
  message: Uint8Array,
  query: Query,
  flags: number,
  rcode: number,
  sections: Sections | undefined,
  limit: number,
): Uint8Array {
  const { questionEnd, edns } = query;
  const fixed = questionEnd + (edns === undefined ? 0 : OPT_BYTES);
  const body = sections === undefined ? 0 : sections.body.length;
  const extra = sections === undefined ? 0 : sections.extra.length;
  const takesBody = fixed + body <= limit;
  const takesExtra = takesBody && fixed + body + extra <= limit;
  const out = new Uint8Array(fixed + (takesBody ? body : 0) + (takesExtra ? extra : 0));
  for (let at = 0; at < questionEnd; at += 1) out[at] = message[at] as number;
  const bits =
    FLAGS.QR |
    flags |
    (query.flags & (FLAGS.OPCODE | FLAGS.RD)) |
    (takesBody ? 0 : FLAGS.TC) |
    (rcode & 0xf);
  put16(out, 2, bits);
  put16(out, 4, questionEnd === HEADER_BYTES ? 0 : 1);
  put16(out, 6, takesBody && sections !== undefined ? sections.answers : 0);
  put16(out, 8, takesBody && sections !== undefined ? sections.authorities : 0);
  const additionals = takesExtra && sections !== undefined ? sections.additionals : 0;
  put16(out, 10, additionals + (edns === undefined ? 0 : 1));
  let at = questionEnd;
  if (takesBody && sections !== undefined) {
    out.set(sections.body, at);
    at += body;
    if (takesExtra) {
      out.set(sections.extra, at);
      at += extra;
    }
  }
  if (edns !== undefined) putEdns(out, at, rcode, edns.dnssecOk);
  return out;
}

function putEdns(out: Uint8Array, at: number, rcode: number, dnssecOk: boolean): void {
  out[at] = 0;
  put16(out, at + 1, TYPES.OPT);
  put16(out, at + 3, DEFAULT_UDP_BYTES);
  out[at + 5] = rcode >> 4;
  out[at + 6] = 0;
  put16(out, at + 7, dnssecOk ? 0x8000 : 0);
  put16(out, at + 9, 0);
}

function put16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >> 8;
  bytes[at + 1] = value & 0xff;
}

/** The room that a signature takes at most. */
const TSIG_BYTES = 256;

/** At least one message; more for a transfer by connection. */
function answerSigned(
  message: Uint8Array,
  query: Query,
  answering: Answering,
  limit: number,
): [Uint8Array, ...Uint8Array[]] {
  const checked = check(message, query, answering);
  if (checked === undefined) return [assemble(message, query, 0, RCODES.FORMERR, undefined, limit)];
  const { hmac } = answering;
  const now = answering.now();
  if (checked.kind === "refused") {
    const refusal = assemble(
      message,
      { ...query, edns: undefined },
      0,
      RCODES.NOTAUTH,
      undefined,
      limit,
    );
    if (checked.key === undefined) return [unsignedRefusal(refusal, checked)];
    const { error, mac: before, time: requestTime } = checked;
    return [sign(refusal, checked.key, { hmac, now, before, error, requestTime }).message];
  }
  const { key, mac: before } = checked;
  const isTransfer = query.type === TYPES.AXFR || query.type === TYPES.IXFR;
  if (isTransfer && limit === TCP_BYTES && query.opcode === OPCODES.QUERY) {
    const messages = transferMessages(message, query, answering.zone);
    if (messages !== undefined) return signAll(messages, key, before, hmac, now);
  }
  const answer = respond(message, query, answering, limit - TSIG_BYTES);
  return [sign(answer, key, { hmac, now, before }).message];
}

function check(message: Uint8Array, query: Query, answering: Answering): Checked | undefined {
  if (query.tsig === undefined) return undefined;
  const { keys, hmac } = answering;
  try {
    return checkSignature(message, query.tsig, { keys, hmac, now: answering.now() });
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

function signAll(
  messages: readonly Uint8Array[],
  key: TsigKey,
  requestMac: Uint8Array,
  hmac: Hmac,
  now: number,
): [Uint8Array, ...Uint8Array[]] {
  let before = requestMac;
  const signed = messages.map((message, index) => {
    const result = sign(message, key, { hmac, now, before, follows: index > 0 });
    before = result.mac;
    return result.message;
  });
  return signed as [Uint8Array, ...Uint8Array[]];
}
