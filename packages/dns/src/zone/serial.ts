/**
 * The serial of a zone: time in units of 50 ms, in the circle of 32 bits that secondaries count in (RFC 1982).
 *
 * Zones are published at least one unit apart, so the serial never runs ahead of the time and grows over restarts without being
 * kept anywhere; servers of one zone agree about which content is newer as far as their clocks do. A clock that was set back
 * is passed by counting on from the last serial of this process.
 */
export const SERIAL_UNIT_MS = 50;

const CIRCLE = 0x1_0000_0000;

export function nextSerial(last: number | undefined, nowMs: number): number {
  const byTime = Math.floor(nowMs / SERIAL_UNIT_MS) % CIRCLE;
  if (last === undefined || isNewer(byTime, last)) return byTime;
  return (last + 1) % CIRCLE;
}

/** Whether `a` comes after `b` on the circle. */
export function isNewer(a: number, b: number): boolean {
  const distance = (a - b + CIRCLE) % CIRCLE;
  return distance > 0 && distance < CIRCLE / 2;
}
