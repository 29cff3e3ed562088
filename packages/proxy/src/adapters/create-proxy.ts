/**
 * The proxy into members, as the API server's port for it wants it.
 *
 *   which user (impersonation) → which way (routes) → room (in flight) → send → check the answer → pass it on
 *
 * 1. A request reaches the registered endpoint of its member or nothing, with the member's impersonator credential or none.
 * 2. What a member answers is hostile: a redirect, a refused credential or a change of protocol that was not asked for ends
 *    here with a sentence.
 * 3. Each request holds its place until its stream or its connection is over, however that happens.
 * 4. A tunnel ends at one replica of the control plane. The others pass requests for its cluster on to that one, once:
 *    what was passed on is never passed on again.
 */
import type { Readable } from "node:stream";
import { badRequest, failure, Refused } from "@lifeboat/api";
import type { JudgeAddress, KitPorts } from "@lifeboat/kit";
import { AgentPool, httpProxyOf, type PoolConfig } from "@lifeboat/kit/adapters";
import {
  type Caller,
  impersonation,
  impersonationProblem,
  isKnownUpgrade,
  namedToPeer,
  passedToCaller,
  passedToMember,
  upgradeHeaders,
  upgradeOf,
} from "../headers.ts";
import { DEFAULT_PROXY_LIMITS, ProxyInFlight, type ProxyLimits } from "../in-flight.ts";
import { createProxyMetrics, type ProxyMetrics } from "../metrics.ts";
import { badAnswer, noAnswerInTime, noSuchCluster, noWay } from "../refusals.ts";
import type { MemberRoutes, Outgoing, PeerAccess, PeerOf, PushAccess } from "../routes.ts";
import { asDuplex, copyBytes } from "./byte-streams.ts";
import { ANSWER_TIMEOUT_MS, NoAnswer } from "./awaited-answer.ts";
import { sendOverHttp, type Sent } from "./send-http.ts";
import { TUNNEL_PROTOCOL } from "./tunnel-protocol.ts";
import { asksForTunnel, NoTunnel, sessionOf, Tunnels } from "./tunnels.ts";

export interface ProxiedRequest {
  readonly cluster: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The path in the member, percent-encoded. */
  readonly path: string;
  readonly query: string;
  readonly user: Caller;
  readonly body: AsyncIterable<Uint8Array> | undefined;
  readonly canBeTakenOver: boolean;
  /** Another replica has passed it on already. */
  readonly isForwarded?: boolean;
  readonly signal: AbortSignal;
}

interface Sink {
  write(chunk: Uint8Array): boolean;
  onDrain(callback: () => void): void;
  end(): void;
  abort(): void;
}

export interface ProxiedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body:
    | Uint8Array
    | { start(out: Sink): void; stop(): void }
    | { take(connection: AsyncIterable<Uint8Array>): void; drop(): void };
}

export interface Proxy {
  forward(request: ProxiedRequest): Promise<ProxiedAnswer>;
  openTunnel(request: ProxiedRequest): Promise<ProxiedAnswer>;
  /** Whether the agent of this cluster has a tunnel open. */
  hasTunnel(cluster: string): boolean;
  /** Cuts the tunnels that are open; their agents open them again. */
  cutTunnels(): void;
  /** Why no tunnel is taken and no member is asked; undefined: they are. */
  problem(): string | undefined;
  /** Ends all connections to members. */
  close(): void;
}

export interface ProxyOptions {
  /** Asked about every address before a push member, or its proxy, is dialled. */
  readonly judgeAddress?: JudgeAddress;
  readonly limits?: ProxyLimits;
  /** Which other replica has a tunnel; absent: there is no other. */
  readonly peerOf?: PeerOf;
  /** Called when a tunnel into this process is open, and when there is none any more. */
  readonly onTunnel?: (cluster: string, isOpen: boolean) => void;
}

