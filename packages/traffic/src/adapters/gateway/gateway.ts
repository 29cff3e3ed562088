/**
 * The gateway: an HTTP reverse proxy in this process, one of the two providers.
 *
 * 1. Before the first table every request gets 503.
 * 2. A table takes effect between two requests: each is routed by one whole table.
 * 3. It ends in order: no new connections, `Connection: close` on answers, requests under way get `closeMs`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContext } from "node:tls";
import {
  indexRoutes,
  leadsUpwards,
  type RouteIndex,
  type RoutingTable,
} from "@lifeboat/core/traffic";
import { type JudgeAddress, judgeBackend, type KitPorts, type Log } from "@lifeboat/kit";
import { judgedLookup } from "@lifeboat/kit/adapters";
import { hostOf } from "../../gateway/headers.ts";
import { createTrafficMetrics } from "../../metrics.ts";
import type { Leaving, ListenAddress, LocalProvider, ServedCertificate } from "../../provider.ts";
import { usableCertificates } from "../usable-certificates.ts";
import { Backends } from "./endpoints.ts";
import {
  forward,
  FORWARD_LIMITS,
  type ForwardLimits,
  type ForwardPorts,
  refuse,
} from "./forward.ts";
import { forwardUpgrade, refuseUpgrade } from "./upgrade.ts";

export interface GatewayOptions {
  readonly listen: ListenAddress;
  /** Absent: HTTP only. */
  readonly tlsListen?: ListenAddress;
  readonly limits?: Partial<ForwardLimits>;
  /** Which addresses the names of backends may resolve to. */
  readonly judge?: JudgeAddress;
}

const MAX_HEADER_BYTES = 32 * 1024;
const MAX_CONNECTIONS = 20_000;
const KEEP_ALIVE_MS = 65_000;
const HEADERS_TIMEOUT_MS = 20_000;
/** Node's own is two minutes: so long a stranger would keep each of the connections above. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Builds the gateway; `open` starts it. */
export function createGateway(ports: KitPorts, options: GatewayOptions): LocalProvider {
  return new HttpGateway(ports, options);
}

class HttpGateway implements LocalProvider {
  readonly name = "embedded";
  readonly #options: GatewayOptions;
  readonly #log: Log;
  readonly #backends: Backends;
  readonly #ports: ForwardPorts;
  readonly #servers: Server[] = [];
  #routes: RouteIndex | undefined;
  #contexts: ReadonlyMap<string, SecureContext> = new Map();
  #isStopping = false;
  #isOpen = false;

  constructor({ clock, log, metrics }: KitPorts, options: GatewayOptions) {
    this.#options = options;
    this.#log = log;
    this.#backends = new Backends(clock, judgedLookup(options.judge ?? judgeBackend));
    this.#ports = {
      clock,
      metrics: createTrafficMetrics(metrics),
      backends: this.#backends,
      limits: { ...FORWARD_LIMITS, ...options.limits },
      isStopping: () => this.#isStopping,
    };
  }

  async open(): Promise<{ readonly port: number; readonly tlsPort?: number }> {
    const { listen, tlsListen } = this.#options;
    const limits = {
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      // Node's own cuts an upload of five minutes that goes on; a body that stops is given up by forward.ts.
      requestTimeout: 0,
      insecureHTTPParser: false,
    };
    const port = await this.#serve(createServer(limits), listen, false);
    this.#isOpen = true;
    if (tlsListen === undefined) return { port };
    const tls = createTlsServer({
      ...limits,
      ALPNProtocols: ["http/1.1"],
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      SNICallback: (name, done) => done(null, this.#contextFor(name)),
    });
    return { port, tlsPort: await this.#serve(tls, tlsListen, true) };
  }

  apply(table: RoutingTable, certificates: readonly ServedCertificate[]): Promise<void> {
    this.#contexts = this.#contextsOf(certificates);
    this.#backends.replace(table.pools);
    this.#routes = indexRoutes(table);
    return Promise.resolve();
  }

  leaving(): Promise<ReadonlyMap<string, Leaving>> {
    return Promise.resolve(this.#backends.leaving());
  }

  problem(): string | undefined {
    if (this.#isStopping) return "the gateway is being stopped";
    return this.#isOpen ? undefined : "the gateway does not listen";
  }

  async close(closeMs: number): Promise<void> {
    this.#isStopping = true;
    const closed = Promise.all(
      this.#servers.map((server) => new Promise<void>((done) => server.close(() => done()))),
    );
    for (const server of this.#servers) server.closeIdleConnections();
    const cancel = this.#ports.clock.after(closeMs, () => {
      for (const server of this.#servers) server.closeAllConnections();
    });
    await closed;
    cancel();
    this.#backends.close();
  }

  #serve(server: Server, { host, port }: ListenAddress, isTls: boolean): Promise<number> {
    server.maxConnections = MAX_CONNECTIONS;
    server.on("request", (request: IncomingMessage, response: ServerResponse) =>
      this.#handle(request, response, isTls),
    );
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#handleUpgrade(request, socket, head, isTls),
    );
    server.on("connect", (_request: IncomingMessage, socket: Duplex) =>
      refuseUpgrade(socket, 405, "this is no forward proxy"),
    );
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen({ port, ...(host !== "" && { host }) }, () => {
        server.off("error", reject);
        server.on("error", (error) => this.#log.error("the gateway's socket", { error }));
        this.#servers.push(server);
        resolve((server.address() as AddressInfo).port);
      });
    });
  }

  #handle(request: IncomingMessage, response: ServerResponse, isTls: boolean): void {
    const found = this.#poolFor(request);
    if ("code" in found) return refuse(this.#ports, response, found.code, found.text);
    forward(this.#ports, { request, response, pool: found.pool, isTls }).catch((error: unknown) => {
      this.#log.error("passing a request on", { error });
      response.destroy();
    });
  }

  #handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, isTls: boolean): void {
    const found = this.#poolFor(request);
    if ("code" in found) return refuseUpgrade(socket, found.code, found.text);
    socket.on("error", () => socket.destroy());
    forwardUpgrade(this.#ports, { request, socket, head, pool: found.pool, isTls }).catch(
      (error: unknown) => {
        this.#log.error("passing an upgrade on", { error });
        socket.destroy();
      },
    );
  }

  #poolFor(
    request: IncomingMessage,
  ): { readonly pool: string } | { readonly code: number; readonly text: string } {
    if (this.#routes === undefined) return { code: 503, text: "no routing table yet" };
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    if (!path.startsWith("/") || leadsUpwards(path)) return { code: 400, text: "not a plain path" };
    const route = this.#routes.find(hostOf(request.headers.host), path);
    return route === undefined
      ? { code: 404, text: "no ingress serves this host and path" }
      : { pool: route.pool };
  }

  #contextFor(name: string): SecureContext | undefined {
    const host = name.toLowerCase();
    const wildcard = `*${host.slice(Math.max(0, host.indexOf(".")))}`;
    return this.#contexts.get(host) ?? this.#contexts.get(wildcard);
  }

  #contextsOf(certificates: readonly ServedCertificate[]): ReadonlyMap<string, SecureContext> {
    return new Map(
      usableCertificates(certificates, this.#log).flatMap(({ hosts, context }) =>
        hosts.map((host) => [host, context] as const),
      ),
    );
  }
}
