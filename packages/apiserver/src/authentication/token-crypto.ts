/** The TokenCrypto port: hashes and signatures of tokens, with the keys of this server. The adapter brings the real ones. */
import type { JsonObject } from "@lifeboat/api";

export interface TokenCrypto {
  /** SHA-256 of a text, hexadecimal. */
  sha256(text: string): string;
  /** HMAC with SHA-256, base64url without padding. */
  hmacSha256(key: string, text: string): string;
  /** The claims as a JWT, signed with the key of this server. */
  signJwt(claims: JsonObject): string | Promise<string>;
  /** The claims of a JWT that a key of this server signed; undefined otherwise. Times and audiences are the caller's to check. */
  verifyJwt(token: string): JsonObject | undefined | Promise<JsonObject | undefined>;
  /** The public keys of this server, as a JSON Web Key Set. */
  readonly publicKeys: JsonObject;
}
