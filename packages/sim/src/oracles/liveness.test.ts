/** What the oracles of how long things take say of histories. */
import { type History, itJudges, task } from "./history.suite.ts";
import type { Circumstances } from "./circumstances.ts";

const SLOW: Partial<Circumstances> = { disturbed: new Set(["m1"]) };
const LATE: Partial<Circumstances> = { lateTimes: [{ from: 0, until: 60, delayMs: 0 }] };

/** The copy in m1 comes so long after its Work. */
const after =
  (seconds: number) =>
  (h: History): void => {
    h.binding({ on: { m1: 2 } });
    h.work("m1");
    h.pass(seconds);
    h.copy("m1", 2);
  };

/** The new copy in m2 is healthy so long after the workload left m1. */
const replaced =
  (seconds: number) =>
  (h: History): void => {
    h.binding({ on: { m1: 2 } });
    h.copy("m2", 0);
    h.binding({ on: { m2: 2 }, tasks: [task("m1")] });
    h.pass(seconds);
    h.copy("m2", 2);
  };
const LOSSES: Partial<Circumstances> = { onlyLosses: true };

itJudges([
  ["failover-is-in-time", "broken", "the new copy takes twenty seconds", replaced(20), LOSSES],
  ["failover-is-in-time", "kept", "it takes five", replaced(5), LOSSES],
  [
    "failover-is-in-time",
    "kept",
    "its cluster is lost, too",
    replaced(20),
    { ...LOSSES, disturbed: new Set(["m2"]) },
  ],
  ["no-member-waits-for-another", "broken", "it takes six seconds", after(6)],
  ["no-member-waits-for-another", "kept", "it takes four", after(4)],
  ["no-member-waits-for-another", "kept", "the member itself is slow", after(6), SLOW],
  ["no-member-waits-for-another", "kept", "news are late", after(6), LATE],
]);
