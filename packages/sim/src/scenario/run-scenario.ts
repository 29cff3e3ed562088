/**
 * Runs a scenario: faults and steps first, then everything is healed and must converge in bounded time, then it must rest.
 *
 *   start → members ready → steps and faults → heal → converged? → quiet for ten minutes? → still converged?
 *
 * The outcome says what was broken, and everything that is needed to understand and repeat it.
 */
import { assert } from "@lifeboat/base";
import type { ControllersOptions } from "@lifeboat/plane";
import type { Committed } from "../disk/ledger.ts";
import { Cells } from "../coverage.ts";
import type { Images } from "../images.ts";
import { circumstancesOf } from "../oracles/circumstances.ts";
import { judgeAnswers } from "../oracles/history.ts";
import { Jury, type Violation } from "../oracles/oracle.ts";
import { alwaysOracles, judgeConverged, judgeDone, judgeRequest } from "../oracles/oracles.ts";
import { ReadJudge } from "../oracles/read-judge.ts";
import { type Ending, endingOf } from "../oracles/ending.ts";
import { Truth } from "../oracles/truth.ts";
import { WatchJudge } from "../oracles/watch-judge.ts";
import type { Simulation, SimulationPorts } from "../simulation.ts";
import { createSimulation } from "../simulation.ts";
import { arrangeFault, healAll } from "./faults.ts";
import { joinedImages } from "./joined-images.ts";
import { releaseBrakes } from "./on-call.ts";
import { describe, endOf, longestWindowOf, type Scenario } from "./scenario.ts";
import { takeStep } from "./steps.ts";

export interface RunOptions {
  /** What the world is at first, with all members of the scenario; absent: they have just joined. */
  readonly images?: Images;
  /** How long after healing the world may take to converge; ten minutes when absent. */
  readonly convergeWithinMs?: number;
  /** How long nothing may be written then; ten minutes when absent. */
  readonly quietMs?: number;
  /** Told of every broken promise as soon as it is known. */
  readonly onViolation?: (violation: Violation) => void;
}

export interface Outcome {
  readonly violations: readonly Violation[];
  readonly hash: string;
  /** Taken when it is asked for, once. */
  readonly ending: Ending;
  /** Of the control plane, from the first step until it had converged. */
  readonly writes: number;
  /** Those of them of which dying before them is dying after the one before. */
  readonly sequels: ReadonlySet<number>;
  readonly simulatedMs: number;
  /** From healing until everything held. */
  readonly convergedAfterMs: number;
  /** What people were refused. */
  readonly refused: readonly string[];
  /** Which fault met which phase, as `fault × phase`. */
  readonly cells: readonly string[];
  readonly timeline: readonly string[];
}

const READY_MS = 15_000;
const CONVERGE_STEP_MS = 1000;
/** What controllers may still write after the members hold what they should: last statuses. */
const SETTLE_MS = 60_000;
const MINUTE_MS = 60_000;

/** Runs one scenario from start to rest. */
export async function runScenario(
  ports: SimulationPorts,
  scenario: Scenario,
  options: RunOptions = {},
): Promise<Outcome> {
  const images = options.images ?? (await joinedImages(ports, scenario.members, scenario.pull));
  const run = new Run(await startWorld(ports, scenario, images), scenario, options.onViolation);
  await run.act();
  await run.converge(options.convergeWithinMs ?? 10 * MINUTE_MS);
  await run.rest(options.quietMs ?? 10 * MINUTE_MS);
  return run.outcome();
}

async function startWorld(
  ports: SimulationPorts,
  scenario: Scenario,
  images: Images,
): Promise<Simulation> {
  const { seed, members, pull, balancers = [], detectors = [] } = scenario;
  const { names = false, syncDelayMs = 0 } = scenario;
  const controllers = controllersOf(scenario);
  const beside = { balancers, detectors, names };
  const options = { seed, members, ...beside, syncDelayMs, images, controllers };
  const simulation = await createSimulation(ports, { ...options, ...(pull && { pull }) });
  await simulation.advance(READY_MS);
  return simulation;
}

