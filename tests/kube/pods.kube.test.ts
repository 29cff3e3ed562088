/**
 * Pods and nodes as backends of a real cluster: its own controller writes the EndpointSlices, and what is published of them follows its
 * pods. The controller gives slices the labels of their Service, by which ours are found.
 */
import { deployments, multiClusterIngresses, nodes } from "@lifeboat/api";
import { publishedBackends, type PublishedCluster } from "@lifeboat/core/traffic";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { BreakableFleet } from "../propagation/propagation-fleet.ts";
import { WORKLOAD_CONTROLLERS } from "../support/controller-manager.ts";
import { eventually } from "../support/eventually.ts";
import { application, ingress } from "../traffic/manifests.ts";
import { startRealFleet } from "./real-fleet.ts";

const CLUSTER = "member1";
const NODES = 4;
let fleet: BreakableFleet;

beforeAll(async () => {
  const controllers = [...WORKLOAD_CONTROLLERS, "endpointslice-controller"];
  fleet = await startRealFleet([], [CLUSTER], NODES, controllers);
  const local = application("local", "NodePort", { externalTrafficPolicy: "Local" });
  for (const { resource, object } of [...application("web"), ...local]) {
    const annotations = { "lifeboat.dev/traffic-target": "Pods" };
    const isPods = object.kind === "Service" && object.metadata.name === "web";
    const metadata = { ...object.metadata, ...(isPods && { annotations }) };
    await fleet.plane.create(resource, { ...object, metadata });
  }
  for (const name of ["web", "local"])
    await fleet.plane.create(multiClusterIngresses, ingress(name, `${name}.example.com`, name));
});
afterAll(() => fleet?.close());

async function published(name: string): Promise<PublishedCluster | undefined> {
  const found = await fleet.plane.get(multiClusterIngresses, { namespace: "default", name });
  return publishedBackends(found).services[name]?.clusters[CLUSTER];
}

it("pods are backends as long as they are ready", async () => {
  const ready = async (count: number): Promise<void> =>
    eventually(async () => {
      const { addresses = [], endpoints = [], draining = [] } = (await published("web")) ?? {};
      expect([addresses.length, draining.length]).toEqual([count, 0]);
      for (const address of addresses) expect(address).toMatch(/^10\./);
      expect(endpoints).toMatchObject([{ ports: { "18080": 18_080 } }]);
    }, 60_000);
  await ready(2);
  const key = { namespace: "default", name: "web" };
  const scale = (replicas: number) =>
    fleet.plane.patch(deployments, key, {
      type: "merge",
      body: { spec: { replicas } },
    });
  await scale(3);
  await ready(3);
  await scale(1);
  await ready(1);
});

it("nodes with a pod are backends with the policy Local", async () => {
  const member = fleet.members.get(CLUSTER);
  const all = (await member?.list(nodes))?.items ?? [];
  expect(all).toHaveLength(NODES);
  await eventually(async () => {
    const { addresses = [], nodePorts } = (await published("local")) ?? {};
    expect([1, 2]).toContain(addresses.length);
    for (const address of addresses) expect(address).toMatch(/^192\.0\.2\.[1-4]$/);
    expect(Object.keys(nodePorts ?? {})).toEqual(["18080"]);
  }, 60_000);
});
