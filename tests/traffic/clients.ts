/**
 * Clients that ask all the time on connections of their own, fast and slow requests in turn, and note which cluster answered.
 *
 * As HTTP allows (RFC 9112, 9.3), a request that found its kept connection closed before an answer began is sent once more on a new
 * one; that is counted, and each test bounds it. Every other error, and one on the new connection, is a failure. A client whose request failed goes on at the next gateway that it knows.
 */
import { Agent, get } from "node:http";

export interface Seen {
  readonly cluster: string;
  /** In monotonic milliseconds. */
  readonly sentAt: number;
}

export interface Clients {
  readonly failures: readonly string[];
  count(): number;
  reconnects(): number;
  /** The clusters that answered requests which were sent since then. */
  clustersSince(sentAt: number): readonly string[];
  /** When the last request was sent that this cluster answered. */
  lastSent(cluster: string): number;
  stop(): Promise<void>;
}

interface Answered {
  readonly code: number;
  readonly text: string;
}

const SLOW_MS = 100;
/** How a connection that the other side closed is found. */
const CLOSED: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

export function startClients(
  ports: number | readonly number[],
  host: string,
  count = 20,
  slowMs = SLOW_MS,
): Clients {
  const gateways = typeof ports === "number" ? [ports] : ports;
  const seen: Seen[] = [];
  const failures: string[] = [];
  let reconnects = 0;
  const over = new AbortController();
  const loop = async (number: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let gateway = 0;
    for (let i = number; !over.signal.aborted; i++) {
      const path = i % 10 === 0 ? `/?delay=${slowMs}` : "/";
      const sentAt = performance.now();
      const port = gateways[gateway % gateways.length] ?? 0;
      try {
        const { code, text } = await once(agent, port, path, host, () => (reconnects += 1));
        if (code !== 200) failures.push(`${code} ${text.trim()}`);
        else seen.push({ cluster: (JSON.parse(text) as Seen).cluster, sentAt });
      } catch (error) {
        failures.push(String(error));
        gateway += 1;
      }
    }
    agent.destroy();
  };
  const loops = Array.from({ length: count }, (_, i) => loop(i));
  return {
    failures,
    count: () => seen.length + failures.length,
    reconnects: () => reconnects,
    clustersSince: (sentAt) =>
      [...new Set(seen.filter((one) => one.sentAt >= sentAt).map(({ cluster }) => cluster))].sort(),
    lastSent: (cluster) =>
      Math.max(0, ...seen.filter((one) => one.cluster === cluster).map(({ sentAt }) => sentAt)),
    stop: async () => {
      over.abort();
      await Promise.all(loops);
    },
  };
}

function once(
  agent: Agent,
  port: number,
  path: string,
  host: string,
  onReconnect: () => void,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const asked = get({ port, path, agent, headers: { host } }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk)));
      response.once("end", () => resolve({ code: response.statusCode ?? 0, text }));
      response.once("error", reject);
      response.once("aborted", () => reject(new Error("the answer broke off")));
    });
    asked.once("error", (error: NodeJS.ErrnoException) => {
      if (!asked.reusedSocket || !CLOSED.has(error.code ?? "")) return reject(error);
      onReconnect();
      once(agent, port, path, host, onReconnect).then(resolve, reject);
    });
  });
}