/** How the plane of a scenario is started. */
function controllersOf(scenario: Scenario): Partial<ControllersOptions> {
  const { failover = false, statefulInjection = false, rate, purgeMode } = scenario;
  const { plugins, threshold } = scenario;
  return {
    failover,
    statefulFailoverInjection: statefulInjection,
    ...(rate !== undefined && { resourceEvictionRate: rate }),
    ...(purgeMode !== undefined && { noExecutePurgeMode: purgeMode }),
    ...(plugins !== undefined && { evictPlugins: plugins }),
    ...(threshold !== undefined && {
      clusterFailureThresholdMs: threshold * 1000,
      clusterSuccessThresholdMs: threshold * 1000,
    }),
  };
}

class Run {
  readonly #simulation: Simulation;
  readonly #scenario: Scenario;
  readonly #truth: Truth;
  readonly #jury: Jury;
  readonly #watches: WatchJudge;
  readonly #reads: ReadJudge;
  readonly #violations: Violation[] = [];
  readonly #timeline: string[] = [];
  readonly #members: readonly string[];
  readonly #firstWrite: number;
  readonly #began: number;
  readonly #cells: Cells;
  readonly #onViolation: RunOptions["onViolation"];
  #writes = 0;
  /** How many faults have begun. */
  #begun = 0;
  #convergedAfterMs = 0;

