/** Tokens of ServiceAccounts, issued and presented over HTTP, and everything that must not be taken for one. */
import { createHmac, createSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import { createWorld, type World } from "@lifeboat/testkit";
import type { AnyObject } from "@lifeboat/api";
import { beforeEach, describe, expect, it } from "vitest";
import { createTokenCrypto } from "../adapters/token-crypto.ts";
import type { TokenCrypto } from "./token-crypto.ts";
import { unverifiedClaims } from "./jwt.ts";

let key: KeyObject;
let crypto: TokenCrypto;
let world: World;

beforeEach(async () => {
  key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  crypto = await createTokenCrypto(key);
  world = await createWorld({ tokenCrypto: crypto });
  await post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "robot" } });
});

interface Answer {
  readonly status: number;
  readonly body: AnyObject & { readonly status?: unknown };
}

async function ask(
  method: string,
  url: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const isAdmin = headers["authorization"] === undefined;
  const response = await world.server.handle({
    method,
    url,
    headers: { "content-type": "application/json", ...headers },
    body: Buffer.from(body === undefined ? "" : JSON.stringify(body)),
    ...(isAdmin && { certificateUser: { name: "admin", groups: ["system:masters"] } }),
    signal: new AbortController().signal,
  });
  const bytes = response.body as Uint8Array;
  return { status: response.status, body: JSON.parse(Buffer.from(bytes).toString()) };
}

const post = (url: string, body: object): Promise<Answer> => ask("POST", url, body);

async function issue(spec: object = {}): Promise<Answer> {
  return post("/api/v1/namespaces/default/serviceaccounts/robot/token", { spec });
}

async function tokenOf(spec: object = {}): Promise<string> {
  const { body } = await issue(spec);
  return (body.status as { token: string }).token;
}

/** What the server knows of the owner of a token. */
async function whoAmI(token: string): Promise<{ code: number; user?: object }> {
  const { status, body } = await ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {
    spec: { token },
  });
  const review = body.status as { authenticated?: boolean; user: object };
  expect(status).toBe(201);
  // A request with the token goes the same way: masters only may review, so others are forbidden, and not unauthorized.
  const own = await ask("GET", "/api/v1/namespaces/default/secrets", undefined, {
    authorization: `Bearer ${token}`,
  });
  expect(own.status).toBe(review.authenticated === true ? 403 : 401);
  const identified = await world.server.identify({ headers: { authorization: `Bearer ${token}` } });
  expect(identified).toBe(
    review.authenticated === true ? (review.user as { username: string }).username : undefined,
  );
  return review.authenticated === true ? { code: 200, user: review.user } : { code: 401 };
}

describe("issuing", () => {
  it("gives the claims that a real server gives, and the token authenticates", async () => {
    const { status, body } = await issue();
    expect(status).toBe(201);
    expect(body).toMatchObject({
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: { name: "robot", namespace: "default" },
      spec: { audiences: ["https://kubernetes.default.svc"], expirationSeconds: 3600 },
      status: { expirationTimestamp: "2026-01-01T01:00:00Z" },
    });
    const { token } = body.status as { token: string };
    const account = await world.client.get(
      {
        group: "",
        version: "v1",
        plural: "serviceaccounts",
        kind: "ServiceAccount",
        namespaced: true,
      },
      { namespace: "default", name: "robot" },
    );
    const now = Date.UTC(2026, 0, 1) / 1000;
    expect(unverifiedClaims(token)).toEqual({
      aud: ["https://kubernetes.default.svc"],
      exp: now + 3600,
      iat: now,
      nbf: now,
      iss: "https://kubernetes.default.svc",
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sub: "system:serviceaccount:default:robot",
      "kubernetes.io": {
        namespace: "default",
        serviceaccount: { name: "robot", uid: account.metadata.uid },
      },
    });
    expect((await whoAmI(token)).user).toMatchObject({
      username: "system:serviceaccount:default:robot",
      uid: account.metadata.uid,
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    });
  });

  it.each<[object, number, RegExp]>([
    [{ expirationSeconds: 599 }, 422, /less than 10 minutes/],
    [{ expirationSeconds: 2 ** 32 + 1 }, 422, /larger than/],
    [{ boundObjectRef: { kind: "Secret", apiVersion: "v1" } }, 422, /boundObjectRef.name/],
    [
      { boundObjectRef: { kind: "ConfigMap", apiVersion: "v1", name: "x" } },
      400,
      /cannot bind token to object of type/,
    ],
    [
      { boundObjectRef: { kind: "constructor", apiVersion: "v1", name: "x" } },
      400,
      /cannot bind token/,
    ],
    [{ boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "none" } }, 404, /not found/],
  ])("%j is refused with %d", async (spec, status, message) => {
    const answer = await issue(spec);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toMatch(message);
  });

  it("shortens a life that is too long", async () => {
    const { body } = await issue({ expirationSeconds: 10 * 365 * 24 * 3600 });
    expect(body["spec"]).toMatchObject({ expirationSeconds: 30 * 24 * 3600 });
  });

  it("needs the account, and a server with a key", async () => {
    const none = await post("/api/v1/namespaces/default/serviceaccounts/nobody/token", {});
    expect(none.status).toBe(404);
    world = await createWorld();
    await post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "robot" } });
    expect((await issue()).status).toBe(500);
  });

  it("is found by discovery, and tells others how to check its tokens", async () => {
    const { body } = await ask("GET", "/api/v1");
    const resources = body["resources"] as { name: string }[];
    expect(resources.find(({ name }) => name === "serviceaccounts/token")).toMatchObject({
      group: "authentication.k8s.io",
      kind: "TokenRequest",
      verbs: ["create"],
    });
    const keys = await ask("GET", "/openid/v1/jwks");
    expect(keys.body["keys"]).toMatchObject([{ kty: "EC", alg: "ES256", use: "sig" }]);
    expect(JSON.stringify(keys.body)).not.toContain('"d"');
    const issuer = await ask("GET", "/.well-known/openid-configuration");
    expect(issuer.body["issuer"]).toBe("https://kubernetes.default.svc");
  });
});

