/**
 * What a policy asks for about failback (D31): `lifeboat.dev/failback: "<stabilisation>[;max=N][;window=HH:MM-HH:MM]"`.
 *
 *   stabilisation   how long the former clusters must have been Ready and without taints that move workloads, such as 30m
 *   max             how many workloads of the policy return at the same time; 1 when absent
 *   window          the time of day in which a return may begin, in UTC; it may pass midnight; always when absent
 *
 * Any other text asks for nothing: a slip must not move workloads.
 */
import { addMs, type Instant, instantOf, parseDuration } from "@lifeboat/base";

export interface FailbackRule {
  readonly stabilisationMs: number;
  readonly max: number;
  /** Minutes of the day. */
  readonly window?: { readonly from: number; readonly to: number };
}

const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;

/** undefined: the text is not valid. */
export function parseFailback(text: string): FailbackRule | undefined {
  const [stabilisation = "", ...rest] = text.split(";").map((part) => part.trim());
  const stabilisationMs = parseDuration(stabilisation);
  if (stabilisationMs === undefined || !(stabilisationMs >= 0)) return undefined;
  const given = new Map<string, string>();
  for (const part of rest) {
    const [name = "", value = "", ...more] = part.split("=").map((one) => one.trim());
    if (more.length > 0 || given.has(name)) return undefined;
    given.set(name, value);
  }
  const { max = "1", window, ...unknown } = Object.fromEntries(given);
  if (Object.keys(unknown).length > 0 || !/^[1-9]\d{0,4}$/.test(max)) return undefined;
  if (window === undefined) return { stabilisationMs, max: Number(max) };
  const times = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(window);
  const [from, to] = [minuteOf(times?.[1], times?.[2]), minuteOf(times?.[3], times?.[4])];
  if (from === undefined || to === undefined || from === to) return undefined;
  return { stabilisationMs, max: Number(max), window: { from, to } };
}

function minuteOf(hours = "", minutes = ""): number | undefined {
  if (hours === "" || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return Number(hours) * 60 + Number(minutes);
}

/** When a return may begin: now, or at the next opening of the window. */
export function opensAt({ window }: FailbackRule, now: Instant): Instant {
  if (window === undefined) return now;
  const sinceMidnight = ((now % DAY_MS) + DAY_MS) % DAY_MS;
  const minute = sinceMidnight / MINUTE_MS;
  const { from, to } = window;
  const isOpen = from < to ? minute >= from && minute < to : minute >= from || minute < to;
  if (isOpen) return now;
  const opening = addMs(instantOf(now - sinceMidnight), from * MINUTE_MS);
  return opening >= now ? opening : addMs(opening, DAY_MS);
}
