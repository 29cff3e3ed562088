/** What becomes of old copies: every row is a situation and its one answer. */
import { describe, expect, it } from "vitest";
import { addMs, formatTime } from "@lifeboat/base";
import {
  bindingWith,
  clusterIn,
  copy,
  decide,
  fateOf,
  NOW,
  type Scene,
  task,
} from "./eviction.suite.ts";

const healthy = { health: "Healthy" } as const;
const unhealthy = { health: "Unhealthy" } as const;

/** Leaving a, placed in b; both healthy. */
function moving(changes: Partial<Scene> = {}): Scene {
  return {
    binding: bindingWith(["b"], [task("a")]),
    works: [copy("a", healthy), copy("b", healthy)],
    ...changes,
  };
}

describe("a graceful task", () => {
  const both = bindingWith(["b", "c"], [task("a")]);
  it.each<[string, Scene, string]>([
    ["every target is healthy", moving(), "cleared TargetsHealthy"],
    [
      "one target of two is not healthy",
      moving({
        binding: both,
        works: [copy("a", healthy), copy("b", healthy), copy("c", unhealthy)],
      }),
      "kept AwaitingTargets",
    ],
    [
      "one target of two has no Work yet",
      moving({ binding: both, works: [copy("a", healthy), copy("b", healthy)] }),
      "kept AwaitingTargets",
    ],
    [
      "the target's report is about an older version",
      moving({ works: [copy("a", healthy), copy("b", { ...healthy, observed: 0 })] }),
      "kept AwaitingTargets",
    ],
    [
      "the target is not what it should be now",
      moving({ outdated: ["b"] }),
      "kept AwaitingTargets",
    ],
    [
      "the target is going itself",
      moving({ works: [copy("a", healthy), copy("b", { ...healthy, going: true })] }),
      "kept AwaitingTargets",
    ],
    [
      "the target's cluster has fallen silent",
      moving({
        clusters: [clusterIn("a", { tainted: true }), clusterIn("b", { ready: "Unknown" })],
      }),
      "kept AwaitingTargets",
    ],
    [
      "the target's cluster is gone",
      moving({ clusters: [clusterIn("a", { tainted: true })] }),
      "kept AwaitingTargets",
    ],
    [
      "the scheduler has not seen this generation",
      moving({ binding: bindingWith(["b"], [task("a")], { observed: 4 }) }),
      "kept AwaitingPlacement",
    ],
    [
      "no policy asks for it any more, so that no scheduler will see this generation",
      moving({ binding: bindingWith(["b"], [task("a")], { observed: 4, meta: { labels: {} } }) }),
      "cleared TargetsHealthy",
    ],
    [
      "no policy asks for it any more, and the result is empty",
      moving({
        binding: bindingWith([], [task("a")], { observed: 4, meta: { labels: {} } }),
        works: [copy("a", healthy)],
      }),
      "kept AwaitingPlacement",
    ],
    [
      "the result is empty",
      moving({ binding: bindingWith([], [task("a")]), works: [copy("a", healthy)] }),
      "kept AwaitingPlacement",
    ],
    [
      "the workload is placed there again",
      moving({
        binding: bindingWith(["a"], [task("a")], { observed: 4 }),
        works: [copy("a", unhealthy)],
      }),
      "cleared BackInResult",
    ],
    [
      "it is placed there again and is well, and only health is asked for",
      moving({
        binding: bindingWith(["a"], [task("a")]),
        works: [copy("a", healthy)],
        plugins: ["ResourceHealth"],
      }),
      "cleared TargetsHealthy",
    ],
    [
      "it is placed there again, but that plugin is not enabled",
      moving({
        binding: bindingWith(["a"], [task("a")]),
        works: [copy("a", unhealthy)],
        plugins: ["ResourceHealth"],
      }),
      "kept AwaitingTargets",
    ],
    ["no plugin is enabled", moving({ plugins: [] }), "kept AwaitingTargets"],
    [
      "its cluster is no longer part of the fleet",
      moving({
        binding: bindingWith(["b"], [task("a")], { observed: 4 }),
        clusters: [clusterIn("b")],
        works: [copy("b", unhealthy)],
      }),
      "cleared ClusterGone",
    ],
    [
      "its cluster is no longer part of the fleet, but its Work is still there",
      moving({ clusters: [clusterIn("b")], works: [copy("a", healthy), copy("b", unhealthy)] }),
      "kept AwaitingTargets",
    ],
  ])("when %s", (_name, scene, expected) => {
    expect(fateOf(scene)).toBe(expected);
  });
});