/** Builds the proxy; it dials when it is asked to. */
export function createMemberProxy(
  ports: Pick<KitPorts, "log" | "metrics">,
  routes: MemberRoutes,
  options: ProxyOptions = {},
): Proxy {
  return new MemberProxy(ports, routes, options);
}

interface KeptPool {
  readonly config: string;
  readonly pool: AgentPool;
}

class MemberProxy implements Proxy {
  readonly #routes: MemberRoutes;
  readonly #judgeAddress: JudgeAddress | undefined;
  readonly #metrics: ProxyMetrics;
  readonly #inFlight: ProxyInFlight;
  readonly #tunnels: Tunnels;
  readonly #peerOf: PeerOf;
  /** By the name of a cluster, or by the endpoint of another replica, which no cluster can be called. */
  readonly #pools = new Map<string, KeptPool>();
  /** Of connections that were taken over. */
  readonly #taken = new Set<{ destroy(): unknown }>();
  #isClosed = false;

  constructor(
    ports: Pick<KitPorts, "log" | "metrics">,
    routes: MemberRoutes,
    {
      limits = DEFAULT_PROXY_LIMITS,
      judgeAddress,
      peerOf = () => undefined,
      onTunnel = () => undefined,
    }: ProxyOptions,
  ) {
    this.#peerOf = peerOf;
    this.#routes = routes;
    this.#judgeAddress = judgeAddress;
    this.#metrics = createProxyMetrics(ports.metrics);
    this.#inFlight = new ProxyInFlight(limits, (total) => this.#metrics.inFlight.set(total, {}));
    const { tunnels } = this.#metrics;
    this.#tunnels = new Tunnels(ports.log, (cluster, isOpen) => {
      if (isOpen) tunnels.set(1, { member_cluster: cluster });
      else tunnels.remove({ member_cluster: cluster });
      onTunnel(cluster, isOpen);
    });
  }

  hasTunnel(cluster: string): boolean {
    return this.#tunnels.has(cluster);
  }

  cutTunnels(): void {
    this.#tunnels.close();
  }

  problem(): string | undefined {
    return this.#isClosed ? "the proxy into members is closed" : undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#tunnels.close();
    for (const { pool } of this.#pools.values()) pool.close();
    this.#pools.clear();
    for (const connection of this.#taken) connection.destroy();
  }

  async openTunnel(request: ProxiedRequest): Promise<ProxiedAnswer> {
    const { cluster, query } = request;
    if (this.#isClosed) throw noWay(cluster, "the control plane is shutting down");
    const session = sessionOf(query);
    // A new tunnel is for whichever replica it reaches; a session is for the one whose request awaits it.
    const isElsewhere = session !== undefined && !this.#tunnels.awaits(session);
    const peer = isElsewhere ? this.#otherReplica(request) : undefined;
    if (peer === undefined || !request.canBeTakenOver || !asksForTunnel(request.headers))
      return this.#tunnels.open(request);
    const outgoing = {
      ...outgoingTo(request, TUNNEL_PROTOCOL),
      target: `${memberPrefix(cluster)}/attach?${query}`,
    };
    const sent = await this.#send(cluster, (one) => this.#sendToPeer(peer, one), outgoing);
    return this.#answerOf(request, sent, () => undefined);
  }

  async forward(request: ProxiedRequest): Promise<ProxiedAnswer> {
    const { cluster, user } = request;
    const problem = impersonationProblem(user);
    if (problem !== undefined)
      throw new Refused(
        failure(403, "Forbidden", `a member cannot be asked in the name of this user: ${problem}`),
      );
    const send = this.#wayTo(request);
    const outgoing = outgoingOf(request);
    const leave = this.#inFlight.enter(user.name, cluster);
    try {
      const sent = await this.#send(cluster, send, outgoing);
      const answer = this.#answerOf(request, sent, leave);
      this.#metrics.requests.add(1, { member_cluster: cluster, code: String(answer.status) });
      return answer;
    } catch (error) {
      leave();
      const code = error instanceof Refused ? String(error.status.code) : "500";
      this.#metrics.requests.add(1, { member_cluster: cluster, code });
      throw error;
    }
  }

  #wayTo(request: ProxiedRequest): (outgoing: Outgoing) => Promise<Sent> {
    const { cluster } = request;
    if (this.#isClosed) throw noWay(cluster, "the control plane is shutting down");
    const route = this.#routes.of(cluster);
    if (route.kind === "push") return (outgoing) => this.#push(cluster, route.access, outgoing);
    this.#dropPool(cluster);
    if (route.kind === "absent") throw noSuchCluster(cluster);
    if (route.kind === "closed") throw noWay(cluster, route.message);
    const peer = this.#tunnels.has(cluster) ? undefined : this.#otherReplica(request);
    if (peer === undefined) return (outgoing) => this.#tunnels.send(cluster, outgoing);
    return (outgoing) => {
      const target = `${memberPrefix(cluster)}/proxy${outgoing.target}`;
      return this.#sendToPeer(peer, { ...outgoing, target });
    };
  }

  #otherReplica({ cluster, isForwarded }: ProxiedRequest): PeerAccess | undefined {
    return isForwarded === true ? undefined : this.#peerOf(cluster);
  }

  /** In the name of the caller, by the headers that a replica believes from another one. */
  #sendToPeer(peer: PeerAccess, outgoing: Outgoing): Promise<Sent> {
    const { endpoint, caBundle, serverName, certificate, key } = peer;
    const config = { server: endpoint, certificateAuthority: caBundle, tlsServerName: serverName };
    const pool = this.#poolOf(endpoint, JSON.stringify(config), config);
    const { agent, release } = pool.lease({ headers: {}, certificate, key });
    const headers = namedToPeer(outgoing.headers);
    return sendOverHttp({ url: new URL(endpoint), agent }, { ...outgoing, headers }).finally(
      release,
    );
  }

  async #send(
    cluster: string,
    send: (outgoing: Outgoing) => Promise<Sent>,
    outgoing: Outgoing,
  ): Promise<Sent> {
    try {
      return await send(outgoing);
    } catch (error) {
      if (error instanceof Refused) throw error;
      if (error instanceof NoTunnel) throw noWay(cluster, error.message);
      if (error instanceof NoAnswer) throw noAnswerInTime(cluster, ANSWER_TIMEOUT_MS);
      throw badAnswer(cluster, `the request failed: ${messageOf(error)}`);
    }
  }

  #push(cluster: string, access: PushAccess, outgoing: Outgoing): Promise<Sent> {
    const { agent, release } = this.#pool(cluster, access).lease({ headers: {} });
    const headers = [...outgoing.headers, ["authorization", `Bearer ${access.token}`]] as const;
    return sendOverHttp({ url: new URL(access.endpoint), agent }, { ...outgoing, headers }).finally(
      release,
    );
  }

  /** Connections are kept for one endpoint and its authority; when these change, the old ones end at once. */
  #pool(cluster: string, access: PushAccess): AgentPool {
    const { endpoint, caBundle, insecureSkipTlsVerification, proxyUrl, proxyHeaders } = access;
    const described = [endpoint, caBundle, insecureSkipTlsVerification, proxyUrl, proxyHeaders];
    const config = { ...poolConfig(access), judgeAddress: this.#judgeAddress };
    return this.#poolOf(cluster, JSON.stringify(described), config);
  }

  #poolOf(key: string, described: string, config: PoolConfig): AgentPool {
    const kept = this.#pools.get(key);
    if (kept?.config === described) return kept.pool;
    this.#dropPool(key);
    const pool = new AgentPool(config, Infinity);
    this.#pools.set(key, { config: described, pool });
    return pool;
  }

  #dropPool(key: string): void {
    this.#pools.get(key)?.pool.close();
    this.#pools.delete(key);
  }

  #answerOf(request: ProxiedRequest, sent: Sent, leave: () => void): ProxiedAnswer {
    const { cluster, method } = request;
    const headers = passedToCaller(sent.rawHeaders);
    if (sent.kind === "switched") {
      for (const [name, value] of upgradeHeaders(upgradeOf(request.headers))) headers[name] = value;
      return { status: 101, headers, body: this.#takeOver(sent.connection, leave) };
    }
    const { status, body } = sent;
    const problem = problemOfStatus(status);
    if (problem !== undefined) {
      body.destroy();
      throw badAnswer(cluster, problem);
    }
    if (method === "HEAD" || status === 204 || status === 304) {
      body.resume();
      leave();
      return { status, headers, body: new Uint8Array(0) };
    }
    return { status, headers, body: streamOf(body, () => sent.isWhole(), leave) };
  }

  #takeOver(member: ReturnType<typeof asDuplex>, leave: () => void): ProxiedAnswer["body"] {
    this.#taken.add(member);
    const over = (): void => {
      this.#taken.delete(member);
      leave();
    };
    return {
      take: (connection) => copyBytes(asDuplex(connection), member, over),
      drop: () => {
        member.destroy();
        over();
      },
    };
  }
}

