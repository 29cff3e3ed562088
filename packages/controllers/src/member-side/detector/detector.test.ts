/** Detectors of a cluster against the real API server, with their own rights, under a virtual clock. */
import {
  clusters,
  type Condition,
  findCondition,
  remedies,
  type Resource,
  TRAFFIC_CONTROL,
} from "@lifeboat/api";
import { createSeededIds, formatTime } from "@lifeboat/base";
import { detectorRoleObjects, DETECTORS_GROUP, detectorUser } from "@lifeboat/core/clusters/rights";
import { type Client, leases, NotSent, silentLog, silentMetrics } from "@lifeboat/kit";
import {
  createFleet,
  type Fleet,
  namespace,
  newCluster,
  reasonsAbout,
  refusalOf,
  resources,
  wrapped,
} from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDetectorMonitor, createRemedies } from "../../remedy/index.ts";
import { createClusterDetector } from "./create-cluster-detector.ts";

const TYPE = "ServiceDomainNameResolutionReady";
const KEY = { namespace: "", name: "eu-1" };
const HOME = "karmada-es-eu-1";
let fleet: Fleet;
let stops: AbortController[] = [];

function rbac(kind: string): Resource {
  const namespaced = !kind.startsWith("Cluster");
  const plural = `${kind.toLowerCase()}s`;
  return { group: "rbac.authorization.k8s.io", version: "v1", kind, plural, namespaced };
}

beforeEach(async () => {
  stops = [];
  fleet = await createFleet({
    services: (context) => [...createDetectorMonitor(context), ...createRemedies(context)],
  });
  await fleet.plane.create(clusters, newCluster("eu-1"));
  await fleet.plane.create(resources.namespaces, namespace(HOME));
  for (const object of detectorRoleObjects("eu-1"))
    await fleet.plane.create(rbac(String(object["kind"])), object);
  await fleet.settle();
});
afterEach(async () => {
  for (const stop of stops) stop.abort();
  await fleet.settle();
  await fleet.close();
});

const asDetector = (): Client =>
  fleet.server.client({
    name: detectorUser("eu-1"),
    groups: [DETECTORS_GROUP, "system:authenticated"],
  });

interface Instance {
  /** Whether names resolve on this node; "hang": no answer ever. */
  resolves: boolean | "hang";
  /** Whether the control plane is reached. */
  isCutOff: boolean;
  writes: number;
  kill(): Promise<void>;
}

/** Starts the detector on a node. It dies without a word: nothing is released. */
async function start(
  host: string,
  resolves: Instance["resolves"] = true,
  type = TYPE,
): Promise<Instance> {
  const stop = new AbortController();
  stops.push(stop);
  const client = asDetector();
  const instance: Instance = {
    resolves,
    isCutOff: false,
    writes: 0,
    kill: async () => {
      instance.isCutOff = true;
      stop.abort();
      await fleet.settle();
    },
  };
  const reached = <T>(call: () => Promise<T>): Promise<T> =>
    instance.isCutOff ? Promise.reject(new NotSent("cut off")) : call();
  const counted = <T>(call: () => Promise<T>): Promise<T> => {
    if (!instance.isCutOff) instance.writes += 1;
    return reached(call);
  };
  const random = fleet.random.fork(`${host} ${type}`);
  const detector = createClusterDetector(
    {
      clock: fleet.clock,
      random,
      ids: createSeededIds(random),
      log: silentLog,
      metrics: silentMetrics,
    },
    {
      cluster: "eu-1",
      host,
      condition: type,
      plane: wrapped(client, {
        get: (...given) => reached(() => client.get(...given)),
        list: (...given) => reached(() => client.list(...given)),
        create: (...given) => counted(() => client.create(...given)),
        update: (...given) => counted(() => client.update(...given)),
      }),
      probe: (signal) =>
        instance.resolves === "hang"
          ? new Promise((_resolve, reject) => {
              signal.addEventListener("abort", () => reject(new Error("too late")), { once: true });
            })
          : Promise.resolve(instance.resolves),
      periodMs: 5000,
      failureThresholdMs: 30_000,
      successThresholdMs: 30_000,
      staleThresholdMs: 60_000,
    },
  );
  void detector.run(stop.signal);
  await fleet.settle();
  return instance;
}

