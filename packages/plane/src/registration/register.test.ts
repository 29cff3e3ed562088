/**
 * Registration against a whole control plane in process: its authentication, rights, admission, approver and signer. Only the
 * transport is short: a client acts as the user that its credential proves.
 */
import { createHash, createHmac, generateKeyPairSync } from "node:crypto";
import {
  type AnyObject,
  type Cluster,
  clusters,
  type New,
  orNothing,
  type Resource,
  certificateSigningRequests,
  failure,
  Refused,
} from "@lifeboat/api";
import { createMemoryStorage } from "@lifeboat/apiserver";
import { createTokenCrypto } from "@lifeboat/apiserver/adapters";
import { createRandom, createSeededIds, instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { AGENTS_GROUP, agentUser } from "@lifeboat/core/clusters/rights";
import { type Client, silentLog, silentMetrics } from "@lifeboat/kit";
import {
  createPaperSigner,
  paperRequest,
  type PaperCertificate,
  readPaperCertificate,
  wrapped,
} from "@lifeboat/testkit";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlPlane, createControlPlane } from "../control-plane.ts";
import { DEFAULT_CONTROLLERS } from "../controllers.ts";
import {
  awaitLease,
  lastRenewal,
  type PlaneAccess,
  registerByToken,
  type RegisterPorts,
  type RegisterRequest,
} from "./register.ts";
import { unjoinCluster } from "./unjoin.ts";

const resource = (plural: string, kind: string): Resource => ({
  group: "",
  version: "v1",
  plural,
  kind,
  namespaced: true,
});
const SECRETS = resource("secrets", "Secret");
const CONFIG_MAPS = resource("configmaps", "ConfigMap");
const LEASES: Resource = { ...resource("leases", "Lease"), group: "coordination.k8s.io" };
const REVIEWS: Resource = {
  ...resource("tokenreviews", "TokenReview"),
  group: "authentication.k8s.io",
  namespaced: false,
};
const INFO = { namespace: "kube-public", name: "cluster-info" };
const PIN = `sha256:${"1".repeat(64)}`;
const KUBECONFIG = `clusters: [{name: "", cluster: {server: "https://x", certificate-authority-data: ${btoa("ca")}}}]`;
const ADMIN = { name: "admin", groups: ["system:masters"] };

let clock: VirtualClock;
let plane: ControlPlane;
let client: Client;
let stop: AbortController;
let steps: string[];
let tokens: number;

beforeEach(open);
afterEach(close);

async function open(): Promise<void> {
  clock = new VirtualClock(instantOf(Date.UTC(2026, 0, 1)), drainPromises);
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
      signer: createPaperSigner(),
      work: {
        connect: () => {
          throw new Error("there are no Push members");
        },
        controllers: {
          ...DEFAULT_CONTROLLERS,
          controllers: ["cluster", "bootstrapTokens", "agentcsrapproving"],
        },
        instance: "test",
      },
    },
  );
  client = plane.server.client(ADMIN);
  stop = new AbortController();
  void plane.run(stop.signal);
  await clock.settle();
  await client.create(CONFIG_MAPS, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: INFO,
    data: { kubeconfig: KUBECONFIG },
  });
  steps = [];
  tokens = 0;
}

async function close(): Promise<void> {
  stop.abort();
  await plane.close();
}

async function makeToken(cluster?: string): Promise<string> {
  tokens += 1;
  const id = `t${String(tokens).padStart(5, "0")}`;
  const groups = ["system:bootstrappers:karmada:default-cluster-token"];
  if (cluster !== undefined) groups.push(`system:bootstrappers:lifeboat:cluster:${cluster}`);
  await client.create(SECRETS, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "kube-system", name: `bootstrap-token-${id}` },
    type: "bootstrap.kubernetes.io/token",
    stringData: {
      "token-id": id,
      "token-secret": "0123456789abcdef",
      "usage-bootstrap-authentication": "true",
      "usage-bootstrap-signing": "true",
      "auth-extra-groups": groups.join(","),
      ...(cluster !== undefined && { cluster }),
    },
  });
  await clock.settle();
  return `${id}.0123456789abcdef`;
}

/** A client as the user that the token proves; the anonymous user without one. */
async function connect(access: PlaneAccess): Promise<{ client: Client; close: () => void }> {
  if (access.token === undefined)
    return {
      client: plane.server.client({ name: "system:anonymous", groups: ["system:unauthenticated"] }),
      close: () => undefined,
    };
  const review = { metadata: {}, spec: { token: access.token } } as unknown as New<AnyObject>;
  const { status } = (await client.create(REVIEWS, review)) as unknown as {
    status: { user: { username: string; groups: string[] } };
  };
  const { username, groups } = status.user;
  return { client: plane.server.client({ name: username, groups }), close: () => undefined };
}

