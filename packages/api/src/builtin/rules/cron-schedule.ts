/** The syntax of a CronJob's schedule: five fields, or a descriptor such as `@daily` or `@every 1h`. */
import { parseDuration } from "@lifeboat/base";

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const DAYS = "sun mon tue wed thu fri sat".split(" ");
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const DESCRIPTORS = new Set([
  "@yearly",
  "@annually",
  "@monthly",
  "@weekly",
  "@daily",
  "@midnight",
  "@hourly",
]);
/** Longer schedules are not looked at: no real one comes near. */
const MAX_LENGTH = 4096;

/** What is wrong with a schedule; undefined when it is fine. A leading time zone is passed over. */
export function scheduleProblem(schedule: string): string | undefined {
  if (schedule.length > MAX_LENGTH) return `expected at most ${MAX_LENGTH} characters`;
  const spec = withoutZone(schedule);
  if (spec.startsWith("@")) return descriptorProblem(spec);
  const fields = spec.split(/\s+/).filter((field) => field !== "");
  if (fields.length !== FIELDS.length) {
    return `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
  }
  for (const [index, bounds] of FIELDS.entries()) {
    for (const range of (fields[index] as string).split(",")) {
      const problem = range === "" ? undefined : rangeProblem(range, bounds);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function withoutZone(schedule: string): string {
  if (!schedule.startsWith("TZ=") && !schedule.startsWith("CRON_TZ=")) return schedule;
  const space = schedule.indexOf(" ");
  return space < 0 ? "" : schedule.slice(space).trim();
}

function descriptorProblem(spec: string): string | undefined {
  if (DESCRIPTORS.has(spec)) return undefined;
  if (!spec.startsWith("@every ")) return `unrecognized descriptor: ${spec}`;
  const duration = spec.slice("@every ".length);
  if (parseDuration(duration) !== undefined) return undefined;
  return `failed to parse duration ${spec}: time: invalid duration ${JSON.stringify(duration)}`;
}

function rangeProblem(range: string, bounds: Bounds): string | undefined {
  const [span = "", step, ...moreSteps] = range.split("/");
  const [low = "", high, ...more] = span.split("-");
  let start = bounds.min;
  let end = bounds.max;
  if (low !== "*" && low !== "?") {
    const first = valueOf(low, bounds);
    if (typeof first === "string") return first;
    start = first;
    if (more.length > 0) return `too many hyphens: ${range}`;
    const last =
      high === undefined ? (step === undefined ? first : bounds.max) : valueOf(high, bounds);
    if (typeof last === "string") return last;
    end = last;
  }
  if (moreSteps.length > 0) return `too many slashes: ${range}`;
  const every = step === undefined ? 1 : valueOf(step, { min: 0, max: 0 });
  if (typeof every === "string") return every;
  if (start < bounds.min) {
    return `beginning of range (${start}) below minimum (${bounds.min}): ${range}`;
  }
  if (end > bounds.max) return `end of range (${end}) above maximum (${bounds.max}): ${range}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${range}`;
  return every === 0 ? `step of range should be a positive number: ${range}` : undefined;
}

/** The number, or what is wrong with it. */
function valueOf(text: string, bounds: Bounds): number | string {
  const named = bounds.names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + bounds.min;
  if (!/^[+-]?\d+$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  }
  const number = Number(text);
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number;
}
