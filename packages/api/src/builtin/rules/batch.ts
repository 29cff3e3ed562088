/** Validation of Jobs and CronJobs. */
import { invalid, notSupported, required, tooLong } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { dnsLabelProblems, labelKeyProblems } from "../../metadata/names.ts";
import { scheduleProblem } from "./cron-schedule.ts";
import {
  count,
  invalidWithoutValue,
  isAbsent,
  items,
  part,
  partOf,
  type Problems,
  pushImmutable,
  pushInvalid,
  pushNonNegative,
  pushUnsupported,
  sameOrEmpty,
  text,
} from "./fields.ts";
import { checkLabelSelector, isSoundSelector, selectorMatches } from "./label-selector.ts";
import { domainPrefixedPathProblems } from "./field-texts.ts";
import { checkPodTemplate } from "./pod-validation.ts";

const UID_LABEL = "batch.kubernetes.io/controller-uid";

export function checkJob(problems: Problems, job: JsonObject): void {
  const spec = partOf(job, "spec");
  const selector = part(spec, "selector");
  if (spec["manualSelector"] !== true) checkGeneratedSelector(problems, job, selector);
  checkJobSpec(problems, "spec", spec);
  if (selector === undefined) {
    // Otherwise the server is about to make one.
    if (spec["manualSelector"] !== true) return;
    problems.push(required("spec.selector"));
  } else {
    checkLabelSelector(problems, "spec.selector", selector);
  }
  const labels = part(partOf(partOf(spec, "template"), "metadata"), "labels");
  if (
    isSoundSelector(selector) &&
    !selectorMatches(selector, (labels ?? {}) as Record<string, string>)
  ) {
    problems.push(
      invalid(
        "spec.template.metadata.labels",
        labels ?? null,
        "`selector` does not match template `labels`",
      ),
    );
  }
  checkIndexedNames(problems, job, spec);
}

/** Nobody but the server may choose the selector, unless asked to by `manualSelector`. */
function checkGeneratedSelector(
  problems: Problems,
  job: JsonObject,
  selector: JsonObject | undefined,
): void {
  if (selector === undefined) return;
  const metadata = partOf(job, "metadata");
  const uid = text(metadata, "uid");
  const name = text(metadata, "name");
  const generated = {
    [UID_LABEL]: uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
  if (!isSoundSelector(selector) || selectorMatches(selector, generated)) return;
  problems.push(invalid("spec.selector", selector, "`selector` not auto-generated"));
}

/** Pods of an indexed Job are named by their index, the last being the longest. */
function checkIndexedNames(problems: Problems, job: JsonObject, spec: JsonObject): void {
  const completions = count(spec, "completions");
  if (text(spec, "completionMode") !== "Indexed" || completions <= 0) return;
  const name = text(partOf(job, "metadata"), "name");
  const last = `${name}-${completions - 1}`;
  if (dnsLabelProblems(last).length === 0) return;
  problems.push(
    invalid("metadata.name", name, `will not able to create pod with invalid DNS label: ${last}`),
  );
}

const NUMBERS = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
  "maxFailedIndexes",
];

function checkJobSpec(problems: Problems, field: string, spec: JsonObject): void {
  for (const name of NUMBERS) pushNonNegative(problems, `${field}.${name}`, spec[name]);
  const perIndex = spec["backoffLimitPerIndex"];
  if (!isAbsent(spec["maxFailedIndexes"]) && isAbsent(perIndex)) {
    problems.push(required(`${field}.backoffLimitPerIndex`, "when maxFailedIndexes is specified"));
  }
  checkManagedBy(problems, `${field}.managedBy`, spec["managedBy"]);
  checkCompletionMode(problems, field, spec);
  const policy = part(spec, "podFailurePolicy");
  if (policy !== undefined) checkFailurePolicy(problems, `${field}.podFailurePolicy`, policy, spec);
  const success = part(spec, "successPolicy");
  if (success !== undefined && text(spec, "completionMode") !== "Indexed") {
    problems.push(
      invalid(
        `${field}.successPolicy`,
        { Rules: success["rules"] ?? [] },
        "requires indexed completion mode",
      ),
    );
  }
  checkReplacementPolicy(problems, `${field}.podReplacementPolicy`, spec);
  checkPodTemplate(problems, `${field}.template`, partOf(spec, "template"));
  checkRestartPolicy(problems, `${field}.template.spec.restartPolicy`, spec);
}

function checkManagedBy(problems: Problems, field: string, managedBy: unknown): void {
  if (typeof managedBy !== "string") return;
  pushInvalid(problems, field, managedBy, domainPrefixedPathProblems(managedBy));
  if (managedBy.length > 63) problems.push(tooLong(field, 63));
}