function portsOf(): RegisterPorts {
  return {
    clock,
    connect,
    hmacSha256: (key, text) => createHmac("sha256", key).update(text).digest("base64url"),
    sha256: (text) => createHash("sha256").update(text).digest("hex"),
    pinsOf: (bundle) => (bundle === "ca" ? [PIN] : []),
  };
}

/** Runs to its end while time goes on. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const state = { isOver: false };
  const over = (): void => {
    state.isOver = true;
  };
  work.then(over, over);
  for (let i = 0; i < 400 && !state.isOver; i += 1) await clock.advance(500);
  return work;
}

async function register(
  cluster: string,
  token: string,
  key: string,
  change: Partial<RegisterRequest> = {},
  ports: RegisterPorts = portsOf(),
): Promise<ReturnType<typeof readPaperCertificate>> {
  const registered = await inTime(
    registerByToken(ports, {
      server: "https://x",
      token,
      pins: [PIN],
      skipPin: false,
      cluster,
      certificate: { request: paperRequest(agentUser(cluster), [AGENTS_GROUP], key), key },
      timeoutMs: 10_000,
      check: false,
      onStep: (step) => steps.push(step),
      ...change,
    }),
  );
  return registered === undefined ? undefined : readPaperCertificate(registered.certificate);
}

const agent = (cluster: string): Client =>
  plane.server.client({
    name: agentUser(cluster),
    groups: [AGENTS_GROUP, "system:authenticated"],
  });

/** What an agent does first: its Cluster, then its Lease. */
async function startAgent(cluster: string): Promise<void> {
  const own = agent(cluster);
  const wanted = {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: cluster },
    spec: { syncMode: "Pull" },
  } as unknown as New<Cluster>;
  await own.create(clusters, wanted);
  const key = { namespace: "karmada-cluster", name: cluster };
  const spec = { holderIdentity: cluster, renewTime: "2026-01-01T00:00:00.000000Z" };
  const found = await orNothing(own.get(LEASES, key));
  if (found === undefined)
    await own.create(LEASES, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: key,
      spec,
    });
  else await own.update(LEASES, { ...found, spec });
  await clock.settle();
}

const leave = (cluster: string): Promise<unknown> =>
  inTime(unjoinCluster({ clock }, { plane: client, name: cluster, mode: "Pull" }));

const isRefused = ({ serial, user, notBefore }: PaperCertificate): boolean =>
  plane.revocations.refusalOf({ serial, user, validFrom: notBefore }) !== undefined;

