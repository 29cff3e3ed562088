/**
 * The status of a Work: what became of its objects in the member, and what they report.
 *
 *   Applied          True once every object is what generation `observedGeneration` of the Work asks for
 *   Dispatching      False while the Work is suspended
 *   StatusObserved   True while `manifestStatuses` hold what the objects report. Its `observedGeneration` is the Work's
 *                    generation for which a state of the object was read that is not older than the member's answer to
 *                    applying that generation: to our write, or to a read that found nothing to write. D9 rests on it.
 *
 * 1. A member that does not answer changes nothing that was observed: neither `manifestStatuses` nor StatusObserved. No
 *    controller invalidates them; they stop counting because the Work's generation moves on, or because readers see the
 *    Cluster's Ready.
 * 2. Conditions and health that gets worse are reported at once. Mere numbers, and health that gets better right after it
 *    was reported to be bad, at most once a second, and so is what this process reported last and another writer
 *    contradicted: neither a copy that flaps nor a second process that observes otherwise can make us write as often as
 *    they like.
 * 3. An event comes with a write and states what changed by it. Nothing changed: no write, no event.
 * 4. The message of StatusObserved ends in the versions that the member answered to our writes. After a restart they
 *    distinguish an object that we wrote from one that another writer changed since.
 * 5. Whether a copy was healthy at any time since its Work was made is never lost (`hasBeenHealthy`): the write that reports
 *    that it is not healthy any more leaves the condition HasBeenHealthy. It costs no write, and a copy that stays healthy
 *    needs no condition: its report shows it.
 */
import { type Condition, equalJson, findCondition, setCondition } from "@lifeboat/api";
import { addMs, deepFreeze, type Instant } from "@lifeboat/base";
import { type Fields, isFields, textAt, valueAt } from "../../fields.ts";
import type { Health } from "../interpretation/interpreter.ts";
import type { Plan, PlannedEvent } from "../../plan.ts";
import { reportProblem } from "./bounds.ts";
import { APPLIED_OVER_ANOTHER, appliedEvents, changed, nameOf } from "./applied-event.ts";
import type { WorkStatusReason } from "./reasons.ts";

/** What applying one manifest came to. */
export type ApplyOutcome =
  | {
      readonly kind: "applied";
      readonly version: string;
      readonly recreated: boolean;
      /** An object of another writer was overwritten. */
      readonly takenOver?: boolean;
    }
  /** The member, or what is in it, does not let it be. */
  | { readonly kind: "failed"; readonly problem: string }
  /** The member gave no answer. */
  | { readonly kind: "unknown"; readonly problem: string }
  | { readonly kind: "suspended" };

/** What one object reports. */
export interface Reflection {
  readonly status?: unknown;
  readonly health: Health;
  /** Why its status could not be taken from it. */
  readonly statusProblem?: string;
  /** Why its health is not known. */
  readonly healthProblem?: string;
}

export interface ManifestReport {
  readonly manifest: Fields;
  readonly outcome: ApplyOutcome;
  /** Absent: no object of ours was seen. */
  readonly reflection?: Reflection | undefined;
}

export interface ReportedStatus {
  readonly conditions?: readonly Condition[];
  readonly manifestStatuses?: readonly Fields[];
}

export interface WorkStatusView {
  readonly cluster: string;
  readonly generation: number;
  readonly status: ReportedStatus;
  readonly suspended: boolean;
  /** In the order of the manifests. */
  readonly reports: readonly ManifestReport[];
  /** When this process last wrote this status, and what. */
  readonly writtenAt?: Instant | undefined;
  readonly reported?: ReportedStatus | undefined;
}

export interface WorkStatusCommand {
  readonly kind: "writeStatus";
  readonly status: ReportedStatus;
}

/** Events about the outcome of applying concern the templates too. */
export interface WorkStatusEvent extends PlannedEvent {
  readonly concernsTemplates: boolean;
}

export interface WorkStatusPlan extends Plan<WorkStatusCommand, WorkStatusReason> {
  readonly events: readonly WorkStatusEvent[];
}

const COUNTERS_EVERY_MS = 1000;
/** Members and scripts write these texts. */
const MAX_PROBLEM = 1024;
const APPLIED_AS = " Applied as ";

