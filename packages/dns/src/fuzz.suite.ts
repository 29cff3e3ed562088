/** Packets that break the rules of the protocol: mutated questions, and bytes without any sense. */
import type { Random } from "@lifeboat/base";
import { APEX, ask, KEY, must } from "./dns.suite.ts";
import { nodeHmac } from "./adapters/hmac.ts";
import type { TypeName } from "./wire/constants.ts";
import { sign } from "./wire/tsig.ts";

const NAMES = [
  "store.mynamespace",
  "store-c1-0.etcd.mynamespace",
  "_store._tcp.etcd.mynamespace",
  "nosuch",
  "mynamespace",
  "1.0.0.192.in-addr.arpa",
];
const KINDS: readonly TypeName[] = [
  "A",
  "AAAA",
  "SRV",
  "ANY",
  "SOA",
  "NS",
  "TXT",
  "AXFR",
  "IXFR",
  "CNAME",
  "PTR",
];

/** Some packet; the same Random gives the same packets. */
export function somePacket(random: Random): Uint8Array {
  const kind = random.below(10);
  if (kind === 0) return someBytes(random, random.below(601));
  const picked = pick(random, NAMES);
  const name = picked.endsWith(".arpa") ? picked : `${picked}.${APEX}`;
  const edns = random.below(2) === 0 ? {} : { edns: random.below(65536) };
  const question = ask(name, pick(random, KINDS), edns);
  const packet =
    kind === 1 ? sign(question, KEY, { hmac: nodeHmac, now: 1_000_000 }).message : question;
  return mutated(random, packet);
}

function pick<T>(random: Random, values: readonly T[]): T {
  return must(values[random.below(values.length)]);
}

function someBytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256));
}

function mutated(random: Random, packet: Uint8Array): Uint8Array {
  const changed = Uint8Array.from(packet);
  for (let times = random.below(7); times > 0; times -= 1) {
    const at = random.below(changed.length);
    // Pointers and lengths are where readers fail.
    changed[at] = pick(random, [0xc0, 0xff, 0x3f, 0, random.below(256), must(changed[at]) ^ 1]);
  }
  const cut = random.below(8);
  if (cut === 0) return changed.slice(0, random.below(changed.length + 1));
  if (cut === 1) return Uint8Array.from([...changed, ...someBytes(random, random.below(65))]);
  return changed;
}
