/** Requests as they are, by the credential of a kubeconfig: any method, path and header, and the answer with its code. */
import { Agent, request } from "node:https";
import { createRealClock } from "@lifeboat/base/adapters";
import { httpConfigOf, loadKubeconfig } from "@lifeboat/kit/adapters";

export interface RawAnswer {
  readonly code: number;
  readonly body: string;
}

export interface RawRequest {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RawClient {
  /** The path is sent byte for byte. */
  ask(method: string, path: string, more?: RawRequest): Promise<RawAnswer>;
  /** Opens a watch and collects its lines; answers when the server has. */
  watch(path: string): Promise<RawWatch>;
  close(): void;
}

export interface RawWatch {
  readonly code: number;
  lines(): readonly string[];
  readonly ended: Promise<void>;
  stop(): void;
}

const SOCKETS = 8;

export async function connectRaw(
  kubeconfig: string,
  options: { readonly isAnonymous?: boolean; readonly sockets?: number } = {},
): Promise<RawClient> {
  const { isAnonymous = false, sockets = SOCKETS } = options;
  const ports = { clock: createRealClock(), environment: process.env };
  const config = await httpConfigOf(
    ports,
    await loadKubeconfig({ paths: [kubeconfig] }),
    "raw-client",
  );
  const { certificate, key, headers: given } = await config.credentials.current();
  const ca = config.certificateAuthority;
  const identity = isAnonymous ? { ca } : { ca, cert: certificate, key };
  const { hostname, port } = new URL(config.server);
  const agent = new Agent({ keepAlive: true, maxSockets: sockets, ...identity });
  const open = (method: string, path: string, { body, headers }: RawRequest = {}) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const sent = request({
      agent,
      hostname,
      port,
      method,
      path,
      headers: {
        ...(isAnonymous ? {} : given),
        accept: "application/json",
        ...(text !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
    });
    sent.end(text);
    return sent;
  };
  return {
    close: () => agent.destroy(),
    ask: (method, path, more) =>
      new Promise((resolve, reject) => {
        const sent = open(method, path, more);
        sent.once("error", reject);
        sent.once("upgrade", (answer, socket) => {
          socket.destroy();
          resolve({ code: answer.statusCode ?? 0, body: "" });
        });
        sent.once("response", (answer) => {
          let text = "";
          answer.setEncoding("utf8");
          answer.on("data", (chunk: string) => (text += chunk));
          answer.once("error", reject);
          answer.once("end", () => resolve({ code: answer.statusCode ?? 0, body: text }));
        });
      }),
    watch: (path) =>
      new Promise((resolve, reject) => {
        const sent = open("GET", path);
        sent.once("error", reject);
        sent.once("response", (answer) => {
          let text = "";
          answer.setEncoding("utf8");
          answer.on("data", (chunk: string) => (text += chunk));
          sent.on("error", () => undefined);
          answer.on("error", () => undefined);
          resolve({
            code: answer.statusCode ?? 0,
            lines: () => text.split("\n").filter((line) => line !== ""),
            ended: new Promise((end) => answer.once("close", () => end())),
            stop: () => sent.destroy(),
          });
        });
      }),
  };
}
