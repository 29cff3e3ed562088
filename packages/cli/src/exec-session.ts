/**
 * The client's side of a command in a pod: input to it, its output here, and how it ended.
 *
 * 1. Input is sent no faster than it is taken; output is read no faster than it is shown.
 * 2. What was shown is shown once; a connection that ends without a Status is a failure, never a success.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Duplex, Readable, Writable } from "node:stream";
import {
  channelMessage,
  CHANNELS,
  type CommandEnd,
  NORMAL_CLOSURE,
  readEndStatus,
  webSocketFrame,
  type WebSocketFrame,
  WebSocketProblem,
  WebSocketReader,
} from "@lifeboat/kit/streams";

export interface Terminal {
  /** Absent: the command gets no input. */
  readonly input?: Readable | undefined;
  readonly output: Writable;
  readonly errors: Writable;
}

export interface ExecSession {
  /** How the command ended; rejects when the connection breaks off before that. */
  readonly ended: Promise<CommandEnd>;
  /** Tells the command how large its terminal is. */
  resize(columns: number, rows: number): void;
}

const MASK_BYTES = 4;
const MAX_PIECE_BYTES = 32 * 1024;

/** Runs the session on a connection that has left HTTP. */
export function runExecSession(connection: Duplex, terminal: Terminal): ExecSession {
  const waiting = new Set<() => void>();
  const goOn = (): void => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  connection.on("drain", goOn).on("close", goOn);
  const send = async (kind: WebSocketFrame, payload: Uint8Array): Promise<void> => {
    if (!connection.writable) return;
    if (connection.write(webSocketFrame(kind, payload, randomBytes(MASK_BYTES)))) return;
    await new Promise<void>((resolve) => void waiting.add(resolve));
  };
  if (terminal.input !== undefined)
    sendInput(terminal.input, send).catch((error: Error) => connection.destroy(error));
  return {
    ended: readOutput(connection, terminal, send).finally(() => connection.destroy()),
    resize: (columns, rows) => {
      const size = Buffer.from(JSON.stringify({ Width: columns, Height: rows }));
      void send("binary", channelMessage(CHANNELS.resize, size));
    },
  };
}

type Send = (kind: WebSocketFrame, payload: Uint8Array) => Promise<void>;

async function sendInput(input: Readable, send: Send): Promise<void> {
  for await (const chunk of input) {
    const bytes = chunk as Buffer;
    for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) {
      const piece = bytes.subarray(at, at + MAX_PIECE_BYTES);
      await send("binary", channelMessage(CHANNELS.stdin, piece));
    }
  }
  await send("binary", channelMessage(CHANNELS.close, new Uint8Array([CHANNELS.stdin])));
}

async function readOutput(
  connection: Duplex,
  { output, errors }: Terminal,
  send: Send,
): Promise<CommandEnd> {
  const reader = new WebSocketReader("server");
  let end: CommandEnd | undefined;
  try {
    for await (const chunk of connection)
      for (const message of reader.push(chunk as Buffer)) {
        if (message.kind === "ping") await send("pong", message.bytes);
        if (message.kind === "close") {
          await send("close", NORMAL_CLOSURE);
          if (end !== undefined) return end;
        }
        if (message.kind !== "data") continue;
        const bytes = message.bytes.subarray(1);
        const channel = message.bytes[0];
        if (channel === CHANNELS.stdout) await show(output, bytes);
        if (channel === CHANNELS.stderr) await show(errors, bytes);
        if (channel === CHANNELS.error) end = readEndStatus(bytes);
      }
  } catch (error) {
    if (end !== undefined) return end;
    const why =
      error instanceof WebSocketProblem ? "the server sent bytes that are no WebSocket: " : "";
    const message = `the session broke off: ${why}${(error as Error).message}`;
    throw new Error(message, { cause: error });
  }
  if (end !== undefined) return end;
  throw new Error("the session broke off before the command ended");
}

async function show(stream: Writable, bytes: Uint8Array): Promise<void> {
  if (bytes.length > 0 && !stream.write(bytes)) await once(stream, "drain");
}
