import type { EvictionTask, ResourceBinding } from "@lifeboat/api";
import { describe, expect, it } from "vitest";
import { formatPlacement } from "../../placement/due.ts";
import { APPLIED_PLACEMENT } from "../../well-known.ts";
import { decideWorks, type WorksView } from "./decide-works.ts";
import { binding, cluster, template, told, view, workIn } from "./works.suite.ts";

const GOING = { deletionTimestamp: "2026-01-01T00:01:00Z" };
const task = (fromCluster: string, changes: Partial<EvictionTask> = {}): EvictionTask => ({
  fromCluster,
  reason: "TaintUntolerated",
  producer: "test",
  ...changes,
});
const on = (...names: string[]) => ({ clusters: names.map((name) => ({ name })) });
const decided = (changes: Partial<WorksView>) => decideWorks(view(changes));

describe("making and changing", () => {
  it("makes a Work in each cluster of the schedule and of workloads that need the resource", () => {
    const requiredBy = [{ name: "x", ...on("c", "a") }];
    const plan = decided({ binding: binding({ ...on("b", "a", "b"), requiredBy }) });
    expect(told(plan)).toEqual(["create a", "create b", "create c"]);
    expect(plan.reason).toBe("Changing");
    expect(plan.commands[0]).toMatchObject({
      work: { metadata: { labels: { "work.karmada.io/permanent-id": "work-a" } } },
    });
  });

  it("does nothing when every Work is as it should be, whatever others wrote on it", () => {
    const works = [workIn("a", { annotations: { theirs: "x" } }), workIn("b")];
    const plan = decided({ binding: binding(on("a", "b")), works });
    expect(plan).toMatchObject({ commands: [], reason: "InStep" });
  });

  it("changes a Work that is not: spec replaced, id and foreign annotations kept, ours taken away", () => {
    const work = workIn("a", {
      annotations: {
        theirs: "x",
        "policy.karmada.io/applied-overrides": "[]",
        "lifeboat.dev/purge-mode": "Gracefully",
      },
      spec: { suspendDispatching: true },
      meta: { finalizers: ["other"] },
    });
    const [command] = decided({ binding: binding(on("a")), works: [work] }).commands;
    expect(command).toMatchObject({
      kind: "update",
      work: {
        metadata: {
          resourceVersion: "1",
          labels: { "work.karmada.io/permanent-id": "work-a" },
          finalizers: ["other", "karmada.io/execution-controller"],
        },
        spec: { suspendDispatching: false },
      },
    });
    const annotations = Object.keys(
      command?.kind === "update" ? (command.work.metadata.annotations ?? {}) : {},
    );
    expect(annotations).toContain("theirs");
    expect(annotations).not.toContain("policy.karmada.io/applied-overrides");
    expect(annotations).not.toContain("lifeboat.dev/purge-mode");
  });

  it("waits for a Work that is going", () => {
    const works = [workIn("a", { meta: GOING })];
    expect(decided({ binding: binding(on("a")), works }).commands).toEqual([]);
  });

  it("holds the binding before it makes the first Work", () => {
    const loose = binding(on("a"), { finalizers: [] });
    expect(told(decided({ binding: loose }))).toEqual(["holdBinding", "create a"]);
  });

  it("takes up a Work that names this binding and bears another id", () => {
    const labels = { "resourcebinding.karmada.io/permanent-id": "rb-0" };
    const occupants = new Map([["a", workIn("a", { meta: { labels } })]]);
    const plan = decided({ binding: binding(on("a")), occupants });
    expect(plan.commands).toMatchObject([
      {
        kind: "update",
        work: { metadata: { labels: { "resourcebinding.karmada.io/permanent-id": "rb-1" } } },
      },
    ]);
  });

  it.each([
    ["ClusterMissing", { clusters: new Map([["b", cluster("b")]]) }],
    [
      "ClusterLeaving",
      {
        clusters: new Map([
          ["a", cluster("a", GOING)],
          ["b", cluster("b")],
        ]),
      },
    ],
    [
      "WorkNameTaken",
      {
        occupants: new Map([
          ["a", workIn("a", { annotations: { "resourcebinding.karmada.io/name": "y" } })],
        ]),
      },
    ],
    ["ReplicasUnknown", { revised: new Map([["a", new Error("the script failed")]]) }],
  ] as [string, Partial<WorksView>][])("fails with %s in one cluster alone", (reason, changes) => {
    const plan = decided({ binding: binding(on("a", "b")), ...changes });
    expect(plan.failures).toMatchObject([{ cluster: "a", reason }]);
    expect(told(plan)).toEqual(["create b"]);
  });

  it("keeps the copy in a cluster that is being deleted current", () => {
    const work = workIn("a", { spec: { suspendDispatching: true } });
    const clusters = new Map([["a", cluster("a", GOING)]]);
    expect(told(decided({ binding: binding(on("a")), clusters, works: [work] }))).toEqual([
      "update a",
    ]);
  });
});