async function condition(type = TYPE): Promise<Condition | undefined> {
  return findCondition((await fleet.plane.get(clusters, KEY)).status?.conditions, type);
}
const status = async (type = TYPE): Promise<string | undefined> => (await condition(type))?.status;

describe("a detector", () => {
  it("decides after one whole window, and follows what it finds", async () => {
    const node = await start("n1");
    await fleet.advance("29s");
    expect(await status()).toBeUndefined();
    await fleet.advance("10s");
    expect(await condition()).toMatchObject({
      status: "True",
      message: "coredns function is normal",
    });
    node.resolves = false;
    await fleet.advance("25s");
    expect(await status()).toBe("True");
    await fleet.advance("20s");
    expect(await condition()).toMatchObject({
      status: "False",
      message: "coredns function is not normal",
    });
    node.resolves = true;
    await fleet.advance("45s");
    expect(await status()).toBe("True");
  });

  it("takes no answer within the period for a failure", async () => {
    await start("n1", "hang");
    await fleet.advance("50s");
    expect(await status()).toBe("False");
  });

  it("never turns while resolution flaps", async () => {
    const node = await start("n1");
    await fleet.advance("40s");
    for (let i = 0; i < 40; i++) {
      node.resolves = i % 5 === 0;
      await fleet.advance("5s");
      expect(await status()).toBe("True");
    }
  });

  it("starts from the condition of the Cluster: a restart neither turns nor shortens", async () => {
    const node = await start("n1", false);
    await fleet.advance("50s");
    expect(await status()).toBe("False");
    await node.kill();
    const again = await start("n1", true);
    await fleet.advance("20s");
    expect(await status()).toBe("False");
    await fleet.advance("120s");
    expect(await status()).toBe("True");
    expect(again.writes).toBeGreaterThan(0);
  });

  it("writes no Cluster at rest, and little else", async () => {
    const node = await start("n1");
    await fleet.advance("60s");
    const before = (await fleet.plane.get(clusters, KEY)).metadata.resourceVersion;
    const written = node.writes;
    await fleet.advance("10m");
    expect((await fleet.plane.get(clusters, KEY)).metadata.resourceVersion).toBe(before);
    // Its heartbeat, at most every 20 s, and the renewal of its leadership, at most every 7 s.
    expect(node.writes - written).toBeLessThanOrEqual(30 + 86);
  });
});

/** Which of the instances n1, n2, ... leads. */
async function leaderOf(nodes: readonly Instance[]): Promise<number> {
  const lease = await fleet.plane.get(leases, { namespace: HOME, name: "detector-leader" });
  const holder = lease.spec?.holderIdentity ?? "";
  const leader = nodes.findIndex((_node, i) => holder.startsWith(`n${i + 1}_`));
  expect(leader).toBeGreaterThanOrEqual(0);
  return leader;
}

