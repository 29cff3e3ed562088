/** What the oracles of mode Directly say of histories that break and keep their promises. */
import { wellKnown } from "@lifeboat/core";
import { describe, expect, it } from "vitest";
import { requestOracles } from "./directly.ts";
import { directTask, type History, itJudges } from "./history.suite.ts";
import { judged } from "./judged.suite.ts";

/** The workload runs in m1, and leaves it in mode Directly. */
function purged(h: History): void {
  h.binding({ on: { m1: 2 } });
  h.work("m1");
  h.copy("m1", 2);
  h.pod("m1");
  h.binding({ tasks: [directTask("m1", { replicas: 2 })] });
}

/** A Work elsewhere while the old copy is there, needed by another workload in these clusters. */
const followed =
  (...requiredIn: readonly string[]) =>
  (h: History): void => {
    purged(h);
    h.noPod("m1");
    h.binding({ tasks: [directTask("m1", { replicas: 2 })], requiredIn });
    h.work("m2");
  };

/** The same, but the Work where it was is another one by now; it is needed in some clusters then, and in others later. */
const madeAnew =
  (requiredIn: readonly string[], later = requiredIn) =>
  (h: History): void => {
    const tasks = [directTask("m1", { replicas: 2 })];
    purged(h);
    h.noPod("m1");
    h.noWork("m1");
    h.binding({ tasks, requiredIn });
    h.work("m1", { uid: "uid-of-another" });
    h.binding({ tasks, requiredIn: later });
    h.work("m2");
  };

function emptied(h: History): void {
  h.noCopy("m1");
  h.noPod("m1");
}

/** In a member a workload of that name starts a pod: ours if it bears the mark. */
function starts(h: History, member: string, mark: string): void {
  const at = { name: "web", namespace: "default" };
  const labels = { [wellKnown.MANAGED]: mark };
  const ownerOf = (kind: string): object => ({
    ownerReferences: [{ kind, name: "web", uid: kind }],
  });
  h.put(member, "apps/deployments/default/web", { metadata: { ...at, uid: "Deployment", labels } });
  h.put(member, "apps/replicasets/default/web", {
    metadata: { ...at, uid: "ReplicaSet", ...ownerOf("Deployment") },
  });
  h.put(member, "/pods/default/web-1", {
    metadata: { ...at, name: "web-1", labels: { app: "web" }, ...ownerOf("ReplicaSet") },
  });
}

/**
 * Everything has gone from m1; then a workload of that name is there, ours or not, with a pod that may outlive it, and one
 * starts in m2.
 */
const joinedBy =
  (mark: string, isGone = false) =>
  (h: History): void => {
    purged(h);
    emptied(h);
    starts(h, "m1", mark);
    if (isGone)
      for (const plural of ["deployments", "replicasets"])
        h.put("m1", `apps/${plural}/default/web`, undefined);
    h.pod("m2");
  };

/** While m1 is purged, a workload of that name starts in m2, ours or not. */
const startedBy =
  (mark: string) =>
  (h: History): void => {
    purged(h);
    starts(h, "m2", mark);
  };

/** m1 is back, with a copy that was ordered to go. */
function returned(h: History): void {
  h.binding({ on: { m2: 2 } });
  h.cluster("m1", "False");
  h.work("m1", { going: true });
  h.copy("m1", 2);
  h.cluster("m1", "True");
}

