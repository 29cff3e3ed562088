/** Nodes and pods of others that sum up to what a Cluster reported. */
import type { Cluster } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { nodesOf, othersOf } from "./member-size.ts";

function cluster(status: NonNullable<Cluster["status"]>): Cluster {
  return { status } as Cluster;
}

describe("the size of a member", () => {
  it("is divided among its nodes, and what does not divide is on the first", () => {
    const of = cluster({
      nodeSummary: { totalNum: 3, readyNum: 3 },
      resourceSummary: { allocatable: { cpu: "10", memory: "1Gi", pods: "100" } },
    });
    expect(nodesOf(of)).toEqual([
      { name: "node-1", capacity: { cpu: "3334m", memory: "357913942", pods: "34" } },
      { name: "node-2", capacity: { cpu: "3333m", memory: "357913941", pods: "33" } },
      { name: "node-3", capacity: { cpu: "3333m", memory: "357913941", pods: "33" } },
    ]);
  });

  it("is not known when nobody reported nodes", () => {
    expect(nodesOf(cluster({}))).toBeUndefined();
    expect(nodesOf(cluster({ nodeSummary: { totalNum: 0, readyNum: 0 } }))).toBeUndefined();
  });
});

describe("the pods of others", () => {
  const of = cluster({ resourceSummary: { allocated: { cpu: "1", memory: "1Gi", pods: "4" } } });

  it("take what ours do not", () => {
    expect(othersOf(of, { cpu: "400m", memory: "1Gi", pods: "2" })).toEqual([
      { cpu: "300m" },
      { cpu: "300m" },
    ]);
  });

  it("are none when ours take all, or more than was reported", () => {
    expect(othersOf(of, { cpu: "1", memory: "1Gi", pods: "4" })).toEqual([]);
    expect(othersOf(of, { cpu: "2", memory: "2Gi", pods: "9" })).toEqual([]);
    expect(othersOf(cluster({}), {})).toEqual([]);
  });
});
