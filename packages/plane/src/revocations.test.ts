/** Certificates that are stolen and revoked, or end, while their watches are open: over real TLS. */
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AnyObject, configMaps, namespaces, Refused } from "@lifeboat/api";
import { createMemoryStorage } from "@lifeboat/apiserver";
import {
  commitAuthority,
  createSigner,
  createTlsServer,
  openPki,
  type Pki,
  prepareAuthority,
  type TlsServer,
} from "@lifeboat/apiserver/adapters";
import { addMs, createRandom, createSeededIds } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { tombstoneOf, withRevocation } from "@lifeboat/core/clusters/certificates";
import { AGENTS_GROUP, agentUser } from "@lifeboat/core/clusters/rights";
import { silentLog, silentMetrics, type WatchEnd } from "@lifeboat/kit";
import {
  createHttpClient,
  fixedCredential,
  type HttpClient,
  makeCertificateRequest,
} from "@lifeboat/kit/adapters";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ControlPlane, createControlPlane } from "./control-plane.ts";

const LIMIT_MS = 5000;
const clock = createRealClock();
const MASTER = { name: "test", groups: ["system:masters"] };

let directory: string;
let pki: Pki;
let plane: ControlPlane;
let tls: TlsServer;
let server: string;
let stop: AbortController;
let running: Promise<void>;
const clients: HttpClient[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "revoked-"));
  pki = await openPki(clock, directory);
  const random = createRandom(1);
  const ports = {
    clock,
    random,
    ids: createSeededIds(random.fork("ids")),
    log: silentLog,
    metrics: silentMetrics,
    storage: createMemoryStorage(clock, { syncDelayMs: 0 }),
  };
  plane = await createControlPlane(ports, {
    version: "0.0.0",
    tokens: new Map(),
    signer: createSigner(() => pki.authority()),
  });
  tls = createTlsServer({
    handle: plane.server.handle,
    identify: plane.server.identify,
    refusalOf: (certificate) => plane.revocations.refusalOf(certificate),
    ...(await pki.server([])),
    clientCa: pki.bundle,
    host: "127.0.0.1",
    port: 0,
    log: silentLog,
    metrics: silentMetrics,
  });
  plane.revocations.onChange(() => tls.dropRevoked());
  server = `https://127.0.0.1:${(await tls.listen()).port}`;
  stop = new AbortController();
  running = plane.run(stop.signal);
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  stop.abort();
  await tls.close(1000);
  await running;
  await plane.close();
  await rm(directory, { recursive: true, force: true });
});

/** A client with a certificate that the signer makes for this user. */
function clientOf(
  user: string,
  groups: readonly string[],
  lifeMs = 3_600_000,
): HttpClient & { readonly serial: string } {
  const signer = createSigner(() => pki.authority());
  const { request, key } = makeCertificateRequest({ commonName: user, organizations: groups });
  const read = signer.read(request);
  if ("refusal" in read) throw new Error(read.refusal);
  const now = clock.now();
  const certificate = signer.sign({
    user,
    groups,
    publicKey: read.publicKey,
    notBefore: addMs(now, -300_000),
    notAfter: addMs(now, lifeMs),
  });
  const client = createHttpClient({
    server,
    certificateAuthority: pki.bundle,
    userAgent: "test",
    credentials: fixedCredential({ headers: {}, certificate, key }),
  });
  clients.push(client);
  return Object.assign(client, { serial: new X509Certificate(certificate).serialNumber });
}

/** Opens a watch; answers when it has begun, with a promise of its end. */
async function watching(client: HttpClient): Promise<{ readonly end: Promise<WatchEnd> }> {
  let ended: (end: WatchEnd) => void = () => undefined;
  const end = new Promise<WatchEnd>((resolve) => {
    ended = resolve;
  });
  await new Promise<void>((begun) => {
    client.watch<AnyObject>(
      namespaces,
      { sendInitialEvents: true, allowWatchBookmarks: true, resourceVersionMatch: "NotOlderThan" },
      { event: () => begun(), end: ended },
    );
  });
  return { end };
}