describe("a grace period", () => {
  const graced = (changes: object = {}) =>
    task("a", {
      reason: "ApplicationFailure",
      producer: "resource-binding-application-failover-controller",
      gracePeriodSeconds: 600,
      ...changes,
    });
  it.each<[string, Scene, string]>([
    [
      "lets an unhealthy old copy go when it is over",
      { binding: bindingWith(["b"], [graced()]), works: [copy("a", unhealthy)] },
      "cleared GracePeriodOver",
    ],
    [
      "does not let a healthy old copy go",
      {
        binding: bindingWith(["b"], [graced()]),
        works: [copy("a", healthy), copy("b", unhealthy)],
      },
      "kept AwaitingTargets",
    ],
    [
      "does not let the old copy go while there is no new place",
      { binding: bindingWith([], [graced()]), works: [copy("a", unhealthy)] },
      "kept AwaitingPlacement",
    ],
    [
      "means nothing for a cluster's failover",
      {
        binding: bindingWith(["b"], [task("a", { gracePeriodSeconds: 1 })]),
        works: [copy("a", unhealthy)],
      },
      "kept AwaitingTargets",
    ],
    [
      "that has not begun is not over",
      {
        binding: bindingWith(["b"], [graced({ creationTimestamp: undefined })]),
        works: [copy("a", unhealthy)],
      },
      "kept AwaitingTargets",
    ],
  ])("%s", (_name, scene, expected) => {
    expect(fateOf(scene)).toBe(expected);
  });

  it.each([
    [60, 300, "AwaitingTargets"],
    [300, 600, "GracePeriodEnding"],
    [599, 600, "GracePeriodEnding"],
  ])("that began %s s ago is checked again after %s s: %s", (ago, next, reason) => {
    const began = addMs(NOW, -ago * 1000);
    const binding = bindingWith(["b"], [graced({ creationTimestamp: formatTime(began) })]);
    const plan = decide({ binding, works: [copy("a", unhealthy)] });
    expect(plan.checkAgainAt).toBe(addMs(began, next * 1000));
    expect(plan.commands).toEqual([]);
    expect(plan.reason).toBe(reason);
  });

  it.each<[string, Record<string, string>, string]>([
    ["which the Work knows of", { "lifeboat.dev/grace-period-seconds": "600" }, "GracePeriodOver"],
    ["which the Work does not know of yet", {}, "LastHealthyCopy"],
  ])("of a copy that serves in part, %s", (_name, annotations, reason) => {
    const old = copy("a", unhealthy);
    const [reported] = old.status?.manifestStatuses ?? [];
    const serving = { ...reported, status: { readyReplicas: 1 } } as NonNullable<typeof reported>;
    const work = {
      ...old,
      metadata: { ...old.metadata, annotations },
      status: { ...old.status, manifestStatuses: [serving] },
    };
    const plan = decide({ binding: bindingWith(["b"], [graced()]), works: [work] });
    expect(plan.reason).toBe(reason);
  });

  it("is not reported where the old copy would stay anyway", () => {
    const began = addMs(NOW, -400_000);
    const late = graced({ creationTimestamp: formatTime(began) });
    const healthyOld = { binding: bindingWith(["b"], [late]), works: [copy("a", healthy)] };
    expect(decide(healthyOld).reason).toBe("AwaitingTargets");
    const nowhere = { binding: bindingWith([], [late]), works: [copy("a", unhealthy)] };
    expect(decide(nowhere).reason).toBe("AwaitingPlacement");
  });
});

