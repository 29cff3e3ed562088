/**
 * Clients that send requests all the time, each on a connection of its own, and count which cluster answered.
 *
 * As HTTP allows (RFC 9112, 9.3), a request that found its kept connection closed before an answer began is sent once more.
 */
import { Agent, get } from "node:http";
import { type Clock, sleep } from "@lifeboat/base";

/** The requests that one cluster answered. */
export interface ClusterCount {
  readonly total: number;
  /** Within the last second. */
  readonly recent: number;
  /** When the last of them was sent, in monotonic milliseconds. */
  readonly lastSentAt: number;
}

export interface RequestCounts {
  readonly byCluster: ReadonlyMap<string, ClusterCount>;
  readonly answered: number;
  readonly failed: number;
  /** What became of the first one that failed. */
  readonly firstFailure?: string;
}

export interface Requests {
  counts(): RequestCounts;
  stop(): Promise<void>;
}

const CLIENTS = 8;
const PAUSE_MS = 15;
/** One request of ten takes so long, as if it did something. */
const SLOW_MS = 100;
const RECENT_MS = 1000;

/** Starts the clients of a host at a gateway. */
export function startRequests(
  clock: Clock,
  url: string,
  host: string,
  clients = CLIENTS,
): Requests {
  const over = new AbortController();
  const counting = new Counting(clock);
  const loop = async (number: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let i = number; !over.signal.aborted; i++) {
      const sentAt = clock.monotonic();
      try {
        const path = i % 10 === 0 ? `/?delay=${SLOW_MS}` : "/";
        counting.answered(await ask(agent, new URL(path, url), host), sentAt);
      } catch (error) {
        counting.fail(error instanceof Error ? error.message : String(error));
      }
      await sleep(clock, PAUSE_MS, over.signal);
    }
    agent.destroy();
  };
  const loops = Array.from({ length: clients }, (_, i) => loop(i));
  return {
    counts: () => counting.counts(),
    stop: async () => {
      over.abort();
      await Promise.all(loops);
    },
  };
}

class Counting {
  readonly #clock: Clock;
  readonly #totals = new Map<string, number>();
  readonly #lastSent = new Map<string, number>();
  #recent: { readonly cluster: string; readonly at: number }[] = [];
  #failed = 0;
  #firstFailure: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  answered(cluster: string, sentAt: number): void {
    this.#totals.set(cluster, (this.#totals.get(cluster) ?? 0) + 1);
    this.#lastSent.set(cluster, Math.max(sentAt, this.#lastSent.get(cluster) ?? 0));
    this.#recent.push({ cluster, at: this.#clock.monotonic() });
  }

  fail(why: string): void {
    this.#failed += 1;
    this.#firstFailure ??= why;
  }

  counts(): RequestCounts {
    const since = this.#clock.monotonic() - RECENT_MS;
    this.#recent = this.#recent.filter(({ at }) => at > since);
    const byCluster = new Map(
      [...this.#totals].map(([name, total]) => {
        const recent = this.#recent.filter(({ cluster }) => cluster === name).length;
        return [name, { total, recent, lastSentAt: this.#lastSent.get(name) ?? 0 }] as const;
      }),
    );
    return {
      byCluster,
      answered: [...this.#totals.values()].reduce((sum, one) => sum + one, 0),
      failed: this.#failed,
      ...(this.#firstFailure !== undefined && { firstFailure: this.#firstFailure }),
    };
  }
}

/** The name of the cluster that answered; rejects when none did. */
function ask(agent: Agent, url: URL, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers: { host } }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.once("error", reject);
      response.once("end", () => {
        if (response.statusCode !== 200) reject(new Error(`${response.statusCode} ${text.trim()}`));
        else resolve(clusterIn(text));
      });
    });
    request.once("error", (error) => {
      if (request.reusedSocket) ask(agent, url, host).then(resolve, reject);
      else reject(error);
    });
  });
}

function clusterIn(text: string): string {
  const { cluster = "" } = JSON.parse(text) as { readonly cluster?: string };
  return cluster;
}
