/**
 * `/livez`, `/readyz` and `/metrics` of a process without an API of its own, over plain HTTP: for probes of a kubelet and
 * for Prometheus. It takes no bodies and has no other paths.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { CommandFailed } from "./failure.ts";
import type { Listen } from "./listen.ts";

export interface HealthChecks {
  /** Why the process does not serve; undefined: it does. */
  readiness(): string | undefined;
  metrics(): Promise<string>;
}

export interface HealthServer {
  readonly port: number;
  close(): void;
}

const REQUEST_MS = 10_000;

export async function serveHealth(
  checks: HealthChecks,
  { host, port }: Listen,
): Promise<HealthServer> {
  const server: Server = createServer({ requestTimeout: REQUEST_MS }, (incoming, outgoing) => {
    incoming.resume();
    const answer = (code: number, text: string): void => {
      outgoing.writeHead(code, { "content-type": "text/plain; charset=utf-8" });
      outgoing.end(incoming.method === "HEAD" ? undefined : text);
    };
    const path = (incoming.url ?? "").split("?", 1)[0];
    if (incoming.method !== "GET" && incoming.method !== "HEAD") answer(405, "GET only\n");
    else if (path === "/livez" || path === "/healthz") answer(200, "ok\n");
    else if (path === "/readyz") {
      const why = checks.readiness();
      answer(why === undefined ? 200 : 503, `${why ?? "ok"}\n`);
    } else if (path === "/metrics")
      checks.metrics().then(
        (text) => answer(200, text),
        (error: unknown) => answer(500, `${String(error)}\n`),
      );
    else answer(404, "/livez, /readyz and /metrics are here\n");
  });
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailed(`cannot listen on ${host}:${port}: ${why}`);
  }
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