function checkCompletionMode(problems: Problems, field: string, spec: JsonObject): void {
  const mode = text(spec, "completionMode");
  if (mode !== "" && mode !== "NonIndexed" && mode !== "Indexed") {
    problems.push(notSupported(`${field}.completionMode`, mode, ["NonIndexed", "Indexed"]));
  }
  if (mode === "Indexed") {
    if (isAbsent(spec["completions"])) {
      problems.push(required(`${field}.completions`, "when completion mode is Indexed"));
    }
    if (count(spec, "parallelism") > 100_000) {
      problems.push(
        invalid(
          `${field}.parallelism`,
          spec["parallelism"],
          "must be less than or equal to 100000 when completion mode is Indexed",
        ),
      );
    }
    const failed = count(spec, "maxFailedIndexes");
    if (!isAbsent(spec["completions"]) && failed > count(spec, "completions")) {
      problems.push(
        invalid(`${field}.maxFailedIndexes`, failed, "must be less than or equal to completions"),
      );
    }
    return;
  }
  if (mode !== "NonIndexed" && mode !== "") return;
  for (const name of ["backoffLimitPerIndex", "maxFailedIndexes"]) {
    if (isAbsent(spec[name])) continue;
    problems.push(invalid(`${field}.${name}`, spec[name], "requires indexed completion mode"));
  }
}

const ACTIONS = ["Count", "FailIndex", "FailJob", "Ignore"];

function checkFailurePolicy(
  problems: Problems,
  field: string,
  policy: JsonObject,
  spec: JsonObject,
): void {
  for (const [index, rule] of items(policy, "rules").entries()) {
    checkFailureRule(problems, `${field}.rules[${index}]`, rule, spec);
  }
}

function checkFailureRule(
  problems: Problems,
  field: string,
  rule: JsonObject,
  spec: JsonObject,
): void {
  const action = text(rule, "action");
  if (action === "") {
    const values = ACTIONS.map((value) => JSON.stringify(value)).join(" ");
    problems.push(required(`${field}.action`, `valid values: [${values}]`));
  } else if (action === "FailIndex") {
    if (isAbsent(spec["backoffLimitPerIndex"])) {
      problems.push(
        invalid(`${field}.action`, action, "requires the backoffLimitPerIndex to be set"),
      );
    }
  } else {
    pushUnsupported(problems, `${field}.action`, action, ACTIONS);
  }
  const codes = part(rule, "onExitCodes");
  const conditions = items(rule, "onPodConditions");
  if (codes !== undefined) checkExitCodes(problems, `${field}.onExitCodes`, codes);
  for (const [index, condition] of conditions.entries()) {
    const at = `${field}.onPodConditions[${index}]`;
    const type = text(condition, "type");
    pushInvalid(problems, `${at}.type`, type, labelKeyProblems(type));
    pushUnsupported(problems, `${at}.status`, text(condition, "status"), [
      "False",
      "True",
      "Unknown",
    ]);
  }
  if (codes !== undefined && conditions.length > 0) {
    problems.push(
      invalidWithoutValue(
        field,
        "specifying both OnExitCodes and OnPodConditions is not supported",
      ),
    );
  }
  if (codes === undefined && conditions.length === 0) {
    problems.push(
      invalidWithoutValue(field, "specifying one of OnExitCodes and OnPodConditions is required"),
    );
  }
}

function checkExitCodes(problems: Problems, field: string, codes: JsonObject): void {
  const operator = text(codes, "operator");
  pushUnsupported(problems, `${field}.operator`, operator, ["In", "NotIn"]);
  const values = codes["values"];
  const list: readonly unknown[] = Array.isArray(values) ? values : [];
  if (list.length === 0) {
    problems.push(invalid(`${field}.values`, [], "at least one value is required"));
  }
  if (operator === "In" && list.includes(0)) {
    problems.push(
      invalid(`${field}.values[${list.indexOf(0)}]`, 0, "must not be 0 for the In operator"),
    );
  }
}

function checkReplacementPolicy(problems: Problems, field: string, spec: JsonObject): void {
  const policy = spec["podReplacementPolicy"];
  if (isAbsent(policy)) return;
  const supported =
    part(spec, "podFailurePolicy") === undefined ? ["Failed", "TerminatingOrFailed"] : ["Failed"];
  pushUnsupported(problems, field, policy, supported);
}