describe("an order to keep the old copy", () => {
  it.each<[string, object, string]>([
    ["holds", { purgeMode: "Never", suppressDeletion: true }, "kept KeptByOrder"],
    ["holds in every mode", { suppressDeletion: true }, "kept KeptByOrder"],
    [
      "ends when a person says so",
      { purgeMode: "Never", suppressDeletion: false },
      "cleared ReleasedByPerson",
    ],
  ])("%s", (_name, changes, expected) => {
    const binding = bindingWith(["b"], [task("a", changes)], { observed: 4 });
    expect(fateOf(moving({ binding, plugins: [] }))).toBe(expected);
  });

  it("is never answered by removing the last healthy copy", () => {
    const binding = bindingWith(
      ["b"],
      [task("a", { purgeMode: "Never", suppressDeletion: false })],
    );
    const works = [copy("a", healthy), copy("b", unhealthy)];
    expect(fateOf({ binding, works })).toBe("kept LastHealthyCopy");
  });
});

describe("a task of mode Directly", () => {
  const direct = (changes: object = {}) => task("a", { purgeMode: "Directly", ...changes });
  const going = copy("a", { ...healthy, going: true });
  it.each<[string, Scene, string]>([
    [
      "waits while the old copy is there",
      { binding: bindingWith(["b"], [direct()]), works: [copy("a", healthy), copy("b", healthy)] },
      "kept AwaitingRemoval",
    ],
    [
      "waits while it is going",
      { binding: bindingWith([], [direct()]), works: [going] },
      "kept AwaitingRemoval",
    ],
    [
      "waits while one of two Works is there",
      {
        binding: bindingWith([], [direct()]),
        works: [copy("a", healthy), going],
        clusters: [clusterIn("a", { ready: "False", tainted: true, fenced: true })],
      },
      "kept AwaitingFence",
    ],
    [
      "is over when it is gone, whatever plugins there are",
      { binding: bindingWith([], [direct()]), plugins: [] },
      "cleared CopyGone",
    ],
    [
      "is over in the old spelling, too",
      { binding: bindingWith([], [direct({ purgeMode: "Immediately" })]) },
      "cleared CopyGone",
    ],
    [
      "waits for a proof when the cluster does not answer",
      {
        binding: bindingWith([], [direct()]),
        works: [going],
        clusters: [clusterIn("a", { ready: "Unknown", tainted: true })],
      },
      "kept AwaitingFence",
    ],
    [
      "takes a person's declaration about a cluster that does not answer",
      {
        binding: bindingWith([], [direct()]),
        works: [going],
        clusters: [clusterIn("a", { ready: "False", tainted: true, fenced: true })],
      },
      "cleared Fenced",
    ],
    [
      "takes another controller's word where that is trusted",
      {
        binding: bindingWith([], [direct()]),
        works: [going],
        clusters: [clusterIn("a", { ready: "Unknown", tainted: true, isOff: "True" })],
        trustFencedCondition: true,
      },
      "cleared Fenced",
    ],
    [
      "does not take it where it is not trusted: a silent cluster proves nothing",
      {
        binding: bindingWith([], [direct()]),
        works: [going],
        clusters: [clusterIn("a", { ready: "Unknown", tainted: true, isOff: "True" })],
      },
      "kept AwaitingFence",
    ],
    [
      "does not take its word that the cluster is not off, or not known to be",
      {
        binding: bindingWith([], [direct()]),
        works: [going],
        clusters: [clusterIn("a", { ready: "Unknown", tainted: true, isOff: "Unknown" })],
        trustFencedCondition: true,
      },
      "kept AwaitingFence",
    ],
    [
      "does not take its word about a cluster that answers",
      {
        binding: bindingWith([], [direct()]),
        works: [going],
        clusters: [clusterIn("a", { ready: "True", tainted: true, isOff: "True" })],
        trustFencedCondition: true,
      },
      "kept AwaitingRemoval",
    ],
    [
      "takes it only once the old copy is on its way out for good",
      {
        binding: bindingWith([], [direct()]),
        works: [copy("a", healthy)],
        clusters: [clusterIn("a", { ready: "False", tainted: true, fenced: true })],
      },
      "kept AwaitingFence",
    ],
    [
      "does not take it about a cluster that answers",
      {
        binding: bindingWith([], [direct()]),
        works: [going],
        clusters: [clusterIn("a", { ready: "True", tainted: true, fenced: true })],
      },
      "kept AwaitingRemoval",
    ],
    [
      "is over when the workload is placed there again and its copy is there",
      { binding: bindingWith(["a"], [direct()]), works: [copy("a", healthy)] },
      "cleared BackInResult",
    ],
    [
      "waits when it is placed there again while the old copy is going",
      { binding: bindingWith(["a"], [direct()]), works: [going] },
      "kept AwaitingRemoval",
    ],
    [
      "keeps a copy that a person wants kept",
      { binding: bindingWith([], [direct({ suppressDeletion: true })]) },
      "kept KeptByOrder",
    ],
    [
      "does not take false for a release: the new copy must wait for the old one to go",
      { binding: bindingWith([], [direct({ suppressDeletion: false })]), works: [going] },
      "kept AwaitingRemoval",
    ],
    [
      "is over at once where there is no Work",
      { binding: bindingWith([], [direct({ creationTimestamp: formatTime(NOW) })]) },
      "cleared CopyGone",
    ],
  ])("%s", (_name, scene, expected) => {
    expect(fateOf(scene)).toBe(expected);
  });
});

