/**
 * One request through the gateway: chosen, sent, tried elsewhere if that is safe, answered.
 *
 * 1. A request is repeated only by the rule of ../../gateway/repeat.ts, and never once a part of its answer was passed on.
 * 2. An answer that breaks off is broken off towards the client: it never looks complete.
 * 3. A client that goes away takes its request along.
 * 4. A request may take as long as it likes while something of it, or of its answer, moves. What is silent for `responseTimeoutMs` is
 *    given up, in every phase: a body that stops, a backend that does not answer, an answer that stops halfway. Only a client that takes
 *    its answer slowly is waited for.
 */
import { type IncomingMessage, request as send, type ServerResponse } from "node:http";
import type { Clock } from "@lifeboat/base";
import { requestHeaders, responseHeaders } from "../../gateway/headers.ts";
import { mayRepeat } from "../../gateway/repeat.ts";
import type { TrafficMetrics } from "../../metrics.ts";
import type { Backends, Member } from "./endpoints.ts";
import { type KeptBody, keepBody } from "./kept-body.ts";
import { Silence } from "./silence.ts";

export interface ForwardLimits {
  readonly connectTimeoutMs: number;
  /** How long a backend may be silent, and a client in the middle of a body. */
  readonly responseTimeoutMs: number;
  readonly maxBodyBytes: number;
  readonly maxAttempts: number;
}

export const FORWARD_LIMITS: ForwardLimits = Object.freeze({
  connectTimeoutMs: 2000,
  responseTimeoutMs: 60_000,
  maxBodyBytes: 1024 * 1024 * 1024,
  maxAttempts: 4,
});

export interface ForwardPorts {
  readonly clock: Clock;
  readonly metrics: TrafficMetrics;
  readonly backends: Backends;
  readonly limits: ForwardLimits;
  /** Whether the gateway is stopping: clients are asked to connect again elsewhere. */
  isStopping(): boolean;
}

export interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly pool: string;
  readonly isTls: boolean;
}

/** Answers with a sentence of the gateway's own. */
export function refuse(
  ports: Pick<ForwardPorts, "metrics" | "isStopping">,
  response: ServerResponse,
  code: number,
  text: string,
): void {
  ports.metrics.requests.add(1, { member_cluster: "", code: String(code) });
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  response.writeHead(code, {
    "content-type": "text/plain; charset=utf-8",
    ...(ports.isStopping() && { connection: "close" }),
  });
  response.end(`${text}\n`);
}

/** The rest of the body may never come: the connection ends with the answer. */
function refuseSilent(ports: ForwardPorts, response: ServerResponse): void {
  if (!response.headersSent) response.setHeader("connection", "close");
  refuse(ports, response, 408, "the body does not arrive in time");
}

/** Passes a request on; resolves when it is answered or given up. */
export async function forward(ports: ForwardPorts, asked: Asked): Promise<void> {
  const { request, response, pool } = asked;
  const { limits, metrics, backends } = ports;
  const body = await keepBody(request, ports.clock, limits);
  if (body === "too large") return refuse(ports, response, 413, "the body is too large");
  if (body === "broken off") return void response.destroy();
  if (body === "silent") return refuseSilent(ports, response);
  const tried = new Set<Member>();
  for (;;) {
    const member = backends.choose(pool, tried);
    if (member === undefined)
      return refuse(
        ports,
        response,
        tried.size === 0 ? 503 : 502,
        tried.size === 0 ? "no backend serves this" : "no backend answers",
      );
    tried.add(member);
    member.active += 1;
    try {
      const outcome = await attempt(ports, asked, member, body);
      if (outcome.kind === "answered") {
        const code = String(response.statusCode);
        metrics.requests.add(1, { member_cluster: member.cluster, code });
        return;
      }
      if (response.destroyed) return;
      if (outcome.isTooLarge) return refuse(ports, response, 413, "the body is too large");
      if (outcome.isClientSilent) return refuseSilent(ports, response);
      if (!outcome.wasConnected) member.endpoint.failed();
      const isLast = tried.size >= limits.maxAttempts;
      if (isLast || !mayRepeat({ ...outcome, method: request.method ?? "" }))
        return refuse(
          ports,
          response,
          outcome.isTimeout ? 504 : 502,
          outcome.isTimeout ? "the backend does not answer in time" : "the backend broke off",
        );
      metrics.retries.add(1, { member_cluster: member.cluster });
    } finally {
      member.active -= 1;
    }
  }
}

