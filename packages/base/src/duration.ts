/** Go's text form of durations (`1h30m`, `250ms`), as flags and Kubernetes fields write them. */

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const PART = /^(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/;

/** Milliseconds; `undefined` when the text is not a duration. A bare number has no unit and is refused, except `0`. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const negative = text.startsWith("-");
  let rest = negative || text.startsWith("+") ? text.slice(1) : text;
  if (rest === "") return undefined;
  let total = 0;
  while (rest !== "") {
    const match = PART.exec(rest);
    if (match === null) return undefined;
    total += Number(match[1]) * (UNIT_MS[match[2] as string] as number);
    rest = rest.slice(match[0].length);
  }
  return negative ? -total : total;
}

/** The shortest form in hours, minutes, seconds and milliseconds: `1h30m`, `5s`, `250ms`, `0s`. */
export function formatDuration(milliseconds: number): string {
  const sign = milliseconds < 0 ? "-" : "";
  let rest = Math.round(Math.abs(milliseconds));
  if (rest === 0) return "0s";
  const hours = Math.floor(rest / 3_600_000);
  rest %= 3_600_000;
  const minutes = Math.floor(rest / 60_000);
  rest %= 60_000;
  const seconds = Math.floor(rest / 1000);
  const parts = [
    hours > 0 ? `${hours}h` : "",
    minutes > 0 ? `${minutes}m` : "",
    seconds > 0 ? `${seconds}s` : "",
  ];
  if (rest % 1000 > 0) parts.push(`${rest % 1000}ms`);
  return sign + parts.join("");
}
