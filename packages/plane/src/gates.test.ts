import { describe, expect, it } from "vitest";
import { DEFAULT_CONTROLLERS } from "./controllers.ts";
import { formatGates, type Gate, readGateEntries, withKeptGates } from "./gates.ts";

const on = { failover: true, statefulFailoverInjection: false };

describe("withKeptGates", () => {
  const merged = (
    given: { readonly failover: boolean; readonly gatesByFlag?: readonly Gate[] },
    kept: string | undefined,
  ) =>
    withKeptGates(
      { ...DEFAULT_CONTROLLERS, gatesByFlag: [], ...given },
      kept === undefined ? undefined : { "feature-gates": kept },
    );

  it("D29: a bare restart leaves failover on, and names how to switch it off", () => {
    const { options, notes } = merged({ failover: false }, "Failover=true");
    expect(options.failover).toBe(true);
    expect(notes).toEqual([
      "the gate Failover stays on, as it was (ConfigMap lifeboat-system/settings); --feature-gates Failover=false switches it off",
    ]);
  });

  it("D29: a flag is stronger than what is kept, in both directions, and is named", () => {
    const off = merged({ failover: false, gatesByFlag: ["Failover"] }, "Failover=true");
    expect(off.options.failover).toBe(false);
    expect(off.notes).toEqual([
      "the gate Failover is off by --feature-gates; it was on until now, and off is kept",
    ]);
    const again = merged({ failover: true, gatesByFlag: ["Failover"] }, "Failover=false");
    expect(again.options.failover).toBe(true);
    expect(again.notes).toHaveLength(1);
  });

  it("D29: each gate is kept by itself", () => {
    const { options } = merged(
      { failover: false, gatesByFlag: ["StatefulFailoverInjection"] },
      "Failover=true,StatefulFailoverInjection=true",
    );
    expect(options).toMatchObject({ failover: true, statefulFailoverInjection: false });
  });

  it.each([undefined, "", "Failover", "Failover=perhaps", "Failover=true=true", "Other=true"])(
    "is the default when nothing of use is kept: %s",
    (kept) => {
      const { options, notes } = merged({ failover: false }, kept);
      expect(options.failover).toBe(false);
      expect(notes).toEqual([]);
    },
  );

  it("keeps nothing for controllers whose gates are all given", () => {
    const { options, notes } = withKeptGates(DEFAULT_CONTROLLERS, {
      "feature-gates": "Failover=true",
    });
    expect(options.failover).toBe(false);
    expect(notes).toHaveLength(1);
  });
});

it("what is written is what is read", () => {
  expect(readGateEntries(formatGates(on)).map(({ name, value }) => [name, value])).toEqual([
    ["Failover", true],
    ["StatefulFailoverInjection", false],
  ]);
});
