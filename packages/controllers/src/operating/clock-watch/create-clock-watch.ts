/**
 * Watches the wall clock of this process, so that a step of it is seen soon also when nothing reads the time, reports it (a
 * line in the log, a metric, an Event), and writes it down for the next process. What a step means for a wait is in
 * base/steady-time.
 *
 * 1. The steps stand on `EvacuationBudget/fleet`, which is where people look when workloads move or do not. A controller
 *    that decides by time waits for the informer of budgets (clock-steps.ts), and so knows the steps that were written
 *    down.
 * 2. A step that could not be written yet is tried again; until then only this process knows of it.
 */
import type { EvacuationBudget } from "@lifeboat/api";
import { type ClockStep, formatTime, sleep, SteadyTime } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import type { KitPorts, Service } from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import { changeRecord, FLEET_RECORD } from "../../context/fleet-record.ts";
import { clockSteps } from "./metrics.ts";
import { formatSteps, parseSteps } from "./record.ts";

/** A step may be unknown for so long: the shorter, the less is uncertain about what was written meanwhile. */
const LOOK_MS = 5000;

type Ports = KitPorts & Pick<PlaneContext, "events" | "informers" | "plane">;

/** Builds the watch; `time` counts from now on, and is read regularly while the service runs. */
export function createClockWatch(ports: Ports): ClockWatch {
  return new ClockWatch(ports);
}

class ClockWatch implements Service {
  readonly name = "clock-watch";
  /** The time by which everything that waits is judged. */
  readonly time: SteadyTime;
  readonly #ports: Ports;
  readonly #counter;
  #isUnsaved = false;
  #isSaving = false;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#counter = ports.metrics.counter(clockSteps);
    this.time = new SteadyTime(ports.clock, (step) => this.#stepped(step));
    // The first handler, so that a controller that waits for this informer finds the steps remembered.
    ports.informers.evacuationBudgets.onChange((old, now) => {
      const text = stepsOn(now);
      if (text !== undefined && text !== stepsOn(old)) this.time.remember(parseSteps(text));
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    do {
      this.time.look();
      await this.#save(signal);
    } while (await sleep(this.#ports.clock, LOOK_MS, signal));
  }

  #stepped(step: ClockStep): void {
    this.#counter.add(1, { direction: step.byMs > 0 ? "forward" : "back" });
    this.#isUnsaved = true;
    this.#tell(step);
    void this.#save();
  }

  #tell({ byMs, seen }: ClockStep): void {
    const { log, events, informers } = this.#ports;
    const seconds = Math.round(Math.abs(byMs) / 1000);
    const direction = byMs > 0 ? "forward" : "back";
    const message =
      `The clock of the control plane jumped ${direction} by about ${seconds} s and shows ${formatTime(seen)} now. ` +
      "Windows, tolerations and the rate go on from where they were.";
    log.warn(message, { byMs });
    const budget = informers.evacuationBudgets.get(FLEET_RECORD);
    if (budget !== undefined)
      events.record(budget, { type: "Warning", reason: "ClockStepped", message });
  }

  /** Never rejects: what could not be written is tried at the next check. */
  async #save(signal?: AbortSignal): Promise<void> {
    if (!this.#isUnsaved || this.#isSaving) return;
    this.#isSaving = true;
    this.#isUnsaved = false;
    try {
      await this.#write(signal);
    } catch (error) {
      this.#isUnsaved = true;
      this.#ports.log.warn("a step of the clock could not be written down", { error });
    } finally {
      this.#isSaving = false;
    }
  }

  async #write(signal?: AbortSignal): Promise<void> {
    const options = signal === undefined ? {} : { signal };
    await changeRecord(
      this.#ports.plane,
      ({ spec, annotations }) => {
        // Another process may have written its steps since the informer reported.
        this.time.remember(parseSteps(annotations[wellKnown.CLOCK_STEPS]));
        const value = formatSteps(this.time.log);
        return { spec, annotations: { ...annotations, [wellKnown.CLOCK_STEPS]: value } };
      },
      options,
    );
  }
}

function stepsOn(budget: EvacuationBudget | undefined): string | undefined {
  return budget?.metadata.annotations?.[wellKnown.CLOCK_STEPS];
}