describe("a cluster that recovered", () => {
  const recovered = [
    clusterIn("a", { ready: "True" }),
    clusterIn("b", { ready: "True" }),
    clusterIn("c", { ready: "True" }),
  ];
  const before = { clustersBeforeFailover: ["a", "b"] };
  const divided = {
    placement: { replicaScheduling: { replicaSchedulingType: "Divided" } },
    replicas: 4,
  } as const;
  it.each<[string, Scene, string]>([
    [
      "takes back what has no result",
      { binding: bindingWith([], [task("a")]), clusters: recovered },
      "rolledBack Recovered",
    ],
    [
      "takes back what the scheduler could not place",
      { binding: bindingWith(["b"], [task("a", before)], { observed: 4 }), clusters: recovered },
      "rolledBack Recovered",
    ],
    [
      "takes back the missing part of a divided workload",
      {
        binding: bindingWith(["b"], [task("a", before)], { observed: 4, spec: divided }),
        clusters: recovered,
      },
      "rolledBack Recovered",
    ],
    [
      "does not take back a divided workload whose replicas are all placed again",
      {
        binding: bindingWith(["b"], [task("a", before)], {
          observed: 4,
          spec: { ...divided, clusters: [{ name: "b", replicas: 4 }] },
        }),
        clusters: recovered,
        works: [copy("a", healthy)],
      },
      "kept AwaitingPlacement",
    ],
    [
      "does not take back what was placed again",
      {
        binding: bindingWith(["b", "c"], [task("a", before)], { observed: 4 }),
        clusters: recovered,
        works: [copy("a", healthy)],
      },
      "kept AwaitingPlacement",
    ],
    [
      "does not take back what the scheduler left as it is",
      {
        binding: bindingWith(["b"], [task("a", before)]),
        clusters: recovered,
        works: [copy("a", healthy)],
      },
      "kept AwaitingTargets",
    ],
    [
      "takes back mode Directly as long as the old copy is not known to be gone",
      {
        binding: bindingWith(["b"], [task("a", { ...before, purgeMode: "Directly" })]),
        clusters: recovered,
        works: [copy("a", { going: true }), copy("b", healthy)],
      },
      "rolledBack Recovered",
    ],
    [
      "takes back nothing that an application's failure caused",
      {
        binding: bindingWith([], [task("a", { reason: "ApplicationFailure", producer: "x" })]),
        clusters: recovered,
        works: [copy("a", healthy)],
      },
      "kept AwaitingPlacement",
    ],
    [
      "takes back nothing while it is being deleted",
      {
        binding: bindingWith([], [task("a")]),
        clusters: [clusterIn("a", { leaving: true })],
        works: [copy("a", healthy)],
      },
      "kept AwaitingPlacement",
    ],
  ])("%s", (_name, scene, expected) => {
    expect(fateOf(scene)).toBe(expected);
  });

  it("gets its replicas back, and its task is gone", () => {
    const [changed] = decide({
      binding: bindingWith(["b"], [task("a", { ...before, replicas: 3 })], { observed: 4 }),
      clusters: recovered,
    }).commands;
    expect(changed?.spec.clusters).toEqual([
      { name: "b", replicas: 2 },
      { name: "a", replicas: 3 },
    ]);
    expect(changed?.spec).not.toHaveProperty("gracefulEvictionTasks");
  });

  const saved = '{"from":"a","labels":{"x/job":"7"}}';
  const saveAfter =
    '{"from":"a","labels":{"x/job":"7"},"former":{"from":"z","labels":{"x/job":"6"}}}';
  const nothingAfter = '{"from":"a","labels":{},"former":{"from":"z","labels":{"x/job":"6"}}}';
  const brought = '{"from":"","labels":{"x/job":"7"}}';
  const former = '{"from":"z","labels":{"x/job":"6"}}';
  const going = copy("a", { going: true });
  it.each([
    ["a copy that was never removed goes on without the saved state", copy("a"), saved, undefined],
    ["a copy that was never removed keeps what it carries itself", copy("a"), saveAfter, former],
    ["a copy that is being removed comes back with the saved state", going, saved, brought],
    ["a copy that is gone comes back with it", undefined, saveAfter, brought],
    ["a copy that is gone comes back with what it carried", undefined, nothingAfter, former],
    ["state that another eviction saved stays", undefined, former, former],
  ])("%s", (_name, work, text, expected) => {
    const annotations = { "lifeboat.dev/preserved-state": text };
    const [changed] = decide({
      binding: bindingWith([], [task("a", { purgeMode: "Directly" })], { meta: { annotations } }),
      works: work === undefined ? [] : [work],
      clusters: recovered,
    }).commands;
    expect(changed?.metadata.annotations?.["lifeboat.dev/preserved-state"]).toBe(expected);
  });
});

