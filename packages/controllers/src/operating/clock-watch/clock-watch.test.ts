/** Steps of the clock: seen soon, reported once, written down, and known to the next process. */
import { evacuationBudgets, FLEET_BUDGET } from "@lifeboat/api";
import { instantOf, NO_STEPS, type StepLog } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { createFleet, type Fleet } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { formatSteps, parseSteps } from "./record.ts";

describe("the record of steps", () => {
  const log: StepLog = {
    begin: 1000,
    steps: [
      { seen: instantOf(5000), byMs: 2500, from: instantOf(4000), until: instantOf(3000) },
      { seen: instantOf(9001), byMs: -1501, from: instantOf(1), until: instantOf(10_000) },
    ],
  };

  it.each([
    ["nothing", NO_STEPS],
    ["steps, and that earlier ones are forgotten", log],
  ])("reports %s", (_what, given) => {
    expect(parseSteps(formatSteps(given))).toEqual(given);
  });

  it.each([
    undefined,
    "",
    "{",
    "null",
    "[]",
    '{"steps":7}',
    '{"steps":[null,7,{}]}',
    '{"begin":4,"steps":[{"seen":"2026-01-01T00:00:00Z","from":"x","until":"","byMs":"1"}]}',
  ])("takes %s for no step", (text) => {
    expect(parseSteps(text)).toEqual(NO_STEPS);
  });
});

describe("the watch", () => {
  let fleet: Fleet;
  afterEach(() => fleet.close());

  const stepsOnBudget = async (): Promise<StepLog> => {
    const key = { namespace: "", name: FLEET_BUDGET };
    const { metadata } = await fleet.plane.get(evacuationBudgets, key);
    return parseSteps(metadata.annotations?.[wellKnown.CLOCK_STEPS]);
  };

  it("writes a step down within seconds, and the next process remembers it", async () => {
    fleet = await createFleet();
    await fleet.advance("1m");
    fleet.clock.step(600_000);
    await fleet.advance("6s");
    expect((await stepsOnBudget()).steps).toMatchObject([{ byMs: 600_000 }]);
    await fleet.restart();
    await fleet.advance("1s");
    expect(fleet.context.time.log.steps).toMatchObject([{ byMs: 600_000 }]);
    fleet.clock.step(-600_000);
    await fleet.advance("6s");
    expect((await stepsOnBudget()).steps).toMatchObject([{ byMs: 600_000 }, { byMs: -600_000 }]);
  });

  it("leaves everything else on the budget as it is", async () => {
    fleet = await createFleet();
    const budget = await fleet.plane.create(evacuationBudgets, {
      apiVersion: `${evacuationBudgets.group}/${evacuationBudgets.version}`,
      kind: evacuationBudgets.kind,
      metadata: { name: FLEET_BUDGET, annotations: { team: "a" } },
      spec: { paused: true },
    });
    await fleet.advance("1s");
    fleet.clock.step(5000);
    await fleet.advance("6s");
    const key = { namespace: "", name: FLEET_BUDGET };
    const after = await fleet.plane.get(evacuationBudgets, key);
    expect(after.spec).toEqual(budget.spec);
    expect(after.metadata.annotations).toMatchObject({ team: "a" });
    expect((await stepsOnBudget()).steps).toHaveLength(1);
  });

  it("writes nothing while the clock does not jump", async () => {
    fleet = await createFleet();
    await fleet.advance("10m");
    expect((await fleet.plane.list(evacuationBudgets)).items).toEqual([]);
  });
});
