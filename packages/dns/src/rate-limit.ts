/**
 * Response-rate limiting: how many answers one network gets by datagrams each second. Datagrams carry a sender that anyone can
 * forge; without a limit the server would flood the forged one.
 *
 * 1. Above the limit every second query gets an answer that is truncated and no larger than the question: a real asker comes again
 *    by TCP. The rest gets none.
 * 2. The table is bounded: of too many networks the ones that have not asked for longest are forgotten.
 */
export type Verdict = "answer" | "truncate" | "drop";

export interface RateLimit {
  /** `nowMs` is monotonic. */
  judge(address: string, nowMs: number): Verdict;
}

const MAX_NETWORKS = 10_000;

interface Network {
  second: number;
  count: number;
}

/** `perSecond` 0: no limit. */
export function createRateLimit(perSecond: number): RateLimit {
  if (perSecond <= 0) return { judge: () => "answer" };
  const networks = new Map<string, Network>();
  return {
    judge: (address, nowMs) => {
      const network = networkOf(address);
      const second = Math.floor(nowMs / 1000);
      const known = networks.get(network);
      if (known === undefined) {
        if (networks.size >= MAX_NETWORKS) forgetOldest(networks);
        networks.set(network, { second, count: 1 });
        return "answer";
      }
      if (known.second !== second) {
        known.second = second;
        known.count = 0;
        networks.delete(network);
        networks.set(network, known);
      }
      known.count += 1;
      if (known.count <= perSecond) return "answer";
      return known.count % 2 === 0 ? "truncate" : "drop";
    },
  };
}

function forgetOldest(networks: Map<string, Network>): void {
  for (const network of networks.keys()) {
    networks.delete(network);
    return;
  }
}

/** `192.0.2.0/24`, or the first 56 bits of an IPv6 address. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address.slice(0, address.lastIndexOf("."));
  const four = /^::ffff:(\d+\.\d+\.\d+)\.\d+$/i.exec(address);
  if (four !== null) return four[1] ?? "";
  const [head = ""] = address.split("::");
  const groups = head.split(":").slice(0, 4);
  const last = (groups[3] ?? "0").padStart(4, "0").slice(0, 2);
  return [...groups.slice(0, 3), last].join(":");
}
