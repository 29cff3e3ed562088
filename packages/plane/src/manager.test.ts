/** Replicas of the manager over one API: one leads, a lost lease ends everything, and another goes on. */
import {
  type AnyObject,
  clusters,
  clusterTaintPolicies,
  type ObjectKey,
  propagationPolicies,
  resourceBindings,
} from "@lifeboat/api";
import { createRandom, createSeededIds } from "@lifeboat/base";
import { readSettings } from "@lifeboat/controllers/operating";
import { type Client, leases, NotSent, silentLog, silentMetrics } from "@lifeboat/kit";
import { wellKnown } from "@lifeboat/core";
import {
  configMap,
  createWorld,
  newCluster,
  newClusterSecret,
  resources,
  wrapped,
  type World,
} from "@lifeboat/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { AggregatedProxy } from "./aggregated/create-aggregated.ts";
import { type ControllersOptions, DEFAULT_CONTROLLERS } from "./controllers.ts";
import { installPlane, type InstallRequest } from "./install/install.ts";
import { writeMark } from "./moving/mark.ts";
import {
  createPlaneManager,
  MANAGER_LEASE,
  type PlaneManager,
  type PlaneManagerOptions,
} from "./manager.ts";
import { CERTIFICATE_SECRET, secretResource } from "./webhook/resources.ts";
import { toyMaker } from "./webhook/toy-certificates.suite.ts";

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };
const DAY_MS = 24 * 60 * 60 * 1000;

interface Replica {
  readonly manager: PlaneManager;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  /** Writes that were sent, as `create ResourceBinding`. */
  readonly writes: string[];
  isCutOff: boolean;
  /** Reads of ConfigMaps fail. */
  isBlind: boolean;
}

let world: World;
let replicas: Replica[];

const REQUEST: InstallRequest = {
  version: "1.0.0",
  webhook: { url: "https://127.0.0.1:9" },
  dryRun: false,
  force: false,
};

async function install(change: Partial<InstallRequest> = {}): Promise<void> {
  const state = { hasEnded: false };
  void installPlane(world.clock, world.client, { ...REQUEST, ...change }, () => undefined).finally(
    () => (state.hasEnded = true),
  );
  while (!state.hasEnded) await world.advance("100ms");
}

beforeEach(async () => {
  world = await createWorld();
  replicas = [];
  await install();
});
afterEach(async () => {
  for (const { stop } of replicas) stop.abort();
  await world.advance("1m");
  await Promise.all(replicas.map(({ ended }) => ended));
  await world.close();
});

function start(
  name: string,
  controllers: Partial<ControllersOptions> = {},
  more: Partial<PlaneManagerOptions> = {},
): Replica {
  const random = createRandom(7).fork(name);
  const ports = {
    clock: world.clock,
    random,
    ids: createSeededIds(random.fork("ids")),
    log: silentLog,
    metrics: silentMetrics,
    certificates: toyMaker(),
  };
  const stop = new AbortController();
  const replica = {
    stop,
    writes: [] as string[],
    isCutOff: false,
    isBlind: false,
  } as unknown as Replica;
  const manager = createPlaneManager(ports, watched(replica, world.client), {
    election: { lease: MANAGER_LEASE, ...TIMES },
    work: {
      controllers: { ...DEFAULT_CONTROLLERS, ...controllers },
      connect: () => {
        throw new Error("there are no members");
      },
      instance: name,
    },
    ...more,
  });
  const whole = Object.assign(replica, { manager, ended: manager.run(stop.signal) });
  replicas.push(whole);
  return whole;
}

/** A client that notes writes and can be cut off from the server. */
function watched(replica: Replica, client: Client): Client {
  const through = <T>(what: string, call: () => Promise<T>): Promise<T> => {
    if (replica.isCutOff) return Promise.reject(new NotSent("cut off"));
    if (what !== "") replica.writes.push(what);
    return call();
  };
  return wrapped(client, {
    get: (resource, ...given) =>
      replica.isBlind && resource.kind === "ConfigMap"
        ? Promise.reject(new NotSent("blind"))
        : through("", () => client.get(resource, ...given)),
    list: (...given) => through("", () => client.list(...given)),
    create: (resource, ...given) =>
      through(`create ${resource.kind}`, () => client.create(resource, ...given)),
    update: (resource, ...given) =>
      through(`update ${resource.kind}`, () => client.update(resource, ...given)),
    patch: (resource, ...given) =>
      through(`patch ${resource.kind}`, () => client.patch(resource, ...given)),
    delete: (resource, ...given) =>
      through(`delete ${resource.kind}`, () => client.delete(resource, ...given)),
  });
}

