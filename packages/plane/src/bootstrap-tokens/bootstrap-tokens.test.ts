/** Bootstrap tokens in a whole control plane: made by any client, kept as hashes, presented, taken once, and gone in time. */
import { createHmac, generateKeyPairSync } from "node:crypto";
import { type AnyObject, Refused, type Resource } from "@lifeboat/api";
import { createMemoryStorage } from "@lifeboat/apiserver";
import { createTokenCrypto } from "@lifeboat/apiserver/adapters";
import { createRandom, createSeededIds, formatTime, instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { decideUse, toBase64 } from "@lifeboat/core/clusters/bootstrap-tokens";
import { type Client, silentLog, silentMetrics } from "@lifeboat/kit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ControlPlane, createControlPlane } from "../control-plane.ts";
import { DEFAULT_CONTROLLERS } from "../controllers.ts";

const START = instantOf(Date.UTC(2026, 0, 1));
const resource = (plural: string, kind: string): Resource => ({
  group: "",
  version: "v1",
  plural,
  kind,
  namespaced: true,
});
const SECRETS = resource("secrets", "Secret");
const CONFIG_MAPS = resource("configmaps", "ConfigMap");
const KEY = { namespace: "kube-system", name: "bootstrap-token-abcdef" };
const INFO = { namespace: "kube-public", name: "cluster-info" };
const TOKEN = "abcdef.0123456789abcdef";
const KUBECONFIG = "apiVersion: v1\nkind: Config\n";

let clock: VirtualClock;
let plane: ControlPlane;
let client: Client;
let stop: AbortController;

beforeEach(async () => {
  clock = new VirtualClock(START, drainPromises);
  const random = createRandom(1);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  plane = await createControlPlane(
    {
      clock,
      random,
      ids: createSeededIds(random.fork("ids")),
      log: silentLog,
      metrics: silentMetrics,
      storage: createMemoryStorage(clock, { syncDelayMs: 0 }),
      tokenCrypto: await createTokenCrypto(privateKey),
    },
    {
      version: "0.0.0",
      tokens: new Map(),
      work: {
        connect: () => {
          throw new Error("there are no members");
        },
        controllers: { ...DEFAULT_CONTROLLERS, controllers: ["bootstrapTokens"] },
        instance: "test",
      },
    },
  );
  client = plane.server.client({ name: "admin", groups: ["system:masters"] });
  stop = new AbortController();
  void plane.run(stop.signal);
  await clock.settle();
  const found = await client.get(CONFIG_MAPS, INFO).catch(() => undefined);
  const data = { kubeconfig: KUBECONFIG };
  if (found === undefined)
    await client.create(CONFIG_MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: INFO, data });
  else await client.update(CONFIG_MAPS, { ...found, data });
});

afterEach(async () => {
  stop.abort();
  await plane.close();
});

function create(fields: Readonly<Record<string, string | undefined>> = {}): Promise<AnyObject> {
  const all: Readonly<Record<string, string | undefined>> = {
    "token-id": "abcdef",
    "token-secret": "0123456789abcdef",
    expiration: "2026-01-01T00:30:00Z",
    "usage-bootstrap-authentication": "true",
    "usage-bootstrap-signing": "true",
    "auth-extra-groups": "system:bootstrappers:karmada:default-cluster-token",
    ...fields,
  };
  const stringData = Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  );
  return client.create(SECRETS, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      ...KEY,
      annotations: {
        kept: "yes",
        "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(stringData),
      },
    },
    type: "bootstrap.kubernetes.io/token",
    stringData,
  });
}

async function present(token: string): Promise<number> {
  const response = await plane.server.handle({
    method: "GET",
    url: "/api/v1/nodes",
    headers: { authorization: `Bearer ${token}` },
    body: new Uint8Array(0),
    signal: new AbortController().signal,
  });
  return response.status;
}

const dataOf = (object: AnyObject): Record<string, string> =>
  Object.fromEntries(
    Object.entries(object["data"] as Record<string, string>).map(([key, value]) => [
      key,
      Buffer.from(value, "base64").toString(),
    ]),
  );

