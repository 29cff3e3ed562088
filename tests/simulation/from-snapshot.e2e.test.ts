/**
 * What would happen if a cluster died is asked of a simulation of a control plane that runs: it is read over its API, goes on
 * from there on a virtual clock, and nobody outside notices.
 */
import {
  type ClusterTaintPolicy,
  clusterTaintPolicies,
  ledgerSlices,
  type New,
} from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import type { ForeseenFailure } from "@lifeboat/core/operating";
import {
  createSimulation,
  imagesFromSnapshot,
  readSnapshot,
  type PlayedFailure,
  type Simulation,
  type WorldSnapshot,
} from "@lifeboat/sim";
import { configMap, deployment, oneOf, resources } from "@lifeboat/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Mover, Operator } from "../failover/operator.ts";
import {
  allReady,
  MEMBERS,
  type SimulatedFleet,
  startSimulatedFleet,
} from "../propagation/propagation-fleet.ts";
import { eventually } from "../support/eventually.ts";
import { lifeboatCommand } from "../support/lifeboat.ts";
import { startProcess } from "../support/processes.ts";

const web: Mover = {
  resource: resources.deployments,
  template: deployment("web", { replicas: 2 }),
};
const settings: Mover = { resource: resources.configMaps, template: configMap("settings") };

/** Who is silent has to be left. */
const policy: New<ClusterTaintPolicy> = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterTaintPolicy",
  metadata: { name: "silent" },
  spec: {
    matchConditions: [
      { conditionType: "Ready", operator: "In", statusValues: ["False", "Unknown"] },
    ],
    taintsToAdd: [{ key: "silent", effect: "NoExecute", addOnMatchSeconds: 5 }],
  },
};

async function lifeboat(...args: readonly string[]): Promise<{ code: unknown; output: string }> {
  const child = startProcess(lifeboatCommand, [...args, "--data-dir", fleet.directory]);
  return { code: await child.ended, output: child.output() };
}

let fleet: SimulatedFleet;
let operator: Operator;
let home: string;

/** The same settings for the control plane that runs and for its simulation. */
const FLAGS = [
  "--feature-gates=Failover=true",
  "--cluster-failure-threshold=5s",
  "--cluster-success-threshold=5s",
];
const CONTROLLERS = {
  failover: true,
  clusterStatusUpdateFrequencyMs: 2000,
  clusterFailureThresholdMs: 5000,
  clusterSuccessThresholdMs: 5000,
};

async function simulate(snapshot: WorldSnapshot): Promise<Simulation> {
  const ports = { drain: drainPromises };
  const images = await imagesFromSnapshot(ports, snapshot);
  return createSimulation(ports, {
    seed: 1,
    members: MEMBERS,
    images,
    controllers: CONTROLLERS,
  });
}

beforeAll(async () => {
  fleet = await startSimulatedFleet(FLAGS);
  operator = new Operator(fleet);
  await eventually(() => allReady(fleet.plane));
  await fleet.plane.create(clusterTaintPolicies, policy);
  await operator.create(web, { placement: oneOf(...MEMBERS) });
  await operator.create(settings, { placement: {} });
  await eventually(async () => {
    home = await operator.placement(web);
    expect(await operator.health(web, home)).toBe("Healthy");
    for (const member of MEMBERS) expect(await operator.copy(settings, member)).toBeDefined();
    // Numbers are reported last.
    const { status } = await operator.cluster(home);
    expect(status?.resourceSummary).toMatchObject({ allocated: { pods: "2" } });
    // The history is: what happens within some seconds is written together.
    const { items } = await fleet.plane.list(ledgerSlices);
    const told = items.flatMap(({ spec }) => spec.entries);
    expect(told.map(({ subject }) => subject.name)).toEqual(
      expect.arrayContaining(["web-deployment", "settings-configmap"]),
    );
  });
});

afterAll(() => fleet?.close());

describe("a control plane that runs", () => {
  it("goes on in a simulation at rest, and fails over there alone", async () => {
    const snapshot = await readSnapshot(fleet.plane, instantOf(Date.now()));
    const simulation = await simulate(snapshot);
    await simulation.advance("10m");
    expect(written(simulation)).toEqual([]);

    simulation.member(home).crash();
    await simulation.advance("10m");
    const others = MEMBERS.filter((member) => member !== home);
    const copies = others.map((name) =>
      simulation.ledger.find(name, "apps/deployments", "default/web"),
    );
    expect(copies.filter((copy) => copy !== undefined)).toMatchObject([
      { object: { status: { readyReplicas: 2 } } },
    ]);

    expect(await operator.placement(web)).toBe(home);
  });
});

describe("lifeboat simulate", () => {
  it("plays the death of a cluster without touching it, and then the cluster dies as it was played", async () => {
    const played = await lifeboat("simulate", "--fail", home, "-o", "json");
    expect(played.code, played.output).toBe(0);
    const { plays } = JSON.parse(played.output) as { readonly plays: readonly PlayedFailure[] };
    const foretold = plays[0]?.workloads.find(
      ({ workload }) => workload === "Deployment default/web",
    );
    expect(foretold).toMatchObject({ reason: "Moved", before: `${home}:2` });
    expect(await operator.placement(web)).toBe(home);

    const every = await lifeboat("simulate", "--every", "-o", "json");
    const { plays: foreseen } = JSON.parse(every.output) as {
      readonly plays: readonly ForeseenFailure[];
    };
    const { workload, reason, after } = foretold ?? {};
    expect(foreseen.find(({ fail }) => fail[0] === home)?.workloads).toContainEqual(
      expect.objectContaining({ workload, reason, after }),
    );

    const text = await lifeboat("simulate", "--fail", home);
    expect(text.output).toContain(`If ${home} failed now:`);
    for (const line of text.output.split("\n")) expect(line.length).toBeLessThanOrEqual(80);

    await fleet.die(home);
    await eventually(async () => {
      expect(`${await operator.placement(web)}:2`).toBe(foretold?.after);
    }, 180_000);
  }, 240_000);

  it("ends with code 3 when something would be lost, and with 1 or 2 on a mistake", async () => {
    const all = await lifeboat("simulate", "--fail", MEMBERS.join(","));
    expect(all.code, all.output).toBe(3);
    expect(all.output).toContain("Not whole at the end:");
    const unknown = await lifeboat("simulate", "--fail", "nowhere");
    expect(unknown).toMatchObject({ code: 1 });
    expect(unknown.output).toContain('there is no cluster "nowhere"');
    expect(await lifeboat("simulate")).toMatchObject({ code: 2 });
  }, 120_000);
});

/** What was written but heartbeats. */
function written({ ledger }: Simulation): readonly string[] {
  return ledger.rows
    .filter(({ table }) => table !== "coordination.k8s.io/leases" && table !== "/events")
    .map(({ server, table, key, row }) => `${server} ${row.type} ${table} ${key}`);
}
