/** Silence of Pull clusters, by the control plane's own clock, and the brake when most fall silent together. */
import {
  type Cluster,
  clusters,
  type Condition,
  evacuationBudgets,
  findCondition,
  orNothing,
} from "@lifeboat/api";
import { formatMicroTime, formatTime, instantOf } from "@lifeboat/base";
import { type Client, leases } from "@lifeboat/kit";
import { createPromMetrics } from "@lifeboat/kit/adapters";
import { createFleet, type Fleet, newNamespace, resources, wrapped } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { createClusterMonitor } from "./create-cluster-monitor.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

const OPTIONS = { periodMs: 5000, graceMs: 40_000, startupGraceMs: 60_000 };

async function monitored(through: (plane: Client) => Client = (plane) => plane): Promise<void> {
  fleet = await createFleet({
    services: (context) =>
      createClusterMonitor({ ...context, plane: through(context.plane) }, OPTIONS),
  });
  await fleet.plane.create(resources.namespaces, newNamespace("karmada-cluster"));
}

async function join(name: string, syncMode: "Push" | "Pull" = "Pull"): Promise<void> {
  await fleet.plane.create(clusters, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode },
  });
}

async function read(name: string): Promise<Cluster> {
  return fleet.plane.get(clusters, { namespace: "", name });
}

async function readyOf(name: string): Promise<Condition | undefined> {
  return findCondition((await read(name)).status?.conditions, "Ready");
}

async function stateOf(name: string): Promise<string> {
  const ready = await readyOf(name);
  return ready === undefined ? "none" : `${ready.status} ${ready.reason}`;
}

/** Writes the status as an agent does. */
async function report(name: string, status: "True" | "False" = "True"): Promise<void> {
  const cluster = await read(name);
  const lastTransitionTime = formatTime(fleet.clock.now());
  const ready = { type: "Ready", status, reason: "ClusterReady", message: "", lastTransitionTime };
  await fleet.plane.update(
    clusters,
    { ...cluster, status: { ...cluster.status, conditions: [ready] } },
    { subresource: "status" },
  );
}

/** Renews the Lease as an agent with this clock does. */
async function renew(name: string, wrongByMs = 0): Promise<void> {
  const key = { namespace: "karmada-cluster", name };
  const renewTime = formatMicroTime(instantOf(fleet.clock.now() + wrongByMs));
  const lease = await orNothing(fleet.plane.get(leases, key));
  if (lease !== undefined) {
    await fleet.plane.update(leases, { ...lease, spec: { ...lease.spec, renewTime } });
    return;
  }
  await fleet.plane.create(leases, {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: key,
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime },
  });
}

/** An agent that renews every ten seconds for so long. */
async function renewFor(seconds: number, names: readonly string[], wrongByMs = 0): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 10) {
    for (const name of names) await renew(name, wrongByMs);
    await fleet.advance("10s");
  }
}

it("shows when it last heard of each Pull cluster, by its own clock, and nothing of one that left", async () => {
  const metrics = createPromMetrics();
  fleet = await createFleet({
    services: (context) => createClusterMonitor({ ...context, metrics }, OPTIONS),
  });
  await fleet.plane.create(resources.namespaces, newNamespace("karmada-cluster"));
  await join("m1");
  const series = 'lifeboat_cluster_last_success_timestamp_seconds{member_cluster="m1"}';
  const shown = async (): Promise<number | undefined> => {
    const line = (await metrics.expose()).split("\n").find((one) => one.startsWith(series));
    return line === undefined ? undefined : Number(line.split(" ")[1]);
  };
  await fleet.settle();
  expect(await shown()).toBeUndefined();
  await renewFor(30, ["m1"], -3_600_000);
  const heard = fleet.clock.now() / 1000 - 10;
  expect(await shown()).toBeCloseTo(heard, 0);
  await fleet.advance("5m");
  expect(await shown()).toBeCloseTo(heard, 0);
  await fleet.plane.delete(clusters, { namespace: "", name: "m1" });
  await fleet.settle();
  expect(await shown()).toBeUndefined();
});