itJudges([
  [
    "one-cluster-at-a-time",
    "broken",
    "a pod starts elsewhere while one is stopping",
    (h) => {
      purged(h);
      h.noCopy("m1");
      h.pod("m2");
    },
  ],
  [
    "one-cluster-at-a-time",
    "kept",
    "all pods are gone",
    (h) => {
      purged(h);
      emptied(h);
      h.pod("m2");
    },
  ],
  ...(["restored", "repeated"] as const).flatMap((how) =>
    (
      [
        ["kept", "m1", "where it was", (h) => h.noWork("m1")],
        ["broken", "m1", "where its Work still is", () => undefined],
        ["kept", "m2", "where no Work is", () => undefined],
        ["broken", "m2", "where a Work is", (h) => h.work("m2")],
        ["broken", "m3", "in a third cluster", (h) => h.noWork("m1")],
      ] as const satisfies readonly (readonly [string, string, string, (h: History) => void])[]
    ).map(
      ([verdict, member, where, before]) =>
        [
          "one-cluster-at-a-time",
          verdict,
          `a copy that nobody ordered came back ${where} (${how})`,
          (h: History) => {
            purged(h);
            before(h);
            h.pod("m2");
          },
          { [how]: new Set([member]) },
        ] as const,
    ),
  ),
  ["one-cluster-at-a-time", "kept", "somebody else runs a pod of that name", joinedBy("false")],
  ["one-cluster-at-a-time", "broken", "the pod there is ours", joinedBy("true")],
  ["one-cluster-at-a-time", "kept", "a pod outlives somebody else's", joinedBy("false", true)],
  ["one-cluster-at-a-time", "broken", "a pod outlives our copy", joinedBy("true", true)],
  ["one-cluster-at-a-time", "kept", "somebody else starts one elsewhere", startedBy("false")],
  ["one-cluster-at-a-time", "broken", "our copy starts one elsewhere", startedBy("true")],
  [
    "gone-before-the-new-copy",
    "broken",
    "a Work is made while the old copy is there",
    (h) => {
      purged(h);
      h.noPod("m1");
      h.work("m2");
    },
  ],
  [
    "gone-before-the-new-copy",
    "broken",
    "a Work is made while a pod is there",
    (h) => {
      purged(h);
      h.noCopy("m1");
      h.work("m2");
    },
  ],
  [
    "gone-before-the-new-copy",
    "broken",
    "another workload needs it where it was, but not in the new cluster",
    followed("m1"),
  ],
  ...(["gone-before-the-new-copy", "no-new-copy-without-proof"] as const).flatMap(
    (oracle) =>
      [
        [oracle, "kept", "it was made anew for a workload that needs it there", madeAnew(["m1"])],
        [oracle, "kept", "it was made anew for one that moved since", madeAnew(["m1"], ["m2"])],
        [oracle, "broken", "it was made anew for nobody", madeAnew([])],
        [oracle, "broken", "it was made anew before it was needed", madeAnew([], ["m1"])],
      ] as const,
  ),
  [
    "gone-before-the-new-copy",
    "broken",
    "another workload needs it in the new cluster, but not where it was",
    followed("m2"),
  ],
  [
    "gone-before-the-new-copy",
    "kept",
    "another workload needs it in both clusters",
    followed("m1", "m2"),
  ],
  [
    "gone-before-the-new-copy",
    "kept",
    "a backup brought the old copy back after its Work was let go",
    (h) => {
      purged(h);
      h.noWork("m1");
      h.work("m2");
    },
    { restored: new Set(["m1"]) },
  ],
  [
    "no-new-copy-without-proof",
    "kept",
    "another workload needs it in both clusters",
    followed("m1", "m2"),
  ],
  [
    "gone-before-the-new-copy",
    "kept",
    "everything is gone",
    (h) => {
      purged(h);
      emptied(h);
      h.work("m2");
    },
  ],
  [
    "gone-before-the-new-copy",
    "kept",
    "a person said that the cluster is off",
    (h) => {
      purged(h);
      h.cluster("m1", "False", { annotations: { [wellKnown.FENCED]: "{}" } });
      h.binding({});
      h.work("m2");
    },
  ],
  [
    "no-new-copy-without-proof",
    "broken",
    "the old Work is still there",
    (h) => {
      purged(h);
      emptied(h);
      h.work("m2");
    },
  ],
  [
    "no-new-copy-without-proof",
    "kept",
    "it is gone",
    (h) => {
      purged(h);
      emptied(h);
      h.noWork("m1");
      h.work("m2");
    },
  ],
  [
    "placed-after-the-purge",
    "broken",
    "it is placed while the task is there",
    (h) => {
      purged(h);
      h.binding({ on: { m2: 2 }, tasks: [directTask("m1", { replicas: 2 })] });
    },
  ],
  [
    "placed-after-the-purge",
    "kept",
    "the task ended before",
    (h) => {
      purged(h);
      h.binding({});
      h.binding({ on: { m2: 2 } });
    },
  ],
  ...(
    [
      ["kept", "a recovery puts back what another cluster never lost", { m2: 1 }],
      ["broken", "a recovery puts back more than another cluster had", { m2: 2 }],
    ] as const
  ).map(
    ([verdict, when, on]) =>
      [
        "placed-after-the-purge",
        verdict,
        when,
        (h: History) => {
          const placement = { replicaScheduling: { replicaSchedulingType: "Divided" } };
          const gone = directTask("m1", { replicas: 2 });
          const left = { fromCluster: "m2", purgeMode: "Gracefully", replicas: 1 };
          h.binding({ placement, on: { m1: 2 }, tasks: [left] });
          h.binding({ placement, tasks: [left, gone] });
          h.binding({ placement, on, tasks: [gone] });
        },
      ] as const,
  ),
  ["directly-completes", "broken", "a task is left", purged],
  ["directly-completes", "kept", "none is", (h) => h.binding({ on: { m2: 2 } })],
  [
    "returning-cluster-gets-nothing-new",
    "broken",
    "an old copy is still there",
    (h) => {
      returned(h);
      h.binding({ on: { m2: 2, m1: 2 } });
    },
  ],
  [
    "returning-cluster-gets-nothing-new",
    "kept",
    "it is gone",
    (h) => {
      returned(h);
      h.noCopy("m1");
      h.binding({ on: { m2: 2, m1: 2 } });
    },
  ],
  [
    "returning-cluster-gets-nothing-new",
    "kept",
    "it is preserved, and not ours any more",
    (h) => {
      returned(h);
      h.copy("m1", 2, { labels: { [wellKnown.MANAGED]: "false" } });
      h.binding({ on: { m2: 2, m1: 2 } });
    },
  ],
  [
    "returning-cluster-gets-nothing-new",
    "kept",
    "a person places it there",
    (h) => {
      returned(h);
      h.binding({ on: { m2: 2, m1: 2 } });
    },
    { placedByHand: new Set(["web"]) },
  ],
]);

describe("deletes-name-what-they-mean", () => {
  const at = { from: "plane", verb: "delete", what: "", table: "apps/deployments" } as const;
  it.each([
    ["broken", "it names no uid", undefined, "true"],
    ["broken", "the object is not ours", "u", "false"],
    ["kept", "it names what is ours", "u", "true"],
    ["kept", "the object is another one by now", "v", "false"],
  ])("is %s when %s", (verdict, _when, uid, mark) => {
    const { truth, write } = judged();
    const labels = { [wellKnown.MANAGED]: mark };
    write("m1", "apps/deployments/default/web", { metadata: { uid: "u", labels } });
    const request = { ...at, to: "m1", key: "default/web", ...(uid !== undefined && { uid }) };
    const said = requestOracles.flatMap(({ judge }) => judge(request, truth));
    expect(said.length > 0).toBe(verdict === "broken");
  });
});
