/** What an agent tells its member's kubelet and monitoring: /healthz, /readyz and /metrics over plain HTTP, and nothing else. */
import { createServer, type Server } from "node:http";
import { CommandFailed } from "../failure.ts";

export interface HealthAnswers {
  isReady(): boolean;
  metrics(): Promise<string>;
}

export interface HealthServer {
  readonly address: string;
  close(): Promise<void>;
}

/** Serves until it is closed. */
export async function serveHealth(listen: string, answers: HealthAnswers): Promise<HealthServer> {
  const [, host = "", port = ""] = /^\[?([^\]]*?)\]?:(\d+)$/.exec(listen) ?? [];
  const server = createServer((request, response) => {
    const send = (code: number, text: string): void => {
      response.writeHead(code, { "content-type": "text/plain; charset=utf-8" }).end(text);
    };
    if (request.method !== "GET") return send(405, "only GET\n");
    if (request.url === "/healthz" || request.url === "/livez") return send(200, "ok");
    if (request.url === "/readyz")
      return answers.isReady() ? send(200, "ok") : send(503, "not registered yet\n");
    if (request.url !== "/metrics") return send(404, "not found\n");
    answers.metrics().then(
      (text) => send(200, text),
      () => send(500, "the metrics cannot be read\n"),
    );
  });
  server.requestTimeout = 10_000;
  await listening(server, host, Number(port), listen);
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    address: `${host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, host: string, port: number, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(new CommandFailed(`--health-listen ${text}: ${error.message}`)),
    );
    server.listen(port, host, () => resolve());
  });
}