const scheduled = (reason: string): NonNullable<ResourceBinding["status"]> => ({
  conditions: [
    {
      type: "Scheduled",
      status: "False",
      reason,
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    },
  ],
});

/** The binding after the scheduler has decided about its placement. */
function lookedAt(binding: ResourceBinding): ResourceBinding {
  const applied = { [APPLIED_PLACEMENT]: formatPlacement(binding.spec.placement) };
  const annotations = { ...binding.metadata.annotations, ...applied };
  return { ...binding, metadata: { ...binding.metadata, annotations } };
}

describe("removing", () => {
  it.each([
    ["a copy that is not healthy", {}, ["delete b Descheduled"]],
    ["none that an unhealthy schedule may need", { health: "Healthy" }, []],
    ["none that is going", { meta: GOING }, []],
    [
      "one that an eviction left",
      { annotations: { "lifeboat.dev/purge-mode": "Gracefully" } },
      ["delete b Evicted"],
    ],
    ["none before it is prepared", { spec: { preserveResourcesOnDeletion: true } }, ["update b"]],
  ] as [string, Parameters<typeof workIn>[1], string[]][])(
    "removes %s",
    (_what, changes, expected) => {
      const works = [workIn("a"), workIn("b", changes)];
      expect(told(decided({ binding: binding(on("a")), works }))).toEqual(expected);
    },
  );

  it("removes a healthy copy once another one is healthy", () => {
    const works = [workIn("a", { health: "Healthy" }), workIn("b", { health: "Healthy" })];
    expect(told(decided({ binding: binding(on("a")), works }))).toEqual(["delete b Descheduled"]);
  });

  it.each([
    ["a status of an older generation", { generation: 2 }],
    ["a copy that is going", GOING],
    ["a copy that is about to change", { finalizers: [] }],
  ])("does not rely on %s", (_what, meta) => {
    const works = [workIn("a", { health: "Healthy", meta }), workIn("b", { health: "Healthy" })];
    const plan = decided({ binding: binding(on("a")), works });
    expect(plan).toMatchObject({ spared: ["b"], reason: "LastHealthyCopy" });
    expect(plan.commands.filter(({ kind }) => kind === "delete")).toEqual([]);
  });

  it.each([
    ["goes when the placement excludes it", { clusterAffinity: { clusterNames: ["c"] } }, 1],
    ["stays when no placement excludes it", {}, 0],
    [
      "stays when one of several groups means it",
      { clusterAffinities: [{ affinityName: "x", clusterNames: ["a"] }] },
      0,
    ],
  ])("with an empty schedule a healthy copy %s", (_what, placement, removed) => {
    const works = [workIn("a", { health: "Healthy" })];
    const nowhere = lookedAt({
      ...binding({ clusters: [], placement }),
      status: scheduled("NoClusterFit"),
    });
    expect(decided({ binding: nowhere, works }).commands).toHaveLength(removed);
  });

  it("with an empty schedule it stays until the scheduler has tried the placement that excludes it", () => {
    const works = [workIn("a", { health: "Healthy" })];
    const former = binding({
      clusters: [],
      placement: { clusterAffinity: { clusterNames: ["a"] } },
    });
    const { metadata } = lookedAt(former);
    const placement = { clusterAffinity: { clusterNames: ["c"] } };
    const edited = {
      ...binding({ clusters: [], placement }),
      metadata,
      status: scheduled("NoClusterFit"),
    };
    expect(decided({ binding: edited, works })).toMatchObject({ commands: [], spared: ["a"] });
    expect(decided({ binding: lookedAt(edited), works }).commands).toHaveLength(1);
  });

  it.each([
    ["an eviction is under way", [task("b", { purgeMode: "Directly" })], "NoClusterFit"],
    ["the old copy is waited for", [], "Unschedulable"],
    ["the scheduler has reported nothing yet", [], undefined],
  ])("with an empty schedule it stays while %s", (_what, gracefulEvictionTasks, reason) => {
    const works = [workIn("a", { health: "Healthy" })];
    const placement = { clusterAffinity: { clusterNames: ["c"] } };
    const between = lookedAt({
      ...binding({ clusters: [], placement, gracefulEvictionTasks }),
      ...(reason !== undefined && { status: scheduled(reason) }),
    });
    expect(decided({ binding: between, works })).toMatchObject({ commands: [], spared: ["a"] });
  });

  it.each([
    ["once its workload is", new Set<string>(), "Healthy", ["delete b WorkloadMoved"]],
    ["not while its workload is there", new Set(["b"]), "Healthy", []],
    ["not before it is where the workload went", new Set<string>(), "Unhealthy", []],
  ] as [string, ReadonlySet<string>, "Healthy" | "Unhealthy", string[]][])(
    "removes what a workload needs %s",
    (_what, neededIn, health, expected) => {
      const follower = binding({ requiredBy: [{ name: "x", ...on("a") }] });
      const works = [workIn("a", { health }), workIn("b", { health: "Healthy" })];
      expect(told(decided({ binding: follower, works, neededIn }))).toEqual(expected);
    },
  );

  it("removes what no workload needs any more", () => {
    const works = [workIn("b", { health: "Healthy" })];
    expect(told(decided({ binding: binding(), works }))).toEqual(["delete b Descheduled"]);
  });

  it("removes the Work of a Cluster that is gone", () => {
    const works = [workIn("d", { health: "Healthy" })];
    const plan = decided({ binding: binding(on("a")), works, clusters: new Map() });
    expect(told(plan)).toEqual(["delete d ClusterDeleted"]);
  });

  it("changes nothing while the template cannot be read", () => {
    const works = [workIn("b")];
    const plan = decided({ binding: binding(on("a")), works, template: undefined });
    expect(plan).toMatchObject({ commands: [], reason: "TemplateMissing" });
  });
});

