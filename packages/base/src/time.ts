/**
 * Points in time and spans of time, as branded numbers of milliseconds.
 *
 * Wall time (`Instant`) is for what is written down; monotonic time is for measuring how long something took.
 * On the wire time is a string: `formatTime` (whole seconds, metav1.Time) or `formatMicroTime` (six fraction
 * digits, metav1.MicroTime), because Kubernetes clients refuse any other shape.
 */

declare const instant: unique symbol;

/** Milliseconds since the Unix epoch. */
export type Instant = number & { readonly [instant]: true };

export function instantOf(milliseconds: number): Instant {
  return milliseconds as Instant;
}

export function addMs(time: Instant, milliseconds: number): Instant {
  return (time + milliseconds) as Instant;
}

/** The second that was formatted last, and its text: most of what is written in a row is written in the same second. */
let last = { second: Number.NaN, text: "" };

/** metav1.Time: RFC 3339, second precision, UTC. Fractions are cut off, as Go does. */
export function formatTime(time: Instant): string {
  const second = Math.floor(time / 1000);
  if (second !== last.second)
    last = { second, text: `${new Date(time).toISOString().slice(0, 19)}Z` };
  return last.text;
}

/** metav1.MicroTime: RFC 3339 with exactly six fraction digits. */
export function formatMicroTime(time: Instant): string {
  return `${new Date(time).toISOString().slice(0, 23)}000Z`;
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Reads an RFC 3339 timestamp; `undefined` when the text is not one. */
export function parseTime(text: string): Instant | undefined {
  if (!RFC3339.test(text)) return undefined;
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : (milliseconds as Instant);
}
