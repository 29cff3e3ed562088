/**
 * Requests that change the protocol (WebSocket): sent to one backend, and from its `101` on bytes are copied both ways. The gateway
 * knows no protocol beyond HTTP. A backend that cannot be connected to is replaced by another; nothing else is repeated. As with
 * every other request names are judged by what they resolve to, a backend may be silent for a limited time, and an answer that breaks
 * off never looks complete.
 */
import { type IncomingMessage, request as send } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { requestHeaders, responseHeaders } from "../../gateway/headers.ts";
import type { Member } from "./endpoints.ts";
import type { ForwardPorts } from "./forward.ts";
import { Silence } from "./silence.ts";

const KEPT: ReadonlySet<string> = new Set(["connection", "upgrade"]);

export interface AskedUpgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly pool: string;
  readonly isTls: boolean;
}

/** Refuses an upgrade with a plain answer. */
export function refuseUpgrade(socket: Duplex, code: number, text: string): void {
  socket.on("error", () => undefined);
  socket.end(
    `HTTP/1.1 ${code} ${text}\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${text.length + 1}\r\n\r\n${text}\n`,
  );
}

export async function forwardUpgrade(ports: ForwardPorts, asked: AskedUpgrade): Promise<void> {
  const { backends, limits, metrics } = ports;
  const tried = new Set<Member>();
  while (tried.size < limits.maxAttempts && !asked.socket.destroyed) {
    const member = backends.choose(asked.pool, tried);
    if (member === undefined) break;
    tried.add(member);
    member.active += 1;
    try {
      if (await attempt(ports, asked, member)) return;
    } finally {
      member.active -= 1;
    }
    member.endpoint.failed();
    metrics.retries.add(1, { member_cluster: member.cluster });
  }
  refuseUpgrade(asked.socket, tried.size === 0 ? 503 : 502, "no backend answers");
}

/** Resolves with false when the backend could not be connected to; with true when everything is over. */
function attempt(
  { clock, limits, metrics }: ForwardPorts,
  { request, socket, head, isTls }: AskedUpgrade,
  { endpoint, cluster }: Member,
): Promise<boolean> {
  return new Promise((resolve) => {
    let wasConnected = false;
    let isTimeout = false;
    const outgoing = send({
      host: endpoint.address,
      port: endpoint.port,
      // No connection of the pool: this one does not come back.
      agent: false,
      lookup: endpoint.lookup,
      method: request.method,
      path: request.url,
      headers: requestHeaders(
        request.rawHeaders,
        {
          address: request.socket.remoteAddress ?? "",
          isTls,
          host: request.headers.host ?? "",
        },
        KEPT,
      ),
      setHost: false,
    });
    const giveUp = (): void => {
      isTimeout = true;
      outgoing.destroy(new Error("timeout"));
    };
    let cancel = clock.after(limits.connectTimeoutMs, giveUp);
    const end = (isOver: boolean): void => {
      cancel();
      resolve(isOver);
    };
    const endSocket = (): void => void outgoing.destroy();
    socket.once("close", endSocket);
    outgoing.once("socket", (one) =>
      one.once("connect", () => {
        wasConnected = true;
        cancel();
        cancel = clock.after(limits.responseTimeoutMs, giveUp);
      }),
    );
    outgoing.once("error", () => {
      if (wasConnected && isTimeout)
        refuseUpgrade(socket, 504, "the backend does not answer in time");
      else if (wasConnected) refuseUpgrade(socket, 502, "the backend broke off");
      end(wasConnected || socket.destroyed);
    });
    outgoing.once("response", (incoming) => {
      // The backend does not change the protocol: its answer is passed on, and the connection ends.
      cancel();
      const watch = (): Silence =>
        new Silence(clock, limits.responseTimeoutMs, () => {
          // A client that takes its answer slowly is waited for.
          if (socket.writableNeedDrain) silence = watch();
          else incoming.destroy();
        });
      let silence = watch();
      incoming.on("data", () => silence.moved());
      metrics.requests.add(1, { member_cluster: cluster, code: String(incoming.statusCode) });
      socket.write(
        headOf(incoming, [...responseHeaders(incoming.rawHeaders), "Connection", "close"]),
      );
      incoming.pipe(socket);
      incoming.on("error", () => undefined);
      incoming.once("close", () => {
        silence.end();
        if (!incoming.complete) breakOff(socket);
        end(true);
      });
    });
    outgoing.once("upgrade", (incoming, backend: Duplex, first: Buffer) => {
      cancel();
      metrics.requests.add(1, { member_cluster: cluster, code: "101" });
      socket.write(headOf(incoming, responseHeaders(incoming.rawHeaders, KEPT)));
      if (first.length > 0) socket.write(first);
      if (head.length > 0) backend.write(head);
      joinBoth(socket, backend, () => end(true));
    });
    outgoing.end();
  });
}

/** Ends a connection in the middle of an answer. Its end without a reset would be the end of an answer without a length. */
function breakOff(socket: Duplex): void {
  if (socket instanceof Socket && !(socket instanceof TLSSocket)) socket.resetAndDestroy();
  else socket.destroy();
}

function joinBoth(a: Duplex, b: Duplex, ended: () => void): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.on("error", () => to.destroy());
    from.once("close", () => to.destroy());
    from.pipe(to);
  }
  b.once("close", ended);
}

function headOf(incoming: IncomingMessage, headers: readonly string[]): string {
  const lines = [`HTTP/1.1 ${incoming.statusCode} ${incoming.statusMessage ?? ""}`];
  for (let i = 0; i + 1 < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}