describe("a Pull cluster", () => {
  it("stays Ready while its lease is renewed, and becomes Unknown 40 to 45 seconds after the last renewal", async () => {
    await monitored();
    await join("p1");
    await report("p1");
    await renewFor(300, ["p1"]);
    expect(await stateOf("p1")).toBe("True ClusterReady");
    await fleet.advance("29s");
    expect(await stateOf("p1")).toBe("True ClusterReady");
    await fleet.advance("7s");
    expect(await readyOf("p1")).toMatchObject({
      status: "Unknown",
      reason: "ClusterStatusUnknown",
      message: "Cluster status controller stopped posting cluster status.",
    });
  });

  it.each([-86_400_000, 86_400_000])(
    "is heard whatever its clock shows (%i ms)",
    async (wrongByMs) => {
      await monitored();
      await join("p1");
      await report("p1");
      await renewFor(300, ["p1"], wrongByMs);
      expect(await stateOf("p1")).toBe("True ClusterReady");
      await fleet.advance("36s");
      expect(await stateOf("p1")).toBe("Unknown ClusterStatusUnknown");
    },
  );

  it("is heard by its status alone", async () => {
    await monitored();
    await join("p1");
    for (let i = 0; i < 10; i++) {
      await report("p1", i % 2 === 0 ? "True" : "False");
      await fleet.advance("30s");
    }
    expect((await readyOf("p1"))?.status).not.toBe("Unknown");
  });

  it("is Ready again with its agent's next report, and not before", async () => {
    await monitored();
    await join("p1");
    await report("p1");
    await fleet.advance("50s");
    expect(await stateOf("p1")).toBe("Unknown ClusterStatusUnknown");
    await renewFor(60, ["p1"]);
    expect(await stateOf("p1")).toBe("Unknown ClusterStatusUnknown");
    await report("p1");
    await fleet.advance("20s");
    expect(await stateOf("p1")).toBe("True ClusterReady");
  });

  it("that never reports becomes Unknown after a minute", async () => {
    await monitored();
    await join("p1");
    await fleet.advance("59s");
    expect(await stateOf("p1")).toBe("none");
    await fleet.advance("6s");
    expect(await stateOf("p1")).toBe("Unknown ClusterStatusNeverUpdated");
  });

  it("has its whole grace again after a restart of the control plane", async () => {
    await monitored();
    await join("p1");
    await report("p1");
    await fleet.advance("35s");
    await fleet.restart();
    await fleet.advance("38s");
    expect(await stateOf("p1")).toBe("True ClusterReady");
    await fleet.advance("10s");
    expect(await stateOf("p1")).toBe("Unknown ClusterStatusUnknown");
  });

  it("is not silent because a watch of the control plane broke", async () => {
    fleet = await createFleet({
      services: (context) => {
        // A cache that hears nothing more, as behind a broken proxy.
        const { clusters: known, ...informers } = context.informers;
        const deaf = {
          get: () => undefined,
          whenSynced: known.whenSynced.bind(known),
          onChange: () => () => {},
        };
        const leasesInformer = deaf as unknown as typeof informers.leases;
        return createClusterMonitor(
          { ...context, informers: { ...informers, clusters: known, leases: leasesInformer } },
          OPTIONS,
        );
      },
    });
    await join("p1");
    await report("p1");
    await fleet.advance("10s");
    await renewFor(200, ["p1"]);
    expect(await stateOf("p1")).toBe("True ClusterReady");
    await fleet.advance("90s");
    expect(await stateOf("p1")).toBe("Unknown ClusterStatusUnknown");
  });
});

it("a Push cluster never becomes Unknown", async () => {
  await monitored();
  await join("m1", "Push");
  await fleet.advance("10m");
  expect(await stateOf("m1")).toBe("none");
});

it("at rest nothing is written", async () => {
  let writes = 0;
  await monitored((plane) =>
    wrapped(plane, {
      update: (...given) => {
        writes += 1;
        return plane.update(...given);
      },
      create: (...given) => {
        writes += 1;
        return plane.create(...given);
      },
    }),
  );
  await join("p1");
  await report("p1");
  await renewFor(300, ["p1"]);
  await fleet.advance("50s");
  expect(writes).toBe(1);
  await fleet.advance("1h");
  expect(writes).toBe(1);
});

describe("when most Pull clusters fall silent within a minute", () => {
  const NAMES = ["p1", "p2", "p3", "p4"];

  async function isolated(): Promise<Condition | undefined> {
    const budget = await orNothing(
      fleet.plane.get(evacuationBudgets, { namespace: "", name: "fleet" }),
    );
    return findCondition(budget?.status?.conditions, "PlaneMayBeIsolated");
  }

  async function eventReasons(): Promise<readonly string[]> {
    const { items } = await fleet.plane.list(resources.events);
    return items.map((event) => String(event["reason"]));
  }

  async function begin(): Promise<void> {
    await monitored();
    for (const name of NAMES) {
      await join(name);
      await report(name);
    }
    await renewFor(60, NAMES);
  }

  it("they become Unknown on time, and the budget and an Event tell that the plane may be cut off", async () => {
    await begin();
    await renewFor(60, ["p4"]);
    expect(await Promise.all(NAMES.map(stateOf))).toEqual([
      ...Array.from({ length: 3 }, () => "Unknown ClusterStatusUnknown"),
      "True ClusterReady",
    ]);
    expect(await isolated()).toMatchObject({ status: "True", reason: "LeasesLapsed" });
    expect(await eventReasons()).toContain("LeasesLapsed");
  });

  it("it is over when the share falls, also after a restart in between", async () => {
    await begin();
    await renewFor(60, ["p4"]);
    await fleet.restart();
    await renewFor(20, ["p4"]);
    expect(await isolated()).toMatchObject({ status: "True" });
    await report("p1");
    await renewFor(10, ["p1", "p4"]);
    expect(await isolated()).toMatchObject({ status: "False", reason: "LeasesRenewed" });
  });

  it("it is over when a person agrees", async () => {
    await begin();
    await renewFor(60, ["p4"]);
    const key = { namespace: "", name: "fleet" };
    const budget = await fleet.plane.get(evacuationBudgets, key);
    const isolationAgreedAt = formatTime(fleet.clock.now());
    await fleet.plane.update(evacuationBudgets, {
      ...budget,
      spec: { ...budget.spec, isolationAgreedAt },
    });
    await renewFor(10, ["p4"]);
    expect(await isolated()).toMatchObject({ status: "False", reason: "AgreedByPerson" });
  });

  it("half of them are not most", async () => {
    await begin();
    await renewFor(60, ["p3", "p4"]);
    expect(await isolated()).toBeUndefined();
  });
});