/** The status to write, with the events that go with it. */
export function decideWorkStatus(given: WorkStatusView, now: Instant): WorkStatusPlan {
  const view = { ...given, reports: given.reports.map(withinBounds) };
  const { status: old } = view;
  const manifestStatuses = view.reports
    .map((report, ordinal) => entryOf(old, report, ordinal))
    .filter((entry) => entry !== undefined);
  const conditions = conditionsOf(view, now);
  const isRemembered = hasBeenHealthy(old) && !reportsHealthy({ manifestStatuses });
  const status: ReportedStatus = deepFreeze({
    ...old,
    conditions: isRemembered ? setCondition(conditions, HAS_BEEN_HEALTHY, now) : conditions,
    manifestStatuses,
  });
  if (equalJson(status, { manifestStatuses: [], ...old })) return nothing("AsReported");
  const commands = [{ kind: "writeStatus", status }] as const;
  const onlyNumbers = onlyNumbersMoved(old, status);
  const { writtenAt } = view;
  // A clock that was set back must not silence the counters.
  const isKnown = writtenAt !== undefined && writtenAt <= now;
  const due = isKnown ? addMs(writtenAt, COUNTERS_EVERY_MS) : now;
  if ((onlyNumbers || onlyGotBetter(old, status)) && due > now)
    return { ...nothing("CountersHeldBack"), checkAgainAt: due };
  if (isSameReport(view.reported, status) && due > now)
    return { ...nothing("ContradictionHeldBack"), checkAgainAt: due };
  if (onlyNumbers) return { commands, conditions: [], events: [], reason: "CountersMoved" };
  return { commands, conditions: [], events: eventsOf(view, old, status), reason: "StatusChanged" };
}

/**
 * The versions that the member answered when this generation of the Work was applied, in the order of its manifests;
 * undefined when the status does not hold them.
 */
export function appliedVersions(
  generation: number,
  status: ReportedStatus,
): readonly string[] | undefined {
  const observed = findCondition(status.conditions, "StatusObserved");
  if (observed?.observedGeneration !== generation) return undefined;
  const at = observed.message.lastIndexOf(APPLIED_AS);
  return at < 0 ? undefined : observed.message.slice(at + APPLIED_AS.length).split(",");
}

function nothing(reason: WorkStatusReason): WorkStatusPlan {
  return { commands: [], conditions: [], events: [], reason };
}

function conditionsOf(view: WorkStatusView, now: Instant): readonly Condition[] {
  const { generation, suspended, status } = view;
  let conditions = status.conditions ?? [];
  const applied = appliedCondition(view);
  if (applied !== undefined)
    conditions = setCondition(
      conditions,
      { type: "Applied", ...applied, observedGeneration: generation },
      now,
    );
  conditions = setCondition(conditions, suspended ? SUSPENDED : DISPATCHING, now);
  const observed = observedCondition(view);
  return observed === undefined ? conditions : setCondition(conditions, observed, now);
}

/** Whether the copy was healthy at any time since its Work was made, as far as it was reported. */
export function hasBeenHealthy(status: ReportedStatus | undefined): boolean {
  const remembered = findCondition(status?.conditions, HAS_BEEN_HEALTHY.type)?.status === "True";
  return remembered || reportsHealthy(status);
}

/** Whether the copy was healthy when it was last heard of. */
export function reportsHealthy(status: ReportedStatus | undefined): boolean {
  const statuses = status?.manifestStatuses ?? [];
  return statuses.length > 0 && statuses.every(({ health }) => health === "Healthy");
}

const HAS_BEEN_HEALTHY = {
  type: "HasBeenHealthy",
  status: "True",
  reason: "WasHealthy",
  message: "The objects were healthy at some time since this Work was made.",
} as const;
const DISPATCHING = {
  type: "Dispatching",
  status: "True",
  reason: "Dispatching",
  message: "Work is being dispatched to member clusters.",
} as const;
const SUSPENDED = {
  type: "Dispatching",
  status: "False",
  reason: "SuspendDispatching",
  message: "Work dispatching is in a suspended state.",
} as const;

type Said = Pick<Condition, "status" | "reason" | "message">;

