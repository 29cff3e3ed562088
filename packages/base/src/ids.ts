/** The Ids port: where uids and generated name suffixes come from. */
import type { Random } from "./random.ts";

export interface Ids {
  /** A version 4 UUID. */
  uid(): string;
  /** Five characters from the alphabet Kubernetes uses for `generateName`. */
  nameSuffix(): string;
}

/** No vowels and no look-alikes, as Kubernetes chooses them. */
export const SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const HEX = "0123456789abcdef";

/** Ids from a seeded stream, for tests and simulation. */
export function createSeededIds(random: Random): Ids {
  const pick = (alphabet: string, count: number): string => {
    let text = "";
    for (let i = 0; i < count; i++) text += alphabet[random.below(alphabet.length)];
    return text;
  };
  return {
    uid: () =>
      `${pick(HEX, 8)}-${pick(HEX, 4)}-4${pick(HEX, 3)}-${pick("89ab", 1)}${pick(HEX, 3)}-${pick(HEX, 12)}`,
    nameSuffix: () => pick(SUFFIX_ALPHABET, 5),
  };
}
