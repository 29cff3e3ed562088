/**
 * The tunnels of agents, on the control plane's side. An agent opens a connection, and the control plane speaks HTTP/2 on it as a
 * client: one stream per request. A request that asks for another protocol gets a connection of its own, which the agent opens
 * by order, with an id that is good once.
 *
 * 1. A cluster has one tunnel: the newest. What is under way on the one before it may finish.
 * 2. A tunnel that does not answer pings is cut. Its requests fail; the next ones are refused with a sentence until the agent
 *    is back.
 * 3. The bytes that an agent sends are hostile: sessions run on a stream in JavaScript (`Carrier`), where they can harm
 *    themselves alone.
 *
 * This process knows its own tunnels. Which other replica of a control plane has one, `PeerOf` answers (create-proxy.ts).
 */
import { randomBytes } from "node:crypto";
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from "node:http2";
import type { Duplex } from "node:stream";
import { badRequest, failure, Refused } from "@lifeboat/api";
import type { Log } from "@lifeboat/kit";
import { linesOf, upgradeHeaders, upgradeOf } from "../headers.ts";
import { badAnswer } from "../refusals.ts";
import type { Outgoing } from "../routes.ts";
import { asDuplex, asReadable, Carrier } from "./byte-streams.ts";
import type { ProxiedAnswer, ProxiedRequest } from "./create-proxy.ts";
import { AwaitedAnswer, pump } from "./awaited-answer.ts";
import { sendOverHttp, type Sent } from "./send-http.ts";
import {
  keepAlive,
  MODE_HEADER,
  MODES,
  PROBLEM_HEADER,
  readProblem,
  SESSION_HEADER,
  SESSION_PARAMETER,
  TUNNEL_PROTOCOL,
} from "./tunnel-protocol.ts";

/** The cluster's agent has no tunnel open. */
export class NoTunnel extends Error {
  override readonly name = "NoTunnel";
}

/** How long an agent may take to open a connection that it is ordered to open. */
const DIAL_TIMEOUT_MS = 15_000;
/** How long requests on a replaced tunnel may go on. */
const RETIREMENT_MS = 60_000;
const SESSION_MEMORY_MB = 64;
const MEBIBYTE = 1024 * 1024;
const SESSION_ID = /^[0-9a-f]{64}$/;

interface Awaited {
  readonly cluster: string;
  arrived(connection: Duplex): void;
}

export class Tunnels {
  readonly #log: Log;
  readonly #onChange: (cluster: string, isOpen: boolean) => void;
  readonly #byCluster = new Map<string, Tunnel>();
  readonly #awaited = new Map<string, Awaited>();
  readonly #all = new Set<Tunnel>();

  constructor(log: Log, onChange: (cluster: string, isOpen: boolean) => void) {
    this.#log = log;
    this.#onChange = onChange;
  }

  has(cluster: string): boolean {
    return this.#byCluster.has(cluster);
  }

  /** Whether a request in this process awaits the connection of this session. */
  awaits(id: string): boolean {
    return this.#awaited.has(id);
  }

  close(): void {
    for (const tunnel of this.#all) tunnel.destroy();
  }

  /** Answers a request for a tunnel: 101, or a refusal. */
  open(request: ProxiedRequest): ProxiedAnswer {
    const { cluster, headers, canBeTakenOver, query } = request;
    if (!canBeTakenOver || !asksForTunnel(headers))
      throw badRequest(`a tunnel is opened over HTTP/1.1 with Upgrade: ${TUNNEL_PROTOCOL}`);
    const id = sessionOf(query);
    const awaited = id === undefined ? undefined : this.#claim(id, cluster);
    const answer = Object.fromEntries(upgradeHeaders(TUNNEL_PROTOCOL));
    return {
      status: 101,
      headers: answer,
      body: {
        take: (connection) => {
          const duplex = asDuplex(connection);
          duplex.on("error", () => duplex.destroy());
          if (awaited === undefined) this.#keep(cluster, duplex);
          else awaited.arrived(duplex);
        },
        drop: () => undefined,
      },
    };
  }

  async send(cluster: string, outgoing: Outgoing): Promise<Sent> {
    const tunnel = this.#byCluster.get(cluster);
    if (tunnel === undefined)
      throw new NoTunnel("it is a Pull cluster, and its agent has no tunnel open at present");
    if (!outgoing.isUpgrade) return tunnel.send(outgoing);
    const connection = await this.#dial(cluster, tunnel, outgoing.signal);
    const headers = [...outgoing.headers, [MODE_HEADER, MODES.forward]] as const;
    const sent = await sendOverHttp({ url: MEMBER_URL, connection }, { ...outgoing, headers });
    const told = linesOf(sent.rawHeaders).find(([name]) => name === PROBLEM_HEADER);
    const problem = readProblem(told?.[1]);
    if (problem === undefined) return sent;
    connection.destroy();
    throw badAnswer(cluster, problem);
  }

  #keep(cluster: string, connection: Duplex): void {
    const former = this.#byCluster.get(cluster);
    const leave = (): void => {
      if (this.#byCluster.get(cluster) !== tunnel) return;
      this.#byCluster.delete(cluster);
      this.#onChange(cluster, false);
      this.#log.info("the tunnel of a cluster has ended", { cluster });
    };
    const over = (): void => {
      this.#all.delete(tunnel);
      leave();
    };
    const tunnel = new Tunnel(cluster, connection, { leave, over });
    this.#all.add(tunnel);
    this.#byCluster.set(cluster, tunnel);
    this.#onChange(cluster, true);
    former?.retire();
    this.#log.info("the agent of a cluster has opened a tunnel", { cluster });
  }

  /** A connection that the agent opens for one request. */
  #dial(cluster: string, tunnel: Tunnel, signal: AbortSignal): Promise<Duplex> {
    const id = randomBytes(32).toString("hex");
    return new Promise((resolve, reject) => {
      const over = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        this.#awaited.delete(id);
      };
      const fail = (error: Error): void => {
        over();
        reject(error);
      };
      const onAbort = (): void => fail(new Error("the caller is gone"));
      const timer = setTimeout(
        () => fail(new NoTunnel("its agent did not open a connection for the session in time")),
        DIAL_TIMEOUT_MS,
      );
      signal.addEventListener("abort", onAbort, { once: true });
      this.#awaited.set(id, {
        cluster,
        arrived: (connection) => {
          over();
          resolve(connection);
        },
      });
      tunnel.order(id).catch((error: unknown) => fail(error as Error));
    });
  }

  /** The request that awaits this connection; an id is good once, and for its own cluster. */
  #claim(id: string, cluster: string): Awaited {
    const awaited = SESSION_ID.test(id) ? this.#awaited.get(id) : undefined;
    if (awaited === undefined || awaited.cluster !== cluster)
      throw new Refused(failure(404, "NotFound", "no session of this id awaits a connection"));
    this.#awaited.delete(id);
    return awaited;
  }
}

