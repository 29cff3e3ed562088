import type { Cluster } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { readOpenTunnels, tunnelsText } from "./open-tunnels.ts";

const METRICS = `# HELP lifeboat_proxy_tunnels 1 for each cluster whose agent has a tunnel open.
# TYPE lifeboat_proxy_tunnels gauge
lifeboat_proxy_tunnels{member_cluster="p1"} 1
lifeboat_proxy_tunnels{member_cluster="p2"} 0
lifeboat_proxy_tunnels_other{member_cluster="p3"} 1
`;

const cluster = (name: string, syncMode: "Push" | "Pull" = "Pull"): Cluster =>
  ({ metadata: { name }, spec: { syncMode } }) as Cluster;

describe("the agents that are connected", () => {
  it("are read from the metrics", () => {
    expect(readOpenTunnels(METRICS)).toEqual(new Set(["p1"]));
    expect(readOpenTunnels("# TYPE other gauge\n")).toBeUndefined();
  });

  it.each([
    [["p1"], "1 of 1 connected"],
    [["p1", "p2"], "1 of 2 connected; no tunnel from p2: get, logs and exec cannot reach them"],
  ])("%j are counted", (names, text) => {
    const clusters = [cluster("m1", "Push"), ...names.map((name) => cluster(name))];
    expect(tunnelsText(clusters, new Set(["p1", "gone"]))).toBe(text);
  });

  it("are named up to five", () => {
    const clusters = Array.from({ length: 8 }, (_unused, i) => cluster(`p${i}`));
    expect(tunnelsText(clusters, new Set())).toContain("p0, p1, p2, p3, p4 and 3 more");
  });

  it.each([
    ["there are no Pull clusters", [cluster("m1", "Push")], new Set<string>()],
    ["it is not known", [cluster("p1")], undefined],
  ])("are not mentioned when %s", (_what, clusters, open) => {
    expect(tunnelsText(clusters, open)).toBeUndefined();
  });
});
