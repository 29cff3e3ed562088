/**
 * One request to a member's API over HTTP/1.1, body and answer as streams.
 *
 * 1. No redirect is followed, nothing is repeated.
 * 2. The body is framed by its length or in chunks whatever the method is, so that no byte of it can be taken for another
 *    request on a connection that is used again.
 * 3. The head of the answer is bounded in size and time. Only a request that asks for another protocol can get one.
 */
import * as http from "node:http";
import * as https from "node:https";
import type { Duplex, Readable } from "node:stream";
import type { HeaderLines } from "../headers.ts";
import type { Outgoing } from "../routes.ts";
import { AwaitedAnswer, pump } from "./awaited-answer.ts";
import { asReadable } from "./byte-streams.ts";

export type Sent =
  | {
      readonly kind: "answered";
      readonly status: number;
      /** Names and values in turn. */
      readonly rawHeaders: readonly string[];
      readonly body: Readable;
      /** Asked when the body has ended: whether it came whole. */
      isWhole(): boolean;
    }
  | {
      readonly kind: "switched";
      readonly rawHeaders: readonly string[];
      readonly connection: Duplex;
    };

export interface HttpServer {
  readonly url: URL;
  readonly agent?: http.Agent;
  /** In the place of an agent: the connection to use. */
  readonly connection?: Duplex;
}

const MAX_HEAD_BYTES = 32 * 1024;

/** Sends it; rejects with an Error when no answer comes. */
export function sendOverHttp(server: HttpServer, outgoing: Outgoing): Promise<Sent> {
  const { body, isUpgrade, signal } = outgoing;
  return new Promise((resolve, reject) => {
    const request = begin(server, outgoing);
    const awaited = new AwaitedAnswer(signal, (error) => {
      request.destroy();
      reject(error);
    });
    const fail = (error: Error): void => awaited.fail(error);
    request.on("error", fail);
    // Node reports some ends by this alone.
    request.once("close", () => fail(new Error("the connection was lost")));
    request.once("response", (response) => {
      response.on("error", () => undefined);
      if (!awaited.settle()) return;
      const { statusCode = 0, rawHeaders } = response;
      const isWhole = (): boolean => response.complete;
      resolve({ kind: "answered", status: statusCode, rawHeaders, body: response, isWhole });
    });
    if (isUpgrade)
      request.once("upgrade", (response, socket: Duplex, head: Buffer) => {
        socket.on("error", () => socket.destroy());
        if (!awaited.settle() || response.statusCode !== 101) {
          socket.destroy();
          reject(new Error("its answer changes the protocol without saying so"));
          return;
        }
        if (head.length > 0) socket.unshift(head);
        resolve({ kind: "switched", rawHeaders: response.rawHeaders, connection: socket });
      });
    if (signal.aborted) fail(new Error("the caller is gone"));
    else if (body === undefined) request.end();
    else pump(asReadable(body), request, awaited.progress);
  });
}

function begin(server: HttpServer, outgoing: Outgoing): http.ClientRequest {
  const { url, agent, connection } = server;
  const { method, target, headers, body } = outgoing;
  return (url.protocol === "https:" ? https : http).request({
    protocol: url.protocol,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port,
    method,
    path: `${url.pathname.replace(/\/+$/, "")}${target}`,
    headers: framed(headers, body !== undefined),
    maxHeaderSize: MAX_HEAD_BYTES,
    insecureHTTPParser: false,
    // With `agent: false` Node would make an agent of its own, and that one dial.
    ...(connection === undefined
      ? { agent: agent ?? false }
      : { createConnection: () => connection }),
  });
}

/** The headers as Node takes them, with the one that frames the body. */
function framed(lines: HeaderLines, hasBody: boolean): http.OutgoingHttpHeaders {
  const headers: Record<string, string[]> = {};
  for (const [name, value] of lines) {
    if (name === "content-length" && !hasBody) continue;
    if (name === "__proto__") continue;
    (headers[name] ??= []).push(value);
  }
  if (hasBody && headers["content-length"] === undefined)
    headers["transfer-encoding"] = ["chunked"];
  return headers;
}
