/** Workloads return after an outage where their policy asks for it: once, a few at a time, wherever the process dies. */
import { propagationPolicies, type ResourceBinding, resourceBindings } from "@lifeboat/api";
import type { Fleet } from "@lifeboat/testkit";
import { afterEach, expect, it } from "vitest";
import {
  bindingOf,
  bindings,
  deployOn,
  DOWN,
  evacuationFleet,
  placed,
  setTaints,
} from "../evacuation/evacuation.suite.ts";
import { DyingPlane } from "../evacuation/evacuation-crash.suite.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

async function ask(set: string, text: string): Promise<void> {
  const key = { namespace: "default", name: set };
  const found = await fleet.plane.get(propagationPolicies, key);
  const annotations = { ...found.metadata.annotations, "lifeboat.dev/failback": text };
  const metadata = { ...found.metadata, annotations };
  await fleet.plane.update(propagationPolicies, { ...found, metadata });
  await fleet.settle();
}

const whereabouts = async (): Promise<readonly string[]> =>
  (await bindings(fleet)).map((one) => placed(one).join());
const isReturning = ({ spec }: ResourceBinding): boolean =>
  (spec.gracefulEvictionTasks ?? []).some(({ producer }) => producer === "Failback");

it(
  "return after the stabilisation time, one at a time, and only once",
  { timeout: 30_000 },
  async () => {
    fleet = await evacuationFleet();
    await deployOn(fleet, "a", 3, "m1");
    await ask("a", "2m");
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("1m");
    for (const where of await whereabouts()) expect(where).toMatch(/^m[23]$/);
    await setTaints(fleet, "m1");
    await fleet.advance("110s");
    for (const where of await whereabouts()) expect(where).toMatch(/^m[23]$/);
    let most = 0;
    for (let step = 0; step < 240; step++) {
      await fleet.advance("500ms");
      most = Math.max(most, (await bindings(fleet)).filter(isReturning).length);
    }
    expect(most).toBe(1);
    expect(await whereabouts()).toEqual(["m1", "m1", "m1"]);
    await fleet.advance("10m");
    expect(await whereabouts()).toEqual(["m1", "m1", "m1"]);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("1m");
    for (const where of await whereabouts()) expect(where).toMatch(/^m[23]$/);
  },
);

it("stay without the annotation, with the gate off, and where a person put them", async () => {
  fleet = await evacuationFleet();
  await deployOn(fleet, "a", 1, "m1");
  await deployOn(fleet, "b", 1, "m1");
  await ask("b", "1m");
  await setTaints(fleet, "m1", DOWN);
  await fleet.advance("1m");
  const found = await bindingOf(fleet, "b-0-deployment");
  const [there = ""] = placed(found);
  const other = there === "m2" ? "m3" : "m2";
  const clusters = (found.spec.clusters ?? []).map((one) => ({ ...one, name: other }));
  await fleet.plane.update(resourceBindings, { ...found, spec: { ...found.spec, clusters } });
  await setTaints(fleet, "m1");
  await fleet.advance("10m");
  for (const where of await whereabouts()) expect(where).not.toContain("m1");
});

it("return once, wherever the process dies", { timeout: 60_000 }, async () => {
  const writes = await returnWithCrash(-1, false);
  expect(writes).toBeGreaterThan(0);
  for (let at = 0; at < Math.min(writes, 8); at++) {
    await fleet.close();
    await returnWithCrash(at, at % 2 === 0);
  }
});

/** The process dies at one of its writes after the cluster was back for the stabilisation time. */
async function returnWithCrash(at: number, takesEffect: boolean): Promise<number> {
  const dying = new DyingPlane();
  fleet = await evacuationFleet({ through: (context) => dying.through(context) });
  await deployOn(fleet, "a", 1, "m1");
  await ask("a", "1m");
  await setTaints(fleet, "m1", DOWN);
  await fleet.advance("40s");
  await setTaints(fleet, "m1");
  await fleet.advance("55s");
  dying.arm(at, takesEffect);
  let returns = 0;
  let was = false;
  for (let step = 0; step < 60; step++) {
    if (dying.isDead) {
      dying.revive();
      await fleet.restart();
    }
    await fleet.advance("1s");
    const is = isReturning(await bindingOf(fleet, "a-0-deployment"));
    if (is && !was) returns += 1;
    was = is;
  }
  expect(placed(await bindingOf(fleet, "a-0-deployment"))).toEqual(["m1"]);
  expect(returns).toBeLessThanOrEqual(1);
  return dying.writes;
}
