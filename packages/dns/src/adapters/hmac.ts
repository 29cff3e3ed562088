/** Keyed hashes by Node's own cryptography. */
import { createHmac } from "node:crypto";
import type { Hmac } from "../wire/tsig.ts";

export const nodeHmac: Hmac = (algorithm, secret, parts) => {
  const hmac = createHmac(algorithm.replace("hmac-", ""), secret);
  for (const part of parts) hmac.update(part);
  return new Uint8Array(hmac.digest());
};

export function decodeBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}
