/** `os.date` and `os.time` for scripts: in UTC, from the time they are given. */
import { isJsonObject, type Json, type JsonObject } from "@lifeboat/api";
import { Problem } from "./script-lua-kube.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

const DIRECTIVES: Readonly<Record<string, (date: Date) => string>> = {
  a: (date) => (DAYS[date.getUTCDay()] ?? "").slice(0, 3),
  A: (date) => DAYS[date.getUTCDay()] ?? "",
  b: (date) => (MONTHS[date.getUTCMonth()] ?? "").slice(0, 3),
  B: (date) => MONTHS[date.getUTCMonth()] ?? "",
  c: (date) => write("%a %b %d %H:%M:%S %Y", date),
  d: (date) => two(date.getUTCDate()),
  F: (date) => write("%Y-%m-%d", date),
  H: (date) => two(date.getUTCHours()),
  I: (date) => two(date.getUTCHours() % 12 || 12),
  j: (date) => String(dayOfYear(date)).padStart(3, "0"),
  m: (date) => two(date.getUTCMonth() + 1),
  M: (date) => two(date.getUTCMinutes()),
  p: (date) => (date.getUTCHours() < 12 ? "AM" : "PM"),
  S: (date) => two(date.getUTCSeconds()),
  T: (date) => write("%H:%M:%S", date),
  w: (date) => String(date.getUTCDay()),
  x: (date) => write("%m/%d/%y", date),
  X: (date) => write("%H:%M:%S", date),
  y: (date) => two(date.getUTCFullYear() % 100),
  Y: (date) => String(date.getUTCFullYear()),
  Z: () => "UTC",
  "%": () => "%",
};

/** A time in seconds, written by a format of `strftime`, or as a table for `*t`. Throws `Problem`. */
export function dateOf(format: string, seconds: number): Json {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) throw new Problem("the time is out of range");
  const pattern = format.startsWith("!") ? format.slice(1) : format;
  if (!pattern.startsWith("*t")) return write(pattern, date);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    min: date.getUTCMinutes(),
    sec: date.getUTCSeconds(),
    wday: date.getUTCDay() + 1,
    yday: dayOfYear(date),
    isdst: false,
  };
}

/** The seconds since 1970 of a table of year, month, day and perhaps hour, min and sec. Throws `Problem`. */
export function timeOf(table: Json): number {
  const fields: JsonObject = isJsonObject(table) ? table : {};
  const at = (name: string, otherwise?: number): number => {
    const value = Number(fields[name] ?? otherwise);
    if (!Number.isInteger(value)) throw new Problem(`os.time needs a whole number as ${name}`);
    return value;
  };
  const days = Date.UTC(at("year"), at("month") - 1, at("day"));
  const time = days / 1000 + at("hour", 12) * 3600 + at("min", 0) * 60 + at("sec", 0);
  if (!Number.isFinite(time)) throw new Problem("the time is out of range");
  return time;
}

function write(format: string, date: Date): string {
  return format.replaceAll(/%(.?)/gs, (all, name: string) =>
    Object.hasOwn(DIRECTIVES, name) ? (DIRECTIVES[name]?.(date) ?? all) : all,
  );
}

function dayOfYear(date: Date): number {
  const first = Date.UTC(date.getUTCFullYear(), 0, 1);
  return Math.floor((date.getTime() - first) / 86_400_000) + 1;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
