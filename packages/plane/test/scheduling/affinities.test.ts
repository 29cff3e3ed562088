/** The rows "clusteraffinities" and "tainttoleration" on the production composition. */
import type { JsonObject, Placement } from "@lifeboat/api";
import { resourceBindings } from "@lifeboat/api";
import { deployment, type Fleet, resources } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  changePlacement,
  copiesOf,
  labelCluster,
  newClusterPolicy,
  newPolicy,
  openFleet,
  propagate,
  resultOf,
  scheduledOf,
  taintCluster,
  WHOLE_FLEET,
} from "./scheduling.suite.ts";

const MEMBERS = ["m1", "m2", "m3"];
let fleet: Fleet;

beforeEach(async () => {
  fleet = await openFleet({
    m1: { labels: { group: "one" } },
    m2: { labels: { group: "two" } },
    m3: {},
  });
});
afterEach(() => fleet.close());

const byLabel = (group: string) => ({ labelSelector: { matchLabels: { group } } });
const groups = {
  clusterAffinities: [
    { affinityName: "group1", ...byLabel("one") },
    { affinityName: "group2", ...byLabel("two") },
  ],
};
const where = async (): Promise<string> =>
  Object.keys(await copiesOf(fleet, MEMBERS, "web")).join();
const observed = async (): Promise<string | undefined> => {
  const key = { namespace: "default", name: "web-deployment" };
  return (await fleet.plane.get(resourceBindings, key)).status?.schedulerObservingAffinityName;
};

async function run(placement: Placement, byClusterPolicy = false): Promise<void> {
  const selector = { apiVersion: "apps/v1", kind: "Deployment", namespace: "default" };
  const policy = byClusterPolicy
    ? newClusterPolicy("web", placement, selector)
    : newPolicy("web", placement);
  await propagate(fleet, policy, resources.deployments, deployment("web"));
}

describe("clusteraffinities: multi/ switch", WHOLE_FLEET, () => {
  it.each([
    ["PP", false],
    ["CPP", true],
  ])("label change moves to next group (%s)", async (_kind, byClusterPolicy) => {
    await run(groups, byClusterPolicy);
    expect([await where(), await observed()]).toEqual(["m1", "group1"]);
    await labelCluster(fleet, "m1", { group: null });
    await fleet.advance("20s");
    expect([await where(), await observed()]).toEqual(["m2", "group2"]);
    // Nobody asked for it, so it does not go back by itself.
    await labelCluster(fleet, "m1", { group: "one" });
    await fleet.advance("20s");
    expect([await where(), await observed()]).toEqual(["m2", "group2"]);
  });

  it("no group fits: the cluster that a person excluded by its label loses its copy (D8), and the reason names the clusters", async () => {
    await run(groups);
    await labelCluster(fleet, "m2", { group: null });
    await labelCluster(fleet, "m1", { group: null });
    await fleet.advance("20s");
    expect(await where()).toBe("");
    expect(await scheduledOf(fleet, "web")).toMatch(
      /^False NoClusterFit: 0\/3 clusters are available: 3 cluster\(s\) did not match/,
    );
    await labelCluster(fleet, "m2", { group: "two" });
    await fleet.advance("20s");
    expect([await where(), await observed()]).toEqual(["m2", "group2"]);
  });

  const switches: readonly [string, Placement, string, JsonObject, string][] = [
    [
      "clusterAffinity -> clusterAffinities",
      { clusterAffinity: { clusterNames: ["m3"] } },
      "m3",
      { clusterAffinity: null, ...groups },
      "m1",
    ],
    [
      "clusterAffinities -> clusterAffinity",
      groups,
      "m1",
      { clusterAffinities: null, clusterAffinity: { clusterNames: ["m3"] } },
      "m3",
    ],
    [
      "a changed group",
      groups,
      "m1",
      {
        clusterAffinities: [{ affinityName: "group1", clusterNames: ["m2"] }],
      },
      "m2",
    ],
  ];
  it.each(switches)("%s switching reschedules", async (_row, from, first, to, then) => {
    await run(from);
    expect(await where()).toBe(first);
    await changePlacement(fleet, "web", to);
    expect(await where()).toBe(then);
  });
});

describe("clusteraffinities: Failover", WHOLE_FLEET, () => {
  it("group1=member1, group2=member2; evicted for a NoExecute taint on member1 -> member2", async () => {
    await run(groups);
    const taint = { key: "not-ready", effect: "NoExecute" };
    await taintCluster(fleet, "m1", [taint]);
    await fleet.advance("5s");
    // A taint alone moves nothing.
    expect(await where()).toBe("m1");
    const task = { fromCluster: "m1", reason: "TaintUntolerated", producer: "TaintManager" };
    await fleet.plane.patch(
      resourceBindings,
      { namespace: "default", name: "web-deployment" },
      { type: "merge", body: { spec: { clusters: null, gracefulEvictionTasks: [task] } } },
    );
    await fleet.advance("20s");
    expect(Object.keys(await resultOf(fleet, "web"))).toEqual(["m2"]);
    expect(await observed()).toBe("group2");
    expect((await where()).split(",")).toContain("m2");
  });
});

describe("tainttoleration", WHOLE_FLEET, () => {
  it("every cluster gets NoSchedule taint with its own value; Deployment lands only on the tolerated one", async () => {
    for (const name of MEMBERS)
      await taintCluster(fleet, name, [{ key: "owner", value: name, effect: "NoSchedule" }]);
    const tolerates = (value: string) => ({
      key: "owner",
      operator: "Equal" as const,
      value,
      effect: "NoSchedule" as const,
    });
    await run({ clusterTolerations: [tolerates("m2")] });
    expect(await where()).toBe("m2");
    expect(await scheduledOf(fleet, "web")).toMatch(/^True Success/);
    // The taint of another value is untolerated: what runs stays, but nothing new comes.
    await changePlacement(fleet, "web", { clusterTolerations: [tolerates("m3")] });
    expect(await where()).toBe("m2,m3");
    // Without its taint, the rest is free again.
    await taintCluster(fleet, "m1", []);
    await fleet.advance("5s");
    expect(await where()).toBe("m1,m2,m3");
  });
});
