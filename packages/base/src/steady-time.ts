/**
 * How much time has passed since a moment that was written down, although the wall clock may jump.
 *
 * Times that must outlive a process are written as the wall clock shows them: people read them. Whether so much time has
 * passed since is asked here, and nowhere else: the advance of the wall clock is compared with that of the monotonic one,
 * and where the two part by more than half a second the wall clock made a *step*. A time written before a step is then
 * read on the clock of before it. For times that were written on the clock of this process, with a look between any two
 * steps, and D the sum of the sizes of all steps from the last look before the writing to the asking:
 *
 * 1. What is counted never exceeds the true time by more than `STEADY_TOLERANCE_MS`, whatever the clock does.
 * 2. What is counted is never less than the true time - `STEADY_TOLERANCE_MS` - D. It is exact but for the tolerance unless
 *    two readings of the text are possible, and then the one that counts less is taken: after a step back, once the clock
 *    shows the written time a second time; or where a step is smaller than the pause between two looks.
 * 3. A time that this clock has not shown counts from the step that skipped it, or, if it lies in the future, from when it
 *    was first asked about: nothing waits longer than twice its time.
 * 4. Without a step it is plain arithmetic: `due(since, ms)` is `since + ms`.
 *
 * Steps outlive a process where its user writes the log down and has the next one remember it. Remembering the steps of
 * another machine lets times count less, never more. What cannot be seen: a clock that was changed while no process ran, or
 * that is wrong on another machine; there the wall clock is believed. A machine that sleeps stops its monotonic clock, so waking up looks like a step forward, and waits go on from
 * where they were: longer, never shorter.
 */
import type { Clock } from "./clock.ts";
import { addMs, type Instant, instantOf } from "./time.ts";

/** The moment, on the clock of now, at which so much time will have passed since `since`. */
export type DueTime = (since: Instant, afterMs: number) => Instant;

/** Now, and what is due at it: both of one look, so that no step can come between them. */
export interface Moment {
  readonly now: Instant;
  readonly due: DueTime;
}

/** The wall clock jumped. */
export interface ClockStep {
  /** What the clock showed when that was seen. */
  readonly seen: Instant;
  /** By how much; negative: back. */
  readonly byMs: number;
  /** Nothing on the clock after this step is earlier, ... */
  readonly from: Instant;
  /** ... and nothing on the one before it is later. */
  readonly until: Instant;
}

/** The steps of a clock, oldest first. */
export interface StepLog {
  /** Times before this were written on clocks that are forgotten. */
  readonly begin: number;
  readonly steps: readonly ClockStep[];
}

/** Of a clock that has not jumped. */
export const NO_STEPS: StepLog = Object.freeze({ begin: -Infinity, steps: [] });

/** By how much more or less than the true time may be counted. */
export const STEADY_TOLERANCE_MS = 1000;

/** How far the clocks may part before it is a step. Twice that, because the clock may have been slow before and fast now. */
const DRIFT_MS = STEADY_TOLERANCE_MS / 2;
/** Times are written in whole seconds, some of them rounded up: so far ahead is not the future. */
const AHEAD_MS = 1000;
/** Steps that are kept; of what is older it is only known that it was before them. */
const MAX_STEPS = 64;
/** Times of the future that are remembered. */
const MAX_FUTURE = 1000;

/** Watches the clocks of this process, from when it is made. Every question is also a look; `look` is for the time between questions. */
export class SteadyTime {
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  readonly #onStep: (step: ClockStep) => void;
  #log = NO_STEPS;
  /** The steps that this process saw itself. */
  #own = NO_STEPS;
  /** Wall time less monotonic time, as of the last step. */
  #offset: number;
  /** What the wall clock showed when this process began to watch it. */
  readonly #start: Instant;
  #lookedAt: number;
  #count = 0;
  /** When times of the future were first asked about, on the monotonic clock. */
  readonly #future = new Map<Instant, number>();

  constructor(
    clock: Pick<Clock, "now" | "monotonic">,
    onStep: (step: ClockStep) => void = () => undefined,
  ) {
    this.#clock = clock;
    this.#onStep = onStep;
    this.#lookedAt = clock.monotonic();
    this.#start = clock.now();
    this.#offset = this.#start - this.#lookedAt;
  }

  /** How often steps were seen or remembered: another number means that what was due at some time is due at another one. */
  get steps(): number {
    return this.#count;
  }

