/** The rows "scheduling: label/group constraints" and "spread_by_region" on the production composition. */
import type { Placement } from "@lifeboat/api";
import { deployment, type Fleet, newObject, resources, widgetCrd } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  changePlacement,
  copiesOf,
  jobs,
  labelCluster,
  newClusterPolicy,
  newPolicy,
  openFleet,
  propagate,
  resultOf,
  scheduledOf,
  WHOLE_FLEET,
} from "./scheduling.suite.ts";

const MEMBERS = ["m1", "m2", "m3", "m4"];
let fleet: Fleet;

beforeEach(async () => {
  fleet = await openFleet({
    m1: { labels: { location: "CHN" }, spec: { region: "east" } },
    m2: { labels: { location: "CHN" }, spec: { region: "east" } },
    m3: { labels: { location: "CHN" }, spec: { region: "west" } },
    m4: { labels: { location: "EU" } },
  });
});
afterEach(() => fleet.close());

const inChina = (minGroups: number, maxGroups: number): Placement => ({
  clusterAffinity: { labelSelector: { matchLabels: { location: "CHN" } } },
  spreadConstraints: [{ spreadByField: "cluster", minGroups, maxGroups }],
});

const job = newObject(
  jobs,
  { name: "sum" },
  {
    spec: {
      template: {
        spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox:1" }] },
      },
    },
  },
);

describe("scheduling: label/group constraints", WHOLE_FLEET, () => {
  it("spread min/max for Deployment, CRD, Job; failed clusters simulated by label", async () => {
    await propagate(
      fleet,
      newPolicy("web", inChina(1, 2)),
      resources.deployments,
      deployment("web"),
    );
    await propagate(
      fleet,
      newClusterPolicy("widgets.ex.io", inChina(2, 2), {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
      }),
      resources.crds,
      widgetCrd(),
    );
    const batch = { apiVersion: "batch/v1", kind: "Job" };
    await propagate(fleet, newPolicy("sum", inChina(1, 2), batch), jobs, job);
    const seen = async (): Promise<readonly string[][]> => [
      Object.keys(await copiesOf(fleet, MEMBERS, "web")),
      Object.keys(await copiesOf(fleet, MEMBERS, "widgets.ex.io", resources.crds)),
      Object.keys(await copiesOf(fleet, MEMBERS, "sum", jobs)),
    ];
    // Among equals the least loaded comes first, and m3 is the one where no Deployment runs.
    expect(await seen()).toEqual([
      ["m1", "m2"],
      ["m1", "m3"],
      ["m1", "m3"],
    ]);
    await labelCluster(fleet, "m1", { location: null });
    await fleet.advance("20s");
    expect(await seen()).toEqual([
      ["m2", "m3"],
      ["m2", "m3"],
      ["m2", "m3"],
    ]);
    // One is left: enough for those that want at least one; the other keeps what it has and says why.
    await labelCluster(fleet, "m2", { location: null });
    await fleet.advance("20s");
    expect(await seen()).toEqual([["m3"], ["m2", "m3"], ["m3"]]);
    // Back again: they grow to what they may have, and nothing that runs moves.
    await labelCluster(fleet, "m2", { location: "CHN" });
    await fleet.advance("20s");
    expect(await seen()).toEqual([
      ["m2", "m3"],
      ["m2", "m3"],
      ["m2", "m3"],
    ]);
  });

  it("a minimum that cannot be met places nothing and says so, until a label makes it possible", async () => {
    await propagate(
      fleet,
      newPolicy("web", inChina(4, 4)),
      resources.deployments,
      deployment("web"),
    );
    expect(await resultOf(fleet, "web")).toEqual({});
    expect(await scheduledOf(fleet, "web")).toMatch(
      /^False SchedulerError: .*less than spreadConstraint.MinGroups/,
    );
    await labelCluster(fleet, "m4", { location: "CHN" });
    await fleet.advance("5s");
    expect(Object.keys(await resultOf(fleet, "web"))).toEqual(MEMBERS);
  });
});

describe("spread_by_region", WHOLE_FLEET, () => {
  it("region min 2 with cluster max 1 -> 2 clusters; then 1 region", async () => {
    const byRegion = (groups: number) => [
      { spreadByField: "region" as const, minGroups: groups, maxGroups: groups },
      { spreadByField: "cluster" as const, minGroups: 1, maxGroups: 1 },
    ];
    const policy = newPolicy("web", { spreadConstraints: byRegion(2) });
    await propagate(fleet, policy, resources.deployments, deployment("web"));
    const first = Object.keys(await copiesOf(fleet, MEMBERS, "web"));
    expect(first).toHaveLength(2);
    expect(first).toContain("m3");
    expect(first).not.toContain("m4");
    await changePlacement(fleet, "web", { spreadConstraints: byRegion(1) });
    const second = Object.keys(await copiesOf(fleet, MEMBERS, "web"));
    expect(second).toHaveLength(1);
    expect(first).toContain(second[0]);
  });
});
