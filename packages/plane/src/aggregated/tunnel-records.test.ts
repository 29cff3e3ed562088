/** Two replicas whose clocks differ, and one agent that opens its tunnel to one of them and then to the other. */
import { namespaces } from "@lifeboat/api";
import { createRandom, instantOf } from "@lifeboat/base";
import { leases, silentLog, silentMetrics } from "@lifeboat/kit";
import { createWorld, newNamespace, type World } from "@lifeboat/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { recordKey } from "./tunnel-record.ts";
import { createTunnelRecords, type TunnelRecords } from "./tunnel-records.ts";

let world: World;
const stop: AbortController[] = [];

beforeEach(async () => {
  world = await createWorld();
  await world.client.create(namespaces, newNamespace(recordKey("m1").namespace));
});
afterEach(async () => {
  for (const one of stop.splice(0)) one.abort();
  await world.advance("1m");
  await world.close();
});

/** A replica whose wall clock is ahead by so much. */
function start(identity: string, aheadMs: number): TunnelRecords {
  const { clock } = world;
  const ports = {
    clock: {
      now: () => instantOf(clock.now() + aheadMs),
      monotonic: () => clock.monotonic(),
      after: clock.after.bind(clock),
    },
    random: createRandom(1).fork(identity),
    log: silentLog,
    metrics: silentMetrics,
  };
  const endpoint = `https://${identity}:8443`;
  const records = createTunnelRecords(ports, world.client, identity, () => ({
    identity,
    endpoint,
  }));
  const until = new AbortController();
  stop.push(until);
  for (const service of records.services) void service.run(until.signal);
  return records;
}

const holder = async (): Promise<string | undefined> =>
  (await world.client.get(leases, recordKey("m1"))).spec?.holderIdentity;

it("the tunnel that opened last is found, whichever machine's clock is ahead", async () => {
  const ahead = start("ahead", 60_000);
  const behind = start("behind", 0);
  await world.advance("1s");
  ahead.changed("m1", true);
  await world.advance("1s");
  expect(await holder()).toBe("ahead");
  // The agent has opened another tunnel; the end of the old one is noticed only later.
  behind.changed("m1", true);
  await world.advance("1s");
  expect(await holder()).toBe("behind");
  expect(ahead.endpointOf("m1")).toBe("https://behind:8443");
  const { resourceVersion } = (await world.client.get(leases, recordKey("m1"))).metadata;
  ahead.changed("m1", false);
  await world.advance("10s");
  const record = await world.client.get(leases, recordKey("m1"));
  expect(record.metadata.resourceVersion).toBe(resourceVersion);
});

it("a replica whose tunnel is still open takes the record when the holder's has ended", async () => {
  const [first, second] = [start("first", 0), start("second", 0)];
  await world.advance("1s");
  first.changed("m1", true);
  await world.advance("1s");
  second.changed("m1", true);
  await world.advance("1s");
  expect(await holder()).toBe("second");
  second.changed("m1", false);
  await world.advance("1s");
  expect(await holder()).toBe("first");
});
