/**
 * ID tokens of an OpenID Connect provider. Its keys are fetched beside requests and kept: a provider that is down delays neither
 * the start nor any other user, and the keys that are known stay good.
 *
 * 1. Only algorithms of the list are accepted, none of them symmetric, and only keys that the provider publishes.
 * 2. A token by a key that is not known asks for the keys again, at most every COOLDOWN_MS, and waits for them a moment.
 * 3. What a signature proves is remembered by the token's hash until the keys change; the claims are judged on each request.
 */
import { createHash } from "node:crypto";
import * as https from "node:https";
import { isJsonObject, type JsonObject } from "@lifeboat/api";
import { type Clock, sleep } from "@lifeboat/base";
import { type Log, RecentMap, type Service } from "@lifeboat/kit";
import { compactVerify, createLocalJWKSet, errors, type JSONWebKeySet } from "jose";
import { unverifiedClaims } from "../authentication/jwt.ts";
import { type OidcRules, oidcUser } from "../authentication/oidc.ts";
import type { ProvenUser, TokenAuthenticator } from "../authentication/tokens.ts";

export interface OidcOptions extends OidcRules {
  /** PEM; absent: the system's authorities. */
  readonly authority?: string | undefined;
  readonly algorithms: readonly string[];
}

/** What can be chosen: none is symmetric, so that a public key can never be taken for a secret. */
export const OIDC_ALGORITHMS: readonly string[] = [
  "RS256",
  "RS384",
  "RS512",
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
];

export interface Oidc extends TokenAuthenticator, Service {
  /** Why no key is known; undefined when some are. */
  readonly problem: string | undefined;
}

const REFRESH_MS = 60 * 60 * 1000;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;
const COOLDOWN_MS = 10_000;
const WAIT_MS = 5000;
const FETCH_TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const REMEMBERED = 4096;

export function createOidc(
  ports: { readonly clock: Clock; readonly log: Log },
  options: OidcOptions,
): Oidc {
  return new Provider(ports, options);
}

class Provider implements Oidc {
  readonly name = "oidc";
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #options: OidcOptions;
  #keys: ReturnType<typeof createLocalJWKSet> | undefined;
  #known = new RecentMap<JsonObject>(REMEMBERED);
  #problem: string | undefined = "the keys of the issuer were not fetched yet";
  #fetching: Promise<boolean> | undefined;
  #fetchedAt = -Infinity;

  constructor(ports: { readonly clock: Clock; readonly log: Log }, options: OidcOptions) {
    this.#clock = ports.clock;
    this.#log = ports.log;
    this.#options = options;
  }

  get problem(): string | undefined {
    return this.#keys === undefined ? this.#problem : undefined;
  }

  async run(signal: AbortSignal): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (!signal.aborted) {
      const isFresh = await this.#refresh();
      if (!(await sleep(this.#clock, isFresh ? REFRESH_MS : retryMs, signal))) return;
      retryMs = isFresh ? FIRST_RETRY_MS : Math.min(retryMs * 2, LAST_RETRY_MS);
    }
  }

  authenticate(token: string): ProvenUser | undefined | Promise<ProvenUser | undefined> {
    if (unverifiedClaims(token)?.["iss"] !== this.#options.issuer) return undefined;
    const hash = createHash("sha256").update(token).digest("hex");
    const known = this.#known.get(hash);
    if (known !== undefined) return oidcUser(this.#options, known, this.#clock.now());
    return this.#verify(token, hash);
  }

  async #verify(token: string, hash: string): Promise<ProvenUser | undefined> {
    const claims = await this.#claimsOf(token);
    if (claims === undefined) return undefined;
    this.#known.set(hash, claims);
    return oidcUser(this.#options, claims, this.#clock.now());
  }

  async #claimsOf(token: string): Promise<JsonObject | undefined> {
    try {
      return await this.#verified(token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) return unlessForged(error);
    }
    // By a key that was published since, perhaps.
    if (this.#clock.monotonic() - this.#fetchedAt < COOLDOWN_MS) return undefined;
    await this.#soonFresh();
    return this.#verified(token).catch(unlessForged);
  }

  async #verified(token: string): Promise<JsonObject | undefined> {
    if (this.#keys === undefined) throw new errors.JWKSNoMatchingKey();
    const algorithms = [...this.#options.algorithms];
    const { payload } = await compactVerify(token, this.#keys, { algorithms });
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload));
    return isJsonObject(claims) ? claims : undefined;
  }

  /** Asks for the keys, and waits for them no longer than a request may. */
  #soonFresh(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(WAIT_MS, resolve);
      void this.#refresh().then(() => {
        cancel();
        resolve();
      });
    });
  }

  /** Fetches the keys, once however many ask; false when they could not be fetched. */
  #refresh(): Promise<boolean> {
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetch(): Promise<boolean> {
    const { issuer, authority } = this.#options;
    this.#fetchedAt = this.#clock.monotonic();
    try {
      const well = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
      const about = await fetchJson(well, authority);
      if (about["issuer"] !== issuer)
        throw new Error(`${well} names another issuer: ${JSON.stringify(about["issuer"])}`);
      const where = about["jwks_uri"];
      if (typeof where !== "string") throw new Error(`${well} names no keys`);
      const keys = await fetchJson(where, authority);
      this.#keys = createLocalJWKSet(keys as unknown as JSONWebKeySet);
      this.#known = new RecentMap(REMEMBERED);
      return true;
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      this.#log.warn("fetching the keys of the OpenID Connect issuer", { issuer, error });
      return false;
    }
  }
}

/** What is wrong with a token is its owner's matter; what is wrong here is not hidden. */
function unlessForged(error: unknown): undefined {
  if (error instanceof errors.JOSEError || error instanceof SyntaxError) return undefined;
  // Keys and signatures that the library's own checks let through, and that the cryptography refuses.
  if (error instanceof TypeError || error instanceof DOMException) return undefined;
  throw error;
}

function fetchJson(url: string, authority: string | undefined): Promise<JsonObject> {
  if (!URL.canParse(url) || new URL(url).protocol !== "https:")
    return Promise.reject(new Error(`${url.slice(0, 200)} is no https address`));
  return new Promise((resolve, reject) => {
    const options = {
      agent: false,
      timeout: FETCH_TIMEOUT_MS,
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
      headers: { accept: "application/json" },
      ...(authority !== undefined && { ca: authority }),
    } as const;
    const request = https.get(url, options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_BYTES) request.destroy(new Error(`${url} answers more than 1 MiB`));
        else chunks.push(chunk);
      });
      response.on("error", reject);
      response.on("end", () => {
        try {
          // Redirects are not followed: the address is what the operator trusts.
          if (response.statusCode !== 200)
            throw new Error(`${url} answers with code ${response.statusCode}`);
          const value: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
          if (!isJsonObject(value)) throw new Error(`${url} answers no JSON object`);
          resolve(value);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
    request.on("error", reject);
  });
}