/** Where a replica serves the way into a member. */
function memberPrefix(cluster: string): string {
  return `/apis/proxy.lifeboat.dev/v1alpha1/clusters/${encodeURIComponent(cluster)}`;
}

function outgoingOf(request: ProxiedRequest): Outgoing {
  const protocol = request.canBeTakenOver ? upgradeOf(request.headers) : "";
  if (protocol !== "" && !isKnownUpgrade(protocol))
    throw badRequest("members are asked for the protocols websocket and SPDY/3.1 alone");
  return outgoingTo(request, protocol);
}

/** The request as it leaves; the protocol is "" where it changes none. */
function outgoingTo(request: ProxiedRequest, protocol: string): Outgoing {
  const { method, headers, path, query, user, body, signal } = request;
  const isUpgrade = protocol !== "";
  return {
    method,
    target: query === "" ? path : `${path}?${query}`,
    headers: [
      ...passedToMember(headers),
      ...impersonation(user),
      ...(isUpgrade ? upgradeHeaders(protocol) : []),
    ],
    body,
    isUpgrade,
    signal,
  };
}

function poolConfig(access: PushAccess): PoolConfig {
  const { endpoint, caBundle, insecureSkipTlsVerification, proxyUrl, proxyHeaders } = access;
  return {
    server: endpoint,
    insecureSkipTlsVerify: insecureSkipTlsVerification,
    ...(caBundle === undefined || insecureSkipTlsVerification
      ? {}
      : { certificateAuthority: caBundle }),
    ...(proxyUrl === undefined ? {} : { proxy: httpProxyOf(proxyUrl, proxyHeaders) }),
  };
}

/** Why an answer is not passed on; undefined when it is. */
function problemOfStatus(status: number): string | undefined {
  if (status >= 300 && status < 400 && status !== 304)
    return "it answered with a redirect, which is neither followed nor passed on";
  if (status === 401)
    return "it does not accept the credential by which it is asked: join the cluster again, or check its agent";
  if (status < 200 || status > 599) return `it answered with the status ${status}, which is none`;
  return undefined;
}

/** The body of an answer for the transport: at the client's speed, and broken off where the member broke off. */
function streamOf(
  body: Readable,
  isWhole: () => boolean,
  over: () => void,
): { start(out: Sink): void; stop(): void } {
  body.on("error", () => undefined);
  body.once("close", over);
  return {
    start: (out) => {
      let hasEnded = false;
      const end = (): void => {
        if (hasEnded) return;
        hasEnded = true;
        if (isWhole()) out.end();
        else out.abort();
      };
      if (body.destroyed) {
        out.abort();
        return;
      }
      out.onDrain(() => body.resume());
      body.once("end", end);
      body.once("close", end);
      body.on("data", (chunk: Buffer) => {
        if (!out.write(chunk)) body.pause();
      });
    },
    stop: () => {
      body.destroy();
      over();
    },
  };
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300);
}