it("is kept as a hash, authenticates, and signs cluster-info", async () => {
  const secret = await create();
  expect(JSON.stringify(secret)).not.toContain(toBase64("0123456789abcdef"));
  expect(secret.metadata.annotations).toEqual({ kept: "yes" });
  expect(JSON.stringify(dataOf(secret))).not.toContain('0123456789abcdef"');
  expect(dataOf(secret)).toMatchObject({
    "token-secret-hash": expect.stringMatching(/^[0-9a-f]{64}$/),
    expiration: "2026-01-01T00:30:00Z",
  });
  expect(await present(TOKEN)).toBe(403);
  expect(await plane.server.identify({ headers: { authorization: `Bearer ${TOKEN}` } })).toBe(
    "system:bootstrap:abcdef",
  );
  expect(await present("abcdef.0123456789abcdeg")).toBe(401);
  expect(await present("abcdeg.0123456789abcdef")).toBe(401);
  await clock.settle();
  const header = Buffer.from('{"alg":"HS256","kid":"abcdef"}').toString("base64url");
  const content = Buffer.from(KUBECONFIG).toString("base64url");
  const signature = createHmac("sha256", "0123456789abcdef")
    .update(`${header}.${content}`)
    .digest("base64url");
  expect((await client.get(CONFIG_MAPS, INFO))["data"]).toEqual({
    kubeconfig: KUBECONFIG,
    "jws-kubeconfig-abcdef": `${header}..${signature}`,
  });
});

it("counts no more once it is deleted or has expired, and takes its signature with it", async () => {
  await create();
  await client.delete(SECRETS, KEY);
  expect(await present(TOKEN)).toBe(401);
  await create();
  await clock.advance(30 * 60_000 - 1);
  expect(await present(TOKEN)).toBe(403);
  await clock.advance(1);
  expect(await present(TOKEN)).toBe(401);
  await clock.settle();
  await expect(client.get(SECRETS, KEY)).rejects.toThrow("not found");
  expect((await client.get(CONFIG_MAPS, INFO))["data"]).toEqual({ kubeconfig: KUBECONFIG });
});

it.each([
  ["a longer life", "2026-01-02T00:00:00Z"],
  ["no end", undefined],
  ["an end that is no time", "soon"],
])("lives for an hour at most: %s", async (_name, expiration) => {
  expect(dataOf(await create({ expiration }))["expiration"]).toBe("2026-01-01T01:00:00Z");
});

it.each<[string, Readonly<Record<string, string | undefined>>]>([
  ["no secret part", { "token-secret": undefined }],
  ["a secret part of another form", { "token-secret": "Secret!" }],
  ["another id than its name", { "token-id": "ghijkl" }],
  ["an id of another form", { "token-id": "ABC" }],
])("is refused with %s, and the refusal shows nothing of it", async (_name, fields) => {
  const refused = await create(fields).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Refused);
  expect(String((refused as Refused).status.message)).not.toMatch(/Secret!|0123456789abcdef/);
});

it("does not authenticate when it is only for signing, nor by a hash that was put there by hand as text", async () => {
  await create({ "usage-bootstrap-authentication": "false" });
  expect(await present(TOKEN)).toBe(401);
});

it("is taken once: of two racers one succeeds, and no update gives it back", async () => {
  await create();
  const take = async (key: string): Promise<boolean> => {
    for (;;) {
      const secret = await client.get(SECRETS, KEY);
      const use = decideUse(secret, { cluster: "eu-1", key }, clock.now());
      if (!use.allowed || use.write === undefined) return use.allowed;
      try {
        await client.update(SECRETS, use.write);
        return true;
      } catch (error) {
        if (!(error instanceof Refused) || error.status.reason !== "Conflict") throw error;
      }
    }
  };
  const racers = await Promise.all(["k1", "k2", "k3"].map(take));
  expect(racers.filter(Boolean)).toHaveLength(1);
  const winner = `k${racers.indexOf(true) + 1}`;
  expect(await take(winner)).toBe(true);
  const { "used-by-key": by } = dataOf(await client.get(SECRETS, KEY));
  expect(by).toBe(winner);
  expect(await present(TOKEN)).toBe(403);
  const body = { data: { "used-by-key": null, "used-for-cluster": null } };
  await client.patch(SECRETS, KEY, { type: "merge", body });
  expect(await take("k9")).toBe(false);
  expect(formatTime(clock.now())).toBe("2026-01-01T00:00:00Z");
});
