/** A control plane's transport and API server with the proxy, and members that are scripted servers: all over loopback. */
import type * as http from "node:http";
import * as https from "node:https";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as tls from "node:tls";
import { allowMasters, type Authorizer } from "@lifeboat/apiserver";
import {
  type CertifiedKey,
  createTlsServer,
  openPki,
  type Pki,
} from "@lifeboat/apiserver/adapters";
import { createRandom } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { type JudgeAddress, silentLog, silentMetrics } from "@lifeboat/kit";
import { fixedCredential } from "@lifeboat/kit/adapters";
import { createWorld } from "@lifeboat/testkit";
import type { ProxyLimits } from "../in-flight.ts";
import type { PeerOf, PushAccess, Route } from "../routes.ts";
import { createTunnel, type TunnelEnd } from "./agent.ts";
import { createMemberProxy, type Proxy } from "./create-proxy.ts";

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

export interface Ground {
  readonly pki: Pki;
  readonly proxy: Proxy;
  readonly routes: Map<string, Route>;
  readonly port: number;
  readonly admin: CertifiedKey;
  /** Starts a member's API; every request and every upgrade goes to these. */
  member(onRequest: http.RequestListener, onUpgrade?: OnUpgrade): Promise<ScriptedMember>;
  /** Starts a member that sends these bytes to every client. */
  rawMember(onSocket: (socket: Socket) => void): Promise<ScriptedMember>;
  /** Runs an agent for the cluster, whose member this is; resolves when its tunnel is open. The answer stops it. */
  agent(cluster: string, member: ScriptedMember, token?: string): Promise<() => Promise<void>>;
  ask(path: string, options?: AskOptions): Promise<Answer>;
  /** Sends a request and answers when its head has come. */
  open(path: string, options?: AskOptions): Promise<http.IncomingMessage>;
  upgrade(path: string, options?: AskOptions): Promise<Upgraded>;
  /** Breaks off every request that is under way. */
  hangUp(): Promise<void>;
  close(): Promise<void>;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  readonly cluster?: string;
  readonly client?: CertifiedKey;
}

export type OnUpgrade = (message: http.IncomingMessage, socket: Socket, head: Buffer) => void;

export interface ScriptedMember {
  readonly access: PushAccess;
  readonly requests: http.IncomingMessage[];
  readonly sockets: Set<Socket>;
  close(): Promise<void>;
}

export type Upgraded =
  | { readonly kind: "switched"; readonly head: http.IncomingMessage; readonly socket: Socket }
  | { readonly kind: "answered"; readonly answer: Answer };

export const IMPERSONATOR = "impersonator-token";

export interface GroundOptions {
  readonly authorizer?: Authorizer;
  readonly limits?: ProxyLimits;
  readonly judgeAddress?: JudgeAddress;
  readonly peerOf?: PeerOf;
}

