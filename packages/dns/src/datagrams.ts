/** What becomes of one datagram: its sender's network is counted, and then it is answered, answered shortly, or dropped. Pure of sockets. */
import type { Log } from "@lifeboat/kit";
import { type Answering, answerDatagram, truncatedAnswer } from "./answer.ts";
import type { DnsMetrics } from "./metrics.ts";
import type { RateLimit } from "./rate-limit.ts";

export interface DatagramPorts {
  readonly answering: Answering;
  readonly rateLimit: RateLimit;
  readonly metrics: Pick<DnsMetrics, "limited" | "answered" | "failed">;
  readonly log: Log;
}

/** The answer to a datagram from this address; undefined: none. `nowMs` is monotonic. */
export type Receive = (
  message: Uint8Array,
  address: string,
  nowMs: number,
) => Uint8Array | undefined;

/** Nothing that arrives throws. */
export function createReceive({ answering, rateLimit, metrics, log }: DatagramPorts): Receive {
  return (message, address, nowMs) => {
    const verdict = rateLimit.judge(address, nowMs);
    if (verdict !== "answer") metrics.limited(verdict);
    if (verdict === "drop") return undefined;
    try {
      const answer =
        verdict === "truncate" ? truncatedAnswer(message) : answerDatagram(message, answering);
      metrics.answered("udp", answer);
      return answer;
    } catch (error) {
      // One packet must never end the server.
      metrics.failed("udp");
      log.error("a datagram could not be answered", { error });
      return undefined;
    }
  };
}
