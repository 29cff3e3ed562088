import { type Cluster, findCondition, type ResourceBinding, type Work } from "@lifeboat/api";
import { addMs, deepFreeze, instantOf, type Moment, plainMoment } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { bindingNamed } from "../dependencies/binding.suite.ts";
import { type AggregationPlan, type AggregationView, decideAggregation } from "./aggregate.ts";
import { aggregatedItems, copiesOf } from "./items.ts";
import { templateStatus } from "./outdated.ts";

const NOW = instantOf(Date.parse("2026-01-01T00:00:00Z"));
const RESOURCE = { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web" };

/** The decision, of clusters that are all Ready unless given otherwise. */
function decide(
  view: Omit<AggregationView, "clusters"> & Partial<Pick<AggregationView, "clusters">>,
  moment: Moment,
): AggregationPlan {
  return decideAggregation({ clusters: [], ...view }, moment);
}

interface Copy {
  readonly applied?: "True" | "False";
  readonly appliedAt?: number;
  readonly observedAt?: number;
  readonly message?: string;
  readonly status?: Readonly<Record<string, unknown>>;
  readonly health?: "Healthy" | "Unhealthy" | "Unknown";
  readonly deleting?: boolean;
}

/** A Work of generation 2. */
function work(cluster: string, copy: Copy = {}): Work {
  const at = { reason: "R", lastTransitionTime: "2026-01-01T00:00:00Z" };
  const { applied, appliedAt = 2, observedAt = 2, message = "", status, health } = copy;
  const identifier = { ordinal: 0, version: "v1", kind: "Deployment", resource: "", name: "web" };
  return deepFreeze({
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: {
      namespace: `karmada-es-${cluster}`,
      name: "web",
      uid: cluster,
      resourceVersion: "1",
      creationTimestamp: "2026-01-01T00:00:00Z",
      generation: 2,
      ...(copy.deleting === true && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    spec: {},
    status: {
      ...(applied !== undefined && {
        conditions: [
          { type: "Applied", status: applied, observedGeneration: appliedAt, message, ...at },
          {
            type: "StatusObserved",
            status: "True",
            observedGeneration: observedAt,
            message: "",
            ...at,
          },
        ],
      }),
      ...((status !== undefined || health !== undefined) && {
        manifestStatuses: [{ identifier, ...(status && { status }), ...(health && { health }) }],
      }),
    },
  });
}

const healthy = (cluster: string, copy: Copy = {}): Work =>
  work(cluster, { applied: "True", health: "Healthy", ...copy });

function binding(
  clusters: readonly string[],
  status?: ResourceBinding["status"],
  spec: Partial<ResourceBinding["spec"]> = {},
): ResourceBinding {
  const made = bindingNamed("web-deployment", {
    spec: {
      resource: RESOURCE,
      clusters: clusters.map((name) => ({ name })),
      conflictResolution: "Abort",
      ...spec,
    },
  });
  return status === undefined ? made : { ...made, status };
}

function statusOf(plan: AggregationPlan): NonNullable<ResourceBinding["status"]> {
  const [command] = plan.commands;
  if (command === undefined) throw new Error(`nothing is written: ${plan.reason}`);
  return command.status;
}

/** The binding after what these Works report was written. */
function reported(clusters: readonly string[], ...works: readonly Work[]): ResourceBinding {
  const later = addMs(NOW, 10_000);
  const before = binding(clusters);
  const plan = decide({ binding: before, works, heldSince: NOW }, plainMoment(later));
  return { ...before, status: statusOf(plan) };
}

describe("an item of the aggregated status", () => {
  it.each<[string, Work, Readonly<Record<string, unknown>>]>([
    ["nothing is known", work("m1"), { health: "Unknown" }],
    [
      "it is healthy",
      healthy("m1", { status: { replicas: 1 } }),
      { applied: true, status: { replicas: 1 }, health: "Healthy" },
    ],
    ["nothing was reported", work("m1", { applied: "True" }), { applied: true, health: "Unknown" }],
    [
      "an older Work was applied",
      healthy("m1", { appliedAt: 1 }),
      { applied: true, health: "Unknown" },
    ],
    [
      "an older Work was observed",
      healthy("m1", { observedAt: 1 }),
      { applied: true, health: "Unknown" },
    ],
    [
      "it is unhealthy",
      healthy("m1", { health: "Unhealthy" }),
      { applied: true, health: "Unhealthy" },
    ],
    [
      "it was refused",
      healthy("m1", { applied: "False", message: "denied", status: { replicas: 1 } }),
      { applied: false, appliedMessage: "denied", status: { replicas: 1 }, health: "Unknown" },
    ],
  ])("when %s", (_, copy, item) => {
    expect(aggregatedItems([copy])).toEqual([{ clusterName: "m1", ...item }]);
  });

  it("stands for a Work that is not being deleted, in the order of the clusters", () => {
    const works = [healthy("m2"), healthy("m3", { deleting: true }), healthy("m1")];
    expect(aggregatedItems(works).map(({ clusterName }) => clusterName)).toEqual(["m1", "m2"]);
  });
});

describe("FullyApplied", () => {
  const task = { fromCluster: "m2", reason: "R", producer: "p" };
  it.each<[string, ResourceBinding, readonly Work[], "True" | "False"]>([
    ["all are applied", binding(["m1", "m2"]), [healthy("m1"), healthy("m2")], "True"],
    ["one is not applied", binding(["m1", "m2"]), [healthy("m1"), work("m2")], "False"],
    ["one is missing", binding(["m1", "m2"]), [healthy("m1")], "False"],
    ["one is too many", binding(["m1"]), [healthy("m1"), healthy("m2")], "False"],
    ["another one is there", binding(["m1"]), [healthy("m2")], "False"],
    [
      "one is leaving",
      binding(["m1"], undefined, { gracefulEvictionTasks: [task] }),
      [healthy("m1"), healthy("m2")],
      "True",
    ],
    [
      "one is needed there",
      binding([], undefined, { requiredBy: [{ name: "x", clusters: [{ name: "m1" }] }] }),
      [healthy("m1")],
      "True",
    ],
  ])("when %s", (_, subject, works, status) => {
    const later = addMs(NOW, 1000);
    const plan = decide({ binding: subject, works, heldSince: NOW }, plainMoment(later));
    const isTrue = status === "True";
    expect(statusOf(plan).conditions).toMatchObject([
      {
        type: "FullyApplied",
        status,
        reason: isTrue ? "FullyAppliedSuccess" : "FullyAppliedFailed",
        message: isTrue
          ? "All works have been successfully applied"
          : "Failed to apply all works, see status.aggregatedStatus for details",
      },
    ]);
  });
});

describe("FullyApplied of a binding that was fully applied", () => {
  const before = reported(["m1"], healthy("m1"));
  const moved: ResourceBinding = {
    ...before,
    spec: { ...before.spec, clusters: [{ name: "m1" }, { name: "m2" }] },
  };

  it("waits for a second for a copy that does not exist yet", () => {
    const view = { binding: moved, works: [healthy("m1")] };
    const held = decide(view, plainMoment(NOW));
    expect(held).toMatchObject({ reason: "Held", checkAgainAt: addMs(NOW, 1000) });
    const due = decide({ ...view, heldSince: NOW }, plainMoment(addMs(NOW, 1000)));
    expect(statusOf(due).conditions).toMatchObject([{ type: "FullyApplied", status: "False" }]);
  });

  it("stays true when the copy is applied within that second", () => {
    const works = [healthy("m1"), healthy("m2")];
    const plan = decide({ binding: moved, works, heldSince: NOW }, plainMoment(addMs(NOW, 500)));
    expect(statusOf(plan).conditions).toBe(before.status?.conditions);
  });

  it("is not true at once when a copy fails or goes", () => {
    const failing = [healthy("m1"), work("m2", { applied: "False", message: "no room" })];
    for (const works of [failing, []]) {
      const plan = decide({ binding: moved, works }, plainMoment(NOW));
      expect(statusOf(plan).conditions).toMatchObject([{ type: "FullyApplied", status: "False" }]);
    }
  });
});

describe("the status of a binding", () => {
  it("is not fully applied when the resource goes nowhere any more", () => {
    const { status } = reported(["m1"], healthy("m1"));
    const plan = decide({ binding: binding([], status), works: [] }, plainMoment(NOW));
    expect(statusOf(plan)).toMatchObject({
      aggregatedStatus: [],
      conditions: [{ type: "FullyApplied", status: "False" }],
    });
  });

  it("keeps what others wrote", () => {
    const scheduled = {
      type: "Scheduled",
      status: "True",
      reason: "Success",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    } as const;
    const before = binding(["m1"], { lastScheduledTime: "t", conditions: [scheduled] });
    const plan = decide({ binding: before, works: [healthy("m1")] }, plainMoment(NOW));
    expect(statusOf(plan)).toMatchObject({
      lastScheduledTime: "t",
      conditions: [scheduled, { type: "FullyApplied" }],
    });
  });

  it("is not written again", () => {
    const works = [healthy("m1", { status: { replicas: 1 } })];
    const plan = decide({ binding: reported(["m1"], ...works), works }, plainMoment(NOW));
    expect(plan).toMatchObject({ reason: "UpToDate", commands: [] });
  });

  it("of a resource that goes nowhere stays as it is", () => {
    expect(decide({ binding: binding([]), works: [] }, plainMoment(NOW)).reason).toBe("UpToDate");
  });

  const rolling = healthy("m1", {
    health: "Unhealthy",
    status: { replicas: 1, updatedReplicas: 1 },
  });
  it.each<[string, Work | undefined, Work | undefined, "Changed" | "Held"]>([
    ["becomes healthy", rolling, healthy("m1"), "Changed"],
    ["stops being healthy", healthy("m1"), rolling, "Changed"],
    ["is of an older Work now", healthy("m1"), healthy("m1", { observedAt: 1 }), "Changed"],
    ["is refused", work("m1"), work("m1", { applied: "False", message: "x" }), "Changed"],
    [
      "is refused for another reason",
      work("m1", { applied: "False", message: "y" }),
      work("m1", { applied: "False", message: "x" }),
      "Changed",
    ],
    [
      "is applied at last",
      work("m1", { applied: "False", message: "y" }),
      work("m1", { applied: "True" }),
      "Changed",
    ],
    ["goes", rolling, undefined, "Changed"],
    ["goes that was refused", work("m1", { applied: "False" }), undefined, "Changed"],
    [
      "reports an address",
      rolling,
      healthy("m1", { health: "Unhealthy", status: { ip: "1.1.1.1" } }),
      "Changed",
    ],
    [
      "makes progress",
      rolling,
      healthy("m1", { health: "Unhealthy", status: { replicas: 2 } }),
      "Held",
    ],
    ["reports for the first time", work("m1", { applied: "True" }), rolling, "Held"],
    ["has nothing to report yet", undefined, work("m1"), "Held"],
  ])("of which one copy %s", (_, before, now, reason) => {
    const others = [healthy("m2")];
    const clusters = ["m1", "m2"];
    const subject = reported(clusters, ...others, ...(before === undefined ? [] : [before]));
    const works = [...others, ...(now === undefined ? [] : [now])];
    const plan = decide({ binding: subject, works, heldSince: NOW }, plainMoment(addMs(NOW, 400)));
    expect(plan.reason).toBe(reason);
    if (reason === "Held") expect(plan.checkAgainAt).toBe(addMs(NOW, 1000));
    const later = decide(
      { binding: subject, works, heldSince: NOW },
      plainMoment(addMs(NOW, 1000)),
    );
    expect(statusOf(later).aggregatedStatus).toEqual(aggregatedItems(works));
  });
});

describe("copies that become healthy one after the other", () => {
  it("are reported together, and at once when the last one does", () => {
    const rolling = (cluster: string): Work => healthy(cluster, { health: "Unhealthy" });
    const subject = reported(["m1", "m2"], rolling("m1"), rolling("m2"));
    const view = { binding: subject, heldSince: NOW };
    const first = decide({ ...view, works: [healthy("m1"), rolling("m2")] }, plainMoment(NOW));
    expect(first).toMatchObject({ reason: "Held", checkAgainAt: addMs(NOW, 1000) });
    const both = decide({ ...view, works: [healthy("m1"), healthy("m2")] }, plainMoment(NOW));
    expect(both.reason).toBe("Changed");
  });

  it("are held from the moment that there is something to hold", () => {
    const subject = reported(["m1"], work("m1", { applied: "True" }));
    const works = [healthy("m1", { health: "Unhealthy" })];
    const plan = decide({ binding: subject, works }, plainMoment(NOW));
    expect(plan).toMatchObject({ reason: "Held", checkAgainAt: addMs(NOW, 1000) });
  });
});

describe("the copies from which a template's status is made", () => {
  it("include those that are still to come", () => {
    const items = aggregatedItems([healthy("m2")]);
    expect(copiesOf(binding(["m3", "m2", "m1"]), items)).toEqual([
      { clusterName: "m1" },
      ...items,
      { clusterName: "m3" },
    ]);
  });

  it("are one in no cluster while the resource is not placed", () => {
    expect(copiesOf(binding([]), [])).toEqual([{ clusterName: "" }]);
    const conditions = [
      { type: "Scheduled", status: "True", reason: "Success", message: "", lastTransitionTime: "" },
    ] as const;
    expect(copiesOf(binding([], { schedulerObservedGeneration: 1, conditions }), [])).toEqual([]);
    expect(copiesOf(binding([], { schedulerObservedGeneration: 0, conditions }), [])).toEqual([
      { clusterName: "" },
    ]);
  });
});

describe("17.15: what may be outdated", () => {
  const later = addMs(NOW, 10_000);
  const AT = "2026-01-01T00:00:30Z";

  function cluster(name: string, ready?: string, at = AT, reason = "R"): Cluster {
    const condition = { type: "Ready", reason, message: reason, lastTransitionTime: at };
    return deepFreeze({
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name, uid: name, resourceVersion: "1", creationTimestamp: at },
      spec: { syncMode: "Push" },
      status: ready === undefined ? {} : { conditions: [{ ...condition, status: ready }] },
    } as Cluster);
  }

  const subject = reported(["m1", "m2"], healthy("m1"), healthy("m2"));
  const works = [healthy("m1"), healthy("m2")];
  const plan = (clusters: readonly Cluster[], of = subject): AggregationPlan =>
    decide({ binding: of, works, clusters, heldSince: NOW }, plainMoment(later));
  const conditionOf = (status: ResourceBinding["status"]) =>
    findCondition(status?.conditions, "StatusUpToDate");
  const outdated = (clusters: readonly Cluster[], of = subject) =>
    conditionOf(statusOf(plan(clusters, of)));
  const inForce = (text: string): string =>
    `The status of copies may be outdated in clusters that are not Ready: ${text}.`;

  it("is named with its clusters and since when, in one write, and health stays as it was", () => {
    const status = statusOf(plan([cluster("m1", "False"), cluster("m2", "True")]));
    expect(conditionOf(status)).toEqual({
      type: "StatusUpToDate",
      status: "False",
      reason: "ClusterNotReady",
      message: inForce(`m1 (since ${AT})`),
      lastTransitionTime: "2026-01-01T00:00:10Z",
    });
    expect(status.aggregatedStatus).toEqual(subject.status?.aggregatedStatus);
    const written = { ...subject, status };
    const again = plan([cluster("m1", "False", AT, "Another"), cluster("m2", "True")], written);
    expect(again).toMatchObject({ commands: [], reason: "UpToDate" });
  });

  it("is gathered for a second: clusters that fail together cost one write", () => {
    const first = decide(
      { binding: subject, works, clusters: [cluster("m1", "False")] },
      plainMoment(NOW),
    );
    expect(first).toMatchObject({ commands: [], reason: "Held", checkAgainAt: addMs(NOW, 1000) });
  });

  it("changes with the set of clusters, keeps its time, and leaves no trace when all are Ready", () => {
    const written = { ...subject, status: statusOf(plan([cluster("m1", "False")])) };
    const both = outdated([cluster("m1", "False"), cluster("m2", "Unknown")], written);
    expect(both?.message).toBe(inForce(`m1 (since ${AT}), m2 (since ${AT})`));
    expect(both?.lastTransitionTime).toBe(conditionOf(written.status)?.lastTransitionTime);
    const after = statusOf(plan([cluster("m1", "True")], written));
    expect(after).toEqual(subject.status);
  });

  it.each([
    ["a cluster that was not probed yet", [cluster("m1")]],
    ["a cluster that is not known", []],
    ["a cluster without a copy", [cluster("m3", "False")]],
  ])("is nothing of %s", (_what, clusters) => {
    expect(plan(clusters).reason).toBe("UpToDate");
  });

  it("is nothing where nothing was reported yet", () => {
    const awaited = [healthy("m1"), work("m2")];
    const before = reported(["m1", "m2"], ...awaited);
    const { reason } = decide(
      { binding: before, works: awaited, clusters: [cluster("m2", "False")], heldSince: NOW },
      plainMoment(later),
    );
    expect(reason).toBe("UpToDate");
  });

  it("names ten clusters and how many more, and no time that was never given", () => {
    const names = Array.from({ length: 12 }, (_, i) => `m${i + 10}`);
    const many = names.map((name) => healthy(name));
    const clusters = names.map((name) => cluster(name, "False", "1970-01-01T00:00:00Z"));
    const status = statusOf(
      decide(
        { binding: reported(names, ...many), works: many, clusters, heldSince: NOW },
        plainMoment(later),
      ),
    );
    expect(conditionOf(status)?.message).toBe(
      inForce(`${names.slice(0, 10).join(", ")}, and 2 more`),
    );
  });

  describe("on the template", () => {
    const condition = plan([cluster("m1", "False")]).outdated;
    const deployment = (status?: object) => ({ apiVersion: "apps/v1", kind: "Deployment", status });
    const other = { type: "Available", status: "True" };

    it("is a condition of a Deployment beside others, with the time when it began", () => {
      const first = templateStatus(
        deployment({ conditions: [other] }),
        { replicas: 2, conditions: [other] },
        condition,
        later,
      );
      const ours = { ...condition, lastTransitionTime: "2026-01-01T00:00:10Z" };
      expect(first).toEqual({ replicas: 2, conditions: [other, ours] });
      const evenLater = addMs(later, 60_000);
      expect(templateStatus(deployment(first), first, condition, evenLater)).toEqual(first);
      // A script may aggregate without it.
      const again = templateStatus(
        deployment(first),
        { replicas: 2, conditions: [other] },
        condition,
        evenLater,
      );
      expect(again).toEqual(first);
    });

    it("goes without a trace", () => {
      const bare = { replicas: 2 };
      const marked = templateStatus(deployment(bare), bare, condition, later);
      expect(templateStatus(deployment(marked), marked, undefined, later)).toEqual(bare);
      expect(templateStatus(deployment(bare), bare, undefined, later)).toBe(bare);
    });

    it.each([
      ["batch/v1", "Job"],
      ["flink.apache.org/v1beta1", "FlinkDeployment"],
      ["apps/v1beta1", "Deployment"],
      ["v1", "Service"],
    ])(
      "is not written for %s %s, whose conditions mean something else or are not known",
      (...kind) => {
        const [apiVersion, name] = kind;
        const status = { loadBalancer: {} };
        expect(templateStatus({ apiVersion, kind: name }, status, condition, later)).toBe(status);
      },
    );
  });
});
