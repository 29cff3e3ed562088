/** The settings of a running control plane can be read through its API, and are written only when they change. */
import { configMaps } from "@lifeboat/api";
import { createFleet, type Fleet } from "@lifeboat/testkit";
import { afterEach, expect, it } from "vitest";
import { createSettings, readSettings, SETTINGS_KEY } from "./create-settings.ts";

let fleet: Fleet;
let settings: Readonly<Record<string, string>>;
afterEach(() => fleet.close());

async function start(): Promise<void> {
  settings = { "feature-gates": "Failover=true" };
  fleet = await createFleet({ services: (context) => [createSettings(context, settings)] });
  await fleet.settle();
}

const version = async (): Promise<string> =>
  (await fleet.plane.get(configMaps, SETTINGS_KEY)).metadata.resourceVersion;

it("are there once the control plane runs", async () => {
  await start();
  expect(await readSettings(fleet.plane)).toEqual({ "feature-gates": "Failover=true" });
});

it("are not written again by a restart with the same settings", async () => {
  await start();
  const before = await version();
  await fleet.restart();
  await fleet.advance("1m");
  expect(await version()).toBe(before);
});

it("are replaced whole by a restart with others", async () => {
  await start();
  settings = { "resource-eviction-rate": "2" };
  await fleet.restart();
  await fleet.advance("2s");
  expect(await readSettings(fleet.plane)).toEqual({ "resource-eviction-rate": "2" });
});

it("come back after they were deleted and the control plane started again", async () => {
  await start();
  await fleet.plane.delete(configMaps, SETTINGS_KEY);
  expect(await readSettings(fleet.plane)).toBeUndefined();
  await fleet.restart();
  await fleet.advance("2s");
  expect(await readSettings(fleet.plane)).toEqual({ "feature-gates": "Failover=true" });
});
