import { describe, expect, it } from "vitest";
import type { PublishedSettings } from "@lifeboat/controllers/operating";
import { type ControllersOptions, DEFAULT_CONTROLLERS } from "./controllers.ts";
import { formatGates, type Gate, readGateEntries, withKeptSwitches } from "./gates.ts";

const on = { failover: true, statefulFailoverInjection: false };

describe("withKeptSwitches", () => {
  const merged = (
    given: { readonly failover: boolean; readonly gatesByFlag?: readonly Gate[] },
    kept: string | undefined,
  ) =>
    withKeptSwitches(
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
    const { options, notes } = withKeptSwitches(DEFAULT_CONTROLLERS, {
      "feature-gates": "Failover=true",
    });
    expect(options.failover).toBe(false);
    expect(notes).toHaveLength(1);
  });
});

describe("the mode of approval (D30)", () => {
  const kept = (given: Partial<ControllersOptions>, mode: unknown) =>
    withKeptSwitches({ ...DEFAULT_CONTROLLERS, gatesByFlag: [], ...given }, {
      "evacuation-approval": mode,
    } as PublishedSettings);

  it("D29: a bare restart still asks for approvals, and names how to end that", () => {
    const { options, notes } = kept({ evacuationApprovalByFlag: false }, "Required");
    expect(options.evacuationApproval).toBe("Required");
    expect(notes).toEqual([
      "evacuation approval stays Required, as it was (ConfigMap lifeboat-system/settings); --evacuation-approval Policy switches it",
    ]);
  });

  it("D29: a flag is stronger than what is kept, and is named", () => {
    const { options, notes } = kept({ evacuationApproval: "Policy" }, "Required");
    expect(options.evacuationApproval).toBe("Policy");
    expect(notes).toEqual([
      "evacuation approval is Policy by --evacuation-approval; it was Required until now, and Policy is kept",
    ]);
  });

  it.each([undefined, "", "Never", 1, "Policy"])(
    "is left to the policies when nothing else is kept: %s",
    (mode) => {
      const { options, notes } = kept({ evacuationApprovalByFlag: false }, mode);
      expect(options.evacuationApproval).toBe("Policy");
      expect(notes).toEqual([]);
    },
  );
});

it("what is written is what is read", () => {
  expect(readGateEntries(formatGates(on)).map(({ name, value }) => [name, value])).toEqual([
    ["Failover", true],
    ["StatefulFailoverInjection", false],
  ]);
});