describe("revoking", () => {
  it("a deleted account takes its tokens with it, also when it is made again", async () => {
    const token = await tokenOf();
    expect(await whoAmI(token)).toMatchObject({ code: 200 });
    await ask("DELETE", "/api/v1/namespaces/default/serviceaccounts/robot");
    expect(await whoAmI(token)).toEqual({ code: 401 });
    await post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "robot" } });
    expect(await whoAmI(token)).toEqual({ code: 401 });
  });

  it("a deleted Secret takes the tokens that are bound to it", async () => {
    await post("/api/v1/namespaces/default/secrets", { metadata: { name: "s" } });
    const boundObjectRef = { kind: "Secret", apiVersion: "v1", name: "s" };
    const token = await tokenOf({ boundObjectRef });
    const other = await issue({ boundObjectRef: { ...boundObjectRef, uid: "another" } });
    expect(other.status).toBe(409);
    expect(await whoAmI(token)).toMatchObject({ code: 200 });
    await ask("DELETE", "/api/v1/namespaces/default/secrets/s");
    expect(await whoAmI(token)).toEqual({ code: 401 });
  });

  it("expires to the second, also when it was verified before", async () => {
    const token = await tokenOf({ expirationSeconds: 600 });
    await world.advance("599s");
    expect(await whoAmI(token)).toMatchObject({ code: 200 });
    await world.advance("1s");
    expect(await whoAmI(token)).toEqual({ code: 401 });
  });
});

describe("hostile tokens", () => {
  const encode = (value: unknown): string =>
    Buffer.from(JSON.stringify(value)).toString("base64url");

  it("counts nothing but what its own key signed for it", async () => {
    const good = await tokenOf();
    const [header = "", payload = "", signature = ""] = good.split(".");
    const claims = unverifiedClaims(good) ?? {};
    const now = Date.UTC(2026, 0, 1) / 1000;
    const foreign = await createTokenCrypto(
      generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey,
    );
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    const publicPem = JSON.stringify(crypto.publicKeys);
    const hmac = (text: string, secret: string): string =>
      createHmac("sha256", secret).update(text).digest("base64url");
    const hs = `${encode({ alg: "HS256", typ: "JWT" })}.${payload}`;
    const rs = `${encode({ alg: "RS256", typ: "JWT" })}.${payload}`;
    const hostile: Record<string, string> = {
      "alg none": `${encode({ alg: "none" })}.${payload}.`,
      "alg None with the signature": `${encode({ alg: "None" })}.${payload}.${signature}`,
      "HS256 with the public key as its secret": `${hs}.${hmac(hs, publicPem)}`,
      "RS256 by a key of its own": `${rs}.${createSign("sha256").update(rs).sign(rsa).toString("base64url")}`,
      "another key": await foreign.signJwt(claims),
      "a key in the header": `${encode({ alg: "ES256", jwk: (crypto.publicKeys as { keys: object[] }).keys[0] })}.${payload}.${signature}`,
      "changed claims": `${header}.${encode({ ...claims, sub: "system:serviceaccount:kube-system:root" })}.${signature}`,
      "no signature": `${header}.${payload}.`,
      "two parts": `${header}.${payload}`,
      "four parts": `${good}.x`,
      "critical extensions": `${encode({ alg: "ES256", crit: ["x"], x: 1 })}.${payload}.${signature}`,
      huge: `${header}.${"a".repeat(1_000_000)}.${signature}`,
      "not base64": "a.!.b",
      expired: await crypto.signJwt({ ...claims, exp: now }),
      "without an end": await crypto.signJwt({ ...claims, exp: "never" }),
      "not yet valid": await crypto.signJwt({ ...claims, nbf: now + 3600 }),
      "for others": await crypto.signJwt({ ...claims, aud: ["vault"] }),
      "for none": await crypto.signJwt({ ...claims, aud: [] }),
      "another issuer": await crypto.signJwt({ ...claims, iss: "https://elsewhere" }),
      "another subject": await crypto.signJwt({
        ...claims,
        sub: "system:serviceaccount:kube-system:root",
      }),
      "without an account": await crypto.signJwt({ ...claims, "kubernetes.io": {} }),
    };
    for (const [name, token] of Object.entries(hostile))
      expect([name, (await whoAmI(token)).code]).toEqual([name, 401]);
    expect((await whoAmI(good)).code).toBe(200);
  });

  it("a token for others is reviewed for them", async () => {
    const token = await tokenOf({ audiences: ["vault", "x"] });
    expect((await whoAmI(token)).code).toBe(401);
    const { body } = await post("/apis/authentication.k8s.io/v1/tokenreviews", {
      spec: { token, audiences: ["vault"] },
    });
    expect(body.status).toMatchObject({ authenticated: true, audiences: ["vault"] });
  });
});