describe("several nodes", () => {
  it("report False only when every one fails, and True when one works", async () => {
    const nodes = [await start("n1"), await start("n2"), await start("n3")];
    await fleet.advance("60s");
    expect(await status()).toBe("True");
    for (const node of nodes.slice(0, 2)) node.resolves = false;
    await fleet.advance("3m");
    expect(await status()).toBe("True");
    for (const node of nodes) node.resolves = false;
    await fleet.advance("60s");
    expect(await status()).toBe("False");
    for (const node of nodes.slice(2)) node.resolves = true;
    await fleet.advance("60s");
    expect(await status()).toBe("True");
  });

  it("do not wait for a node that died, once its Lease is stale", async () => {
    const [first, second] = [await start("n1"), await start("n2")];
    await fleet.advance("60s");
    await second.kill();
    first.resolves = false;
    await fleet.advance("35s");
    expect(await status()).toBe("True");
    await fleet.advance("60s");
    expect(await status()).toBe("False");
  });

  it("shorten no window when the leader changes", async () => {
    const nodes = [await start("n1"), await start("n2"), await start("n3")];
    await fleet.advance("60s");
    for (const node of nodes) node.resolves = false;
    await fleet.advance("20s");
    await nodes[await leaderOf(nodes)]?.kill();
    await fleet.advance("9s");
    expect(await status()).toBe("True");
    await fleet.advance("3m");
    expect(await status()).toBe("False");
    // The windows of the others went on: they are failing since 30 s after the first failure.
    const since = Date.parse((await condition())?.lastTransitionTime ?? "");
    expect(since).toBeGreaterThanOrEqual(Date.parse("2026-01-01T00:01:30Z"));
  });

  it.each([0, 3, 7, 11, 15, 19, 23, 27, 31])(
    "report within 35 s what is decided right before their leader dies, or after it: %i s",
    async (after) => {
      const nodes = [await start("n1"), await start("n2"), await start("n3")];
      await fleet.advance("60s");
      for (const node of nodes) node.resolves = false;
      await fleet.advance("60s");
      expect(await status()).toBe("False");
      const leader = await leaderOf(nodes);
      for (const [i, node] of nodes.entries()) if (i !== leader) node.resolves = true;
      await fleet.advance(`${after}s`);
      await nodes[leader]?.kill();
      // The window of the others needs at most 35 s, a new leader 20 s of silence, one attempt (8.4 s) and one period (5 s).
      await fleet.advance("1s");
      expect(await status()).toBe("False");
      await fleet.advance(`${Math.max(34, 40 - after)}s`);
      expect(await status()).toBe("True");
    },
  );
});

describe("silence", () => {
  it("of all instances becomes Unknown after a minute, and ends when one returns", async () => {
    const nodes = [await start("n1"), await start("n2")];
    await fleet.advance("60s");
    for (const node of nodes) node.isCutOff = true;
    await fleet.advance("50s");
    expect(await status()).toBe("True");
    await fleet.advance("60s");
    expect(await condition()).toMatchObject({ status: "Unknown", reason: "DetectorSilent" });
    expect(await reasonsAbout(fleet.plane, "eu-1")).toContain("DetectorSilent");
    for (const node of nodes) node.isCutOff = false;
    await fleet.advance("2m");
    expect(await status()).toBe("True");
  });

  it("of an instance does not count while the control plane was away for all of them", async () => {
    const first = await start("n1");
    await fleet.advance("2500ms");
    const nodes = [first, await start("n2")];
    await fleet.advance("60s");
    for (const seconds of [41, 42, 43, 44, 45, 62, 63, 64, 65, 66]) {
      for (const node of nodes) node.isCutOff = true;
      first.resolves = false;
      await fleet.advance(`${seconds}s`);
      for (const node of nodes) node.isCutOff = false;
      await fleet.advance("5s");
      expect(await status(), `${seconds} s`).not.toBe("False");
      await fleet.advance("20s");
      expect(await status(), `${seconds} s`).not.toBe("False");
      first.resolves = true;
      await fleet.advance("60s");
      expect(await status()).toBe("True");
    }
  });

  it("of one of two instances changes nothing", async () => {
    const nodes = [await start("n1"), await start("n2")];
    await fleet.advance("60s");
    await nodes[0]?.kill();
    await fleet.advance("10m");
    expect(await status()).toBe("True");
  });

  it("is measured again by a control plane that starts", async () => {
    const node = await start("n1");
    await fleet.advance("60s");
    await node.kill();
    await fleet.advance("50s");
    await fleet.restart();
    await fleet.advance("50s");
    expect(await status()).toBe("True");
    await fleet.advance("30s");
    expect(await status()).toBe("Unknown");
  });

  it("never touches what a person or another tool reported", async () => {
    const lastTransitionTime = formatTime(fleet.clock.now());
    const own = {
      type: TYPE,
      status: "False",
      reason: "SeenByOperator",
      message: "x",
      lastTransitionTime,
    };
    const body = { status: { conditions: [own] } } as never;
    await fleet.plane.patch(clusters, KEY, { type: "merge", body }, { subresource: "status" });
    await fleet.advance("1h");
    expect(await condition()).toEqual(own);
  });
});

