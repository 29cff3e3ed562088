/** What a block would take, before it is ordered. */
import type { MultiClusterIngress } from "@lifeboat/api";
import { expect, it } from "vitest";
import { blockPlan } from "./remedy.ts";

function ingress(
  name: string,
  clusters: readonly string[],
  trafficBlockClusters: readonly string[] = [],
): MultiClusterIngress {
  return {
    metadata: { namespace: "shop", name },
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

it("is short when nothing is served from there", () => {
  expect(blockPlan("m1", [ingress("a", ["m2"])])).toEqual({
    lines: ["no ingress sends requests to m1"],
    losing: 0,
  });
});
