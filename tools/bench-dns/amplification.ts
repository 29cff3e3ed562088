/** How much larger answers by datagram are than questions: what a forged sender would gain. */
import { exchange, question } from "./ask.ts";
import { APEX } from "./zone.ts";

const CASES: readonly (readonly [string, string, number, number?])[] = [
  ["SRV of a set, EDNS 4096", `store0.mynamespace.${APEX}`, 33, 4096],
  ["SRV of a set, no EDNS", `store0.mynamespace.${APEX}`, 33],
  ["A of a set, EDNS 4096", `store0.mynamespace.${APEX}`, 1, 4096],
  ["A of a pod", `store0-c1-0.mynamespace.${APEX}`, 1],
  ["ANY of a set, EDNS 4096", `store0.mynamespace.${APEX}`, 255, 4096],
  ["ANY of the zone, EDNS 4096", APEX, 255, 4096],
  ["PTR of an address", "1.0.0.10.in-addr.arpa", 12],
  ["no such name", `nosuch.mynamespace.${APEX}`, 1],
  ["another zone", "example.org", 1],
  ["AXFR by datagram", APEX, 252],
];

export async function amplification(port: number): Promise<readonly string[]> {
  const lines = [
    "Amplification (above the rate limit of a network every second question is answered, with at most its own size):",
  ];
  for (const [what, name, type, edns] of CASES) {
    const asked = question(name, type, edns);
    const bytes = (await exchange(port, asked))?.bytes ?? 0;
    const times = (bytes / asked.length).toFixed(1);
    lines.push(
      `  ${what.padEnd(28)} ${String(asked.length).padStart(4)} B → ${String(bytes).padStart(5)} B, ${times} times`,
    );
  }
  return lines;
}
