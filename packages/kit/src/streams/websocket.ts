/**
 * WebSocket frames (RFC 6455) as bytes: what exec and attach speak after 101. Pure; it holds no connection.
 *
 * 1. What the peer sends is hostile: a message is bounded, and bytes that are no frame throw `WebSocketProblem`. After that the
 *    connection can only be closed.
 * 2. Fragments are put together; control frames between them are read where they stand.
 * 3. No extension is understood, so none is to be agreed on.
 */

export class WebSocketProblem extends Error {
  override readonly name = "WebSocketProblem";
}

export type WebSocketMessage =
  | { readonly kind: "data"; readonly bytes: Uint8Array }
  | { readonly kind: "ping"; readonly bytes: Uint8Array }
  | { readonly kind: "pong" }
  | { readonly kind: "close" };

const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const FINAL = 0x80;
const MASKED = 0x80;
const LENGTH_16 = 126;
const LENGTH_64 = 127;
const MAX_CONTROL_BYTES = 125;
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const MASK_BYTES = 4;

/** What a close frame holds: the code for an ordinary end (1000). */
export const NORMAL_CLOSURE: Uint8Array = new Uint8Array([0x03, 0xe8]);

export type WebSocketFrame = "binary" | "close" | "ping" | "pong";

/** One whole message as a frame; clients mask with four random bytes, servers do not. */
export function webSocketFrame(
  kind: WebSocketFrame,
  payload: Uint8Array,
  mask?: Uint8Array,
): Uint8Array {
  const length = payload.length;
  const extra = length < LENGTH_16 ? 0 : length <= 0xffff ? 2 : 8;
  const start = 2 + extra + (mask === undefined ? 0 : MASK_BYTES);
  const frame = new Uint8Array(start + length);
  const view = new DataView(frame.buffer);
  frame[0] = FINAL | OPCODES[kind];
  frame[1] =
    (mask === undefined ? 0 : MASKED) |
    (extra === 0 ? length : extra === 2 ? LENGTH_16 : LENGTH_64);
  if (extra === 2) view.setUint16(2, length);
  if (extra === 8) view.setBigUint64(2, BigInt(length));
  frame.set(payload, start);
  if (mask === undefined) return frame;
  frame.set(mask, start - MASK_BYTES);
  unmask(frame.subarray(start), mask);
  return frame;
}

/** Reads the messages of one peer from bytes that arrive in any pieces. */
export class WebSocketReader {
  readonly #isPeerClient: boolean;
  /** What arrived and is not read yet. It is put together once the next frame is whole, so that tiny pieces stay cheap. */
  #chunks: Uint8Array[] = [];
  #size = 0;
  #needed = 2;
  #fragments: Uint8Array[] | undefined;
  #fragmentBytes = 0;

  /** Frames of a client are masked, those of a server are not; anything else is a problem. */
  constructor(peer: "client" | "server") {
    this.#isPeerClient = peer === "client";
  }

  push(chunk: Uint8Array): readonly WebSocketMessage[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) return [];
    let bytes = this.#chunks.length === 1 ? chunk : joined(this.#chunks);
    const messages: WebSocketMessage[] = [];
    for (let frame = this.#next(bytes); frame !== undefined; frame = this.#next(bytes)) {
      bytes = bytes.subarray(frame.length);
      const message = this.#read(frame);
      if (message !== undefined) messages.push(message);
    }
    this.#chunks = [bytes];
    this.#size = bytes.length;
    return messages;
  }

  /** The frame with which the bytes begin; undefined: it is not whole, and `#needed` is how many bytes are. */
  #next(bytes: Uint8Array): Frame | undefined {
    this.#needed = 2;
    if (bytes.length < this.#needed) return undefined;
    const [first = 0, second = 0] = bytes;
    if ((first & 0x70) !== 0) throw new WebSocketProblem("a frame uses an extension");
    const isMasked = (second & MASKED) !== 0;
    if (isMasked !== this.#isPeerClient)
      throw new WebSocketProblem("a frame is masked that must not be, or is not and must be");
    const opcode = first & 0x0f;
    const isFinal = (first & FINAL) !== 0;
    const short = second & 0x7f;
    if (opcode >= OPCODES.close && (short > MAX_CONTROL_BYTES || !isFinal))
      throw new WebSocketProblem("a control frame is too long or in fragments");
    const extra = short === LENGTH_16 ? 2 : short === LENGTH_64 ? 8 : 0;
    const start = 2 + extra + (isMasked ? MASK_BYTES : 0);
    this.#needed = start;
    if (bytes.length < start) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = extra === 0 ? short : extra === 2 ? view.getUint16(2) : readLength(view);
    if (length > MAX_MESSAGE_BYTES) throw new WebSocketProblem("a frame is too long");
    this.#needed = start + length;
    if (bytes.length < this.#needed) return undefined;
    const payload = new Uint8Array(bytes.subarray(start, start + length));
    if (isMasked) unmask(payload, bytes.subarray(start - MASK_BYTES, start));
    return { opcode, isFinal, payload, length: this.#needed };
  }

  #read({ opcode, isFinal, payload }: Frame): WebSocketMessage | undefined {
    switch (opcode) {
      case OPCODES.ping:
        return { kind: "ping", bytes: payload };
      case OPCODES.pong:
        return { kind: "pong" };
      case OPCODES.close:
        return { kind: "close" };
      case OPCODES.text:
      case OPCODES.binary:
        if (this.#fragments !== undefined)
          throw new WebSocketProblem("a message begins within another one");
        if (isFinal) return { kind: "data", bytes: payload };
        this.#fragments = [payload];
        this.#fragmentBytes = payload.length;
        return undefined;
      case OPCODES.continuation:
        return this.#goOn(isFinal, payload);
      default:
        throw new WebSocketProblem(`a frame has the unknown opcode ${opcode}`);
    }
  }

  #goOn(isFinal: boolean, payload: Uint8Array): WebSocketMessage | undefined {
    const fragments = this.#fragments;
    if (fragments === undefined) throw new WebSocketProblem("a message goes on that never began");
    this.#fragmentBytes += payload.length;
    // Empty fragments cost memory too.
    if (this.#fragmentBytes > MAX_MESSAGE_BYTES || fragments.length > MAX_FRAGMENTS)
      throw new WebSocketProblem("a message is too long");
    fragments.push(payload);
    if (!isFinal) return undefined;
    this.#fragments = undefined;
    return { kind: "data", bytes: joined(fragments) };
  }
}

const MAX_FRAGMENTS = 10_000;

interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly payload: Uint8Array;
  /** Of the whole frame. */
  readonly length: number;
}

function readLength(view: DataView): number {
  const length = view.getBigUint64(2);
  return length > BigInt(MAX_MESSAGE_BYTES) ? Number.POSITIVE_INFINITY : Number(length);
}

function unmask(bytes: Uint8Array, mask: Uint8Array): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] as number) ^ (mask[i & 3] as number);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
