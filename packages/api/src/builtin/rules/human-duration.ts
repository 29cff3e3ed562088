/** The short age of an object as tables print it: two units while small, one unit when large. */
import { type Instant, parseTime } from "@lifeboat/base";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

interface Step {
  /** The step is for spans shorter than this. */
  readonly below: number;
  readonly unit: readonly [size: number, suffix: string];
  /** A second, smaller unit; left out when it is zero. */
  readonly rest?: readonly [size: number, suffix: string];
}

const STEPS: readonly Step[] = [
  { below: 2 * MINUTE, unit: [SECOND, "s"] },
  { below: 10 * MINUTE, unit: [MINUTE, "m"], rest: [SECOND, "s"] },
  { below: 3 * HOUR, unit: [MINUTE, "m"] },
  { below: 8 * HOUR, unit: [HOUR, "h"], rest: [MINUTE, "m"] },
  { below: 2 * DAY, unit: [HOUR, "h"] },
  { below: 8 * DAY, unit: [DAY, "d"], rest: [HOUR, "h"] },
  { below: 2 * YEAR, unit: [DAY, "d"] },
  { below: 8 * YEAR, unit: [YEAR, "y"], rest: [DAY, "d"] },
  { below: Infinity, unit: [YEAR, "y"] },
];

/** `15m`, `3d4h`, `0s`; `<invalid>` when it lies two seconds or more in the future, since clocks may differ by less. */
export function humanDuration(milliseconds: number): string {
  if (!(milliseconds > -2 * SECOND)) return "<invalid>";
  if (milliseconds < 0) return "0s";
  for (const { below, unit, rest } of STEPS) {
    if (milliseconds >= below) continue;
    const text = `${Math.floor(milliseconds / unit[0])}${unit[1]}`;
    const remainder = rest === undefined ? 0 : Math.floor((milliseconds % unit[0]) / rest[0]);
    return remainder === 0 || rest === undefined ? text : `${text}${remainder}${rest[1]}`;
  }
  return "<invalid>";
}

/** The age of a wire timestamp at `now`; `<unknown>` when there is none or it cannot be read. */
export function ageOf(timestamp: unknown, now: Instant): string {
  const time = typeof timestamp === "string" ? parseTime(timestamp) : undefined;
  return time === undefined ? "<unknown>" : humanDuration(now - time);
}