export async function createGround(options: GroundOptions = {}): Promise<Ground> {
  const directory = await mkdtemp(join(tmpdir(), "proxy-"));
  const pki = await openPki(createRealClock(), directory);
  const serverKey = await pki.server([]);
  const admin = await pki.client("admin", ["system:masters"]);
  const routes = new Map<string, Route>();
  const proxy = createMemberProxy(
    { log: silentLog, metrics: silentMetrics },
    { of: (cluster) => routes.get(cluster) ?? { kind: "absent" } },
    options,
  );
  const world = await createWorld({
    members: proxy,
    ...(options.authorizer === undefined ? {} : { authorizer: options.authorizer }),
  });
  const server = createTlsServer({
    handle: world.server.handle,
    identify: world.server.identify,
    streams: world.server.streams,
    metrics: silentMetrics,
    log: silentLog,
    host: "127.0.0.1",
    port: 0,
    ...serverKey,
    clientCa: pki.ca,
    limits: { stallTimeoutMs: 2000 },
  });
  const { port } = await server.listen();
  const underWay = new Set<http.ClientRequest>();
  const endings: (() => Promise<unknown>)[] = [];

  const listening = async (
    listener: http.Server | tls.Server,
    requests: http.IncomingMessage[],
  ): Promise<ScriptedMember> => {
    const sockets = new Set<Socket>();
    listener.on("secureConnection", (socket: Socket) => {
      socket.on("error", () => undefined);
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", () => resolve()));
    const close = async (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void listener.close(() => resolve()));
    };
    endings.push(close);
    const access: PushAccess = {
      endpoint: `https://127.0.0.1:${(listener.address() as AddressInfo).port}`,
      token: IMPERSONATOR,
      caBundle: pki.ca,
      insecureSkipTlsVerification: false,
    };
    return { access, requests, sockets, close };
  };

  const requestOf = (path: string, asked: AskOptions): http.ClientRequest => {
    const { method = "GET", headers = {}, body, cluster = "m1", client = admin } = asked;
    const request = https.request({
      host: "127.0.0.1",
      port,
      ca: pki.ca,
      cert: client.certificate,
      key: client.key,
      agent: false,
      method,
      path: `/apis/cluster.karmada.io/v1alpha1/clusters/${cluster}/proxy${path}`,
      headers,
    });
    underWay.add(request);
    request.once("close", () => underWay.delete(request));
    // A body that is shorter than announced is left open.
    if (Number(headers["content-length"] ?? 0) > (body?.length ?? 0)) request.write(body);
    else request.end(body);
    return request;
  };

  const ground: Ground = {
    pki,
    proxy,
    routes,
    port,
    admin,
    member: (onRequest, onUpgrade) => {
      const requests: http.IncomingMessage[] = [];
      const listener = https.createServer(
        { cert: serverKey.certificate, key: serverKey.key },
        (request, response) => {
          requests.push(request);
          request.on("error", () => undefined);
          response.on("error", () => undefined);
          onRequest(request, response);
        },
      );
      if (onUpgrade !== undefined)
        listener.on("upgrade", (message: http.IncomingMessage, socket: Socket, head: Buffer) => {
          requests.push(message);
          onUpgrade(message, socket, head);
        });
      return listening(listener, requests);
    },
    rawMember: (onSocket) => {
      const listener = tls.createServer({ cert: serverKey.certificate, key: serverKey.key });
      listener.on("secureConnection", onSocket);
      return listening(listener, []);
    },
    agent: async (cluster, member, token = "agent-token") => {
      const stop = new AbortController();
      const client = await pki.client(`system:karmada:agent:${cluster}`, ["system:masters"]);
      const plane: TunnelEnd = {
        server: `https://127.0.0.1:${port}`,
        certificateAuthority: pki.ca,
        credentials: fixedCredential({ headers: {}, ...client }),
      };
      const end: TunnelEnd = {
        server: member.access.endpoint,
        certificateAuthority: pki.ca,
        credentials: fixedCredential({ headers: { authorization: `Bearer ${token}` } }),
      };
      let running: Promise<void> = Promise.resolve();
      await new Promise<void>((resolve) => {
        const ports = { clock: createRealClock(), random: createRandom(1), log: silentLog };
        const onOpen = (isOpen: boolean): void => (isOpen ? resolve() : undefined);
        running = createTunnel(ports, { cluster, plane, member: end, onOpen }).run(stop.signal);
      });
      const end2 = async (): Promise<void> => {
        stop.abort();
        await running;
      };
      endings.unshift(end2);
      return end2;
    },
    ask: async (path, asked = {}) => readAnswer(await ground.open(path, asked)),
    open: (path, asked = {}) =>
      new Promise((resolve, reject) => {
        const request = requestOf(path, asked);
        request.once("response", resolve);
        request.on("error", reject);
      }),
    upgrade: (path, asked = {}) =>
      new Promise((resolve, reject) => {
        const headers = { connection: "Upgrade", upgrade: "websocket", ...asked.headers };
        const request = requestOf(path, { ...asked, headers });
        request.on("error", reject);
        request.once("response", (response) => {
          readAnswer(response).then((answer) => resolve({ kind: "answered", answer }), reject);
        });
        request.once("upgrade", (message, socket: Socket, rest: Buffer) => {
          socket.on("error", () => undefined);
          if (rest.length > 0) socket.unshift(rest);
          endings.unshift(() => Promise.resolve(socket.destroy()));
          resolve({ kind: "switched", head: message, socket });
        });
      }),
    hangUp: async () => {
      for (const request of underWay) request.destroy(new Error("hung up"));
    },
    close: async () => {
      for (const end of endings) await end();
      proxy.close();
      await server.close(0);
      await world.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return ground;
}

export const allowAll: Authorizer = { ...allowMasters, allows: () => true };

async function readAnswer(response: http.IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const { statusCode: status = 0, headers } = response;
  return { status, headers, text: Buffer.concat(chunks).toString() };
}
