/**
 * One object for a person: what it is, its conditions with their ages, what was reported about it, what the history holds, and then
 * what it asks for. What the server keeps for itself (managed fields, the last applied document) is left out.
 */
import {
  ageOf,
  encodeYaml,
  humanDuration,
  isJsonObject,
  type Json,
  type JsonObject,
  type LedgerEntry,
} from "@lifeboat/api";
import { type Instant, parseTime } from "@lifeboat/base";
import { historyLines } from "./history/history-text.ts";
import { columns, hanging, plain, shorten } from "./wrap.ts";

export interface Described {
  readonly object: JsonObject;
  /** Events about it. */
  readonly events: readonly JsonObject[];
  /** Entries of the history about it, oldest first. */
  readonly history: readonly LedgerEntry[];
}

const LABEL = 13;
const MAX_EVENTS = 20;
const MAX_HISTORY = 15;
const MAX_VALUE = 200;

export function describeLines(
  { object, events, history }: Described,
  now: Instant,
): readonly string[] {
  const metadata = fieldsOf(object["metadata"]);
  const line = (label: string, text: string): readonly string[] =>
    text === "" ? [] : hanging(`${label}:`.padEnd(LABEL), text);
  const status = fieldsOf(object["status"]);
  const { conditions, ...rest } = status;
  return [
    ...line("Name", textOf(metadata["name"])),
    ...line("Namespace", textOf(metadata["namespace"])),
    ...line("Kind", `${textOf(object["kind"])} (${textOf(object["apiVersion"])})`),
    ...line("Age", ageOf(textOf(metadata["creationTimestamp"]), now)),
    ...(metadata["deletionTimestamp"] === undefined
      ? []
      : line(
          "Deleted",
          `since ${textOf(metadata["deletionTimestamp"])}, and waits for its finalizers`,
        )),
    ...pairs("Labels", metadata["labels"]),
    ...pairs("Annotations", metadata["annotations"]),
    ...conditionLines(conditions, now),
    ...eventLines(events, now),
    ...historyPart(history),
    ...document("Spec", without(object["spec"] ?? object["data"])),
    ...document("Status", without(rest)),
  ];
}

/** Long lists that are the same for every cluster, and that no person reads here. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  "resourceModels",
  "allocatableModelings",
  "apiEnablements",
]);

function without(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((one: Json) => without(one) ?? null);
  if (value === undefined || !isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !PASSED_OVER.has(key))
      .map(([key, one]) => [key, without(one) ?? null]),
  );
}

/** One line each, cut at the width: what is longer is there with -o yaml. */
function pairs(label: string, given: Json | undefined): readonly string[] {
  const entries = Object.entries(fieldsOf(given)).filter(
    ([key]) => key !== "kubectl.kubernetes.io/last-applied-configuration",
  );
  const indent = " ".repeat(LABEL);
  return entries.flatMap(([key, one], i) => {
    const value = plain(textOf(one));
    // A document of a program.
    const text = `${key}=${/^[[{]/.test(value) ? "… (-o yaml)" : shorten(value, MAX_VALUE)}`;
    return hanging(i === 0 ? `${label}:`.padEnd(LABEL) : indent, text);
  });
}

function document(label: string, value: Json | undefined): readonly string[] {
  if (value === undefined || (isJsonObject(value) && Object.keys(value).length === 0)) return [];
  const text = encodeYaml(value).trimEnd().split("\n");
  return [`${label}:`, ...text.flatMap((one) => yamlLine(one))];
}

/** A line of YAML keeps its indent; one that is too long is cut visibly. */
function yamlLine(text: string): readonly string[] {
  return [shorten(`  ${plain(text)}`, 80)];
}

function conditionLines(value: Json | undefined, now: Instant): readonly string[] {
  const all = Array.isArray(value) ? value.filter(isJsonObject) : [];
  if (all.length === 0) return [];
  const rows = all.map((one) => [
    `  ${textOf(one["type"])}`,
    textOf(one["status"]),
    since(textOf(one["lastTransitionTime"]), now),
    [textOf(one["reason"]), textOf(one["message"])].filter((text) => text !== "").join(": "),
  ]);
  return ["Conditions:", ...columns(["  TYPE", "STATUS", "SINCE", "WHY"], rows)];
}

function eventLines(events: readonly JsonObject[], now: Instant): readonly string[] {
  const last = (event: JsonObject): string =>
    textOf(event["lastTimestamp"]) ||
    textOf(event["eventTime"]) ||
    textOf(fieldsOf(event["metadata"])["creationTimestamp"]);
  const newest = events.toSorted((a, b) => (last(a) < last(b) ? -1 : 1)).slice(-MAX_EVENTS);
  if (newest.length === 0) return [];
  const rows = newest.map((event) => [
    `  ${since(last(event), now)}`,
    textOf(event["type"]),
    textOf(event["reason"]),
    textOf(event["message"]) || textOf(event["note"]),
  ]);
  return ["Events:", ...columns(["  AGE", "TYPE", "REASON", "MESSAGE"], rows)];
}

function historyPart(history: readonly LedgerEntry[]): readonly string[] {
  if (history.length === 0) return [];
  return ["History:", ...historyLines(history.slice(-MAX_HISTORY))];
}

function since(time: string, now: Instant): string {
  const at = parseTime(time);
  return at === undefined ? "?" : humanDuration(now - at);
}

function fieldsOf(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
