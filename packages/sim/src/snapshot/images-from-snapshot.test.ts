/**
 * A simulation that begins where a control plane is: it knows its members again, nothing moves, every promise holds, and what
 * goes wrong then ends as it would have in the world that the snapshot is of.
 */
import { type AnyObject, type Cluster, findCondition } from "@lifeboat/api";
import type { DiskImage } from "@lifeboat/apiserver";
import { drainPromises } from "@lifeboat/base/adapters";
import { beforeAll, describe, expect, it } from "vitest";
import { parseObject } from "../disk/ledger.ts";
import type { Images } from "../images.ts";
import { differences, type Ending, endingOf } from "../oracles/ending.ts";
import { arrangeFault } from "../scenario/faults.ts";
import { joinedImages } from "../scenario/joined-images.ts";
import { runScenario } from "../scenario/run-scenario.ts";
import type { Fault, Scenario, Step } from "../scenario/scenario.ts";
import { takeStep } from "../scenario/steps.ts";
import { createSimulation, type Simulation } from "../simulation.ts";
import { imagesFromSnapshot } from "./images-from-snapshot.ts";
import { readSnapshot, type WorldSnapshot } from "./read-snapshot.ts";

const ports = { drain: drainPromises };
const MEMBERS = ["m1", "m2", "m3"];
const PULL = ["m2"];

const steps: readonly Step[] = [
  { at: 0, do: "namespace", name: "team" },
  { at: 1, do: "workload", kind: "Deployment", name: "web", replicas: 2, uses: "settings" },
  { at: 1, do: "workload", kind: "ConfigMap", name: "settings" },
  { at: 1, do: "workload", kind: "StatefulSet", name: "db", replicas: 2 },
  { at: 1, do: "workload", kind: "Job", name: "once" },
  { at: 1, do: "workload", kind: "Service", name: "front" },
  {
    at: 2,
    do: "policy",
    name: "web",
    selects: [{ kind: "Deployment", name: "web" }],
    clusters: ["m1", "m2"],
    oneCopy: true,
    dependencies: true,
  },
  {
    at: 2,
    do: "policy",
    name: "db",
    selects: [{ kind: "StatefulSet", name: "db" }],
    clusters: ["m2"],
  },
  { at: 2, do: "policy", name: "once", selects: [{ kind: "Job", name: "once" }], clusters: ["m3"] },
  { at: 2, do: "policy", name: "front", selects: [{ kind: "Service", name: "front" }] },
  {
    at: 2,
    do: "taint-policy",
    name: "failed",
    condition: "Ready",
    statuses: ["False", "Unknown"],
    effect: "NoExecute",
    addAfter: 5,
    removeAfter: 5,
  },
];

const dies: Fault = { fault: "member-crash", member: "m1", at: 10, downFor: 600 };

const start = (images: Images, pull?: readonly string[]): Promise<Simulation> =>
  createSimulation(ports, {
    seed: 7,
    members: MEMBERS,
    ...(pull && { pull }),
    images,
    controllers: { failover: true },
  });

async function takeSnapshot({ plane, clock }: Simulation): Promise<WorldSnapshot> {
  const { admin } = plane;
  if (admin === undefined) throw new Error("the plane does not serve");
  return readSnapshot(admin, clock.now());
}

function stateOf({ ledger }: Simulation): Ending {
  return endingOf(ledger, ["plane", ...MEMBERS]);
}

/** What differs, but for what nobody reports: all that a Job which is done leaves behind. */
function differing(expected: Ending, actual: Simulation): readonly string[] {
  return differences(expected, stateOf(actual)).filter((line) => !line.includes("default/once"));
}

/** The snapshot with another status and another id of m1. */
function withM1({ tables, ...rest }: WorldSnapshot, status: object, id: string): WorldSnapshot {
  const changed = (object: AnyObject): AnyObject =>
    object.kind === "Cluster" && object.metadata.name === "m1"
      ? {
          ...object,
          spec: { ...(object["spec"] as object), id },
          status: { ...(object["status"] as object), ...status },
        }
      : object;
  return {
    ...rest,
    tables: tables.map(({ resource, objects }) => ({ resource, objects: objects.map(changed) })),
  };
}

