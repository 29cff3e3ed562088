/** What the oracles of graceful evictions say of histories that break and keep their promises. */
import { wellKnown } from "@lifeboat/core";
import { type History, itJudges, task } from "./history.suite.ts";

const leaving = { on: { m2: 2 }, tasks: [task("m1", { clustersBeforeFailover: ["m1"] })] };

/** The copy in m1 is ordered to go, then something happens, and the copy goes; another one is in m2. */
const removed =
  (readyInM2: number, happens: (h: History) => void) =>
  (h: History): void => {
    h.template();
    h.binding({ on: { m2: 2 } });
    for (const name of ["m1", "m2"]) h.work(name);
    h.copy("m1", 1);
    h.copy("m2", readyInM2);
    h.pass(60);
    h.work("m1", { going: true });
    h.pass(10);
    happens(h);
    h.noCopy("m1");
  };

itJudges([
  [
    "leaving-copies-stay",
    "broken",
    "the old Work is deleted while the task is there",
    (h) => {
      h.binding(leaving);
      h.work("m1");
      h.work("m1", { going: true });
    },
  ],
  [
    "leaving-copies-stay",
    "kept",
    "the task is gone before",
    (h) => {
      h.binding({ on: { m2: 2 } });
      h.work("m1");
      h.work("m1", { going: true });
    },
  ],
  [
    "tasks-end-for-a-reason",
    "broken",
    "the new copy is not healthy",
    (h) => {
      h.work("m1");
      h.work("m2", { health: "Unhealthy" });
      h.binding(leaving);
      h.binding({ on: { m2: 2 } });
    },
  ],
  [
    "tasks-end-for-a-reason",
    "broken",
    "the report is about an older version",
    (h) => {
      h.work("m1");
      h.work("m2", { generation: 2, seen: 1 });
      h.binding(leaving);
      h.binding({ on: { m2: 2 } });
    },
  ],
  [
    "tasks-end-for-a-reason",
    "broken",
    "the result is empty",
    (h) => {
      h.work("m1");
      h.binding({ tasks: leaving.tasks });
      h.binding({});
    },
  ],
  [
    "tasks-end-for-a-reason",
    "broken",
    "the scheduler has not seen the workload as it is",
    (h) => {
      h.work("m1");
      h.work("m2");
      const labels = { [wellKnown.POLICY_ID]: "policy" };
      h.binding({ ...leaving, generation: 2, seen: 1, labels });
      h.binding({ on: { m2: 2 }, generation: 3, seen: 1, labels });
    },
  ],
  [
    "tasks-end-for-a-reason",
    "kept",
    "no scheduler will see it, because no policy asks for it any more",
    (h) => {
      h.work("m1");
      h.work("m2");
      h.binding({ ...leaving, generation: 2, seen: 1 });
      h.binding({ on: { m2: 2 }, generation: 3, seen: 1 });
    },
  ],
  [
    "tasks-end-for-a-reason",
    "kept",
    "the new copy is healthy, or was a second ago",
    (h) => {
      h.work("m1");
      h.work("m2");
      h.binding(leaving);
      h.work("m2", { health: "Unhealthy" });
      h.pass(1);
      h.binding({ on: { m2: 2 } });
    },
  ],
  ...([undefined, 0, 60] as const).map(
    (wellFor) =>
      [
        "tasks-end-for-a-reason",
        wellFor === 60 ? "broken" : "kept",
        `the grace period of a failing application is over, which is well again for: ${wellFor} s`,
        (h: History) => {
          const failing = task("m1", { reason: "ApplicationFailure", gracePeriodSeconds: 20 });
          h.work("m1", { health: "Unhealthy" });
          h.work("m2", { health: "Unhealthy" });
          h.binding({ on: { m1: 2 } });
          h.binding({ on: { m2: 2 }, tasks: [failing] });
          h.pass(20);
          if (wellFor !== undefined) h.work("m1");
          h.pass(wellFor ?? 0);
          h.binding({ on: { m2: 2 } });
        },
      ] as const,
  ),
  [
    "only-enabled-plugins-end-tasks",
    "broken",
    "health ends a task and its plugin is off",
    (h) => {
      h.work("m1");
      h.work("m2");
      h.binding(leaving);
      h.binding({ on: { m2: 2 } });
    },
    { plugins: ["InScheduleResult"] },
  ],
  [
    "only-enabled-plugins-end-tasks",
    "kept",
    "it is on",
    (h) => {
      h.work("m1");
      h.work("m2");
      h.binding(leaving);
      h.binding({ on: { m2: 2 } });
    },
    { plugins: ["ResourceHealth"] },
  ],
  ...(["broken", "kept"] as const).map(
    (verdict) =>
      [
        "last-copy-stays",
        verdict,
        verdict === "broken" ? "no other copy serves" : "another one has a replica ready",
        (h: History) => {
          h.template();
          h.binding({ on: { m2: 2 } });
          h.copy("m1", 1);
          h.copy("m2", verdict === "broken" ? 0 : 1);
          h.pass(60);
          h.noCopy("m1");
        },
      ] as const,
  ),
  [
    "last-copy-stays",
    "kept",
    "another one served when it was ordered to go, and is started anew since",
    removed(1, (h) => h.copy("m2", 0)),
  ],
  ["last-copy-stays", "broken", "the other one never served", removed(0, () => undefined)],
  [
    "last-copy-stays",
    "broken",
    "the other one was ordered to go as well",
    removed(1, (h) => {
      h.work("m2", { going: true });
      h.copy("m2", 0);
    }),
  ],
  [
    "last-copy-stays",
    "kept",
    "the other one was ordered to go in mode Directly since then",
    removed(1, (h) => {
      h.work("m2", { going: true, purgeMode: "Directly" });
      h.copy("m2", 0);
    }),
  ],
  [
    "last-copy-stays",
    "broken",
    "the other one never served, and was ordered to go in mode Directly since then",
    removed(0, (h) => h.work("m2", { going: true, purgeMode: "Directly" })),
  ],
  ...(
    [
      [
        "kept",
        "the grace period of a failing application is over, and the copy is unhealthy",
        1,
        20,
      ],
      ["broken", "the grace period of a failing application is not over", 1, 10],
      ["broken", "the grace period is over, and the copy is healthy", 2, 20],
    ] as const
  ).map(
    ([verdict, name, ready, seconds]) =>
      [
        "last-copy-stays",
        verdict,
        name,
        (h: History) => {
          const failing = task("m1", { reason: "ApplicationFailure", gracePeriodSeconds: 20 });
          h.template();
          h.binding({ on: { m1: 2 } });
          h.copy("m1", ready, { replicas: 2 });
          h.copy("m2", 0);
          h.pass(60);
          h.binding({ on: { m2: 2 }, tasks: [failing] });
          h.pass(seconds);
          h.binding({ on: { m2: 2 } });
          h.noCopy("m1");
        },
      ] as const,
  ),
  [
    "no-cluster-is-left-and-kept",
    "kept",
    "it is so for long, and only health ends evictions",
    (h) => {
      h.binding({ on: { m1: 2 }, tasks: [task("m1")] });
      h.pass(600);
      h.binding({ on: { m1: 2 } });
    },
    { plugins: ["ResourceHealth"] },
  ],
  [
    "back-in-result-keeps-the-copy",
    "broken",
    "the Work is going when the task ends",
    (h) => {
      h.work("m1", { going: true });
      h.binding({ on: { m1: 2 }, tasks: [task("m1")] });
      h.binding({ on: { m1: 2 } });
    },
  ],
  [
    "back-in-result-keeps-the-copy",
    "kept",
    "it is not",
    (h) => {
      h.work("m1");
      h.binding({ on: { m1: 2 }, tasks: [task("m1")] });
      h.binding({ on: { m1: 2 } });
    },
  ],
  ...(
    [
      ["broken", 31],
      ["kept", 29],
    ] as const
  ).map(
    ([verdict, seconds]) =>
      [
        "no-cluster-is-left-and-kept",
        verdict,
        `it is so for ${seconds} seconds`,
        (h: History) => {
          h.binding({ on: { m1: 2 }, tasks: [task("m1")] });
          h.pass(seconds);
          h.binding({ on: { m1: 2 } });
        },
      ] as const,
  ),
  [
    "taken-back-to-the-former-result",
    "broken",
    "the replicas are forgotten",
    (h) => {
      h.binding({ tasks: [task("m1", { replicas: 2 })] });
      h.binding({ on: { m1: 1 } });
    },
  ],
  [
    "taken-back-to-the-former-result",
    "kept",
    "all is as before",
    (h) => {
      h.binding({ tasks: [task("m1", { replicas: 2 })] });
      h.binding({ on: { m1: 2 } });
    },
  ],
  [
    "never-turned-round-half-way",
    "broken",
    "it was placed elsewhere",
    (h) => {
      h.binding(leaving);
      h.binding({ on: { m2: 2, m1: 2 } });
    },
  ],
  [
    "never-turned-round-half-way",
    "kept",
    "it was placed nowhere",
    (h) => {
      h.binding({ tasks: leaving.tasks });
      h.binding({ on: { m1: 2 } });
    },
  ],
  ["no-eviction-is-left", "broken", "a task is left", (h) => h.binding(leaving)],
  ...([1, 2, 3] as const).map(
    (minGroups) =>
      [
        "no-eviction-is-left",
        minGroups === 3 ? "kept" : "broken",
        `its policy was edited to ask for ${minGroups} clusters, and two take it`,
        (h: History) => {
          h.cluster("m1", "True", {}, { taints: [{ key: "k", effect: "NoExecute" }] });
          const spreadConstraints = [{ spreadByField: "cluster", minGroups }];
          h.binding({ ...leaving, generation: 2, seen: 1, placement: { spreadConstraints } });
        },
      ] as const,
  ),
  ["no-eviction-is-left", "kept", "none is", (h) => h.binding({ on: { m2: 2 } })],
  [
    "no-eviction-is-left",
    "kept",
    "a person decides when it ends",
    (h) => h.binding({ on: { m2: 2 }, tasks: [task("m1", { purgeMode: "Never" })] }),
  ],
]);
