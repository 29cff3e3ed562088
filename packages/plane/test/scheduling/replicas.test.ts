/** The row "scheduling: ReplicaScheduling" on the production composition. One fleet serves all: clusters stay as they are. */
import type { Placement } from "@lifeboat/api";
import { deployment, type Fleet, newObject, resources } from "@lifeboat/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  copiesOf,
  jobs,
  newPolicy,
  openFleet,
  propagate,
  resultOf,
  scale,
  WHOLE_FLEET,
} from "./scheduling.suite.ts";

const MEMBERS = ["m1", "m2", "m3"];
let fleet: Fleet;

beforeAll(async () => {
  fleet = await openFleet({ m1: {}, m2: {}, m3: {} });
});
afterAll(() => fleet.close());

const duplicated: Placement = { replicaScheduling: { replicaSchedulingType: "Duplicated" } };
const weighted = (weights: Readonly<Record<string, number>> = {}): Placement => ({
  replicaScheduling: {
    replicaSchedulingType: "Divided",
    replicaDivisionPreference: "Weighted",
    ...(Object.keys(weights).length > 0 && {
      weightPreference: {
        staticWeightList: Object.entries(weights).map(([name, weight]) => ({
          targetCluster: { clusterNames: [name] },
          weight,
        })),
      },
    }),
  },
});

async function run(name: string, placement: Placement, replicas: number): Promise<void> {
  const template = deployment(name, { replicas });
  await propagate(fleet, newPolicy(name, placement), resources.deployments, template);
}
const sum = (shares: Readonly<Record<string, number>>): number =>
  Object.values(shares).reduce((all, one) => all + one, 0);

describe("scheduling: ReplicaScheduling", WHOLE_FLEET, () => {
  it("duplicated", async () => {
    await run("twins", duplicated, 2);
    expect(await copiesOf(fleet, MEMBERS, "twins")).toEqual({ m1: 2, m2: 2, m3: 2 });
    await scale(fleet, "twins", 3);
    expect(await copiesOf(fleet, MEMBERS, "twins")).toEqual({ m1: 3, m2: 3, m3: 3 });
  });

  it("weighted nil (even split with remainder by Webster)", async () => {
    await run("even", weighted(), 6);
    expect(await copiesOf(fleet, MEMBERS, "even")).toEqual({ m1: 2, m2: 2, m3: 2 });
    await scale(fleet, "even", 8);
    const shares = await copiesOf(fleet, MEMBERS, "even");
    expect(Object.values(shares).toSorted((a, b) => a - b)).toEqual([2, 3, 3]);
  });

  it("static weights", async () => {
    await run("fixed", weighted({ m1: 3, m2: 2, m3: 1 }), 6);
    expect(await copiesOf(fleet, MEMBERS, "fixed")).toEqual({ m1: 3, m2: 2, m3: 1 });
  });

  it("static weights: a cluster that no rule means gets nothing", async () => {
    await run("some", weighted({ m1: 1, m3: 1 }), 4);
    expect(await copiesOf(fleet, MEMBERS, "some")).toEqual({ m1: 2, m3: 2 });
  });

  it("rescheduling on replica change: only the difference moves, up and down", async () => {
    await run("grows", weighted({ m1: 3, m2: 2, m3: 1 }), 6);
    for (const replicas of [7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1]) {
      const before = await resultOf(fleet, "grows");
      await scale(fleet, "grows", replicas);
      const now = await resultOf(fleet, "grows");
      expect(sum(now)).toBe(replicas);
      const moved = MEMBERS.map((name) => Math.abs((now[name] ?? 0) - (before[name] ?? 0)));
      expect(moved.reduce((all, one) => all + one)).toBe(1);
      expect(await copiesOf(fleet, MEMBERS, "grows")).toEqual(now);
    }
  });

  it("aggregated: as few clusters as have room, and dynamic weights by room", async () => {
    const preference = (more: object): Placement => ({
      replicaScheduling: { replicaSchedulingType: "Divided", ...more },
    });
    await run("packed", preference({ replicaDivisionPreference: "Aggregated" }), 5);
    expect(Object.values(await copiesOf(fleet, MEMBERS, "packed"))).toEqual([5]);
    const dynamic = { weightPreference: { dynamicWeight: "AvailableReplicas" } };
    await run("roomy", preference({ replicaDivisionPreference: "Weighted", ...dynamic }), 6);
    expect(await copiesOf(fleet, MEMBERS, "roomy")).toEqual({ m1: 2, m2: 2, m3: 2 });
  });

  it("17.8: scaled to 0 with resource requests, every copy stays and has no replicas; scaled up, it runs again", async () => {
    const labels = { app: "idle" };
    const container = { name: "c", image: "nginx:1.27", resources: { requests: { cpu: "10m" } } };
    const template = { metadata: { labels }, spec: { containers: [container] } };
    const policy = newPolicy("idle", weighted({ m1: 1, m2: 1 }));
    await propagate(
      fleet,
      policy,
      resources.deployments,
      deployment("idle", { replicas: 4, template }),
    );
    expect(await copiesOf(fleet, MEMBERS, "idle")).toEqual({ m1: 2, m2: 2 });
    await scale(fleet, "idle", 0);
    expect(await copiesOf(fleet, MEMBERS, "idle")).toEqual({ m1: 0, m2: 0 });
    await scale(fleet, "idle", 2);
    expect(await copiesOf(fleet, MEMBERS, "idle")).toEqual({ m1: 1, m2: 1 });
  });

  it("Job completions split", async () => {
    const job = newObject(
      jobs,
      { name: "sum" },
      {
        spec: {
          parallelism: 3,
          completions: 6,
          template: {
            spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox:1" }] },
          },
        },
      },
    );
    const selector = { apiVersion: "batch/v1", kind: "Job" };
    await propagate(fleet, newPolicy("sum", weighted(), selector), jobs, job);
    const parts: { parallelism?: number; completions?: number }[] = [];
    for (const name of MEMBERS) {
      const key = { namespace: "default", name: "sum" };
      const copy = await fleet.member(name).client.get(jobs, key);
      parts.push((copy as unknown as { spec: (typeof parts)[number] }).spec);
    }
    expect(parts.map(({ parallelism }) => parallelism)).toEqual([1, 1, 1]);
    expect(parts.map(({ completions }) => completions)).toEqual([2, 2, 2]);
    await fleet.advance("30s");
    const template = await fleet.plane.get(jobs, { namespace: "default", name: "sum" });
    expect(template).toMatchObject({ status: { succeeded: 6 } });
  });
});