  constructor(simulation: Simulation, scenario: Scenario, onViolation: RunOptions["onViolation"]) {
    this.#onViolation = onViolation;
    this.#simulation = simulation;
    this.#scenario = scenario;
    this.#truth = new Truth(simulation.ledger, circumstancesOf(scenario), simulation.witness);
    this.#jury = new Jury(this.#truth, alwaysOracles);
    this.#members = [...simulation.members.keys()];
    this.#firstWrite = simulation.writes.count;
    this.#began = simulation.clock.monotonic();
    this.#cells = new Cells(this.#truth, () => simulation.clock.monotonic());
    this.#watches = new WatchJudge(simulation);
    this.#reads = new ReadJudge(simulation);
    simulation.ledger.onChange((change) => this.#judge(change));
    simulation.writes.onDone((write) => {
      for (const violation of judgeDone(write)) this.#report(violation);
    });
    simulation.writes.onWrite((write) => {
      for (const violation of judgeRequest(write, this.#truth)) this.#report(violation);
    });
  }

  /** Steps and faults, until the last is over; then everything is healed. */
  async act(): Promise<void> {
    const { clock } = this.#simulation;
    for (const fault of this.#scenario.faults)
      arrangeFault(this.#simulation, fault, () => {
        this.#begun += 1;
        this.#note(describe(fault));
        this.#cells.faultBegan(fault);
      });
    for (const step of this.#scenario.steps)
      clock.after(step.at * 1000, () => {
        this.#note(describe(step));
        this.#cells.stepTaken(step);
        takeStep(this.#simulation, step);
      });
    await clock.advance(endOf(this.#scenario) * 1000 + 1000);
    await clock.advanceUntil(() => this.#simulation.allOrdersDone, 10 * MINUTE_MS);
    assert(this.#simulation.allOrdersDone, "people get done what they want");
    healAll(this.#simulation);
    this.#cells.healed();
    this.#note("healed");
  }

  /**
   * Everything holds within the time, and still does when it has settled: something may hold for a moment between two
   * decisions. What goes wrong at a late write begins the time anew.
   */
  async converge(limitMs: number): Promise<void> {
    const { clock } = this.#simulation;
    let [begun, healedAt] = [this.#begun, clock.monotonic()];
    for (;;) {
      const isInTime = await this.#untilAllHolds(healedAt, limitMs);
      await this.#simulation.advance(SETTLE_MS + longestWindowOf(this.#scenario) * 1000);
      if (this.#begun > begun) [begun, healedAt] = [this.#begun, clock.monotonic()];
      else if (!isInTime || this.#judgeEnd().length === 0) break;
    }
    this.#writes = this.#simulation.writes.count - this.#firstWrite;
  }

  /** Waits until everything holds; false: it does not in time, which is told. */
  async #untilAllHolds(healedAt: number, limitMs: number): Promise<boolean> {
    const { clock } = this.#simulation;
    for (;;) {
      const wrong = this.#judgeEnd();
      this.#convergedAfterMs = clock.monotonic() - healedAt;
      if (wrong.length === 0) {
        this.#note("converged");
        return true;
      }
      if (this.#convergedAfterMs >= limitMs) {
        for (const violation of wrong.slice(0, 10)) this.#report(violation);
        return false;
      }
      releaseBrakes(this.#simulation);
      await clock.advance(CONVERGE_STEP_MS);
    }
  }

  /** Nothing is written, and everything still holds. */
  async rest(quietMs: number): Promise<void> {
    const { ledger, clock } = this.#simulation;
    const before = ledger.rows.length;
    await clock.advance(quietMs);
    const loud = ledger.rows.slice(before).filter(({ table }) => !isHeartbeat(table));
    if (loud.length > 0) {
      const [first] = loud;
      this.#report({
        oracle: "quiet-at-rest",
        promise: "H7: a world in which nothing happens writes nothing but heartbeats",
        says: `${loud.length} writes at rest, the first: ${first?.server} ${first?.row.type} ${first?.table} ${first?.key}`,
      });
    }
    if (this.#violations.length === 0)
      for (const violation of this.#judgeEnd()) this.#report(violation);
    for (const violation of judgeAnswers(this.#simulation)) this.#report(violation);
    for (const fault of this.#reads.faults)
      this.#report({
        oracle: "reads-are-current",
        promise: "K1: a read answers what was on disk at some moment while it lasted",
        says: fault,
      });
    for (const fault of this.#watches.faults())
      this.#report({
        oracle: "watches-tell-everything",
        promise: "K2: a watch is ordered, unique, complete and resumable, over restarts too",
        says: fault,
      });
  }

  outcome(): Outcome {
    const { ledger, clock } = this.#simulation;
    let ending: Ending | undefined;
    const findEnding = (): Ending => endingOf(ledger, ["plane", ...this.#members]);
    return {
      violations: this.#violations,
      hash: ledger.hash,
      get ending(): Ending {
        ending ??= findEnding();
        return ending;
      },
      writes: this.#writes,
      sequels: new Set(
        [...this.#simulation.writes.sequels].map((number) => number - this.#firstWrite),
      ),
      simulatedMs: clock.monotonic(),
      convergedAfterMs: this.#convergedAfterMs,
      refused: this.#simulation.refusedOrders.map(String),
      cells: this.#cells.met,
      timeline: this.#timeline,
    };
  }

  #judgeEnd(): readonly Violation[] {
    return judgeConverged(this.#truth, this.#members);
  }

  #judge(change: Committed): void {
    this.#noteChange(change);
    this.#cells.changed(change.table);
    for (const violation of this.#jury.judge(change)) this.#report(violation);
  }

  #report(violation: Violation): void {
    this.#violations.push(violation);
    this.#note(`BROKEN ${violation.oracle}: ${violation.says}`);
    this.#onViolation?.(violation);
  }

  #noteChange({ server, table, key, row }: Committed): void {
    this.#note(`${server} ${row.type} ${table} ${key} @${row.revision}`);
  }

  #note(text: string): void {
    const seconds = (this.#simulation.clock.monotonic() - this.#began) / 1000;
    this.#timeline.push(`${seconds.toFixed(3).padStart(9)} ${text}`);
  }
}

function isHeartbeat(table: string): boolean {
  return table === "coordination.k8s.io/leases";
}