describe("a workload that is placed in its old cluster again", () => {
  const saved = '{"from":"a","labels":{"x/job":"7"},"former":{"from":"z","labels":{"x/job":"6"}}}';
  it.each([
    ["keeps what its copy carries", ["a"], copy("a"), '{"from":"z","labels":{"x/job":"6"}}'],
    [
      "carries what was saved in a new copy",
      ["a"],
      undefined,
      '{"from":"","labels":{"x/job":"7"}}',
    ],
    ["leaves the state to a copy elsewhere", ["a", "b"], copy("a"), saved],
  ])("%s", (_name, clusters, work, expected) => {
    const annotations = { "lifeboat.dev/preserved-state": saved };
    const [changed] = decide({
      binding: bindingWith(clusters, [task("a", { purgeMode: "Directly" })], {
        meta: { annotations },
      }),
      works: work === undefined ? [] : [work],
    }).commands;
    expect(changed?.metadata.annotations?.["lifeboat.dev/preserved-state"]).toBe(expected);
  });
});

describe("the write", () => {
  it("is none when nothing is over", () => {
    expect(decide(moving({ plugins: [] })).commands).toEqual([]);
    expect(decide({ binding: bindingWith(["b"], []) })).toMatchObject({
      commands: [],
      reason: "NoTasks",
    });
  });

  it("is one for all that is over, and leaves the others as they are", () => {
    const waiting = task("c", { purgeMode: "Directly" });
    const binding = bindingWith(["b"], [task("a"), waiting]);
    const plan = decide({
      binding,
      works: [copy("a", healthy), copy("b", healthy), copy("c", healthy)],
      clusters: [
        clusterIn("a", { tainted: true }),
        clusterIn("b"),
        clusterIn("c", { tainted: true }),
      ],
    });
    expect(plan.commands.map(({ spec }) => spec.gracefulEvictionTasks)).toEqual([[waiting]]);
    expect(plan.verdicts.map(({ fate }) => fate)).toEqual(["cleared", "kept"]);
  });

  it("gives a task its time when it has none", () => {
    const { creationTimestamp: _none, ...untimed } = task("a");
    const binding = bindingWith(["b"], [untimed]);
    const [changed] = decide({ binding, works: [copy("a", healthy)] }).commands;
    expect(changed?.spec.gracefulEvictionTasks?.[0]?.creationTimestamp).toBe(
      "2026-01-01T12:00:00Z",
    );
  });

  it("drops each of two tasks for one cluster by itself", () => {
    const kept = task("a", { suppressDeletion: true });
    const binding = bindingWith(["b"], [task("a"), kept]);
    const plan = decide(moving({ binding }));
    expect(plan.commands.map(({ spec }) => spec.gracefulEvictionTasks)).toEqual([[kept]]);
  });
});
