/** The table of an evacuation agrees with its counts (17.15). */
import type { Evacuation, EvacuationSlice } from "@lifeboat/api";
import { instantOf, plainMoment } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { judge } from "../failover/evacuation/record.ts";
import { makeBinding } from "../placement/makers.suite.ts";
import { evacuationEntries } from "./evacuation-entries.ts";

const DOWN = { key: "down", effect: "NoExecute" as const, timeAdded: "2026-01-01T00:00:00Z" };
const SLOW = { ...DOWN, key: "slow", effect: "PreferNoExecute" as const };
const OPTIONS = {
  defaultPurgeMode: "Gracefully" as const,
  isScripted: () => false,
  asksForApproval: () => false,
  priorityOf: () => 0,
};
const PLAIN = { approval: "Policy" as const, moment: plainMoment(instantOf(0)) };
const WEB = makeBinding({ clusters: { a: 1 } });
const METADATA = { uid: "e", resourceVersion: "1", creationTimestamp: "" };

function evacuation(changes: Partial<NonNullable<Evacuation["status"]>> = {}): Evacuation {
  return {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { ...METADATA, name: "a-1" },
    spec: { cluster: "a", paused: false },
    status: { taints: [{ taint: DOWN, slices: 1, recorded: true }], ...changes },
  };
}

function slice(taint: typeof DOWN | typeof SLOW, binding = WEB): EvacuationSlice {
  return {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "EvacuationSlice",
    metadata: { ...METADATA, name: `a-1-${taint.key}` },
    spec: {
      evacuation: "a-1",
      taint,
      ordinal: 0,
      entries: [judge(binding, "a", taint, OPTIONS)],
    },
  };
}

const states = (
  one: Evacuation,
  slices: readonly EvacuationSlice[] = [slice(DOWN)],
  bindings = [WEB],
): readonly string[] =>
  evacuationEntries({ evacuation: one, slices, bindings, ...PLAIN }).map(({ state }) => state);

const reference = { kind: "ResourceBinding" as const, name: "web-deployment", uid: "b" };

describe("evacuationEntries", () => {
  it("is queued, held or taken out while the taint is there", () => {
    expect(states(evacuation())).toEqual(["Queued"]);
    const held = [{ binding: reference, reason: "NoTarget" }];
    expect(states(evacuation({ held }))).toEqual(["Held"]);
    expect(states(evacuation({ editedByHand: [reference] }))).toEqual(["Abandoned"]);
    const { spec, ...rest } = evacuation();
    const ordered = { ...rest, spec: { ...spec, takenOut: [reference] } };
    expect(states(ordered)).toEqual(["Abandoned"]);
  });

  it("is abandoned once the taint is removed, also one that was held", () => {
    const removedAt = "2026-01-01T00:01:00Z";
    const taints = [{ taint: DOWN, slices: 1, recorded: true, removedAt }];
    expect(states(evacuation({ taints }))).toEqual(["Abandoned"]);
    const held = [{ binding: reference, reason: "NoTarget" }];
    expect(states(evacuation({ taints, held }))).toEqual(["Abandoned"]);
  });

  it("stays queued for a second taint when the first is removed, and is listed once", () => {
    const wish = { failover: { cluster: { tolerationSeconds: 0 } } };
    const both = makeBinding({ clusters: { a: 1 }, spec: wish });
    const removedAt = "2026-01-01T00:01:00Z";
    const taints = [
      { taint: DOWN, slices: 1, recorded: true, removedAt },
      { taint: SLOW, slices: 1, recorded: true },
    ];
    const slices = [slice(DOWN, both), slice(SLOW, both)];
    expect(states(evacuation({ taints }), slices, [both])).toEqual(["Queued"]);
  });

  it("is exempt only when no taint moves it", () => {
    const taints = [
      { taint: SLOW, slices: 1, recorded: true },
      { taint: DOWN, slices: 1, recorded: true },
    ];
    expect(states(evacuation({ taints: taints.slice(0, 1) }), [slice(SLOW)])).toEqual(["Exempt"]);
    const view = { evacuation: evacuation({ taints }), slices: [slice(SLOW), slice(DOWN)] };
    const [one] = evacuationEntries({ ...view, bindings: [WEB], ...PLAIN });
    expect(one).toMatchObject({ state: "Queued", entry: { purgeMode: "Gracefully" } });
  });

  it("awaits approval while its taint asks for one and none covers it", () => {
    const asks = { ...slice(DOWN), spec: { ...slice(DOWN).spec } };
    const needing = {
      ...asks,
      spec: {
        ...asks.spec,
        entries: asks.spec.entries.map((one) => ({ ...one, approval: "Required" as const })),
      },
    };
    expect(states(evacuation(), [needing])).toEqual(["AwaitingApproval"]);
    const approved = evacuation();
    const approvals = [{ at: "1970-01-01T00:00:00Z" }];
    expect(states({ ...approved, spec: { ...approved.spec, approvals } }, [needing])).toEqual([
      "Queued",
    ]);
    const drain = { key: "lifeboat.dev/drain", effect: "NoExecute" as const };
    const taints = [DOWN, drain].map((taint) => ({ taint, slices: 1, recorded: true }));
    const drained = { ...needing, spec: { ...needing.spec, taint: drain } };
    expect(states(evacuation({ taints }), [needing, drained])).toEqual(["Queued"]);
    const view = { evacuation: evacuation(), slices: [slice(DOWN)], bindings: [WEB] };
    const [all] = evacuationEntries({ ...view, ...PLAIN, approval: "Required" });
    expect(all?.state).toBe("AwaitingApproval");
  });

  it("is evicted while its task stands, and done after it or without its binding", () => {
    const task = { fromCluster: "a", reason: "", producer: "" };
    const leaving = makeBinding({ spec: { gracefulEvictionTasks: [task] } });
    expect(states(evacuation(), undefined, [leaving])).toEqual(["Evicted"]);
    expect(states(evacuation(), undefined, [makeBinding()])).toEqual(["Done"]);
    expect(states(evacuation(), undefined, [])).toEqual(["Done"]);
  });
});