describe("a world from a snapshot", { timeout: 120_000 }, () => {
  let original: Simulation;
  let images: Images;
  let snapshot: WorldSnapshot;

  beforeAll(async () => {
    original = await start(await joinedImages(ports, MEMBERS, PULL), PULL);
    for (const step of steps) original.clock.after(step.at * 1000, () => takeStep(original, step));
    await original.advance("5m");
    snapshot = await takeSnapshot(original);
    images = await imagesFromSnapshot(ports, snapshot);
  }, 120_000);

  it("holds what the control plane held", () => {
    const held = (image: DiskImage): ReadonlyMap<string, unknown> =>
      new Map(
        image.objects
          .filter(({ key }) => !LEFT_OUT.test(key))
          .map(({ key, revision, bytes }) => [`${key} ${revision}`, parseObject(bytes)]),
      );
    expect(held(images.plane)).toEqual(held(original.planeDisk.image()));
    expect(held(images.plane).size).toBeGreaterThan(50);
  });

  it("reads no credentials", () => {
    expect(JSON.stringify(snapshot.tables)).not.toContain(btoa(original.member("m1").token));
  });

  it("goes on where it was: members hold the same, and nothing is written but heartbeats", async () => {
    const resumed = await start(images);
    await resumed.advance("10m");
    const loud = resumed.ledger.rows.filter(({ table }) => !isHeartbeat(table));
    expect(
      loud.map(({ server, table, key, row }) => `${server} ${row.type} ${table} ${key}`),
    ).toEqual([]);
    expect(differing(stateOf(original), resumed)).toEqual([]);
  });

  it("gives members the size, the load and the identity that they reported", async () => {
    const status = {
      nodeSummary: { totalNum: 3, readyNum: 3 },
      resourceSummary: {
        allocatable: { cpu: "10", memory: "7Gi", pods: "100" },
        allocated: { cpu: "4500m", memory: "5Gi", pods: "9" },
      },
    };
    const changed = await imagesFromSnapshot(ports, withM1(snapshot, status, "its-id"));
    const resumed = await start(changed);
    await resumed.advance("10m");
    const cluster = resumed.ledger.find("plane", "cluster.karmada.io/clusters", "/m1");
    expect(cluster?.object).toMatchObject({ status });
    const pods = resumed.ledger.objects("m1", "/pods");
    expect(pods.length).toBe(9);
    expect(resumed.ledger.objects("m1", "/nodes").length).toBe(3);
    const identity = resumed.ledger.find("m1", "/namespaces", "/kube-system");
    expect(identity?.object.metadata.uid).toBe("its-id");
  });

  it("ends as the original does when a member dies, also if it has died already", async () => {
    const before = stateOf(original);
    arrangeFault(original, dies, () => undefined);
    await original.advance("50s");
    const begun = await imagesFromSnapshot(ports, await takeSnapshot(original));
    await original.advance("5m");
    expect(differing(before, original).length).toBeGreaterThan(0);

    const resumed = await start(images);
    arrangeFault(resumed, dies, () => undefined);
    await resumed.advance("6m");
    expect(differing(stateOf(original), resumed)).toEqual([]);

    expect(MEMBERS.filter((name) => begun.traits?.get(name)?.isSilent)).toEqual(["m1"]);
    const late = await start(begun);
    expect(differing(stateOf(original), late).length).toBeGreaterThan(0);
    await late.advance("5m");
    expect(differing(stateOf(original), late)).toEqual([]);
  });

  it("keeps the agent of a member that pulls silent when it was, and the member when that was", async () => {
    const agent = original.agents.get("m2");
    agent?.crash();
    await original.advance("70s");
    const silent = await imagesFromSnapshot(ports, await takeSnapshot(original));
    expect(silent.traits?.get("m2")).toMatchObject({ isSilent: false, hasSilentAgent: true });
    const resumed = await start(silent);
    await resumed.advance("10m");
    expect(readyOf(resumed, "m2")).toBe("Unknown");

    agent?.start();
    await original.advance("60s");
    original.member("m2").link.set({ down: true });
    await original.advance("90s");
    const unwell = await imagesFromSnapshot(ports, await takeSnapshot(original));
    expect(unwell.traits?.get("m2")).toMatchObject({ isSilent: true, hasSilentAgent: false });
    const other = await start(unwell);
    await other.advance("10m");
    expect(readyOf(other, "m2")).toBe("False");
  });

  it("keeps every promise in a scenario that begins there", async () => {
    const scenario: Scenario = {
      name: "m1 dies",
      seed: 3,
      members: MEMBERS,
      failover: true,
      steps: [],
      faults: [dies],
    };
    const outcome = await runScenario(ports, scenario, { images });
    expect(outcome.violations).toEqual([]);
    expect(outcome.timeline.some((line) => line.includes("lifeboat.dev/evacuations"))).toBe(true);
  });
});

function readyOf({ ledger }: Simulation, name: string): string | undefined {
  const cluster = ledger.find("plane", "cluster.karmada.io/clusters", `/${name}`)?.object;
  return findCondition((cluster as Cluster | undefined)?.status?.conditions, "Ready")?.status;
}

/** What a snapshot does not hold. */
const LEFT_OUT = /^(\/secrets|coordination\.k8s\.io\/leases|\/events)\//;
function isHeartbeat(table: string): boolean {
  return table === "coordination.k8s.io/leases" || table === "/events";
}
