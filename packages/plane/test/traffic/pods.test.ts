/** Pods as backends, from the EndpointSlices of members to the table of a load balancer, with all production controllers. */
import { deployments } from "@lifeboat/api";
import type { Fleet } from "@lifeboat/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { failoverFleet, type Hands } from "../failover/failover.suite.ts";
import {
  ingress,
  KEY,
  type PaperProvider,
  startApplication,
  startProvider,
} from "./traffic.suite.ts";

let fleet: Fleet;
let hands: Hands;
let provider: PaperProvider;
const stops: AbortController[] = [];

beforeEach(async () => {
  ({ fleet, hands } = await failoverFleet(["m1", "m2"], {}, { member: { endpointSlices: true } }));
  const pods = { "lifeboat.dev/traffic-target": "Pods" };
  await startApplication(fleet, hands, {}, ingress, "ClusterIP", pods);
  provider = await startProvider(fleet, stops);
  await fleet.advance("5s");
});
afterEach(async () => {
  for (const stop of stops.splice(0)) stop.abort();
  await fleet.close();
});

const states = (): readonly string[] =>
  (provider.tables.at(-1)?.pools ?? []).flatMap(({ backends }) =>
    backends.map(({ cluster, address, port, state }) => {
      expect(address).toMatch(/^10\./);
      return `${cluster} ${port} ${state}`;
    }),
  );

async function scale(replicas: number): Promise<void> {
  const body = { spec: { replicas } };
  await fleet.plane.patch(deployments, KEY, { type: "merge", body });
}

const serving = "m1 80 serving";

it("requests go to the pods; those that end get no new ones and go", async () => {
  await scale(3);
  await fleet.advance("20s");
  expect(states()).toEqual([serving, serving, serving]);
  provider.tables.length = 0;
  await scale(1);
  await fleet.advance("20s");
  expect(states()).toEqual([serving]);
  const seen = provider.tables.map(({ pools }) =>
    pools.flatMap(({ backends }) => backends.map(({ state }) => state)).join(" "),
  );
  expect(seen).toContain("serving draining draining");
  expect(seen).not.toContain("");
});

it("a new pod costs few tables, and rest none", async () => {
  provider.tables.length = 0;
  await fleet.advance("1h");
  expect(provider.tables).toEqual([]);
  await scale(2);
  await fleet.advance("30s");
  // The weight of the cluster; the pod comes, and is ready.
  expect(provider.tables.length).toBeLessThanOrEqual(4);
  expect(states()).toEqual([serving, serving]);
});

it("the pods of an old copy get requests until those of the substitute are ready", async () => {
  provider.tables.length = 0;
  await hands.taint("m1");
  await hands.evict("m1");
  await fleet.advance("30s");
  expect(await hands.placement()).toBe("m2");
  expect(states()).toEqual(["m2 80 serving"]);
  const order = provider.tables.map(({ pools }) =>
    pools
      .flatMap(({ backends }) => backends.filter(({ state }) => state === "serving"))
      .map(({ cluster }) => cluster)
      .join(" "),
  );
  expect(order.filter((one, i) => one !== order[i - 1])).toEqual(["m1", "m2"]);
});
