/** What a block would take, before it is ordered. */
import type { MultiClusterIngress } from "@lifeboat/api";
import { expect, it } from "vitest";
import { blockPlan } from "./remedy.ts";

function ingress(
  name: string,
  clusters: readonly string[],
  trafficBlockClusters: readonly string[] = [],
  backends?: object,
): MultiClusterIngress {
  const published = { generation: 1, services: { web: { clusters: backends } } };
  const annotations = { "lifeboat.dev/backends": JSON.stringify(published) };
  return {
    metadata: { namespace: "shop", name, ...(backends !== undefined && { annotations }) },
    status: { serviceLocations: [{ name: "web", clusters }], trafficBlockClusters },
  } as unknown as MultiClusterIngress;
}

it("names the ingresses that lose a cluster, and what serves them then", () => {
  const { lines, losing } = blockPlan("m1", [
    ingress("a", ["m1", "m2", "m3"], ["m3"]),
    ingress("alone", ["m1"]),
    ingress("last", ["m1", "m2"], ["m2"]),
    ingress("elsewhere", ["m2"]),
    ingress("blocked", ["m1", "m2"], ["m1"]),
  ]);
  expect(losing).toBe(1);
  expect(lines).toEqual([
    "1 ingress would send nothing to m1:",
    "",
    "INGRESS     WOULD BE SERVED BY",
    "shop/a      m2",
    "shop/alone  m1, because no other serves it",
    "shop/last   m1, because no other serves it",
  ]);
});

it("counts no cluster that has no ready replica (D16)", () => {
  const addresses = ["10.0.0.1"];
  const empty = { addresses, state: "draining", cause: "gone" };
  const backends = { m1: { addresses, state: "serving" }, m2: empty, m3: empty };
  const clusters = ["m1", "m2", "m3"];
  expect(blockPlan("m1", [ingress("a", clusters, [], backends)])).toEqual({
    losing: 0,
    lines: [
      "0 ingresses would send nothing to m1:",
      "",
      "INGRESS  WOULD BE SERVED BY",
      "shop/a   m1, because no other serves it",
    ],
  });
  expect(blockPlan("m2", [ingress("a", clusters, [], backends)]).lines).toEqual([
    "no ingress sends requests to m2",
  ]);
});

it("is short when nothing is served from there", () => {
  expect(blockPlan("m1", [ingress("a", ["m2"])])).toEqual({
    lines: ["no ingress sends requests to m1"],
    losing: 0,
  });
});