const MEMBER_URL = new URL("http://member");

export function asksForTunnel(headers: ProxiedRequest["headers"]): boolean {
  return upgradeOf(headers).toLowerCase() === TUNNEL_PROTOCOL;
}

/** The id of the session that a connection is opened for; undefined: it is a tunnel. */
export function sessionOf(query: string): string | undefined {
  return new URLSearchParams(query).get(SESSION_PARAMETER) ?? undefined;
}

class Tunnel {
  readonly #cluster: string;
  readonly #connection: Duplex;
  readonly #session: ClientHttp2Session;
  #retirement: ReturnType<typeof setTimeout> | undefined;

  /** `leave` is called when it takes no new requests, `over` when it is gone. */
  constructor(
    cluster: string,
    connection: Duplex,
    { leave, over }: { readonly leave: () => void; readonly over: () => void },
  ) {
    this.#cluster = cluster;
    this.#connection = connection;
    this.#session = connect(MEMBER_URL, {
      createConnection: () => new Carrier(connection),
      maxSessionMemory: SESSION_MEMORY_MB,
      settings: { enablePush: false, initialWindowSize: MEBIBYTE },
    });
    this.#session.on("error", () => undefined);
    const stop = keepAlive(this.#session, () => this.destroy());
    this.#session.once("connect", () => this.#session.setLocalWindowSize(4 * MEBIBYTE));
    // Whichever comes first: a session may outlive its connection, and the other way round.
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      stop();
      clearTimeout(this.#retirement);
      this.destroy();
      over();
    };
    this.#session.once("close", end);
    connection.once("close", end);
    this.#session.once("goaway", () => {
      leave();
      this.retire();
    });
  }

  /** No new requests; those under way may finish, for a time. */
  retire(): void {
    if (this.#session.destroyed) return;
    if (!this.#session.closed) this.#session.close();
    this.#retirement ??= setTimeout(() => this.destroy(), RETIREMENT_MS);
  }

  destroy(): void {
    if (!this.#session.destroyed) this.#session.destroy();
    this.#connection.destroy();
  }

  /** Orders the agent to open a connection. */
  async order(id: string): Promise<void> {
    const outgoing = {
      method: "POST",
      target: "/",
      headers: [[SESSION_HEADER, id]] as const,
      body: undefined,
      isUpgrade: false,
      signal: new AbortController().signal,
    };
    const sent = await this.#request(outgoing, MODES.dial);
    if (sent.kind === "answered") sent.body.resume();
  }

  send(outgoing: Outgoing): Promise<Sent> {
    return this.#request(outgoing, MODES.forward);
  }

  #request(outgoing: Outgoing, mode: string): Promise<Sent> {
    const { body, signal } = outgoing;
    return new Promise((resolve, reject) => {
      if (this.#session.destroyed || this.#session.closed)
        throw new NoTunnel("its tunnel has just ended");
      const stream = this.#session.request(headersOf(outgoing, mode), {
        endStream: body === undefined,
      });
      const awaited = new AwaitedAnswer(signal, (error) => {
        stream.destroy();
        reject(error);
      });
      const fail = (error: Error): void => awaited.fail(error);
      stream.on("error", fail);
      stream.once("close", () => fail(new Error("the tunnel of its agent broke off")));
      stream.once("response", (headers, _flags, ...more: unknown[]) => {
        if (!awaited.settle()) return;
        const rawHeaders = more[0] as readonly string[];
        const problem = readProblem(headers[PROBLEM_HEADER]);
        if (problem !== undefined) {
          stream.destroy();
          reject(badAnswer(this.#cluster, problem));
          return;
        }
        const isWhole = (): boolean => stream.rstCode === 0 && !stream.aborted;
        const status = headers[":status"] ?? 0;
        resolve({ kind: "answered", status, rawHeaders, body: stream, isWhole });
      });
      if (signal.aborted) fail(new Error("the caller is gone"));
      else if (body !== undefined) pump(asReadable(body), stream, awaited.progress);
    });
  }
}

function headersOf({ method, target, headers, body }: Outgoing, mode: string): OutgoingHttpHeaders {
  const all: Record<string, string | string[]> = {
    ":method": method,
    ":path": target,
    ":scheme": "https",
    ":authority": "member",
    [MODE_HEADER]: mode,
  };
  for (const [name, value] of headers) {
    if (name === "__proto__" || (name === "content-length" && body === undefined)) continue;
    const before = all[name];
    if (before === undefined) all[name] = value;
    else all[name] = [...(typeof before === "string" ? [before] : before), value];
  }
  return all;
}
