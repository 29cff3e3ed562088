/** The guard TrafficDrained: it withholds clearing and never causes it (D27). */
import { addMs } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { bindingWith, clusterIn, copy, decide, NOW, type Scene, task } from "./eviction.suite.ts";
import type { LeavingTraffic } from "./traffic-guard.ts";

const healthy = { health: "Healthy" } as const;
const TIMEOUT_MS = 60_000;
const LIMIT_MS = 600_000;

/** Until now something else kept the copy. */
const NOT_ASKED = -1;

function moving(
  state: LeavingTraffic["state"],
  waitedMs: number,
  changes: Partial<Scene> = {},
): Scene {
  const waits = { timeoutMs: TIMEOUT_MS, limitMs: LIMIT_MS };
  const since = { since: addMs(NOW, -waitedMs) };
  return {
    binding: bindingWith(["b"], [task("a")]),
    works: [copy("a", healthy), copy("b", healthy)],
    traffic: new Map([["a", { state, ...waits, ...(waitedMs >= 0 && since) }]]),
    ...changes,
  };
}

const silent = [
  clusterIn("a", { ready: "Unknown", tainted: true }),
  clusterIn("b", { ready: "True" }),
];
const ill = [copy("a", healthy), copy("b", { health: "Unhealthy" })];

describe("an old copy that may go", () => {
  it.each<[string, Scene, string]>([
    ["no ingress is before it", moving("none", 0), "cleared TargetsHealthy"],
    ["its traffic is drained", moving("drained", 0), "cleared TargetsHealthy"],
    ["its traffic is awaited", moving("awaited", 0), "kept AwaitingTraffic"],
    ["its traffic is awaited for long", moving("awaited", 599_999), "kept TrafficNotDrained"],
    [
      "its traffic is awaited and never confirmed",
      moving("awaited", 600_000),
      "cleared TargetsHealthy LimitOver",
    ],
    ["nothing was asked before", moving("awaited", NOT_ASKED), "kept AwaitingTraffic"],
    [
      "nothing was asked before, and none can confirm",
      moving("unconfirmable", NOT_ASKED),
      "kept AwaitingTraffic",
    ],
    ["no other cluster serves its requests, yet", moving("needed", 0), "kept AwaitingTraffic"],
    [
      "no other cluster serves its requests, however long",
      moving("needed", 3_600_000),
      "kept LastServedCopy",
    ],
    [
      "no other cluster serves its requests, and it does not answer either",
      moving("needed", 60_000, { clusters: silent }),
      "cleared TargetsHealthy ClusterSilent",
    ],
    ["none can confirm, yet", moving("unconfirmable", 59_999), "kept AwaitingTraffic"],
    [
      "none can confirm, for the whole time",
      moving("unconfirmable", 60_000),
      "cleared TargetsHealthy NoLoadBalancer",
    ],
    [
      "its cluster does not answer, yet",
      moving("awaited", 59_999, { clusters: silent }),
      "kept AwaitingTraffic",
    ],
    [
      "its cluster does not answer, for the whole time",
      moving("awaited", 60_000, { clusters: silent }),
      "cleared TargetsHealthy ClusterSilent",
    ],
    [
      "a person released it",
      moving("awaited", 0, {
        binding: bindingWith(["b"], [task("a", { suppressDeletion: false })]),
        plugins: [],
      }),
      "cleared ReleasedByPerson",
    ],
    [
      "the workload is placed there again",
      moving("awaited", 0, { binding: bindingWith(["a"], [task("a")]) }),
      "cleared BackInResult",
    ],
    [
      "drained traffic lets nothing go that the floor keeps",
      moving("drained", 3_600_000, { works: ill }),
      "kept AwaitingTargets",
    ],
    [
      "mode Directly does not wait",
      moving("awaited", 0, {
        binding: bindingWith(["b"], [task("a", { purgeMode: "Directly" })]),
        works: [copy("b", healthy)],
      }),
      "cleared CopyGone",
    ],
  ])("when %s", (_name, scene, expected) => {
    const [verdict] = decide(scene).verdicts;
    const { fate, reason, unconfirmed = "" } = verdict ?? {};
    expect(`${fate} ${reason} ${unconfirmed}`.trim()).toBe(expected);
  });

  it("is looked at again when the time is over", () => {
    expect(decide(moving("unconfirmable", 20_000)).checkAgainAt).toBe(addMs(NOW, 40_000));
    expect(decide(moving("unconfirmable", NOT_ASKED)).checkAgainAt).toBe(addMs(NOW, 60_000));
    expect(decide(moving("awaited", 100_000)).checkAgainAt).toBe(addMs(NOW, 500_000));
    expect(decide(moving("needed", 100_000)).checkAgainAt).toBeUndefined();
  });
});