function checkRestartPolicy(problems: Problems, field: string, spec: JsonObject): void {
  const policy = text(partOf(partOf(spec, "template"), "spec"), "restartPolicy");
  if (policy === "Always" || policy === "") {
    problems.push(required(field, 'valid values: "OnFailure", "Never"'));
  } else if (policy !== "OnFailure" && policy !== "Never") {
    problems.push(notSupported(field, policy, ["OnFailure", "Never"]));
  } else if (policy !== "Never" && part(spec, "podFailurePolicy") !== undefined) {
    problems.push(
      invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified'),
    );
  }
}

export function checkJobUpdate(problems: Problems, job: JsonObject, oldJob: JsonObject): void {
  const spec = partOf(job, "spec");
  const old = partOf(oldJob, "spec");
  checkCompletionsUpdate(problems, spec, old);
  pushImmutable(problems, "spec.selector", spec["selector"], old["selector"]);
  if (!mayChangeTemplate(oldJob)) checkTemplateUpdate(problems, spec, old);
  for (const name of [
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
  ]) {
    pushImmutable(problems, `spec.${name}`, spec[name], old[name]);
  }
}

function checkCompletionsUpdate(problems: Problems, spec: JsonObject, old: JsonObject): void {
  const { completions } = spec;
  if (sameOrEmpty(completions, old["completions"])) return;
  if (text(spec, "completionMode") !== "Indexed") {
    pushImmutable(problems, "spec.completions", completions, old["completions"]);
  } else if (!isAbsent(completions) && completions !== spec["parallelism"]) {
    problems.push(
      invalid(
        "spec.completions",
        completions,
        "can only be modified in tandem with spec.parallelism",
      ),
    );
  }
}

/** A Job that has not started may still be sent elsewhere. */
function mayChangeTemplate(job: JsonObject): boolean {
  return partOf(job, "spec")["suspend"] === true && isAbsent(partOf(job, "status")["startTime"]);
}

function checkTemplateUpdate(problems: Problems, spec: JsonObject, old: JsonObject): void {
  pushImmutable(problems, "spec.template", spec["template"], old["template"]);
}

const CONCURRENCY = ["Allow", "Forbid", "Replace"];

export function checkCronJob(problems: Problems, cronJob: JsonObject): void {
  const spec = partOf(cronJob, "spec");
  const schedule = text(spec, "schedule");
  if (schedule === "") problems.push(required("spec.schedule"));
  else checkSchedule(problems, schedule);
  pushNonNegative(problems, "spec.startingDeadlineSeconds", spec["startingDeadlineSeconds"]);
  checkTimeZone(problems, spec["timeZone"]);
  pushUnsupported(problems, "spec.concurrencyPolicy", spec["concurrencyPolicy"], CONCURRENCY);
  checkJobTemplate(problems, "spec.jobTemplate.spec", partOf(partOf(spec, "jobTemplate"), "spec"));
  pushNonNegative(problems, "spec.successfulJobsHistoryLimit", spec["successfulJobsHistoryLimit"]);
  pushNonNegative(problems, "spec.failedJobsHistoryLimit", spec["failedJobsHistoryLimit"]);
  const name = text(partOf(cronJob, "metadata"), "name");
  if (name.length > 52) {
    problems.push(invalid("metadata.name", name, "must be no more than 52 characters"));
  }
}

function checkSchedule(problems: Problems, schedule: string): void {
  const problem = scheduleProblem(schedule);
  if (problem !== undefined) problems.push(invalid("spec.schedule", schedule, problem));
  if (schedule.includes("TZ")) {
    problems.push(
      invalid(
        "spec.schedule",
        schedule,
        "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
      ),
    );
  }
}

function checkTimeZone(problems: Problems, zone: unknown): void {
  if (typeof zone !== "string") return;
  const field = "spec.timeZone";
  if (zone === "") {
    problems.push(invalid(field, zone, "timeZone must be nil or non-empty string"));
  } else if (zone.toLowerCase() === "local") {
    problems.push(
      invalid(
        field,
        zone,
        "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
      ),
    );
  } else if (!isTimeZone(zone)) {
    problems.push(invalid(field, zone, `unknown time zone ${zone}`));
  }
}

/** The zones the JavaScript engine knows, which are the same IANA zones; names are case-sensitive as files are. */
function isTimeZone(zone: string): boolean {
  if (zone.length > 64 || !/^[A-Za-z][A-Za-z0-9._+/-]*$/.test(zone)) return false;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

function checkJobTemplate(problems: Problems, field: string, spec: JsonObject): void {
  checkJobSpec(problems, field, spec);
  const selector = part(spec, "selector");
  if (selector !== undefined) {
    problems.push(invalid(`${field}.selector`, selector, "`selector` will be auto-generated"));
  }
  if (spec["manualSelector"] === true) {
    problems.push(notSupported(`${field}.manualSelector`, true, ["nil", "false"]));
  }
}
