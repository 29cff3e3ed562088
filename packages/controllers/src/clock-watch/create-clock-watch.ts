/**
 * Watches the wall clock of this process, so that a step of it is seen soon also when nobody asks the time, and tells
 * people: a line in the log, a metric, and an Event on `EvacuationBudget/fleet`, which is where they look when workloads
 * move or do not. What the step means for those who wait is in base/steady-time.
 */
import { evacuationBudgets, FLEET_BUDGET } from "@lifeboat/api";
import { type ClockStep, formatTime, sleep, SteadyTime } from "@lifeboat/base";
import type { KitPorts, Service } from "@lifeboat/kit";
import type { PlaneContext } from "../context.ts";
import { clockSteps } from "./metrics.ts";

/** So long after a step nobody may know of it: the less, the less is left open about what was written meanwhile. */
const LOOK_MS = 5000;

export interface ClockWatch extends Service {
  /** The time by which everything that waits is judged. */
  readonly time: SteadyTime;
}

/** Builds the watch; `time` counts from now on, and is looked at regularly while the service runs. */
export function createClockWatch(
  ports: KitPorts & Pick<PlaneContext, "events" | "informers">,
): ClockWatch {
  const counter = ports.metrics.counter(clockSteps);
  const time = new SteadyTime(ports.clock, (step) => {
    counter.add(1, { direction: step.byMs > 0 ? "forward" : "back" });
    tell(ports, step);
  });
  return {
    name: "clock-watch",
    time,
    run: async (signal) => {
      do time.look();
      while (await sleep(ports.clock, LOOK_MS, signal));
    },
  };
}

function tell(
  { log, events, informers }: Pick<KitPorts, "log"> & Pick<PlaneContext, "events" | "informers">,
  { byMs, seen }: ClockStep,
): void {
  const seconds = Math.round(Math.abs(byMs) / 1000);
  const direction = byMs > 0 ? "forward" : "back";
  const message =
    `The clock of the control plane jumped ${direction} by about ${seconds} s and shows ${formatTime(seen)} now. ` +
    "Windows, tolerations and the rate go on from where they were.";
  log.warn(message, { byMs: Math.round(byMs) });
  const budget = informers.evacuationBudgets.get({ namespace: "", name: FLEET_BUDGET });
  if (budget === undefined) return;
  const { group, version, kind } = evacuationBudgets;
  const involved = { apiVersion: `${group}/${version}`, kind, metadata: budget.metadata };
  events.record(involved, { type: "Warning", reason: "ClockStepped", message });
}