describe("a second detector, of another condition, in the same cluster", () => {
  const HTTP = "detector.lifeboat.dev/IngressReady";

  it("reports beside the first, on the same nodes, and neither waits for the other", async () => {
    await start("n1");
    await start("n2");
    const first = await start("n1", true, HTTP);
    const second = await start("n2", true, HTTP);
    await fleet.advance("60s");
    expect([await status(), await status(HTTP)]).toEqual(["True", "True"]);
    first.resolves = false;
    await fleet.advance("60s");
    expect([await status(), await status(HTTP)]).toEqual(["True", "True"]);
    second.resolves = "hang";
    await fleet.advance("60s");
    expect([await status(), await status(HTTP)]).toEqual(["True", "False"]);
    expect(await condition(HTTP)).toMatchObject({ reason: "DetectorFails" });
  });

  it("becomes Unknown by its own silence alone", async () => {
    const names = await start("n1");
    const http = await start("n1", true, HTTP);
    await fleet.advance("60s");
    await http.kill();
    await fleet.advance("2m");
    expect([await status(), await status(HTTP)]).toEqual(["True", "Unknown"]);
    await names.kill();
    await fleet.advance("2m");
    expect(await status()).toBe("Unknown");
  });

  it("is what a Remedy acts on, and takes back", async () => {
    await fleet.plane.create(remedies, {
      apiVersion: "remedy.karmada.io/v1alpha1",
      kind: "Remedy",
      metadata: { name: "ingress" },
      spec: {
        decisionMatches: [
          {
            clusterConditionMatch: {
              conditionType: HTTP,
              operator: "Equal",
              conditionStatus: "False",
            },
          },
        ],
        actions: [TRAFFIC_CONTROL],
      },
    });
    const actions = async () => (await fleet.plane.get(clusters, KEY)).status?.remedyActions ?? [];
    const names = await start("n1", false);
    const http = await start("n1", true, HTTP);
    await fleet.advance("60s");
    expect([await status(), await actions()]).toEqual(["False", []]);
    http.resolves = false;
    await fleet.advance("60s");
    expect([await status(HTTP), await actions()]).toEqual(["False", [TRAFFIC_CONTROL]]);
    // Unknown is not False: traffic returns when nothing is known of the function any more.
    await http.kill();
    await fleet.advance("2m");
    expect([await status(HTTP), await actions()]).toEqual(["Unknown", []]);
    await names.kill();
  });
});

it("has the rights that it needs, and no others", async () => {
  const detector = asDetector();
  const own = await detector.get(clusters, KEY);
  const others = { ...own, status: { ...own.status, remedyActions: ["TrafficControl"] } };
  const reporting = (type: string) => {
    const at = formatTime(fleet.clock.now());
    const one = { type, status: "True", reason: "X", message: "", lastTransitionTime: at } as const;
    return { ...own, status: { ...own.status, conditions: [one] } };
  };
  const attempts: readonly (() => Promise<unknown>)[] = [
    () => detector.list(clusters),
    () => detector.update(clusters, own),
    () => detector.delete(clusters, KEY),
    () => detector.update(clusters, others, { subresource: "status" }),
    () => detector.update(clusters, reporting("Ready"), { subresource: "status" }),
    () => detector.update(clusters, reporting("Fenced"), { subresource: "status" }),
    () => detector.update(clusters, reporting("IngressReady"), { subresource: "status" }),
    () => detector.list(leases, { namespace: "karmada-cluster" }),
    () => detector.list(resources.secrets, { namespace: HOME }),
    () =>
      detector.create(leases, {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { namespace: HOME, name: "other" },
      }),
  ];
  for (const attempt of attempts) expect((await refusalOf(attempt())).code).toBe(403);
  const type = "detector.lifeboat.dev/IngressReady";
  await detector.update(clusters, reporting(type), { subresource: "status" });
  expect(await status(type)).toBe("True");
});
