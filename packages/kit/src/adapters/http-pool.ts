/**
 * Kept-alive connections to one server.
 *
 * Certificates may change at any time: new connections take the new ones, old connections end with their last call.
 */
import * as http from "node:http";
import * as https from "node:https";
import type { Duplex } from "node:stream";
import * as tls from "node:tls";
import type { Credential } from "./credentials.ts";
import type { JudgeAddress } from "../dialled-addresses.ts";
import { judgedDial } from "./judged-dial.ts";
import { connectThrough, type HttpProxy } from "./http-proxy.ts";

/** The server, and how its certificate is checked. */
export interface PoolConfig {
  /** The server's URL; a path in it is put before every path. */
  readonly server: string;
  /** PEM; absent: the system's authorities. */
  readonly certificateAuthority?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** The name the server's certificate must be for, where it is not the URL's. */
  readonly tlsServerName?: string;
  /** Every connection is made through this proxy; absent: directly. For https alone. */
  readonly proxy?: HttpProxy;
  /** Asked about every address before it is dialled, that of a proxy included; absent: every one may be. */
  readonly judgeAddress?: JudgeAddress | undefined;
}

/** Idle connections are probed by TCP after this; a dead peer is noticed ten seconds later. */
const KEEP_ALIVE_MS = 30_000;

/**
 * An agent keeps connections apart by a name that it makes for every request of all options, certificates included: some
 * kilobytes. This one has one server and one set of options.
 */
class OneServerAgent extends https.Agent {
  readonly #judge: JudgeAddress | undefined;

  constructor(options: https.AgentOptions, judge: JudgeAddress | undefined) {
    super(options);
    this.#judge = judge;
  }

  override getName(): string {
    return "";
  }

  override createConnection(
    options: http.ClientRequestArgs,
    callback?: CreateCallback,
  ): Duplex | null | undefined {
    return dialled(this.#judge, options, callback, (judged) =>
      super.createConnection(judged, callback),
    );
  }
}

/** The same without TLS. */
class PlainAgent extends http.Agent {
  readonly #judge: JudgeAddress | undefined;

  constructor(options: http.AgentOptions, judge: JudgeAddress | undefined) {
    super(options);
    this.#judge = judge;
  }

  override createConnection(
    options: http.ClientRequestArgs,
    callback?: CreateCallback,
  ): Duplex | null | undefined {
    return dialled(this.#judge, options, callback, (judged) =>
      super.createConnection(judged, callback),
    );
  }
}

type CreateCallback = (error: Error | null, stream: Duplex) => void;

/** Dials what the judge allows; a refusal is an error of the request, as any other failure to connect. */
function dialled(
  judge: JudgeAddress | undefined,
  options: http.ClientRequestArgs,
  callback: CreateCallback | undefined,
  dial: (options: http.ClientRequestArgs) => Duplex | null | undefined,
): Duplex | null | undefined {
  if (judge === undefined) return dial(options);
  try {
    return dial({ ...options, ...judgedDial(String(options.host), judge) });
  } catch (error) {
    (callback as (error: Error) => void)(error as Error);
    return undefined;
  }
}

/** The same, through a proxy. TLS is spoken with the server, so the proxy sees neither requests nor credentials. */
class ProxiedAgent extends OneServerAgent {
  readonly #proxy: HttpProxy;
  readonly #judgeProxy: JudgeAddress | undefined;

  constructor(options: https.AgentOptions, proxy: HttpProxy, judge: JudgeAddress | undefined) {
    super(options, judge);
    this.#proxy = proxy;
    this.#judgeProxy = judge;
  }

  override createConnection(options: http.ClientRequestArgs, callback?: CreateCallback): undefined {
    const { host, port } = options;
    const done = callback as (error: Error | null, stream?: Duplex) => void;
    connectThrough(this.#proxy, String(host), Number(port), this.#judgeProxy).then(
      (socket) => done(null, tls.connect({ ...(options as tls.ConnectionOptions), socket })),
      (error: unknown) => done(error as Error),
    );
  }
}

/** Connections for the certificate in use. When it changes, the pool of the old one ends with its last call. */
export class AgentPool {
  readonly #config: PoolConfig;
  readonly #maxSockets: number;
  #current: { certificate: string; agent: http.Agent; users: number } | undefined;
  #closed = false;

  constructor(config: PoolConfig, maxSockets: number) {
    if (config.proxy !== undefined && !/^https:/i.test(config.server))
      throw new Error("a server is reached through a proxy by https alone");
    this.#config = config;
    this.#maxSockets = maxSockets;
  }

  lease(credential: Credential): { readonly agent: http.Agent; readonly release: () => void } {
    const { certificateAuthority = "" } = credential;
    const certificate = `${credential.certificate ?? ""}\n${credential.key ?? ""}\n${certificateAuthority}`;
    if (this.#current?.certificate !== certificate) {
      if (this.#current?.users === 0) this.#current.agent.destroy();
      this.#current = { certificate, agent: this.#makeAgent(credential), users: 0 };
    }
    const pool = this.#current;
    pool.users += 1;
    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      pool.users -= 1;
      if (pool.users === 0 && (this.#closed || pool !== this.#current)) pool.agent.destroy();
    };
    return { agent: pool.agent, release };
  }

  close(): void {
    this.#closed = true;
    this.#current?.agent.destroy();
  }

  #makeAgent(credential: Credential): http.Agent {
    const pooling = {
      keepAlive: true,
      keepAliveMsecs: KEEP_ALIVE_MS,
      maxSockets: this.#maxSockets,
      scheduling: "lifo" as const,
    };
    const { insecureSkipTlsVerify, tlsServerName, proxy, judgeAddress } = this.#config;
    const ca = credential.certificateAuthority ?? this.#config.certificateAuthority;
    if (new URL(this.#config.server).protocol === "http:")
      return new PlainAgent(pooling, judgeAddress);
    const options: https.AgentOptions = {
      ...pooling,
      minVersion: "TLSv1.2",
      rejectUnauthorized: insecureSkipTlsVerify !== true,
      ...(ca === undefined ? {} : { ca }),
      ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
      ...(credential.certificate === undefined ? {} : { cert: credential.certificate }),
      ...(credential.key === undefined ? {} : { key: credential.key }),
    };
    return proxy === undefined
      ? new OneServerAgent(options, judgeAddress)
      : new ProxiedAgent(options, proxy, judgeAddress);
  }
}