  /** All steps that are known. */
  get log(): StepLog {
    return this.#log;
  }

  /** Takes in the steps that other processes saw, and those of this one that were written down. */
  remember(log: StepLog): void {
    const isNew = ({ seen, byMs }: ClockStep): boolean =>
      !log.steps.some((one) => one.seen === seen && one.byMs === byMs);
    this.#log = this.#own.steps.filter(isNew).reduce(withStep, log);
    this.#count += 1;
  }

  /** Compares the clocks. The more often, the less is left open about times that are written around a step. */
  look(): void {
    this.moment();
  }

  /** Now, and what is due. */
  moment(): Moment {
    const before = this.#clock.monotonic();
    const now = this.#clock.now();
    const after = this.#clock.monotonic();
    this.#compare(now, before, after);
    const log = this.#log;
    // Once steps of its own are forgotten, so is the clock that this process found.
    const own = this.#own.begin === NO_STEPS.begin ? this.#own.steps.length : Infinity;
    const due: DueTime = (since, afterMs) => {
      if (log.steps.length === 0 && since <= now + AHEAD_MS) return addMs(since, afterMs);
      const read = elapsedSince(log, since, now, { start: this.#start, steps: own });
      // In the future by every reading: the clock of the writer was wrong, and nothing shall wait until it is right.
      const elapsed =
        read === undefined || read < -AHEAD_MS ? this.#sinceFirstAsked(since, after) : read;
      return addMs(now, Math.ceil(afterMs - elapsed));
    };
    return { now, due };
  }

  /** The process may have stood still between two readings: only what no such pause explains is a step. */
  #compare(now: Instant, before: number, after: number): void {
    const offset = Math.min(Math.max(this.#offset, now - after), now - before);
    const byMs = Math.round(offset - this.#offset);
    const lookedAt = this.#lookedAt;
    this.#lookedAt = after;
    // seed: no-jump
    if (Math.abs(byMs) <= DRIFT_MS) return;
    const step: ClockStep = {
      seen: now,
      byMs,
      from: instantOf(Math.floor(lookedAt + this.#offset + byMs - DRIFT_MS)),
      until: instantOf(Math.ceil(after + this.#offset + DRIFT_MS)),
    };
    this.#log = withStep(this.#log, step);
    this.#own = withStep(this.#own, step);
    this.#offset += byMs;
    this.#count += 1;
    this.#onStep(step);
  }

  #sinceFirstAsked(since: Instant, monotonic: number): number {
    const first = this.#future.get(since);
    if (first !== undefined) return monotonic - first;
    for (const oldest of this.#future.keys()) {
      if (this.#future.size < MAX_FUTURE) break;
      this.#future.delete(oldest);
    }
    this.#future.set(since, monotonic);
    return 0;
  }
}

/** A moment at which the wall clock is believed: for looks from outside of a control plane, and for tests. */
export function plainMoment(now: Instant): Moment {
  return { now, due: addMs };
}

function withStep({ begin, steps }: StepLog, step: ClockStep): StepLog {
  const [oldest, ...others] = steps;
  if (oldest === undefined || steps.length < MAX_STEPS) return { begin, steps: [...steps, step] };
  return { begin: oldest.seen, steps: [...others, step] };
}

/**
 * The least that any reading of the text allows; undefined: it lies in the future by all of them. What this process wrote
 * since its start, before a step of its own, is read on the clock that it found, wherever on the clocks of earlier processes that lies.
 */
function elapsedSince(
  { begin, steps }: StepLog,
  since: Instant,
  now: Instant,
  own: { readonly start: Instant; readonly steps: number },
): number | undefined {
  let read: number | undefined;
  let skipped: number | undefined;
  let shift = 0;
  let end = now + AHEAD_MS;
  for (let i = steps.length; i >= 0; i--) {
    const step = steps[i - 1];
    const { from, seen, until } = step ?? { from: begin, seen: begin, until: -Infinity };
    const isOwn = i === steps.length - own.steps && since >= own.start;
    if ((since >= from || isOwn) && since <= end) read = least(read, now - since - shift);
    if (since < from && since > until) skipped = least(skipped, now - seen - shift);
    if (step === undefined) break;
    // seed: shift-by-jump
    shift += step.byMs;
    end = step.until;
  }
  return read ?? skipped;
}

function least(a: number | undefined, b: number): number {
  return a === undefined ? b : Math.min(a, b);
}
