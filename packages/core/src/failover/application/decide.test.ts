/** When a failing application is due to leave, what is remembered of it, and what the eviction records. */
import type { ResourceBinding, Work } from "@lifeboat/api";
import { addMs, formatTime, type Instant, plainMoment } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { bindingWith, clusterIn, copy, NOW, task } from "../eviction-tasks/eviction.suite.ts";
import { evictedFromOf } from "../../placement/filters/evicted-from.ts";
import {
  type BindingGiven,
  makeBinding,
  makeCluster,
  viewOf as placementOf,
} from "../../placement/makers.suite.ts";
import {
  type ApplicationView,
  decideApplication,
  evictApplication,
  hasNowhereElse,
} from "./decide.ts";
import { readRecord, withRecord } from "./record.ts";

const SINCE = "lifeboat.dev/unhealthy-since";
const FROM = "lifeboat.dev/evicted-from";
const ill = { health: "Unhealthy" } as const;
const well = { health: "Healthy" } as const;

function failing(
  annotations: Readonly<Record<string, string>> = {},
  application: object = {},
  clusters: readonly string[] = ["a"],
): ResourceBinding {
  const failover = {
    application: { decisionConditions: { tolerationSeconds: 60 }, ...application },
  } as NonNullable<ResourceBinding["spec"]["failover"]>;
  return bindingWith(clusters, [], { spec: { failover }, meta: { annotations } });
}

function viewOf(binding: ResourceBinding, changes: Partial<ApplicationView> = {}): ApplicationView {
  const clusters = ["a", "b", "c"].map((name) => clusterIn(name, { ready: "True" }));
  return {
    binding,
    works: [copy("a", ill)],
    clusters: new Map(clusters.map((one) => [one.metadata.name, one])),
    outdated: new Set(),
    hasNowhereElse: false,
    ...changes,
  };
}

const ago = (seconds: number): Instant => addMs(NOW, -seconds * 1000);
const since = (seconds: number, name = "a") => ({
  [SINCE]: JSON.stringify({ [name]: formatTime(ago(seconds)) }),
});

it("17.7: a copy of unknown health stays while dispatching is suspended, and that is told", () => {
  const suspended = (spec: object): ResourceBinding => {
    const binding = failing(since(600));
    return { ...binding, spec: { ...binding.spec, suspension: spec } };
  };
  const old = [copy("a", { ...ill, observed: 0 })];
  const reasonOf = (spec: object, works = old) =>
    decideApplication(viewOf(suspended(spec), { works }), plainMoment(NOW));
  const told = reasonOf({ dispatching: true });
  expect(told).toMatchObject({ reason: "DispatchingSuspended", due: [] });
  expect(told.events).toMatchObject([{ message: expect.stringContaining("for cluster a:") }]);
  expect(reasonOf({ dispatchingOnClusters: { clusterNames: ["b"] } })).toMatchObject({
    reason: "Well",
    events: [],
  });
  // What is known counts, also while it is suspended.
  expect(reasonOf({ dispatching: true }, [copy("a", ill)]).due).toEqual(["a"]);
  expect(reasonOf({ dispatching: true }, [copy("a", well)]).reason).toBe("Well");
});