/** Undefined: the condition as it was reported before still holds. */
function appliedCondition({ generation, status, reports }: WorkStatusView): Said | undefined {
  const old = findCondition(status.conditions, "Applied");
  const heldBefore = old?.status === "True" && old.observedGeneration === generation;
  const outcomes = reports.map(({ outcome }) => outcome);
  if (outcomes.some(({ kind }) => kind === "suspended")) return undefined;
  const problems = outcomes.flatMap((outcome) =>
    "problem" in outcome ? [shorten(outcome.problem)] : [],
  );
  if (problems.length === 0) {
    const recreated = outcomes.some((outcome) => outcome.kind === "applied" && outcome.recreated);
    const takenOver = outcomes.some(
      (outcome) => outcome.kind === "applied" && outcome.takenOver === true,
    );
    if (heldBefore && !recreated && !takenOver) return undefined;
    return {
      status: "True",
      reason: recreated ? "ReCreateSuccessful" : "AppliedSuccessful",
      message: takenOver ? APPLIED_OVER_ANOTHER : "Manifest has been successfully applied",
    };
  }
  if (heldBefore && outcomes.every(({ kind }) => kind !== "failed")) return undefined;
  const done = reports.length - problems.length;
  const why = problems.length === 1 ? (problems[0] ?? "") : `[${problems.join(", ")}]`;
  return {
    status: "False",
    reason: "AppliedFailed",
    message: `Failed to apply all manifests (${done}/${reports.length}): ${why}`,
  };
}

/** Undefined: nothing new was observed. */
function observedCondition(
  view: WorkStatusView,
): Omit<Condition, "lastTransitionTime"> | undefined {
  const { generation, status, reports } = view;
  const old = findCondition(status.conditions, "StatusObserved");
  const versions = reports.flatMap(({ outcome }) =>
    outcome.kind === "applied" ? [outcome.version] : [],
  );
  const isFresh = versions.length === reports.length;
  if (reports.some(({ reflection }) => reflection === undefined)) return undefined;
  const observedGeneration = isFresh ? generation : old?.observedGeneration;
  const counted = observedGeneration === undefined ? {} : { observedGeneration };
  const problem = reports.find(({ reflection }) => reflection?.statusProblem !== undefined);
  if (problem !== undefined)
    return {
      type: "StatusObserved",
      status: "False",
      reason: "ReflectStatusFailed",
      message: shorten(problem.reflection?.statusProblem ?? ""),
      ...counted,
    };
  const before = old?.status === "True" ? old.message : "The objects' status was read.";
  return {
    type: "StatusObserved",
    status: "True",
    reason: "Observed",
    message: isFresh ? `The objects' status was read.${APPLIED_AS}${versions.join(",")}` : before,
    ...counted,
  };
}

function shorten(problem: string): string {
  return problem.length <= MAX_PROBLEM ? problem : `${problem.slice(0, MAX_PROBLEM - 1)}…`;
}

/** A report whose status is not kept when it is larger than any has a reason to be. */
function withinBounds(report: ManifestReport): ManifestReport {
  const { reflection } = report;
  const statusProblem = reportProblem(reflection?.status);
  if (reflection === undefined || statusProblem === undefined) return report;
  const { status: _status, ...rest } = reflection;
  return { ...report, reflection: { ...rest, statusProblem } };
}

function entryOf(
  old: ReportedStatus,
  { manifest, reflection }: ManifestReport,
  ordinal: number,
): Fields | undefined {
  const identifier = identifierOf(manifest, ordinal);
  if (reflection === undefined)
    return old.manifestStatuses?.find((entry) =>
      equalJson(valueAt(entry, "identifier"), identifier),
    );
  const { status, health } = reflection;
  return { identifier, ...(isFields(status) ? { status } : {}), health };
}

function identifierOf(manifest: Fields, ordinal: number): Fields {
  const apiVersion = textAt(manifest, "apiVersion");
  const slash = apiVersion.indexOf("/");
  const namespace = textAt(manifest, "metadata", "namespace");
  return {
    ordinal,
    ...(slash < 0 ? {} : { group: apiVersion.slice(0, slash) }),
    version: apiVersion.slice(slash + 1),
    kind: textAt(manifest, "kind"),
    resource: "",
    ...(namespace === "" ? {} : { namespace }),
    name: textAt(manifest, "metadata", "name"),
  };
}