type Outcome =
  | { readonly kind: "answered" }
  | {
      readonly kind: "failed";
      readonly wasConnected: boolean;
      readonly isBodyKept: boolean;
      readonly isBodySpent: boolean;
      readonly isTimeout: boolean;
      /** The body stopped arriving, though the backend took all of it that came. */
      readonly isClientSilent: boolean;
      readonly isTooLarge: boolean;
    };

/** Sends the request to one backend; `answered` when an answer began, whatever became of it. */
function attempt(
  ports: ForwardPorts,
  { request, response, isTls }: Asked,
  member: Member,
  body: KeptBody,
): Promise<Outcome> {
  const { endpoint } = member;
  const { limits, clock } = ports;
  return new Promise((resolve) => {
    let isTimeout = false;
    let isClientSilent = false;
    let wasConnected = false;
    let isAnswered = false;
    let silence: Silence | undefined;
    const outgoing = send({
      host: endpoint.address,
      port: endpoint.port,
      agent: endpoint.agent,
      method: request.method,
      path: request.url,
      headers: headersFor(request, isTls),
      setHost: false,
    });
    const giveUp = (): void => {
      isTimeout = true;
      outgoing.destroy(new Error("timeout"));
    };
    const onSilence = (): void => {
      // The client takes its answer slowly: that is no silence of the backend.
      if (response.writableNeedDrain) return watchSilence();
      isClientSilent = !request.complete && !outgoing.writableNeedDrain;
      giveUp();
    };
    const watchSilence = (): void => {
      silence = new Silence(clock, limits.responseTimeoutMs, onSilence);
    };
    const onMoved = (): void => silence?.moved();
    const cancel = clock.after(limits.connectTimeoutMs, giveUp);
    const settle = (outcome: Outcome): void => {
      cancel();
      silence?.end();
      response.off("close", onClientGone);
      resolve(outcome);
    };
    const onClientGone = (): void => void outgoing.destroy();
    response.once("close", onClientGone);
    outgoing.once("socket", (socket) => {
      const begin = (): void => {
        wasConnected = true;
        cancel();
        watchSilence();
        body.sendTo(outgoing, onMoved);
      };
      if (socket.connecting) socket.once("connect", begin);
      else begin();
    });
    outgoing.once("error", () => {
      // Part of the answer was passed on: its end is what `pass` makes of it, and no other backend is asked.
      if (isAnswered) return;
      settle({
        kind: "failed",
        wasConnected,
        isBodyKept: body.isKept,
        isBodySpent: body.isSpent(),
        isTimeout: isTimeout && wasConnected,
        isClientSilent,
        isTooLarge: body.isTooLarge(),
      });
    });
    outgoing.once("response", (incoming) => {
      isAnswered = true;
      endpoint.answered();
      onMoved();
      incoming.on("data", onMoved);
      pass(ports, incoming, response).then(
        () => settle({ kind: "answered" }),
        () => {
          response.destroy();
          outgoing.destroy();
          settle({ kind: "answered" });
        },
      );
    });
  });
}

function headersFor(request: IncomingMessage, isTls: boolean): string[] {
  const { headers, rawHeaders, socket } = request;
  const client = { address: socket.remoteAddress ?? "", isTls, host: headers.host ?? "" };
  const passed = requestHeaders(rawHeaders, client);
  if (headers["transfer-encoding"] !== undefined) passed.push("Transfer-Encoding", "chunked");
  return passed;
}

/** Passes an answer on; rejects when either side breaks off. */
function pass(
  ports: ForwardPorts,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = responseHeaders(incoming.rawHeaders);
    if (ports.isStopping()) headers.push("Connection", "close");
    response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, headers);
    incoming.once("error", reject);
    incoming.once("aborted", () => reject(new Error("broken off")));
    response.once("finish", resolve);
    response.once("close", () => {
      if (!response.writableFinished) reject(new Error("the client went away"));
    });
    incoming.pipe(response);
  });
}