describe("a copy", () => {
  it.each<[string, ApplicationView, string, readonly string[]]>([
    ["that has just become unhealthy is remembered", viewOf(failing()), "Tolerated", []],
    ["is tolerated for as long as the policy allows", viewOf(failing(since(59))), "Tolerated", []],
    ["is due when that is over", viewOf(failing(since(60))), "Due", ["a"]],
    [
      "that is healthy again is forgotten",
      viewOf(failing(since(600)), { works: [copy("a", well)] }),
      "Well",
      [],
    ],
    [
      "whose report is about an older version is not unhealthy",
      viewOf(failing(since(600)), { works: [copy("a", { ...ill, observed: 0 })] }),
      "Well",
      [],
    ],
    ["that has no Work is not unhealthy", viewOf(failing(since(600)), { works: [] }), "Well", []],
    [
      "in a cluster that does not answer is not unhealthy",
      viewOf(failing(since(600)), {
        clusters: new Map([["a", clusterIn("a", { ready: "Unknown" })]]),
      }),
      "Well",
      [],
    ],
    [
      "in a cluster that is gone is not unhealthy",
      viewOf(failing(since(600)), { clusters: new Map() }),
      "Well",
      [],
    ],
    [
      "that is leaving already is left alone",
      viewOf(failing(since(600), {}, ["b"]), { works: [copy("a", ill), copy("b", well)] }),
      "Well",
      [],
    ],
    [
      "is left alone when the policy does not ask",
      viewOf(bindingWith(["a"], [], { meta: { annotations: since(600) } })),
      "NotAsked",
      [],
    ],
    [
      "whose remembered time cannot be read gets its whole time",
      viewOf(failing({ [SINCE]: '{"a":"yesterday"}' })),
      "Tolerated",
      [],
    ],
    [
      "has time to start although nothing is tolerated",
      viewOf(failing(since(9), { decisionConditions: { tolerationSeconds: 0 } })),
      "Tolerated",
      [],
    ],
    [
      "is due once it could have started when nothing is tolerated",
      viewOf(failing(since(10), { decisionConditions: { tolerationSeconds: 0 } })),
      "Due",
      ["a"],
    ],
  ])("%s", (_name, view, reason, due) => {
    const plan = decideApplication(view, plainMoment(NOW));
    expect([plan.reason, plan.due]).toEqual([reason, due]);
    const isRemembered = reason === "Tolerated" || reason === "Due";
    expect(readRecord(plan.remembered).unhealthySince.has("a")).toBe(isRemembered);
  });

  it("is checked again when its time is over, and nothing is written meanwhile", () => {
    const plan = decideApplication(viewOf(failing(since(20))), plainMoment(NOW));
    expect(plan.checkAgainAt).toBe(addMs(NOW, 40_000));
    expect(plan.commands).toEqual([]);
  });

  it("is never due early because times are whole seconds", () => {
    const start = addMs(NOW, 400);
    const { remembered } = decideApplication(viewOf(failing()), plainMoment(start));
    const early = decideApplication(viewOf(remembered), plainMoment(addMs(start, 59_900)));
    expect(early.due).toEqual([]);
    expect(decideApplication(viewOf(remembered), plainMoment(addMs(start, 60_700))).due).toEqual([
      "a",
    ]);
  });

  it("has 300 seconds when the policy sets no time", () => {
    const binding = failing(since(299), { decisionConditions: {} });
    expect(decideApplication(viewOf(binding), plainMoment(NOW)).reason).toBe("Tolerated");
    const later = failing(since(300), { decisionConditions: {} });
    expect(decideApplication(viewOf(later), plainMoment(NOW)).reason).toBe("Due");
  });
});

describe("an episode", () => {
  const left = { [FROM]: '["a"]' };
  const elsewhere = (changes: Partial<ApplicationView> = {}) =>
    viewOf(failing(left, {}, ["b"]), { works: [copy("b", well)], ...changes });
  const keeping = (moved: Work) => {
    const kept = {
      reason: "ApplicationFailure",
      purgeMode: "Never",
      suppressDeletion: true,
    } as const;
    const binding = bindingWith(["b"], [task("a", kept)], {
      spec: { failover: failing().spec.failover ?? {} },
      meta: { annotations: left },
    });
    return viewOf(binding, { works: [copy("a", ill), moved] });
  };
  it("is over when every copy is healthy", () => {
    expect(
      decideApplication(elsewhere(), plainMoment(NOW)).remembered.metadata.annotations,
    ).toEqual({});
  });

  it("is over when every copy is healthy, although the old one is kept", () => {
    const remembered = (health: typeof ill | typeof well) =>
      decideApplication(keeping(copy("b", health)), plainMoment(NOW)).remembered;
    expect([...evictedFromOf(remembered(well))]).toEqual([]);
    expect([...evictedFromOf(remembered(ill))]).toEqual(["a"]);
  });

  it.each<[string, ApplicationView]>([
    ["a copy is unhealthy", elsewhere({ works: [copy("b", ill)] })],
    ["a copy has not reported", elsewhere({ works: [] })],
    ["a copy is not what it should be now", elsewhere({ outdated: new Set(["b"]) })],
    [
      "the eviction is under way",
      viewOf(
        bindingWith(["b"], [task("a", { reason: "ApplicationFailure" })], {
          spec: { failover: failing().spec.failover ?? {} },
          meta: { annotations: left },
        }),
        { works: [copy("b", well)] },
      ),
    ],
    ["nothing is placed", viewOf(failing(left, {}, []), { works: [] })],
    [
      "the scheduler has not looked",
      viewOf(
        { ...failing(left, {}, ["b"]), status: { schedulerObservedGeneration: 4 } },
        { works: [copy("b", well)] },
      ),
    ],
  ])("goes on while %s", (_name, view) => {
    expect([...evictedFromOf(decideApplication(view, plainMoment(NOW)).remembered)]).toEqual(["a"]);
  });

  it("is over for a cluster in which a person places the workload", () => {
    const view = viewOf(failing(left), { works: [copy("a", ill)] });
    expect([...evictedFromOf(decideApplication(view, plainMoment(NOW)).remembered)]).toEqual([]);
  });
});

