/** OpenID Connect with a real provider over HTTPS: keys that are fetched, turn, are gone, and tokens that are forged. */
import { createHmac, generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRealClock } from "@lifeboat/base/adapters";
import { silentLog } from "@lifeboat/kit";
import { exportJWK, SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createOidc, type Oidc } from "./oidc.ts";
import { type CertifiedKey, openPki, type Pki } from "./pki.ts";

let directory: string;
let pki: Pki;
let serverKey: CertifiedKey;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "oidc-"));
  pki = await openPki(createRealClock(), directory);
  serverKey = await pki.server([]);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Key {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const makeKey = (kid: string): Key => ({
  kid,
  ...generateKeyPairSync("rsa", { modulusLength: 2048 }),
});

let provider: https.Server;
let issuer: string;
let published: Key[];
let fetches: number;
let stop: AbortController;
let isDown: boolean;

beforeEach(async () => {
  published = [makeKey("one")];
  fetches = 0;
  isDown = false;
  provider = https.createServer(
    { cert: serverKey.certificate, key: serverKey.key },
    (request, response) => {
      void answer(request.url ?? "").then((value) => {
        response.statusCode = isDown ? 503 : 200;
        response.end(JSON.stringify(value));
      });
    },
  );
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  issuer = `https://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
});

async function answer(url: string): Promise<object> {
  if (url === "/.well-known/openid-configuration") return { issuer, jwks_uri: `${issuer}/keys` };
  fetches += 1;
  return {
    keys: await Promise.all(
      published.map(async ({ kid, publicKey }) => ({ ...(await exportJWK(publicKey)), kid })),
    ),
  };
}

function start(clock = createRealClock()): Oidc {
  const oidc = createOidc(
    { clock, log: silentLog },
    {
      issuer,
      clientId: "lifeboat",
      usernameClaim: "sub",
      usernamePrefix: "-",
      groupsClaim: "groups",
      groupsPrefix: "",
      requiredClaims: {},
      authority: pki.ca,
      algorithms: ["RS256"],
    },
  );
  void oidc.run(stop.signal);
  return oidc;
}

async function untilReady(oidc: Oidc): Promise<void> {
  while (oidc.problem !== undefined) await new Promise((resolve) => setTimeout(resolve, 10));
}

function tokenBy(key: Key, claims: Readonly<Record<string, unknown>> = {}): Promise<string> {
  return new SignJWT({ groups: ["dev"], iss: issuer, aud: "lifeboat", sub: "bob", ...claims })
    .setProtectedHeader({ alg: "RS256", kid: key.kid })
    .setExpirationTime("1h")
    .sign(key.privateKey);
}

const first = (): Key => published[0] ?? makeKey("none");

describe("a provider", () => {
  it("names users by tokens that its keys signed, and remembers them", async () => {
    const oidc = start();
    await untilReady(oidc);
    const token = await tokenBy(first());
    expect(await oidc.authenticate(token)).toEqual({ user: { name: "bob", groups: ["dev"] } });
    // Remembered: answered at once.
    expect(oidc.authenticate(token)).toEqual({ user: { name: "bob", groups: ["dev"] } });
    expect(oidc.authenticate("abcdef.0123456789abcdef")).toBeUndefined();
    expect(oidc.authenticate(await tokenBy(first(), { iss: "https://other" }))).toBeUndefined();
  });

  it("that is down delays no start, is asked again, and keeps its known users", async () => {
    isDown = true;
    const oidc = start();
    const token = await tokenBy(first());
    expect(await oidc.authenticate(token)).toBeUndefined();
    expect(oidc.problem).toBeDefined();
    isDown = false;
    await untilReady(oidc);
    expect(await oidc.authenticate(token)).toMatchObject({ user: { name: "bob" } });
    isDown = true;
    expect(await oidc.authenticate(await tokenBy(first(), { sub: "eve" }))).toMatchObject({
      user: { name: "eve" },
    });
  });

  it("turns its keys: the new one is fetched when it is first seen, and strangers cannot ask often", async () => {
    const real = createRealClock();
    // It stands still but for what the test adds: making keys may take seconds.
    let ahead = 0;
    const clock = { ...real, monotonic: () => ahead };
    clock.now = () => real.now();
    clock.after = (...given) => real.after(...given);
    const oidc = start(clock);
    await untilReady(oidc);
    const old = await tokenBy(first());
    expect(await oidc.authenticate(old)).toBeDefined();
    published = [makeKey("two")];
    const fresh = await tokenBy(first());
    expect(await oidc.authenticate(fresh)).toBeUndefined();
    expect(fetches).toBe(1);
    ahead = 11_000;
    expect(await oidc.authenticate(fresh)).toBeDefined();
    expect(fetches).toBe(2);
    // The key that is no longer published counts no more, also for tokens that were remembered.
    expect(await oidc.authenticate(old)).toBeUndefined();
    const stranger = makeKey("nobody");
    for (let i = 0; i < 20; i += 1)
      await oidc.authenticate(await tokenBy({ ...stranger, kid: `nobody-${i}` }));
    expect(fetches).toBe(2);
  });

  it("signs nothing by what it publishes to everyone, and nothing else counts", async () => {
    const oidc = start();
    await untilReady(oidc);
    const good = await tokenBy(first());
    const [, payload = "", signature = ""] = good.split(".");
    const encode = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString("base64url");
    const pem = first().publicKey.export({ type: "spki", format: "pem" }).toString();
    const hs = `${encode({ alg: "HS256", kid: "one" })}.${payload}`;
    const hostile = {
      none: `${encode({ alg: "none" })}.${payload}.`,
      confusion: `${hs}.${createHmac("sha256", pem).update(hs).digest("base64url")}`,
      "another algorithm": `${encode({ alg: "PS256", kid: "one" })}.${payload}.${signature}`,
      "no signature": `${encode({ alg: "RS256", kid: "one" })}.${payload}.`,
      "another key": await tokenBy({ ...makeKey("one") }),
      "another client": await tokenBy(first(), { aud: "other" }),
      "not yet valid": await tokenBy(first(), { nbf: Date.now() / 1000 + 3600 }),
      "bytes that are no signature": `${encode({ alg: "RS256", kid: "one" })}.${payload}.AAAA`,
    };
    for (const [name, token] of Object.entries(hostile))
      expect([name, await oidc.authenticate(token)]).toEqual([name, undefined]);
  });
});