describe("registering", () => {
  it("takes its steps in order, and its agent may do what agents do", async () => {
    const certificate = await register("eu-1", await makeToken(), "k1");
    expect(certificate).toMatchObject({
      user: "system:karmada:agent:eu-1",
      groups: [AGENTS_GROUP],
    });
    expect(steps).toEqual(["reach", "authority", "token", "request", "approval"]);
    await startAgent("eu-1");
    const limits = { before: undefined, timeoutMs: 1000 };
    await awaitLease({ clock }, agent("eu-1"), "eu-1", limits);
  });

  it("waits for a renewal of the agent that it installs, not for one of before", async () => {
    await register("eu-1", await makeToken(), "k1");
    await startAgent("eu-1");
    const own = agent("eu-1");
    const before = await lastRenewal(own, "eu-1");
    expect(before).toBeDefined();
    await expect(
      inTime(awaitLease({ clock }, own, "eu-1", { before, timeoutMs: 5000 })),
    ).rejects.toThrow(/has not renewed its Lease karmada-cluster\/eu-1 within 5s/);
    const waiting = inTime(awaitLease({ clock }, own, "eu-1", { before, timeoutMs: 60_000 }));
    const key = { namespace: "karmada-cluster", name: "eu-1" };
    const body = { spec: { renewTime: "2026-01-01T00:00:07.000000Z" } };
    await own.patch(LEASES, key, { type: "merge", body });
    await waiting;
  });

  it("a check changes nothing", async () => {
    const before = plane.server.catalog.revision;
    const token = await makeToken();
    const at = (await client.list(SECRETS)).metadata.resourceVersion;
    expect(await register("eu-1", token, "k1", { check: true })).toBeUndefined();
    expect(steps).toEqual(["reach", "authority", "token"]);
    expect((await client.list(SECRETS)).metadata.resourceVersion).toBe(at);
    expect(plane.server.catalog.revision).toBe(before);
  });

  it("goes on after a lost response with the same key, and not with another one", async () => {
    const token = await makeToken();
    const first = await register("eu-1", token, "k1");
    expect(await register("eu-1", token, "k1")).toEqual(first);
    await expect(register("eu-1", token, "k2")).rejects.toMatchObject({ step: "approval" });
    await expect(register("eu-2", token, "k1")).rejects.toMatchObject({ step: "approval" });
  });

  it.each<[string, Partial<RegisterRequest>, string]>([
    ["a token of another form", { token: "x" }, "token"],
    ["an unknown token", { token: "zzzzzz.0123456789abcdef" }, "token"],
    ["a mistyped token", { token: "t00001.0123456789abcdee" }, "token"],
    ["another authority", { pins: [`sha256:${"2".repeat(64)}`] }, "authority"],
  ])("stops at the step that fails: %s", async (_name, change, step) => {
    const token = await makeToken();
    await expect(register("eu-1", token, "k1", change)).rejects.toMatchObject({ step });
  });

  it("a token that signs and is no credential: the API server lacks a flag", async () => {
    const token = await makeToken();
    const refusing = {
      ...portsOf(),
      connect: async (access: PlaneAccess) => {
        const connected = await connect(access);
        if (access.token === undefined) return connected;
        const create = () => Promise.reject(new Refused(failure(401, "Unauthorized", "no")));
        return { ...connected, client: wrapped(connected.client, { create }) };
      },
    };
    const registering = register("eu-1", token, "k1", {}, refusing);
    await expect(registering).rejects.toThrow(/--enable-bootstrap-token-auth/);
  });

  it("tells whether the approval or the signature is missing", async () => {
    const token = await makeToken();
    stop.abort();
    await clock.settle();
    const waiting = (): Promise<unknown> => register("eu-1", token, "k1", { timeoutMs: 3000 });
    await expect(waiting()).rejects.toThrow(/neither approved nor denied within 3s/);
    const [request] = (await client.list(certificateSigningRequests)).items;
    const conditions = [{ type: "Approved", status: "True", reason: "ByHand" }];
    await client.patch(
      certificateSigningRequests,
      { namespace: "", name: request?.metadata.name ?? "" },
      { type: "merge", body: { status: { conditions } } },
      { subresource: "approval" },
    );
    await expect(waiting()).rejects.toThrow(/is approved, but no signer issued .* within 3s/);
  });

  it("an authority that changed after the token was made is told at the token", async () => {
    const token = await makeToken();
    const info = await client.get(CONFIG_MAPS, INFO);
    const data = { ...(info["data"] as object), kubeconfig: `${KUBECONFIG}\n` };
    await client.update(CONFIG_MAPS, { ...info, data });
    await clock.settle();
    await expect(register("eu-1", token, "k1")).rejects.toThrow(/authority .* changed after/);
  });
});

describe("join, leave, join again", () => {
  it("with and without left-over objects, ends the same, and no old identity returns", async () => {
    const step = fc.record({
      left: fc.subarray(["lease", "secret", "impersonator"] as const),
      bound: fc.boolean(),
      pauseMs: fc.constantFrom(0, 400, 1500),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 4 }), async (rounds) => {
        await close();
        await open();
        const old: PaperCertificate[] = [];
        for (const [round, { left, bound, pauseMs }] of rounds.entries()) {
          const token = await makeToken(bound ? "eu-1" : undefined);
          const certificate = await register("eu-1", token, `k${round}`);
          if (certificate === undefined) throw new Error("a certificate is issued");
          expect(isRefused(certificate)).toBe(false);
          for (const before of old) expect(isRefused(before)).toBe(true);
          await startAgent("eu-1");
          expect((await client.get(clusters, { namespace: "", name: "eu-1" })).spec.syncMode).toBe(
            "Pull",
          );
          await leave("eu-1");
          expect(
            await orNothing(client.get(clusters, { namespace: "", name: "eu-1" })),
          ).toBeUndefined();
          await clock.settle();
          expect(isRefused(certificate)).toBe(true);
          await expect(
            agent("eu-1").get(clusters, { namespace: "", name: "eu-1" }),
          ).rejects.toThrow();
          old.push(certificate);
          await leaveOver(left);
          await clock.advance(pauseMs);
        }
      }),
      { numRuns: 12 },
    );
  });
});

/** Objects of an earlier life of the cluster that no clean-up took away. */
async function leaveOver(left: readonly ("lease" | "secret" | "impersonator")[]): Promise<void> {
  for (const what of left) {
    const isLease = what === "lease";
    const name = what === "impersonator" ? "eu-1-impersonator" : "eu-1";
    const target = isLease ? LEASES : SECRETS;
    const object = {
      apiVersion: isLease ? "coordination.k8s.io/v1" : "v1",
      kind: target.kind,
      metadata: { namespace: "karmada-cluster", name },
    } as unknown as New<AnyObject>;
    if ((await orNothing(client.get(target, { namespace: "karmada-cluster", name }))) === undefined)
      await client.create(target, object);
  }
}
