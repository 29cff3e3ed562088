/**
 * The log as a person reads it on a terminal: the time of day, the sentence, and what else the line holds. Each line is the JSON line
 * that would be written elsewhere, so nothing is recorded otherwise.
 */
import type { DestinationStream } from "pino";

/** A destination that writes each line for people; what is no JSON is written as it is. */
export function humanLines(write: (text: string) => void): DestinationStream {
  return { write: (line) => write(humanLine(line)) };
}

/** Fields that stand in the sentence, or that shows what it shows. */
const TOLD: ReadonlySet<string> = new Set(["level", "time", "msg", "text"]);
/** Of the history: the sentence holds them. */
const IN_SENTENCE: ReadonlySet<string> = new Set(["action", "cluster", "evacuation", "by"]);
const MAX_VALUE = 200;

export function humanLine(line: string): string {
  let entry: Readonly<Record<string, unknown>>;
  try {
    entry = JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return line;
  }
  const { level, time, msg, text } = entry;
  const clock = typeof time === "number" ? new Date(time).toISOString().slice(11, 19) : "";
  const isStory = msg === "history" && typeof text === "string";
  const sentence = isStory ? text : `${level === "warn" ? "" : `${String(level)}: `}${String(msg)}`;
  const fields = Object.entries(entry)
    .filter(([name]) => !TOLD.has(name) && !(isStory && IN_SENTENCE.has(name)))
    .map(([name, value]) => `${name}=${valueText(value)}`);
  const rest = fields.length === 0 ? "" : ` (${fields.join(", ")})`;
  return `${plain(`${clock}  ${sentence}${rest}`)}\n`;
}

function valueText(value: unknown): string {
  if (typeof value === "string") return value.slice(0, MAX_VALUE);
  const message =
    typeof value === "object" && value !== null && "message" in value ? value.message : undefined;
  if (typeof message === "string") return message.slice(0, MAX_VALUE);
  return (JSON.stringify(value) ?? "").slice(0, MAX_VALUE);
}

/** What came from an API server is shown, never obeyed. */
function plain(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}