describe("a workload that is nowhere", () => {
  const left = { [FROM]: '["a"]' };
  const tainted = { spec: { taints: [{ key: "k", effect: "NoSchedule" as const }] } };
  const naming = (...clusterNames: string[]) => ({ clusterAffinity: { clusterNames } });

  it.each<[boolean, string, BindingGiven, Parameters<typeof makeCluster>[1]]>([
    [true, "is only allowed where it failed", { placement: naming("a") }, {}],
    [true, "fits no other cluster", {}, tainted],
    [
      true,
      "fits no other cluster, and is still leaving",
      {
        spec: {
          gracefulEvictionTasks: [
            { fromCluster: "a", reason: "ApplicationFailure", producer: "test" },
          ],
        },
      },
      tainted,
    ],
    [false, "can go to another cluster", {}, {}],
    [false, "is not allowed where it failed either", { placement: naming("c") }, {}],
    [false, "did not fail anywhere", { placement: naming("a"), annotations: {} }, {}],
    [false, "is somewhere after all", { placement: naming("a"), clusters: { c: 1 } }, {}],
  ])("returns to where it failed, %s: it %s", (isSo, _what, given, b) => {
    const binding = makeBinding({ annotations: left, ...given });
    const clusters = [makeCluster("a"), makeCluster("b", b)];
    expect(hasNowhereElse(placementOf(clusters, binding), plainMoment(NOW))).toBe(isSo);
  });

  it("has its failures forgotten, with an Event about it", () => {
    const view = viewOf(failing(left, {}, []), { works: [], hasNowhereElse: true });
    const { events, reason, remembered } = decideApplication(view, plainMoment(NOW));
    expect([...evictedFromOf(remembered)]).toEqual([]);
    expect(reason).toBe("NowhereElse");
    expect(events).toMatchObject([{ reason, message: expect.stringContaining("go back to a.") }]);
  });
});

describe("the eviction", () => {
  const state = { labels: { "x/job": "7" }, inject: true };
  it.each([
    ["Gracefully", { purgeMode: "Gracefully", gracePeriodSeconds: 600 }],
    ["Graciously", { purgeMode: "Gracefully", gracePeriodSeconds: 600 }],
    ["Directly", { purgeMode: "Directly" }],
    ["Immediately", { purgeMode: "Directly" }],
    ["Never", { purgeMode: "Never", suppressDeletion: true }],
  ])("in mode %s", (purgeMode, expected) => {
    const evicted = evictApplication(failing(since(90), { purgeMode }), "a", state, NOW);
    const [made] = evicted.spec.gracefulEvictionTasks ?? [];
    expect(made).toMatchObject({ reason: "ApplicationFailure", ...expected });
    expect(Object.hasOwn(made ?? {}, "gracePeriodSeconds")).toBe("gracePeriodSeconds" in expected);
  });

  it("writes the state, the former clusters and the memory in one go (O-state-1)", () => {
    const binding = failing({ ...since(90), other: "x" }, { gracePeriodSeconds: 5 });
    const evicted = evictApplication(binding, "a", state, NOW);
    expect(evicted.spec.clusters).toEqual([]);
    expect(evicted.spec.gracefulEvictionTasks).toEqual([
      expect.objectContaining({
        fromCluster: "a",
        producer: "resource-binding-application-failover-controller",
        gracePeriodSeconds: 5,
        preservedLabelState: state.labels,
        clustersBeforeFailover: ["a"],
      }),
    ]);
    expect(evicted.metadata.annotations).not.toHaveProperty([SINCE]);
    expect(evicted.metadata.annotations).toMatchObject({
      other: "x",
      [FROM]: '["a"]',
      "lifeboat.dev/preserved-state": '{"from":"a","labels":{"x/job":"7"}}',
    });
  });

  it("names the controller of resources without a namespace", () => {
    const { namespace: _none, ...metadata } = failing(since(90)).metadata;
    const evicted = evictApplication({ ...failing(since(90)), metadata }, "a", state, NOW);
    expect(evicted.spec.gracefulEvictionTasks?.[0]?.producer).toBe(
      "cluster-resource-binding-application-failover-controller",
    );
  });
});

describe("what is remembered", () => {
  it("reads what it writes, and is not written when nothing changes", () => {
    const record = {
      unhealthySince: new Map([
        ["b", ago(10)],
        ["a", ago(20)],
      ]),
      evictedFrom: new Set(["d", "c"]),
    };
    const written = withRecord(failing(), record);
    expect(readRecord(written)).toEqual({
      unhealthySince: record.unhealthySince,
      evictedFrom: record.evictedFrom,
    });
    expect(withRecord(written, record)).toBe(written);
  });

  it.each(["", "x", "[]", "null", "7", '{"a":7}', '[7,null,{"a":1}]'])(
    "is nothing when the text is %s",
    (text) => {
      const record = readRecord(failing({ [SINCE]: text, [FROM]: text }));
      expect([record.unhealthySince.size, record.evictedFrom.size]).toEqual([0, 0]);
    },
  );
});