/** A way into members that nothing asks for; behind it every replica follows Clusters and their Secrets. */
const WAY_INTO_MEMBERS: AggregatedProxy = {
  build: () => {
    const none = (): never => {
      throw new Error("there are no members");
    };
    return { handle: none, upgrade: none } as unknown as ReturnType<AggregatedProxy["build"]>;
  },
  endpoint: () => undefined,
};

/** A Cluster with a Secret that names no endpoint. */
async function joinByHand(): Promise<ObjectKey> {
  const { metadata, ...secret } = newClusterSecret("m1", "m1-token");
  const key = { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
  await world.client.create(clusters, newCluster("m1"));
  await world.client.create(resources.secrets, { ...secret, metadata: key });
  return key;
}

const leaders = (): readonly string[] =>
  replicas.flatMap(({ manager }, i) => (manager.isLeading() ? [`replica ${i}`] : []));

const policy = (): Promise<AnyObject | undefined> =>
  world.client
    .get(clusterTaintPolicies, { namespace: "", name: "default-not-ready" })
    .then((found) => found as unknown as AnyObject)
    .catch(() => undefined);

it("one of three leads and runs every controller; the others write nothing but their tries for the Lease", async () => {
  // The endpoint that a Secret is for is noted by the leader, and by no other.
  const key = await joinByHand();
  for (const one of ["a", "b", "c"]) start(one, {}, { proxy: WAY_INTO_MEMBERS });
  await world.advance("30s");
  expect(leaders()).toHaveLength(1);
  const bound = await world.client.get(resources.secrets, key);
  expect(bound.metadata.annotations).toEqual({
    [wellKnown.API_ENDPOINT]: "https://m1.test:6443",
  });
  expect(await policy()).toBeDefined();
  expect(await readSettings(world.client)).toMatchObject({ controllers: "*" });
  const others = replicas.filter(({ manager }) => !manager.isLeading());
  expect(others.flatMap(({ writes }) => writes.filter((one) => !one.endsWith("Lease")))).toEqual(
    [],
  );
});

it("binds no Secret while a migration is under way: replicas that wait for it write nothing", async () => {
  await joinByHand();
  const since = "2026-01-01T00:00:00Z";
  await writeMark(world.client, { phase: "Moving", source: "migration", since });
  const replica = start("a", {}, { proxy: WAY_INTO_MEMBERS, share: TIMES });
  await world.advance("30s");
  expect(replica.writes.filter((one) => !one.endsWith("Lease"))).toEqual([]);
});

it.each([
  { was: "left out", change: {} },
  { was: "installed", change: { registration: { server: "https://plane:6443", bundle: "PEM" } } },
])("registration by a token that was $was", async ({ was, change }) => {
  await install(change);
  const told: string[] = [];
  const read = (): never => {
    throw new Error("there are no requests");
  };
  const registration = { signer: { read } };
  start("a", {}, { registration, tell: (sentence) => told.push(sentence) });
  await world.advance("20s");
  expect(leaders()).toHaveLength(1);
  const isOff = was === "left out";
  expect(told.filter((one) => one.startsWith("registration by a token is off"))).toHaveLength(
    isOff ? 1 : 0,
  );
  expect((await readSettings(world.client))?.["registration"] === undefined).toBe(isOff);
});

it("D29: a replica without the flag keeps failover on, and a flag switches it off", async () => {
  const first = start("a", { failover: true, gatesByFlag: ["Failover"] });
  await world.advance("10s");
  first.stop.abort();
  await world.advance("10s");
  const second = start("b", { gatesByFlag: [] });
  await world.advance("20s");
  expect(second.manager.isLeading()).toBe(true);
  const gates = async () => (await readSettings(world.client))?.["feature-gates"];
  expect(await gates()).toContain("Failover=true");
  second.stop.abort();
  await world.advance("10s");
  start("c", { gatesByFlag: ["Failover"] });
  await world.advance("20s");
  expect(await gates()).toContain("Failover=false");
});

it("D29: a replica without the flag keeps asking for approvals, and a flag ends that", async () => {
  const first = start("a", { evacuationApproval: "Required" });
  await world.advance("10s");
  first.stop.abort();
  await world.advance("10s");
  const second = start("b", { evacuationApprovalByFlag: false });
  await world.advance("20s");
  expect(second.manager.isLeading()).toBe(true);
  const mode = async () => (await readSettings(world.client))?.["evacuation-approval"];
  expect(await mode()).toBe("Required");
  second.stop.abort();
  await world.advance("10s");
  start("c", { evacuationApproval: "Policy" });
  await world.advance("20s");
  expect(await mode()).toBe("Policy");
});

it("D29: a leader that cannot read the gates runs no controller until it can", async () => {
  const first = start("a", { failover: true, gatesByFlag: ["Failover"] });
  await world.advance("10s");
  first.stop.abort();
  await world.advance("10s");
  const second = start("b", { gatesByFlag: [] });
  second.isBlind = true;
  await world.advance("20s");
  expect(second.manager.isLeading()).toBe(false);
  second.isBlind = false;
  await world.advance("5s");
  expect(second.manager.isLeading()).toBe(true);
  expect((await readSettings(world.client))?.["feature-gates"]).toContain("Failover=true");
});

it("a leader that is told to stop hands over within a retry period", async () => {
  const first = start("a");
  await world.advance("10s");
  const second = start("b");
  await world.advance("5s");
  expect(leaders()).toEqual(["replica 0"]);
  first.stop.abort();
  await world.advance("4s");
  await first.ended;
  expect(second.manager.isLeading()).toBe(true);
});

it("a leader that is cut off stops before another begins, and may lead again later", async () => {
  const first = start("a");
  await world.advance("10s");
  const second = start("b");
  await world.advance("10s");
  first.isCutOff = true;
  let most = 0;
  for (let i = 0; i < 300; i++) {
    await world.advance("100ms");
    most = Math.max(most, leaders().length);
  }
  expect(most).toBe(1);
  expect(second.manager.isLeading()).toBe(true);
  first.isCutOff = false;
  second.stop.abort();
  await world.advance("20s");
  expect(first.manager.isLeading()).toBe(true);
  const { spec } = await world.client.get(leases, MANAGER_LEASE);
  expect(spec?.holderIdentity).toMatch(/^a_/);
});

it("fills in itself what the webhook would, for the time that the webhook does not answer", async () => {
  start("a");
  await world.advance("10s");
  await world.client.create(propagationPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: {
      name: "p",
      namespace: "default",
      labels: { "propagationpolicy.karmada.io/permanent-id": "p-id" },
    },
    spec: {
      resourceSelectors: [{ apiVersion: "v1", kind: "ConfigMap", namespace: "default", name: "c" }],
    },
  });
  await world.client.create(resources.configMaps, configMap("c", {}));
  await world.advance("10s");
  const [binding] = (await world.client.list(resourceBindings)).items;
  // The server of this test has no admission of ours.
  expect(binding?.metadata.labels?.["resourcebinding.karmada.io/permanent-id"]).toMatch(
    /^[0-9a-f-]{36}$/,
  );
});

