/** Validation of events, in the old form and the new. The two are one kind in two groups. */
import { invalid, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { labelKeyProblems } from "../../metadata/names.ts";
import { count, isAbsent, part, partOf, type Problems, pushInvalid, text } from "./fields.ts";

/** What the two groups call the same field. */
interface Words {
  readonly about: string;
  readonly reporter: string;
  readonly message: string;
}

const CORE: Words = {
  about: "involvedObject",
  reporter: "reportingComponent",
  message: "message",
};
const EVENTS: Words = { about: "regarding", reporter: "reportingController", message: "note" };

export function checkEvent(problems: Problems, event: JsonObject): void {
  checkCommon(problems, event, CORE);
}

export function checkNewEvent(problems: Problems, event: JsonObject): void {
  checkCommon(problems, event, EVENTS);
  checkSeries(problems, part(event, "series"));
  if (isAbsent(event["eventTime"])) problems.push(required("eventTime"));
  const type = text(event, "type");
  if (type !== "Normal" && type !== "Warning") {
    problems.push(invalid("type", "", `has invalid value: ${type}`));
  }
  for (const [name, shown] of DEPRECATED) {
    if (isSet(event[name])) problems.push(invalid(shown, "", "needs to be unset"));
  }
}

function checkCommon(problems: Problems, event: JsonObject, words: Words): void {
  const reported = !isAbsent(event["eventTime"]);
  if (!isInItsNamespace(event, words, reported)) {
    const about = text(part(event, words.about), "namespace");
    problems.push(invalid("involvedObject.namespace", about, "does not match event.namespace"));
  }
  if (reported) checkReport(problems, event, words);
}

/** An event lies in the namespace of what it is about, or in `default` when that has none. */
function isInItsNamespace(event: JsonObject, words: Words, reported: boolean): boolean {
  const namespace = text(partOf(event, "metadata"), "namespace");
  const about = text(part(event, words.about), "namespace");
  if (about !== "") return reported || about === namespace;
  return namespace === "default" || namespace === (reported ? "kube-system" : "");
}

/** Who reports what. */
function checkReport(problems: Problems, event: JsonObject, words: Words): void {
  const reporter = text(event, words.reporter);
  if (reporter === "") problems.push(required(words.reporter));
  pushInvalid(problems, words.reporter, reporter, labelKeyProblems(reporter));
  for (const field of ["reportingInstance", "action", "reason"]) {
    if (text(event, field) === "") problems.push(required(field));
    else checkLength(problems, field, text(event, field), 128);
  }
  checkLength(problems, "message", text(event, words.message), 1024);
}

function checkLength(problems: Problems, field: string, value: string, max: number): void {
  if (value.length > max) problems.push(invalid(field, "", `can have at most ${max} characters`));
}

function checkSeries(problems: Problems, series: JsonObject | undefined): void {
  if (series === undefined) return;
  if (count(series, "count") < 2) {
    problems.push(invalid("series.count", "", "should be at least 2"));
  }
  if (isAbsent(series["lastObservedTime"])) problems.push(required("series.lastObservedTime"));
}

/** What events of the new form may not carry, and what the server calls it. */
const DEPRECATED = [
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
  ["deprecatedSource", "source"],
] as const;

function isSet(value: unknown): boolean {
  if (isAbsent(value) || value === 0 || value === "") return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}
