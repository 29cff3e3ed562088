import { type Cluster, type Remedy, TRAFFIC_CONTROL } from "@lifeboat/api";
import { formatTime, instantOf, plainMoment } from "@lifeboat/base";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { REMEDY_SOURCES } from "../../well-known.ts";
import {
  asksBrake,
  type BlockView,
  decideBlock,
  decideRemedy,
  MASS_TRAFFIC_BLOCK,
} from "./index.ts";
import { readSources } from "./record.ts";
import { wantedActions } from "./wanted.ts";

const NOW = instantOf(Date.UTC(2026, 0, 1));
const DNS = "ServiceDomainNameResolutionReady";

function remedy(name: string, spec: Remedy["spec"], metadata: object = {}): Remedy {
  return {
    apiVersion: "remedy.karmada.io/v1alpha1",
    kind: "Remedy",
    metadata: { name, uid: name, ...metadata },
    spec,
  } as Remedy;
}

type Status = "True" | "False" | "Unknown";

function cluster(
  conditions: Readonly<Record<string, Status>> = {},
  more: { actions?: readonly string[]; sources?: string; deleting?: boolean } = {},
): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: {
      name: "member1",
      uid: "u",
      ...(more.sources !== undefined && { annotations: { [REMEDY_SOURCES]: more.sources } }),
      ...(more.deleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    spec: { syncMode: "Push" },
    status: {
      conditions: Object.entries(conditions).map(([type, status]) => ({
        type,
        status,
        reason: "",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      })),
      ...(more.actions && { remedyActions: more.actions }),
    },
  } as unknown as Cluster;
}

const match = (conditionType: string, operator: string, conditionStatus: string) =>
  ({ clusterConditionMatch: { conditionType, operator, conditionStatus } }) as never;
const actions = [TRAFFIC_CONTROL];
const onDns = (name = "dns"): Remedy =>
  remedy(name, { decisionMatches: [match(DNS, "Equal", "False")], actions });
const order = (name = "upgrade"): Remedy => remedy(name, { actions });

