/**
 * Events about a binding's Works, on the binding and on the template.
 *
 * A failure is reported once, until it is another one or is over: a reconcile that fails the same way again reports
 * nothing.
 */
import { type AnyObject, formatKey, isRefused, keyOf, Refused } from "@lifeboat/api";
import type { Fields } from "@lifeboat/core";
import type { WorksPlan, WorksView } from "@lifeboat/core/propagation/works";
import type { EventRecorder, Involved, RecordedEvent } from "@lifeboat/kit";

export interface WorkEvents {
  /** Records what a reconcile of a binding did. */
  report(view: WorksView, plan: WorksPlan, errors: readonly unknown[]): void;
  /** The binding is gone. */
  forget(binding: string): void;
}

export function createWorkEvents(recorder: EventRecorder): WorkEvents {
  const told = new Map<string, string>();
  return {
    report: (view, plan, errors) => {
      const id = formatKey(keyOf(view.binding));
      const problems = problemsOf(plan, errors);
      const text = JSON.stringify(problems);
      const isNews = text !== (told.get(id) ?? "[]");
      if (problems.length === 0) told.delete(id);
      else told.set(id, text);
      for (const event of [...(isNews ? problems : []), ...successesOf(view, plan, problems)])
        for (const involved of audienceOf(view, event)) recorder.record(involved, event);
    },
    forget: (binding) => told.delete(binding),
  };
}

const OVERRIDE_FAILURES: ReadonlySet<string> = new Set(["OverrideFailed", "IdentityOverridden"]);

function problemsOf(plan: WorksPlan, errors: readonly unknown[]): readonly RecordedEvent[] {
  const problems: RecordedEvent[] = plan.failures.map(({ cluster, reason, message }) => ({
    type: "Warning",
    reason: OVERRIDE_FAILURES.has(reason) ? "ApplyOverridePolicyFailed" : "SyncWorkFailed",
    message: `cluster ${cluster}: ${message}`,
  }));
  const isCleanup = plan.commands.some(({ kind }) => kind === "delete");
  const messages = new Set(errors.filter(isRefusal).map(({ message }) => message));
  for (const message of messages)
    problems.push({
      type: "Warning",
      reason: isCleanup ? "CleanupWorkFailed" : "SyncWorkFailed",
      message,
    });
  for (const cluster of plan.spared)
    problems.push({
      type: "Warning",
      reason: "LastHealthyCopyKept",
      message: `the copy in cluster ${cluster} stays until another one is healthy`,
    });
  return problems;
}

/** Only what the server refuses for good is reported: the rest is over at the next reconcile. */
function isRefusal(error: unknown): error is Refused {
  const isOutdated = isRefused(error, "Conflict") || isRefused(error, "AlreadyExists");
  return error instanceof Refused && !isOutdated;
}

function successesOf(
  { binding }: WorksView,
  plan: WorksPlan,
  problems: readonly RecordedEvent[],
): readonly RecordedEvent[] {
  const events: RecordedEvent[] = plan.overridden.map((cluster) => ({
    type: "Normal",
    reason: "ApplyOverridePolicySucceed",
    message: `Applied override policies for cluster ${cluster}.`,
  }));
  const isSync = plan.commands.some(({ kind }) => kind === "create" || kind === "update");
  if (problems.length > 0) return [];
  if (!isSync) return events;
  const { namespace = "", name } = binding.metadata;
  const what =
    namespace === "" ? `clusterResourceBinding(${name})` : `resourceBinding(${namespace}/${name})`;
  const message = `Sync work of ${what} successful.`;
  return [...events, { type: "Normal", reason: "SyncWorkSucceed", message }];
}

/** Overrides are reported on the template alone, removals on the binding alone. */
function audienceOf(
  { binding, template }: WorksView,
  { reason }: RecordedEvent,
): readonly Involved[] {
  const templates = template === undefined ? [] : [involvedOf(template)];
  if (reason.startsWith("ApplyOverridePolicy")) return templates;
  return reason === "CleanupWorkFailed" ? [binding] : [binding, ...templates];
}

function involvedOf(template: Fields): Involved {
  return template as AnyObject;
}
