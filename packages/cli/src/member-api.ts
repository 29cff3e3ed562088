/** The APIs of members, through the control plane's proxy: requests in the name of the person who asks. */
import { failure, isJsonObject, type Json, Refused } from "@lifeboat/api";
import { AgentPool, type HttpClientConfig } from "@lifeboat/kit/adapters";
import type { HeaderLines } from "@lifeboat/proxy";
import { sendOverHttp, type Sent } from "@lifeboat/proxy/adapters";
import { randomBytes } from "node:crypto";
import type { Duplex, Readable } from "node:stream";
import { CommandFailed } from "./failure.ts";

export interface MemberApi {
  /** Reads a JSON document of one member; throws Refused, or CommandFailed when no answer comes. */
  read(cluster: string, target: string, accept: string): Promise<Json>;
  /** The answer as it arrives. */
  stream(cluster: string, target: string, signal: AbortSignal): Promise<Readable>;
  /** A connection that speaks WebSocket with this subprotocol, to a member. */
  upgrade(cluster: string, target: string, protocol: string, signal: AbortSignal): Promise<Duplex>;
  close(): void;
}

const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;

export function createMemberApi(config: HttpClientConfig): MemberApi {
  const pool = new AgentPool(config, 16);
  const send = async (
    cluster: string,
    target: string,
    headers: HeaderLines,
    signal: AbortSignal,
  ): Promise<Sent> => {
    const credential = await config.credentials.current();
    const { agent, release } = pool.lease(credential);
    const credentials = Object.entries(credential.headers).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name.toLowerCase(), value]),
    );
    const outgoing = {
      method: "GET",
      target: `${rootOf(cluster)}${target}`,
      headers: [...headers, ["user-agent", config.userAgent], ...credentials] as const,
      body: undefined,
      isUpgrade: headers.some(([name]) => name === "upgrade"),
      signal,
    };
    try {
      const sent = await sendOverHttp({ url: new URL(config.server), agent }, outgoing).catch(
        (error: unknown) => {
          throw new CommandFailed(`no answer: ${(error as Error).message}`);
        },
      );
      if (sent.kind === "switched" || sent.status < 300) return sent;
      const text = await textOf(sent.body, MAX_REFUSAL_BYTES);
      const refusal = statusOf(sent.status, text);
      // A Status is the member's own answer; what knows no such path answers without one.
      if (sent.status === 404 && cluster !== OWN_API && refusal === undefined)
        throw new CommandFailed(NO_PROXY);
      throw new Refused(refusal ?? failure(sent.status, undefined, pageText(sent.status, text)));
    } finally {
      release();
    }
  };
  const open = async (
    cluster: string,
    target: string,
    accept: string,
    signal: AbortSignal,
  ): Promise<Readable> => {
    const sent = await send(cluster, target, [["accept", accept]], signal);
    if (sent.kind === "answered") return sent.body;
    throw new CommandFailed("the answer is of another protocol");
  };
  return {
    read: async (cluster, target, accept) => {
      const body = await open(cluster, target, accept, new AbortController().signal);
      const text = await textOf(body, MAX_DOCUMENT_BYTES);
      try {
        return JSON.parse(text) as Json;
      } catch {
        const what = cluster === OWN_API ? "the control plane" : `the cluster ${cluster}`;
        throw new CommandFailed(`${what} answered something else than JSON`);
      }
    },
    stream: (cluster, target, signal) => open(cluster, target, "*/*", signal),
    upgrade: async (cluster, target, protocol, signal) => {
      const sent = await send(cluster, target, webSocketHeaders(protocol), signal);
      if (sent.kind === "answered") {
        sent.body.destroy();
        throw new CommandFailed(
          `the cluster ${cluster} does not change the protocol when asked to`,
        );
      }
      const spoken = headerOf(sent.rawHeaders, "sec-websocket-protocol");
      if (spoken === protocol) return sent.connection;
      sent.connection.destroy();
      throw new CommandFailed(`the cluster ${cluster} does not speak ${protocol}`);
    },
    close: () => pool.close(),
  };
}

const NO_PROXY =
  "this control plane passes no requests on to members: beside a kube-apiserver run `lifeboat install` without --member-proxy=false, and `lifeboat manager` likewise";

/** In place of a cluster's name: the control plane's own API. */
export const OWN_API = "";

function rootOf(cluster: string): string {
  if (cluster === OWN_API) return "";
  return `/apis/proxy.lifeboat.dev/v1alpha1/clusters/${encodeURIComponent(cluster)}/proxy`;
}

const WEBSOCKET_KEY_BYTES = 16;

/** WebSocket requires this header; TLS has already authenticated the server. */
function webSocketHeaders(protocol: string): HeaderLines {
  return [
    ["connection", "Upgrade"],
    ["upgrade", "websocket"],
    ["sec-websocket-version", "13"],
    ["sec-websocket-key", randomBytes(WEBSOCKET_KEY_BYTES).toString("base64")],
    ["sec-websocket-protocol", protocol],
  ];
}

function headerOf(raw: readonly string[], name: string): string | undefined {
  const at = raw.findIndex((one, index) => index % 2 === 0 && one.toLowerCase() === name);
  return at < 0 ? undefined : raw[at + 1];
}

async function textOf(body: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of unbroken(body)) {
    size += chunk.length;
    if (size > maxBytes) throw new CommandFailed(`an answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** What is read of a body; throws CommandFailed when the connection is lost before its end. */
async function* unbroken(body: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) yield chunk as Buffer;
  } catch (error) {
    throw new CommandFailed(
      `no answer: the connection was lost before its end: ${(error as Error).message}`,
    );
  }
}

/** What the server says as a Status; undefined: it says something else. */
function statusOf(code: number, text: string): Refused["status"] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value) && typeof value["message"] === "string")
      return failure(code, undefined, value["message"]);
  } catch {
    // A page, not a Status.
  }
  return undefined;
}

function pageText(code: number, text: string): string {
  const isPage = /^\s*</.test(text);
  const said = isPage ? "" : text.trim().slice(0, 300);
  return said || `refused with code ${code}`;
}
