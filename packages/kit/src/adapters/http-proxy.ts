/**
 * Connections through an HTTP proxy: the proxy is asked by CONNECT for a connection to one server, and then copies bytes.
 *
 * 1. What the proxy answers is bounded in size and time; every answer but 200 to 299 is an error with the proxy's words.
 * 2. The proxy sees the server's address and its own headers, nothing else.
 */
import * as net from "node:net";
import * as tls from "node:tls";
import type { JudgeAddress } from "../dialled-addresses.ts";
import { judgedDial } from "./judged-dial.ts";

export interface HttpProxy {
  readonly url: URL;
  /** Sent to the proxy with each CONNECT. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
}

const CONNECT_TIMEOUT_MS = 15_000;
const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_END = Buffer.from("\r\n\r\n");
/** RFC 9110: tokens as names; values of visible characters, spaces and tabs. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\u0020-\u007e]*$/;

/** The proxy that a URL names; throws an Error with a sentence when it names none that can be used. */
export function httpProxyOf(
  text: string,
  headers: Readonly<Record<string, readonly string[]>> = {},
): HttpProxy {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol) || url.hostname === "")
    throw new Error("the proxyURL is not an http or https URL");
  for (const [name, values] of Object.entries(headers))
    if (!NAME.test(name) || !values.every((value) => VALUE.test(value)))
      throw new Error(`the proxyHeader ${JSON.stringify(name)} cannot be sent`);
  return { url, headers };
}

/** A connection to the server, made by the proxy. */
export function connectThrough(
  proxy: HttpProxy,
  host: string,
  port: number,
  judge?: JudgeAddress,
): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = open(proxy.url, judge);
    let received = Buffer.alloc(0);
    const timer = setTimeout(
      () => fail(new Error(`no answer within ${CONNECT_TIMEOUT_MS} ms`)),
      CONNECT_TIMEOUT_MS,
    );
    const fail = (error: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(new Error(`the proxy ${proxy.url.host}: ${error.message}`));
    };
    const onClose = (): void => fail(new Error("it closed the connection without an answer"));
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf(HEAD_END);
      if (end < 0) {
        if (received.length > MAX_HEAD_BYTES) fail(new Error("its answer is too long"));
        return;
      }
      const [status = ""] = received.toString("latin1", 0, end).split("\r\n", 1);
      const code = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(status)?.[1] ?? "";
      if (!code.startsWith("2")) {
        fail(new Error(`it refused the connection: ${JSON.stringify(status.slice(0, 200))}`));
        return;
      }
      clearTimeout(timer);
      socket.off("data", onData).off("error", fail).off("close", onClose);
      socket.pause();
      // The server waits for us to speak first; what came already can only be its bytes.
      const rest = received.subarray(end + HEAD_END.length);
      if (rest.length > 0) socket.unshift(rest);
      resolve(socket);
    };
    socket.on("error", fail).on("close", onClose).on("data", onData);
    socket.once(proxy.url.protocol === "https:" ? "secureConnect" : "connect", () => {
      socket.setKeepAlive(true, 30_000);
      socket.setNoDelay(true);
      socket.write(connectHead(proxy, host, port), "latin1");
    });
  });
}

/** Throws where the judge refuses the address of the proxy. */
function open(url: URL, judge: JudgeAddress | undefined): net.Socket {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const dial = { host, ...judgedDial(host, judge) };
  if (url.protocol === "http:") return net.connect({ ...dial, port: Number(url.port || 80) });
  const servername = net.isIP(host) === 0 ? { servername: host } : {};
  return tls.connect({
    ...dial,
    port: Number(url.port || 443),
    minVersion: "TLSv1.2",
    ...servername,
  });
}

function connectHead({ url, headers }: HttpProxy, host: string, port: number): string {
  const server = `${net.isIPv6(host) ? `[${host}]` : host}:${port}`;
  const lines = [`CONNECT ${server} HTTP/1.1`, `Host: ${server}`];
  const { username, password } = url;
  if (username !== "" || password !== "") {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    lines.push(`Proxy-Authorization: Basic ${Buffer.from(pair).toString("base64")}`);
  }
  for (const [name, values] of Object.entries(headers))
    for (const value of values) lines.push(`${name}: ${value}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}
