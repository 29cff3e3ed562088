/**
 * The streams of exec and attach in WebSocket messages, as `v5.channel.k8s.io` writes them: the first byte of a message is its
 * channel. The last message of a server is a Status on the channel of errors: how the command ended. Pure.
 */
import { isJsonObject, type Json, type JsonObject } from "@lifeboat/api";

export const CHANNEL_PROTOCOL = "v5.channel.k8s.io";

export const CHANNELS = {
  stdin: 0,
  stdout: 1,
  stderr: 2,
  error: 3,
  resize: 4,
  /** Its payload is the channel that ends. */
  close: 255,
} as const;

/** How a command ended: its exit code, or why it could not be run. */
export type CommandEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "failed"; readonly message: string };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function channelMessage(channel: number, bytes: Uint8Array): Uint8Array {
  const message = new Uint8Array(bytes.length + 1);
  message[0] = channel;
  message.set(bytes, 1);
  return message;
}

/** The Status by which a server reports the end of a command. */
export function endStatus(end: CommandEnd): Uint8Array {
  return encoder.encode(JSON.stringify(statusOf(end)));
}

function statusOf(end: CommandEnd): JsonObject {
  const common = { metadata: {}, apiVersion: "v1", kind: "Status" };
  if (end.kind === "failed")
    return { ...common, status: "Failure", reason: "InternalError", message: end.message };
  if (end.code === 0) return { ...common, status: "Success" };
  return {
    ...common,
    status: "Failure",
    reason: "NonZeroExitCode",
    message: `command terminated with non-zero exit code: exit status ${end.code}`,
    details: { causes: [{ reason: "ExitCode", message: String(end.code) }] },
  };
}

/** What a server has reported on the channel of errors; it may be any bytes. */
export function readEndStatus(bytes: Uint8Array): CommandEnd {
  const text = decoder.decode(bytes);
  let status: Json;
  try {
    status = JSON.parse(text) as Json;
  } catch {
    // Servers of before wrote a sentence.
    return { kind: "failed", message: text };
  }
  if (!isJsonObject(status)) return { kind: "failed", message: text };
  if (status["status"] === "Success") return { kind: "exited", code: 0 };
  const code = exitCodeOf(status);
  if (code !== undefined) return { kind: "exited", code };
  const { message } = status;
  return { kind: "failed", message: typeof message === "string" ? message : text };
}

function exitCodeOf({ reason, details }: JsonObject): number | undefined {
  if (reason !== "NonZeroExitCode" || !isJsonObject(details)) return undefined;
  const { causes } = details;
  if (!Array.isArray(causes)) return undefined;
  const cause = causes.filter(isJsonObject).find((one) => one["reason"] === "ExitCode");
  const code = Number(cause?.["message"]);
  return Number.isInteger(code) && code > 0 && code < 256 ? code : undefined;
}
