/**
 * The agent's side of the tunnel: a service that keeps one connection to the control plane open, and passes what comes through it
 * on to the API of its own member.
 *
 * 1. It reaches its member's API and nothing else, with the agent's credential for it, and only in the name of a caller: a
 *    request without Impersonate-User is refused, so that none is ever made with the agent's own rights.
 * 2. A lost connection is opened again after a growing pause; the control plane may be away for hours.
 * 3. Nothing listens: every connection is opened by the agent.
 */
import * as http from "node:http";
import * as https from "node:https";
import {
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Stream,
} from "node:http2";
import type { Duplex } from "node:stream";
import { sleep } from "@lifeboat/base";
import { Backoff, type KitPorts, type Service } from "@lifeboat/kit";
import {
  AgentPool,
  answerHead,
  type Credential,
  type CredentialSource,
  type PoolConfig,
} from "@lifeboat/kit/adapters";
import {
  type HeaderLines,
  isKnownUpgrade,
  linesOf,
  passedByAgent,
  passedToCaller,
  upgradeHeaders,
  upgradeOf,
} from "../headers.ts";
import type { Outgoing } from "../routes.ts";
import { Carrier, copyBytes } from "./byte-streams.ts";
import { sendOverHttp, type Sent } from "./send-http.ts";
import {
  keepAlive,
  MODE_HEADER,
  MODES,
  PROBLEM_HEADER,
  SESSION_HEADER,
  SESSION_PARAMETER,
  TUNNEL_PROTOCOL,
  writeProblem,
} from "./tunnel-protocol.ts";

/** A server and the agent's credential for it; what `createHttpClient` takes has both. */
export interface TunnelEnd extends PoolConfig {
  readonly credentials: CredentialSource;
}

export interface TunnelOptions {
  readonly cluster: string;
  readonly plane: TunnelEnd;
  /** The API of the agent's own member. */
  readonly member: TunnelEnd;
  /** Called when the tunnel is open, and when it is not any more. */
  readonly onOpen?: (isOpen: boolean) => void;
}

const BACKOFF = { baseMs: 500, capMs: 30_000 };
/** A tunnel that lasted so long was no failure: the next attempt comes soon. */
const STEADY_MS = 60_000;
const OPEN_TIMEOUT_MS = 30_000;
const MAX_STREAMS = 1000;
const SESSION_MEMORY_MB = 64;
const SESSION_ID = /^[0-9a-f]{64}$/;
/** A path as the control plane writes it: encoded segments below the root, and a query. */
const TARGET = /^\/(?!\/)[\u0021-\u0022\u0024-\u007e]*$/;

/** Builds the service; it dials while it runs. */
export function createTunnel(
  ports: Pick<KitPorts, "clock" | "random" | "log">,
  options: TunnelOptions,
): Service {
  return { name: "tunnel", run: (signal) => new AgentTunnel(ports, options).run(signal) };
}

class AgentTunnel {
  readonly #ports: Pick<KitPorts, "clock" | "random" | "log">;
  readonly #options: TunnelOptions;
  readonly #planePool: AgentPool;
  readonly #memberPool: AgentPool;
  readonly #sessions = new Set<Duplex>();
  readonly #upgrades: http.Server;