function onlyNumbersMoved(old: ReportedStatus, now: ReportedStatus): boolean {
  return (
    equalJson(old.conditions, now.conditions) &&
    equalJson(old.manifestStatuses?.map(withoutStatus), now.manifestStatuses?.map(withoutStatus))
  );
}

/** Whether all that changed is that something bad, of which was reported, is healthy now. */
function onlyGotBetter(old: ReportedStatus, now: ReportedStatus): boolean {
  const [before, after] = [old.manifestStatuses ?? [], now.manifestStatuses ?? []];
  return (
    equalJson(old.conditions, now.conditions) &&
    before.length === after.length &&
    after.every(({ identifier, health }, i) => {
      const was = before[i];
      if (!equalJson(was?.["identifier"], identifier)) return false;
      return was?.["health"] === health || health === "Healthy";
    })
  );
}

/** Whether both are the same but for their times. */
function isSameReport(a: ReportedStatus | undefined, b: ReportedStatus): boolean {
  const timeless = ({ conditions = [], manifestStatuses = [] }: ReportedStatus): unknown => [
    conditions.map(({ lastTransitionTime: _time, ...rest }) => rest),
    manifestStatuses,
  ];
  return a !== undefined && equalJson(timeless(a), timeless(b));
}

function withoutStatus({ identifier, health }: Fields): Fields {
  return { identifier, health };
}

function eventsOf(
  view: WorkStatusView,
  old: ReportedStatus,
  now: ReportedStatus,
): readonly WorkStatusEvent[] {
  const { cluster } = view;
  const manifests = view.reports.map(({ manifest }) => manifest);
  return [
    ...dispatchingEvents(old, now),
    ...appliedEvents({ cluster, manifests }, old, now).map(concerningTemplates),
    ...reflectEvents(old, now),
    ...healthEvents(view, old),
  ];
}

function dispatchingEvents(old: ReportedStatus, now: ReportedStatus): readonly WorkStatusEvent[] {
  const condition = changed(old, now, "Dispatching");
  if (condition === undefined) return [];
  return [event("Normal", "WorkDispatching", condition.message)];
}

function concerningTemplates(event: PlannedEvent): WorkStatusEvent {
  return { ...event, concernsTemplates: true };
}

function reflectEvents(old: ReportedStatus, now: ReportedStatus): readonly WorkStatusEvent[] {
  const condition = changed(old, now, "StatusObserved");
  if (condition === undefined) return [];
  return condition.status === "True"
    ? [event("Normal", "ReflectStatusSucceed", "Reflect status succeed.")]
    : [event("Warning", "ReflectStatusFailed", `Reflect status failed: ${condition.message}`)];
}

function healthEvents(view: WorkStatusView, old: ReportedStatus): readonly WorkStatusEvent[] {
  return view.reports.flatMap(({ manifest, reflection }, ordinal) => {
    const before = healthOf(old, manifest, ordinal);
    if (reflection === undefined || reflection.health === before) return [];
    if (reflection.healthProblem !== undefined)
      return [
        event(
          "Warning",
          "InterpretHealthFailed",
          `Interpret health of ${nameOf(manifest)} failed: ${reflection.healthProblem}`,
        ),
      ];
    // Everything is unhealthy while it starts: that is no news.
    if (reflection.health === "Unknown" || (reflection.health === "Unhealthy" && before === ""))
      return [];
    const said = reflection.health === "Healthy" ? "healthy" : "unhealthy";
    return [
      event(
        "Normal",
        "InterpretHealthSucceed",
        `Interpret health of ${nameOf(manifest)} as ${said}.`,
      ),
    ];
  });
}

function healthOf(status: ReportedStatus, manifest: Fields, ordinal: number): string {
  const identifier = identifierOf(manifest, ordinal);
  const entry = status.manifestStatuses?.find((item) =>
    equalJson(valueAt(item, "identifier"), identifier),
  );
  return textAt(entry, "health");
}

function event(type: "Normal" | "Warning", reason: string, message: string): WorkStatusEvent {
  return { type, reason, message, concernsTemplates: false };
}

/** `Deployment(default/nginx)`. */
