/** Ids from the operating system's randomness. */
import { randomInt, randomUUID } from "node:crypto";
import type { Ids } from "../ids.ts";
import { SUFFIX_ALPHABET } from "../ids.ts";

export function createRealIds(): Ids {
  return {
    uid: () => randomUUID(),
    nameSuffix: () => {
      let text = "";
      for (let i = 0; i < 5; i++) text += SUFFIX_ALPHABET[randomInt(SUFFIX_ALPHABET.length)];
      return text;
    },
  };
}