  constructor(ports: Pick<KitPorts, "clock" | "random" | "log">, options: TunnelOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#planePool = new AgentPool(options.plane, Infinity);
    this.#memberPool = new AgentPool(options.member, Infinity);
    this.#upgrades = http.createServer((_request, response) => {
      response.writeHead(400, { connection: "close" }).end();
    });
    this.#upgrades.on("upgrade", (message: http.IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.#serveUpgrade(message, socket, head);
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#ports;
    const { cluster } = this.#options;
    const backoff = new Backoff(random, BACKOFF);
    while (!signal.aborted) {
      const began = clock.monotonic();
      try {
        const connection = await this.#open("", signal);
        log.info("the tunnel to the control plane is open", { cluster });
        await this.#serve(connection, signal);
        log.info("the tunnel to the control plane has ended", { cluster });
      } catch (error) {
        log.warn("opening the tunnel to the control plane", { cluster, error });
      }
      if (clock.monotonic() - began >= STEADY_MS) backoff.reset();
      if (!signal.aborted) await sleep(clock, backoff.next(), signal);
    }
    this.#planePool.close();
    this.#memberPool.close();
    for (const connection of this.#sessions) connection.destroy();
  }

  /** A connection to the control plane that speaks no HTTP/1.1 any more. */
  async #open(query: string, signal: AbortSignal): Promise<Duplex> {
    const { cluster, plane } = this.#options;
    const credential = await plane.credentials.current();
    const { agent, release } = this.#planePool.lease(credential);
    const url = new URL(plane.server);
    const path = `/apis/proxy.lifeboat.dev/v1alpha1/clusters/${encodeURIComponent(cluster)}/attach${query}`;
    try {
      return await new Promise<Duplex>((resolve, reject) => {
        const request = (url.protocol === "https:" ? https : http).request({
          host: url.hostname.replace(/^\[|\]$/g, ""),
          port: url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port,
          path: `${url.pathname.replace(/\/+$/, "")}${path}`,
          headers: {
            ...(credential.headers as http.OutgoingHttpHeaders),
            connection: "Upgrade",
            upgrade: TUNNEL_PROTOCOL,
          },
          agent,
        });
        const fail = (error: Error): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", onAbort);
          request.destroy();
          reject(error);
        };
        const onAbort = (): void => fail(new Error("the agent is stopping"));
        const timer = setTimeout(
          () => fail(new Error(`no answer within ${OPEN_TIMEOUT_MS} ms`)),
          OPEN_TIMEOUT_MS,
        );
        signal.addEventListener("abort", onAbort, { once: true });
        request.on("error", fail);
        request.once("response", (response) => {
          response.resume();
          if (response.statusCode === 401) this.#refresh(plane);
          fail(new Error(`the control plane answered ${response.statusCode} to the tunnel`));
        });
        request.once("upgrade", (response, socket: Duplex, head: Buffer) => {
          clearTimeout(timer);
          signal.removeEventListener("abort", onAbort);
          socket.on("error", () => socket.destroy());
          if (response.headers.upgrade?.toLowerCase() !== TUNNEL_PROTOCOL) {
            socket.destroy();
            reject(new Error("the control plane speaks another protocol"));
            return;
          }
          if (head.length > 0) socket.unshift(head);
          resolve(socket);
        });
        request.end();
      });
    } finally {
      release();
    }
  }

  /** Serves the control plane's requests until the connection is gone. */
  #serve(connection: Duplex, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const session = performServerHandshake(new Carrier(connection), {
        maxSessionMemory: SESSION_MEMORY_MB,
        settings: { maxConcurrentStreams: MAX_STREAMS, enablePush: false },
      });
      const cut = (): void => {
        if (!session.destroyed) session.destroy();
        connection.destroy();
      };
      const stop = keepAlive(session, cut);
      let isOver = false;
      const over = (): void => {
        if (isOver) return;
        isOver = true;
        stop();
        signal.removeEventListener("abort", cut);
        cut();
        this.#options.onOpen?.(false);
        resolve();
      };
      signal.addEventListener("abort", cut, { once: true });
      session.on("error", () => undefined);
      session.once("close", over);
      // The control plane has another tunnel, or goes: a new one is opened while what is under way finishes.
      session.once("goaway", () => session.close());
      connection.once("close", over);
      session.on("stream", (stream, headers, _flags, ...more: unknown[]) => {
        void this.#serveStream(stream, headers, more[0] as readonly string[], signal);
      });
      this.#options.onOpen?.(true);
      if (signal.aborted) cut();
    });
  }

  async #serveStream(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    raw: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    stream.on("error", () => undefined);
    try {
      if (headers[MODE_HEADER] === MODES.dial) {
        stream.respond({ ":status": 204 }, { endStream: true });
        await this.#dialBack(headers[SESSION_HEADER], signal);
        return;
      }
      const gone = new AbortController();
      stream.once("close", () => gone.abort());
      const sent = await this.#toMember({
        method: String(headers[":method"]),
        target: String(headers[":path"]),
        headers: linesOf(raw),
        body: stream.endAfterHeaders ? undefined : stream,
        protocol: "",
        signal: gone.signal,
      });
      if (sent.kind === "answered") answerStream(stream, sent);
      else sent.connection.destroy();
    } catch (error) {
      if (stream.destroyed || stream.headersSent) stream.destroy(new Error("cut off"));
      else
        stream.respond(
          { ":status": 502, [PROBLEM_HEADER]: writeProblem(messageOf(error)) },
          { endStream: true },
        );
    }
  }

  /** Opens a connection for one request that asks for another protocol; the control plane sends that request on it. */
  async #dialBack(id: unknown, signal: AbortSignal): Promise<void> {
    if (typeof id !== "string" || !SESSION_ID.test(id)) return;
    const connection = await this.#open(`?${SESSION_PARAMETER}=${id}`, signal);
    this.#sessions.add(connection);
    connection.once("close", () => this.#sessions.delete(connection));
    this.#upgrades.emit("connection", connection);
  }

  async #serveUpgrade(message: http.IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    if (head.length > 0) socket.unshift(head);
    const gone = new AbortController();
    const onClose = (): void => gone.abort();
    socket.once("close", onClose);
    try {
      const sent = await this.#toMember({
        method: message.method ?? "",
        target: message.url ?? "",
        headers: linesOf(message.rawHeaders),
        body: undefined,
        protocol: upgradeOf(message.headers as Readonly<Record<string, string | undefined>>),
        signal: gone.signal,
      });
      const headers = passedToCaller(sent.rawHeaders);
      if (sent.kind === "switched") {
        for (const [name, value] of upgradeHeaders(message.headers.upgrade ?? ""))
          headers[name] = value;
        socket.write(answerHead(101, headers), "latin1");
        copyBytes(socket, sent.connection, () => undefined);
        return;
      }
      // Its length follows from the end of the connection.
      delete headers["content-length"];
      headers["connection"] = "close";
      socket.write(answerHead(sent.status, headers), "latin1");
      sent.body.pipe(socket);
    } catch (error) {
      if (!socket.writable) return;
      const headers = { [PROBLEM_HEADER]: writeProblem(messageOf(error)), connection: "close" };
      socket.end(answerHead(502, { ...headers, "content-length": "0" }), "latin1");
    }
  }

  /** After a 401; the next request takes what there is then. */
  #refresh({ credentials, server }: TunnelEnd): void {
    credentials.refresh().catch((error: unknown) => {
      this.#ports.log.warn("reading the credential of the agent", { server, error });
    });
  }

  async #toMember(
    request: Omit<Outgoing, "isUpgrade"> & { readonly protocol: string },
  ): Promise<Sent> {
    const { target, protocol, method, body, signal } = request;
    if (!TARGET.test(target)) throw new Error("the path in the member is not valid");
    if (protocol !== "" && !isKnownUpgrade(protocol))
      throw new Error("members are asked for the protocols websocket and SPDY/3.1 alone");
    const callers = request.headers.filter(([name]) => name === "impersonate-user");
    if (callers.length !== 1 || callers[0]?.[1] === "")
      throw new Error("the request is in the name of no caller");
    const { member } = this.#options;
    const credential = await member.credentials.current();
    const { agent, release } = this.#memberPool.lease(credential);
    const headers: HeaderLines = [
      ...passedByAgent(request.headers),
      ...(protocol === "" ? [] : upgradeHeaders(protocol)),
      ...authorizationOf(credential),
    ];
    const isUpgrade = protocol !== "";
    try {
      const sent = await sendOverHttp(
        { url: new URL(member.server), agent },
        { method, target, headers, body, isUpgrade, signal },
      );
      if (sent.kind === "answered" && sent.status === 401) this.#refresh(member);
      return sent;
    } finally {
      release();
    }
  }
}

/** The agent's own credential, without anything that it would impersonate by itself. */
function authorizationOf({ headers }: Credential): HeaderLines {
  const value = headers["authorization"] ?? headers["Authorization"];
  return typeof value === "string" ? [["authorization", value]] : [];
}

function answerStream(stream: ServerHttp2Stream, sent: Sent & { kind: "answered" }): void {
  const { body, status } = sent;
  if (stream.destroyed) {
    body.destroy();
    return;
  }
  body.on("error", () => undefined);
  stream.once("close", () => body.destroy());
  stream.respond({
    ":status": status,
    ...(passedToCaller(sent.rawHeaders) as Record<string, string | string[]>),
  });
  const end = (): void => {
    if (stream.destroyed || stream.closed) return;
    if (sent.isWhole()) stream.end();
    // Not `close`: that would send a proper end first.
    else stream.destroy(new Error("the answer of the member broke off"));
  };
  body.once("end", end);
  body.once("close", end);
  body.pipe(stream, { end: false });
}

function messageOf(error: unknown): string {
  return `its agent could not pass the request on: ${error instanceof Error ? error.message : String(error)}`;
}