it("the leader makes the webhook's certificate, every replica serves it, and it is renewed while they run", async () => {
  const served: string[] = [];
  const replica = start("a");
  start("b").manager.onCertificate(({ certificate }) => served.push(certificate));
  expect(replica.manager.isServed()).toBe(false);
  await world.advance("5s");
  expect(replicas.map(({ manager }) => manager.isServed())).toEqual([true, true]);
  const secret = await world.client.get(secretResource, CERTIFICATE_SECRET);
  expect(atob(secret.data?.["tls.crt"] ?? "")).toContain("for 127.0.0.1");
  expect(served).toHaveLength(1);
  await world.client.delete(secretResource, CERTIFICATE_SECRET);
  await world.advance("5s");
  expect(replicas.map(({ manager }) => manager.isServed())).toEqual([true, true]);
  expect(served).toHaveLength(2);
});

it("a certificate that is near its end is made anew, and one that is not stays", async () => {
  start("a");
  await world.advance("5s");
  const read = async (): Promise<string> =>
    atob((await world.client.get(secretResource, CERTIFICATE_SECRET)).data?.["tls.crt"] ?? "");
  const first = await read();
  const secret = await world.client.get(secretResource, CERTIFICATE_SECRET);
  const old = `serving by 1 for 127.0.0.1 until ${world.clock.now() + 89 * DAY_MS}`;
  await world.client.update(secretResource, {
    ...secret,
    data: { ...secret.data, "tls.crt": btoa(old) },
  });
  await world.advance("5s");
  const second = await read();
  expect([first, old]).not.toContain(second);
  const { resourceVersion } = (await world.client.get(secretResource, CERTIFICATE_SECRET)).metadata;
  await world.advance("5m");
  const after = await world.client.get(secretResource, CERTIFICATE_SECRET);
  expect(after.metadata.resourceVersion).toBe(resourceVersion);
});