async function refusalOf(client: HttpClient): Promise<string> {
  try {
    await client.list(namespaces);
    return "none";
  } catch (error) {
    if (!(error instanceof Refused)) return String(error);
    const { code, details } = error.status;
    return `${code} ${details?.causes?.map(({ reason }) => reason).join() ?? ""}`;
  }
}

async function revoke(data: Readonly<Record<string, string>>): Promise<void> {
  const client = plane.server.client(MASTER);
  const name = "lifeboat-system";
  await client
    .create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } })
    .catch(() => undefined);
  await client.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "revoked-certificates", namespace: name },
    data,
  });
}

async function buried(cluster: string): Promise<void> {
  const client = plane.server.client(MASTER);
  const name = "karmada-cluster";
  await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  await client.create(configMaps, tombstoneOf(cluster, clock.now(), undefined));
}

const ways: readonly (readonly [
  string,
  (stolen: { readonly serial: string }) => Promise<void>,
  string,
])[] = [
  [
    "by its serial",
    ({ serial }) =>
      revoke(
        withRevocation(
          {},
          {
            serial,
            user: agentUser("eu-1"),
            until: addMs(clock.now(), 3_600_000),
            before: addMs(clock.now(), -1000),
          },
          clock.now(),
        ),
      ),
    "401 CertificateRevoked",
  ],
  [
    "by its user",
    () => revoke(withRevocation({}, { user: agentUser("eu-1"), before: clock.now() }, clock.now())),
    "401 CertificateRevoked",
  ],
  ["by the tombstone of its cluster", () => buried("eu-1"), "401 ClusterLeft"],
];

test.each(ways)(
  "revoked %s: the watch ends within 5 s, and nothing is served any more",
  async (_how, revokeIt, refusal) => {
    // In system:masters, so that only the revocation can refuse it.
    const stolen = clientOf(agentUser("eu-1"), [AGENTS_GROUP, "system:masters"]);
    const honest = clientOf(agentUser("eu-2"), [AGENTS_GROUP, "system:masters"]);
    const [watch, other] = [await watching(stolen), await watching(honest)];
    let hasOtherEnded = false;
    void other.end.then(() => {
      hasOtherEnded = true;
    });
    const started = performance.now();
    await revokeIt(stolen);
    await watch.end;
    expect(performance.now() - started).toBeLessThan(LIMIT_MS);
    expect(await refusalOf(stolen)).toBe(refusal);
    expect(await refusalOf(honest)).toBe("none");
    expect(hasOtherEnded).toBe(false);
  },
);

test("a watch ends with the certificate that opened it, and nothing is served by that any more", async () => {
  const lasting = clientOf("a", ["system:masters"]);
  const other = await watching(lasting);
  let hasOtherEnded = false;
  void other.end.then(() => {
    hasOtherEnded = true;
  });
  // Of a certificate the seconds count: long enough for a handshake on a busy machine.
  const ending = clientOf("b", ["system:masters"], 4000);
  const watch = await watching(ending);
  await watch.end;
  expect(await refusalOf(ending)).not.toBe("none");
  expect(await refusalOf(lasting)).toBe("none");
  expect(hasOtherEnded).toBe(false);
});

test("certificates of both authorities are taken while one replaces the other", async () => {
  const first = clientOf("a", ["system:masters"]);
  await prepareAuthority(clock, directory);
  const serve = async (): Promise<void> => {
    await pki.reload();
    tls.renew({ ...(await pki.server([])), clientCa: pki.bundle });
  };
  await serve();
  const second = clientOf("b", ["system:masters"]);
  expect(await commitAuthority(clock, directory)).toBe(true);
  await serve();
  const third = clientOf("c", ["system:masters"]);
  // The first one trusts only the authority of before, which the server's certificate is not by any more.
  expect(await refusalOf(first)).toContain("certificate");
  expect([await refusalOf(second), await refusalOf(third)]).toEqual(["none", "none"]);
});
