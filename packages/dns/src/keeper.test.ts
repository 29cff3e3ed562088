/** The zone that is served, over the real API server under a virtual clock: when it changes, when it is held, what outlives what. */
import {
  clusterRoleBindings,
  configMaps,
  leases,
  namespaces,
  orNothing,
  roleBindings,
  secrets,
  services,
  statefulSets,
} from "@lifeboat/api";
import { type Client, createManager, type Service, silentLog, silentMetrics } from "@lifeboat/kit";
import {
  assignPods,
  createFleet,
  type Fleet,
  podsOf,
  putGlobalExample,
  reportReady,
} from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { answerDatagram } from "./answer.ts";
import { APEX, answeringWith, ask, must, readMessage } from "./dns.suite.ts";
import { type ConfirmedZone, createZoneKeeper, type ZoneKeeper, type ZoneStore } from "./keeper.ts";
import { createDnsMetrics } from "./metrics.ts";
import { CONFIRMATION, createReporter, readServers } from "./report.ts";

let fleet: Fleet;
let stop = new AbortController();
afterEach(async () => {
  stop.abort();
  await fleet.close();
});

const SETTINGS = { zone: "example.com", federation: "myfederation", ttl: 5 };
const SHARES = { c1: 4, c2: 4, c3: 3 };

function keeperOf(store?: ZoneStore, plane: Client = fleet.plane): ZoneKeeper {
  const kit = { clock: fleet.clock, random: fleet.random, log: silentLog, metrics: silentMetrics };
  const ports = { ...kit, dnsMetrics: createDnsMetrics(silentMetrics) };
  const keeper = createZoneKeeper(ports, plane, {
    ...SETTINGS,
    nameServers: [{ name: `ns.${APEX}`, addresses: [] }],
    ...(store !== undefined && { store }),
  });
  const listen = (): string => "127.0.0.1:53";
  const reporter: Service = createReporter(kit, plane, keeper, {
    instance: "one",
    ...SETTINGS,
    listen,
  });
  stop = new AbortController();
  void createManager(kit, [...keeper.services, reporter]).run(stop.signal);
  return keeper;
}

async function started(store?: ZoneStore): Promise<ZoneKeeper> {
  fleet = await createFleet({ services: () => [] });
  await putGlobalExample(fleet.plane, { shares: SHARES });
  const keeper = keeperOf(store);
  await fleet.advance(2000);
  return keeper;
}

function members(keeper: ZoneKeeper): number {
  const question = ask(`store.mynamespace.${APEX}`, "SRV", { edns: 1232 });
  return readMessage(must(answerDatagram(question, answeringWith(keeper.state().zone)))).answers
    .length;
}

function memory(): ZoneStore & { kept: ConfirmedZone | undefined } {
  const store = {
    kept: undefined as ConfirmedZone | undefined,
    load: () => Promise.resolve(store.kept),
    save: (zone: ConfirmedZone) => {
      store.kept = zone;
      return Promise.resolve();
    },
  };
  return store;
}

async function confirm(value: string): Promise<void> {
  const metadata = CONFIRMATION;
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { confirmed: value } };
  await fleet.plane.create(configMaps, object);
}

/** A control plane with controllers has it already. */
async function ownNamespace(): Promise<void> {
  const metadata = { name: CONFIRMATION.namespace };
  const found = await orNothing(fleet.plane.get(namespaces, { namespace: "", ...metadata }));
  if (found === undefined)
    await fleet.plane.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata });
}

async function takeAddresses(): Promise<void> {
  for (const name of podsOf({ shares: SHARES })) {
    const found = await fleet.plane.get(services, { namespace: "mynamespace", name });
    await fleet.plane.update(
      services,
      { ...found, status: { loadBalancer: {} } },
      { subresource: "status" },
    );
  }
}

describe("the zone that is served", () => {
  it("D28: a dead cluster's members leave within 100 ms of the decision, and return with it", async () => {
    const keeper = await started();
    expect(members(keeper)).toBe(11);
    const { serial } = must(keeper.state().zone);
    await reportReady(fleet.plane, "c1", "False");
    await fleet.advance(100);
    expect(members(keeper)).toBe(7);
    expect(must(keeper.state().zone).serial).toBeGreaterThan(serial);
    await reportReady(fleet.plane, "c1", "True");
    await fleet.advance(100);
    expect(members(keeper)).toBe(11);
  });

  it("stays as it is, with its serial, while nothing changes", async () => {
    const keeper = await started();
    const { zone } = keeper.state();
    await fleet.advance("10m");
    expect(keeper.state().zone).toBe(zone);
    expect(keeper.state().ageMs).toBeLessThan(6000);
  });

  it("is not served before everything was read", async () => {
    fleet = await createFleet({ services: () => [] });
    const keeper = keeperOf();
    expect(keeper.state().zone).toBeUndefined();
    await fleet.advance(2000);
    expect(keeper.state().zone).toBeDefined();
  });
});