describe("evictions", () => {
  const GRACE = "lifeboat.dev/grace-period-seconds";
  const failing = { reason: "ApplicationFailure", gracePeriodSeconds: 60 };
  it("of failing applications mark the Work with the grace period, and others take it off", () => {
    const evicted = (more: object) =>
      binding({ ...on("b"), gracefulEvictionTasks: [task("a", more)] });
    const written = (more: object, annotations: Record<string, string>) =>
      decided({ binding: evicted(more), works: [workIn("a", { annotations })] }).commands.flatMap(
        (command) => {
          if (command.kind !== "update") return [];
          const { [GRACE]: grace, "lifeboat.dev/purge-mode": mode } =
            command.work.metadata.annotations ?? {};
          return [[mode, grace]];
        },
      );
    const mark = { "lifeboat.dev/purge-mode": "Gracefully" };
    expect(written(failing, {})).toEqual([["Gracefully", "60"]]);
    expect(written(failing, { ...mark, [GRACE]: "60" })).toEqual([]);
    expect(written({}, { ...mark, [GRACE]: "60" })).toEqual([["Gracefully", undefined]]);
    expect(written({ gracePeriodSeconds: 60 }, {})).toEqual([["Gracefully", undefined]]);
  });

  it.each([
    ["60", ["delete a Evicted"]],
    [undefined, []],
  ])("over, with a grace period of %s: a copy that serves in part", (seconds, expected) => {
    const annotations = {
      "lifeboat.dev/purge-mode": "Gracefully",
      ...(seconds !== undefined && { [GRACE]: seconds }),
    };
    const old = workIn("a", { health: "Unhealthy", annotations });
    const [reported] = old.status?.manifestStatuses ?? [];
    const serving = { ...reported, status: { readyReplicas: 1 } } as NonNullable<typeof reported>;
    const works = [
      { ...old, status: { ...old.status, manifestStatuses: [serving] } },
      workIn("b", { health: "Unhealthy" }),
    ];
    const plan = decided({ binding: binding(on("b")), works });
    expect(told(plan).filter((text) => text.startsWith("delete"))).toEqual(expected);
  });

  it.each(["Gracefully", "Graciously", "Never", undefined] as const)(
    "keep the old copy as it is in mode %s, and mark it",
    (purgeMode) => {
      const work = workIn("a", { spec: { suspendDispatching: true } });
      const tasks = [task("a", purgeMode === undefined ? {} : { purgeMode })];
      const evicted = binding({ ...on("b"), gracefulEvictionTasks: tasks });
      const plan = decided({ binding: evicted, works: [work] });
      expect(told(plan)).toEqual(["update a", "create b"]);
      expect(plan.commands[0]).toMatchObject({
        work: {
          metadata: { annotations: { "lifeboat.dev/purge-mode": "Gracefully" } },
          spec: work.spec,
        },
      });
      const marked = workIn("a", { annotations: { "lifeboat.dev/purge-mode": "Gracefully" } });
      expect(told(decided({ binding: evicted, works: [marked, workIn("b")] }))).toEqual([]);
    },
  );

  const directly = binding({
    ...on("b", "c"),
    gracefulEvictionTasks: [task("a", { purgeMode: "Directly" })],
  });

  it("in mode Directly first mark the Work, then remove it, then make the new one", () => {
    const preserved = workIn("a", {
      health: "Healthy",
      spec: { preserveResourcesOnDeletion: true },
    });
    const first = decided({ binding: directly, works: [preserved] });
    expect(first).toMatchObject({ reason: "AwaitingPurge" });
    expect(first.commands).toMatchObject([
      {
        kind: "update",
        work: {
          metadata: { annotations: { "lifeboat.dev/purge-mode": "Directly" } },
          spec: { preserveResourcesOnDeletion: false },
        },
      },
    ]);
    const annotations = { "lifeboat.dev/purge-mode": "Directly" };
    const ready = workIn("a", { health: "Healthy", annotations });
    expect(told(decided({ binding: directly, works: [ready] }))).toEqual(["delete a Evicted"]);
    const going = workIn("a", { annotations, meta: GOING });
    expect(told(decided({ binding: directly, works: [going] }))).toEqual([]);
    expect(told(decided({ binding: directly }))).toEqual(["create b", "create c"]);
  });

  it("in mode Directly still keep current what exists elsewhere", () => {
    const works = [
      workIn("a", { meta: GOING }),
      workIn("b", { spec: { suspendDispatching: true } }),
    ];
    expect(told(decided({ binding: directly, works }))).toEqual(["update b"]);
  });

  it("in mode Directly with suppressed deletion keep the old copy and make no new one", () => {
    const tasks = [task("a", { purgeMode: "Directly", suppressDeletion: true })];
    const kept = binding({ ...on("b"), gracefulEvictionTasks: tasks });
    const works = [workIn("a", { annotations: { "lifeboat.dev/purge-mode": "Gracefully" } })];
    expect(told(decided({ binding: kept, works }))).toEqual([]);
  });

  it("that came to nothing leave the copy and take the mark off it", () => {
    const tasks = [task("a", { purgeMode: "Directly" })];
    const back = binding({ ...on("a", "b"), gracefulEvictionTasks: tasks });
    const works = [workIn("a", { annotations: { "lifeboat.dev/purge-mode": "Directly" } })];
    expect(told(decided({ binding: back, works }))).toEqual(["update a", "create b"]);
    const going = [workIn("a", { meta: GOING })];
    expect(told(decided({ binding: back, works: going }))).toEqual([]);
  });
});

describe("a binding that is deleted", () => {
  const deleted = binding(on("a"), GOING);

  it.each([
    ["the template is gone", undefined, "TemplateDeleted"],
    ["the template goes", { ...template, metadata: GOING }, "TemplateDeleted"],
    ["the template stays", template, "BindingDeleted"],
  ])("takes all its Works with it: %s", (_what, left, cause) => {
    const works = [
      workIn("b", { health: "Healthy", spec: { preserveResourcesOnDeletion: true } }),
      workIn("a"),
      workIn("c", { meta: GOING }),
    ];
    const plan = decided({ binding: deleted, works, template: left });
    expect(told(plan)).toEqual([`delete a ${cause}`, `delete b ${cause}`]);
  });

  it("is let go when they are gone, once", () => {
    expect(told(decided({ binding: deleted, works: [workIn("a", { meta: GOING })] }))).toEqual([]);
    expect(told(decided({ binding: deleted }))).toEqual(["releaseBinding"]);
    const released = binding(on("a"), { ...GOING, finalizers: ["theirs"] });
    expect(told(decided({ binding: released }))).toEqual([]);
  });
});
