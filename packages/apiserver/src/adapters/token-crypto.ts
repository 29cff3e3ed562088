/**
 * The real TokenCrypto: node:crypto for hashes, jose for JSON Web Tokens. The key of ServiceAccount tokens is the file `sa.key`
 * among the certificates, elliptic curve P-256, made on first use.
 *
 * 1. One algorithm is accepted, ES256, by one key: a token that names another algorithm is refused before any key is tried.
 * 2. A damaged key is never replaced silently: every token that is in use was signed with it.
 */
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "@lifeboat/api";
import { writePrivateFile } from "@lifeboat/kit/adapters";
import { calculateJwkThumbprint, CompactSign, compactVerify, errors, exportJWK } from "jose";
import type { TokenCrypto } from "../authentication/token-crypto.ts";
import { readIfThere } from "./pki.ts";

const ALGORITHM = "ES256";
const KEY_FILE = "sa.key";

/** Opens the key in the directory of certificates; makes it when there is none. */
export async function openTokenCrypto(directory: string): Promise<TokenCrypto> {
  const path = join(directory, KEY_FILE);
  const found = await readIfThere(path);
  if (found !== undefined) return createTokenCrypto(parseKey(found, path));
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writePrivateFile(path, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  return createTokenCrypto(privateKey);
}

export async function createTokenCrypto(privateKey: KeyObject): Promise<TokenCrypto> {
  const publicKey = createPublicKey(privateKey);
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  const header = { alg: ALGORITHM, kid, typ: "JWT" };
  return {
    sha256: (text) => createHash("sha256").update(text).digest("hex"),
    hmacSha256: (key, text) => createHmac("sha256", key).update(text).digest("base64url"),
    signJwt: (claims) =>
      new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader(header)
        .sign(privateKey),
    verifyJwt: (token) => verify(token, publicKey),
    publicKeys: { keys: [{ ...(jwk as JsonObject), alg: ALGORITHM, kid, use: "sig" }] },
  };
}

async function verify(token: string, publicKey: KeyObject): Promise<JsonObject | undefined> {
  try {
    const { payload } = await compactVerify(token, publicKey, { algorithms: [ALGORITHM] });
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload));
    return isJsonObject(claims) ? claims : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function parseKey(pem: string, path: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyDetails?.namedCurve === "prime256v1") return key;
  } catch {
    // Reported below.
  }
  throw new Error(
    `the key of ServiceAccount tokens in ${path} cannot be used: restore it, or remove it to begin with a new key, by which every token issued so far becomes invalid`,
  );
}