describe("what Remedies want", () => {
  const cases: readonly (readonly [string, Remedy["spec"], Record<string, Status>, string[]])[] = [
    ["without clusters and matches: at once", { actions }, {}, actions],
    ["an empty affinity is every cluster", { clusterAffinity: {}, actions }, {}, actions],
    [
      "an empty list of names is every cluster",
      { clusterAffinity: { clusterNames: [] }, actions },
      {},
      actions,
    ],
    [
      "a cluster that is named",
      { clusterAffinity: { clusterNames: ["member1", "member2"] }, actions },
      {},
      actions,
    ],
    ["another cluster", { clusterAffinity: { clusterNames: ["member2"] }, actions }, {}, []],
    [
      "Equal",
      { decisionMatches: [match(DNS, "Equal", "False")], actions },
      { [DNS]: "False" },
      actions,
    ],
    [
      "Equal, and it is not",
      { decisionMatches: [match(DNS, "Equal", "False")], actions },
      { [DNS]: "True" },
      [],
    ],
    [
      "Equal of an absent condition",
      { decisionMatches: [match(DNS, "Equal", "False")], actions },
      { Ready: "False" },
      [],
    ],
    [
      "NotEqual",
      { decisionMatches: [match(DNS, "NotEqual", "True")], actions },
      { [DNS]: "Unknown" },
      actions,
    ],
    [
      "NotEqual, and it is",
      { decisionMatches: [match(DNS, "NotEqual", "True")], actions },
      { [DNS]: "True" },
      [],
    ],
    [
      "NotEqual of an absent condition",
      { decisionMatches: [match(DNS, "NotEqual", "True")], actions },
      {},
      [],
    ],
    [
      "any of several",
      {
        decisionMatches: [match("Ready", "Equal", "False"), match(DNS, "Equal", "False")],
        actions,
      },
      { Ready: "True", [DNS]: "False" },
      actions,
    ],
    [
      "an unknown operator matches nothing",
      { decisionMatches: [match(DNS, "In", "False")], actions },
      { [DNS]: "False" },
      [],
    ],
    [
      "an entry without a comparison matches nothing",
      { decisionMatches: [{}], actions },
      { [DNS]: "False" },
      [],
    ],
    ["no actions", {}, {}, []],
    ["an unknown action is kept", { actions: ["z", "a", "z"] }, {}, ["a", "z"]],
  ];
  test.each(cases)("%s", (_, spec, conditions, wanted) => {
    const plan = decideRemedy(
      { cluster: cluster(conditions), remedies: [remedy("r", spec)], mayBlock: true },
      NOW,
    );
    expect(plan.actions ?? []).toEqual(wanted);
  });

  it("is nothing of a Remedy that is being deleted, and nothing on a Cluster that is", () => {
    const going = remedy("r", { actions }, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    expect(wantedActions([going], cluster())).toEqual([]);
    const view = { cluster: cluster({}, { deleting: true }), remedies: [order()], mayBlock: true };
    expect(decideRemedy(view, NOW)).toEqual({ events: [] });
    expect(asksBrake(view)).toBe(false);
  });
});

describe("the record of sources", () => {
  it("names the Remedies, the cause and the time, and says it in one Event", () => {
    const remedies = [order("b"), order("a"), onDns()];
    const plan = decideRemedy(
      { cluster: cluster({ [DNS]: "False" }), remedies, mayBlock: true },
      NOW,
    );
    const since = "2026-01-01T00:00:00Z";
    expect(JSON.parse(plan.sources ?? "")).toEqual([
      { action: TRAFFIC_CONTROL, cause: "Order", remedies: ["a", "b"], since },
      { action: TRAFFIC_CONTROL, cause: "Conditions", remedies: ["dns"], since },
    ]);
    expect(plan.events).toEqual([
      {
        type: "Normal",
        reason: "RemedyActionsChanged",
        message: "TrafficControl begins, asked for by Remedies a, b and Remedy dns.",
      },
    ]);
  });

  it("keeps its time while the cause lasts, and stays as it is at rest", () => {
    const before = decideRemedy(
      { cluster: cluster(), remedies: [order("a")], mayBlock: true },
      NOW,
    );
    const then = cluster({}, { sources: before.sources ?? "", actions });
    const later = instantOf(NOW + 60_000);
    expect(decideRemedy({ cluster: then, remedies: [order("a")], mayBlock: true }, later)).toEqual({
      events: [],
    });
    const changed = decideRemedy({ cluster: then, remedies: [order("b")], mayBlock: true }, later);
    expect(changed.actions).toBeUndefined();
    expect(JSON.parse(changed.sources ?? "")).toMatchObject([
      { remedies: ["b"], since: formatTime(NOW) },
    ]);
  });

  it("goes with the last Remedy, and so does the action", () => {
    const sources = decideRemedy(
      { cluster: cluster(), remedies: [order()], mayBlock: true },
      NOW,
    ).sources;
    const plan = decideRemedy(
      { cluster: cluster({}, { sources: sources ?? "", actions }), remedies: [], mayBlock: true },
      NOW,
    );
    expect(plan).toMatchObject({ sources: null, actions: [] });
    expect(plan.events[0]?.message).toContain("TrafficControl ends");
  });

  it("tells an edit by hand from a change", () => {
    const sources =
      decideRemedy({ cluster: cluster(), remedies: [order()], mayBlock: true }, NOW).sources ?? "";
    const edited = cluster({}, { sources, actions: ["Foreign"] });
    const plan = decideRemedy({ cluster: edited, remedies: [order()], mayBlock: true }, NOW);
    expect(plan).toMatchObject({
      actions,
      events: [{ type: "Warning", reason: "RemedyActionsCorrected" }],
    });
    expect(plan.sources).toBeUndefined();
  });

  it("reports an action that nothing carries out", () => {
    const plan = decideRemedy(
      { cluster: cluster(), remedies: [remedy("r", { actions: ["Dance\n"] })], mayBlock: true },
      NOW,
    );
    expect(plan.actions).toEqual(["Dance\n"]);
    expect(plan.events.map(({ reason }) => reason)).toContain("UnknownRemedyAction");
  });

  it("stays small, whatever there is", () => {
    const many = Array.from({ length: 2000 }, (_, i) =>
      remedy(`${"r".repeat(240)}${i}`, { actions: [TRAFFIC_CONTROL, `a${i}`] }),
    );
    const plan = decideRemedy({ cluster: cluster(), remedies: many, mayBlock: true }, NOW);
    expect((plan.sources ?? "").length).toBeLessThan(50_000);
    expect(plan.actions).toHaveLength(2001);
    expect(readSources(cluster({}, { sources: plan.sources ?? "" }))[0]).toMatchObject({
      action: TRAFFIC_CONTROL,
      more: 1990,
    });
  });

  test.each([
    "",
    "{",
    "7",
    "null",
    "[null, 7, {}]",
    '[{"action":"a","cause":"Whim"}]',
    '{"__proto__":[]}',
  ])("that reads %s counts as none", (sources) => {
    expect(readSources(cluster({}, { sources }))).toEqual([]);
    const plan = decideRemedy(
      { cluster: cluster({}, { sources }), remedies: [order()], mayBlock: true },
      NOW,
    );
    expect(plan.actions).toEqual(actions);
  });
});

describe("the brake", () => {
  it("is asked once by conditions, and never by an order", () => {
    const sick = { [DNS]: "False" } as const;
    expect(asksBrake({ cluster: cluster(sick), remedies: [order()] })).toBe(false);
    expect(asksBrake({ cluster: cluster(sick), remedies: [onDns()] })).toBe(true);
    const sources =
      decideRemedy({ cluster: cluster(sick), remedies: [onDns()], mayBlock: true }, NOW).sources ??
      "";
    expect(asksBrake({ cluster: cluster(sick, { sources }), remedies: [onDns()] })).toBe(false);
  });

  it("holds what conditions ask for, and lets an order pass", () => {
    const sick = cluster({ [DNS]: "False" });
    const held = decideRemedy({ cluster: sick, remedies: [onDns()], mayBlock: false }, NOW);
    expect(held.actions).toBeUndefined();
    expect(JSON.parse(held.sources ?? "")).toMatchObject([{ cause: "Conditions", held: true }]);
    expect(held.events).toMatchObject([{ type: "Warning", reason: "RemedyActionHeld" }]);
    const both = decideRemedy(
      { cluster: sick, remedies: [onDns(), order()], mayBlock: false },
      NOW,
    );
    expect(both.actions).toEqual(actions);
    const still = cluster({ [DNS]: "False" }, { sources: held.sources ?? "" });
    expect(decideRemedy({ cluster: still, remedies: [onDns()], mayBlock: false }, NOW)).toEqual({
      events: [],
    });
    const agreed = decideRemedy({ cluster: still, remedies: [onDns()], mayBlock: true }, NOW);
    expect(agreed.actions).toEqual(actions);
  });

  const view = (more: Partial<BlockView>): BlockView => ({
    cluster: "m",
    fleet: 4,
    recent: [],
    conditions: [],
    ...more,
  });
  const at = (ms: number): string => formatTime(instantOf(NOW + ms));
  const braked = {
    type: MASS_TRAFFIC_BLOCK,
    status: "True",
    reason: "TooManyBlocks",
    message: "",
    lastTransitionTime: formatTime(NOW),
  } as const;
  test.each([
    ["the first of a fleet of one", { fleet: 1 }, true],
    ["the first of two", { fleet: 2 }, true],
    ["the second of two", { fleet: 2, recent: [{ at: at(0), cluster: "a" }] }, false],
    ["the second of four", { recent: [{ at: at(0), cluster: "a" }] }, true],
    [
      "the third of four",
      {
        recent: [
          { at: at(0), cluster: "a" },
          { at: at(0), cluster: "b" },
        ],
      },
      false,
    ],
    [
      "the third, when the first is a minute ago",
      {
        recent: [
          { at: at(-62_000), cluster: "a" },
          { at: at(0), cluster: "b" },
        ],
      },
      true,
    ],
    [
      "the same again, which counts once",
      {
        recent: [
          { at: at(0), cluster: "a" },
          { at: at(-5000), cluster: "m" },
        ],
      },
      true,
    ],
    ["any, while it is braked", { conditions: [braked] }, false],
    ["any, after a person's word", { conditions: [braked], agreedAt: at(0) }, true],
    ["none, by a word of before", { conditions: [braked], agreedAt: at(-1000) }, false],
    ["none, by a word of the future", { conditions: [braked], agreedAt: at(5000) }, false],
  ] as const)("lets through or holds: %s", (_, more, mayBlock) => {
    expect(decideBlock(view(more as Partial<BlockView>), plainMoment(NOW)).mayBlock).toBe(mayBlock);
  });

  it("never lets conditions block more than half of a fleet within a minute", () => {
    const steps = fc.array(fc.record({ afterMs: fc.nat(90_000), cluster: fc.nat(9) }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 10 }), (asked, fleet) => {
        let now = NOW;
        let recent: BlockView["recent"] = [];
        let conditions: BlockView["conditions"] = [];
        const passed: { at: number; cluster: string }[] = [];
        for (const one of asked) {
          now = instantOf(now + one.afterMs);
          const name = `m${one.cluster}`;
          const plan = decideBlock({ cluster: name, fleet, recent, conditions }, plainMoment(now));
          recent = plan.recent ?? recent;
          if (plan.condition)
            conditions = [{ ...plan.condition, lastTransitionTime: formatTime(now) }];
          if (plan.mayBlock) passed.push({ at: now, cluster: name });
        }
        for (const { at: end } of passed) {
          const within = passed.filter((one) => one.at <= end && one.at > end - 60_000);
          const distinct = new Set(within.map((one) => one.cluster)).size;
          expect(distinct).toBeLessThanOrEqual(Math.max(1, Math.floor(fleet / 2)));
        }
      }),
    );
  });
});
