/**
 * When single detections become a verdict (D17).
 *
 *     works ──(failures without a break for the failure threshold)──▶ fails
 *     fails ──(successes without a break for the success threshold)──▶ works
 *     undecided ──(either, for its whole threshold)──▶ works or fails
 *
 * 1. One detection of the other kind begins the window again.
 * 2. Time in which nothing was detected does not count: after a gap of more than `maxGapMs` the window begins again. A process that
 *    was paused has seen neither success nor failure meanwhile.
 * 3. Times are of a clock that never goes back.
 */

export interface DetectorThresholds {
  /** How long failures must last. */
  readonly failureMs: number;
  /** How long successes must last. */
  readonly successMs: number;
  /** The longest time between two detections that belong together. */
  readonly maxGapMs: number;
}

export interface DetectorWindow {
  /** Whether it works; undefined: not decided yet. */
  readonly verdict: boolean | undefined;
  /** The detections of one kind without a break, up to the last one. */
  readonly streak?: { readonly success: boolean; readonly since: number; readonly last: number };
}

/** The window at the start, from what the Cluster reports: absent or Unknown leaves it undecided. */
export function firstWindow(status: string | undefined): DetectorWindow {
  return { verdict: status === "True" ? true : status === "False" ? false : undefined };
}

/** The window after one more detection, which ended at `at`. */
export function afterDetection(
  { verdict, streak }: DetectorWindow,
  success: boolean,
  at: number,
  thresholds: DetectorThresholds,
): DetectorWindow {
  const goesOn =
    streak !== undefined && streak.success === success && at - streak.last <= thresholds.maxGapMs;
  const since = goesOn ? streak.since : at;
  const neededMs = success ? thresholds.successMs : thresholds.failureMs;
  const isDecided = at - since >= neededMs;
  return { verdict: isDecided ? success : verdict, streak: { success, since, last: at } };
}