describe("D28: a change that removes most names", () => {
  it("is held until another confirmation than before, and reported", async () => {
    const keeper = await started();
    await takeAddresses();
    await fleet.advance(5000);
    expect(members(keeper)).toBeGreaterThan(4);
    expect(keeper.state().held).toBeDefined();
    const [server] = await readServers(fleet.plane);
    expect(server?.state.held).toContain("lifeboat dns confirm");
    await confirm("a person");
    await fleet.advance(1000);
    expect(members(keeper)).toBe(0);
    expect(keeper.state().held).toBeUndefined();
    await fleet.advance(5000);
    expect((await readServers(fleet.plane))[0]?.state.held).toBeUndefined();
  });

  it("is held, too, when it comes in small steps within a minute", async () => {
    const keeper = await started();
    for (const name of podsOf({ shares: SHARES })) {
      const found = await fleet.plane.get(services, { namespace: "mynamespace", name });
      const none = { ...found, status: { loadBalancer: {} } };
      await fleet.plane.update(services, none, { subresource: "status" });
      await fleet.advance(1000);
    }
    expect(keeper.state().held).toBeDefined();
    expect(members(keeper)).toBeGreaterThan(4);
  });

  it("is let through by no confirmation of before", async () => {
    fleet = await createFleet({ services: () => [] });
    await putGlobalExample(fleet.plane, { shares: SHARES });
    await ownNamespace();
    await confirm("yesterday");
    const keeper = keeperOf();
    await fleet.advance(2000);
    await takeAddresses();
    await fleet.advance(5000);
    expect(keeper.state().held).toBeDefined();
  });

  it("happens at once when it follows from a person's scale-down or deletion", async () => {
    const keeper = await started();
    await assignPods(fleet.plane, ["store-c1-0"]);
    await fleet.advance(100);
    expect(members(keeper)).toBe(1);
    await fleet.plane.delete(statefulSets, { namespace: "mynamespace", name: "store" });
    await fleet.advance(100);
    expect(members(keeper)).toBe(0);
  });
});

describe("a restart", () => {
  it("continues with the kept zone and its hold, and with a newer serial", async () => {
    const store = memory();
    const first = await started(store);
    const { serial } = must(first.state().zone);
    stop.abort();
    await fleet.settle();
    await takeAddresses();
    const second = keeperOf(store);
    await fleet.settle();
    expect(must(second.state().zone).serial).toBe(serial);
    await fleet.advance(2000);
    expect(second.state().held).toBeDefined();
    expect(members(second)).toBe(11);
    await reportReady(fleet.plane, "c1", "False");
    await confirm("a person");
    await fleet.advance(1000);
    expect(must(second.state().zone).serial).toBeGreaterThan(serial);
  });
});

describe("the rights of `lifeboat dns serve`", () => {
  const RBAC = "rbac.authorization.k8s.io";
  const user = { name: "names", groups: ["system:authenticated"] };
  const subjects = [{ apiGroup: RBAC, kind: "User", name: user.name }];

  async function bind(role: string, namespace: string | undefined): Promise<void> {
    const resource = namespace === undefined ? clusterRoleBindings : roleBindings;
    await fleet.plane.create(resource, {
      apiVersion: `${RBAC}/v1`,
      kind: resource.kind,
      metadata: { name: "names", ...(namespace !== undefined && { namespace }) },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: role },
      subjects,
    });
  }

  it("suffice to serve and to report, and reach nothing else", async () => {
    fleet = await createFleet({ services: () => [] });
    await putGlobalExample(fleet.plane, { shares: SHARES });
    await ownNamespace();
    await bind("system:lifeboat:dns", undefined);
    await bind("system:lifeboat:dns-report", CONFIRMATION.namespace);
    const client = fleet.server.client(user);
    const keeper = keeperOf(undefined, client);
    await fleet.advance(2000);
    expect(members(keeper)).toBe(11);
    expect((await readServers(fleet.plane)).map(({ instance }) => instance)).toEqual(["one"]);
    await expect(client.list(secrets)).rejects.toThrow("cannot list");
    const lease = { namespace: "karmada-cluster", name: "c1" };
    await expect(client.get(leases, lease)).rejects.toThrow("cannot get");
  });
});
