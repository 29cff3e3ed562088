/**
 * Whatever a packet holds, it is answered with a message that can be read whole, or not at all; no packet costs more than a moment,
 * and no answer by datagram is larger than what was asked for.
 *
 * `LIFEBOAT_DNS_PACKETS` sets how many; a million once a week.
 */
import { createRandom } from "@lifeboat/base";
import { expect, test } from "vitest";
import { answerDatagram, answerStream, DEFAULT_UDP_BYTES } from "./answer.ts";
import { answeringWith, exampleZone, readMessage } from "./dns.suite.ts";
import { somePacket } from "./fuzz.suite.ts";
import { u16 } from "./wire/records.ts";

const PACKETS = Number(process.env["LIFEBOAT_DNS_PACKETS"] ?? 50_000);
/** Of CPU, for one packet. */
const LIMIT_MICROS = 1000;

test(`${PACKETS} packets are answered whole or not at all, and each costs less than a millisecond`, () => {
  const random = createRandom(Number(process.env["LIFEBOAT_SEED"] ?? 1));
  const answering = answeringWith(exampleZone());
  let answered = 0;
  const slow: string[] = [];
  for (let count = 0; count < PACKETS; count += 1) {
    const packet = somePacket(random);
    const once = (): Uint8Array | undefined => {
      const answer = answerDatagram(packet, answering);
      for (const message of answerStream(packet, answering)) readMessage(message);
      return answer;
    };
    const began = process.cpuUsage();
    const answer = once();
    const { user, system } = process.cpuUsage(began);
    // Compiling and collecting garbage are not the packet's: it is asked again, and what it costs itself it costs each time.
    if (user + system > LIMIT_MICROS && cheapest(once) > LIMIT_MICROS)
      slow.push(Buffer.from(packet).toString("hex"));
    if (answer === undefined) continue;
    answered += 1;
    expect(answer.length).toBeLessThanOrEqual(DEFAULT_UDP_BYTES);
    expect(readMessage(answer).id).toBe(u16(packet, 0));
  }
  expect(slow).toEqual([]);
  expect(answered).toBeGreaterThan(PACKETS / 3);
}, 1_200_000);

function cheapest(work: () => unknown): number {
  const costs = Array.from({ length: 5 }, () => {
    const began = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(began);
    return user + system;
  });
  return Math.min(...costs);
}
