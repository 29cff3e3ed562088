/**
 * Deciding what is recorded on the binding of a workload about the objects that follow it.
 *
 * The record is the annotation with the dependencies, and a finalizer that keeps the binding until nothing follows it.
 *
 * 1. While the dependencies cannot be known (the template is not in sight, a script fails), the record stays.
 * 2. The record becomes an empty list before it goes: a record that another writer removed is not one that ended.
 * 3. The finalizer goes only when nothing follows the binding any more.
 */
import type { ResourceBinding } from "@lifeboat/api";
import { anew, deepFreeze } from "@lifeboat/base";
import type { Plan } from "../../plan.ts";
import { DEPENDENCIES, DEPENDENCIES_FINALIZER } from "../../well-known.ts";
import { formatDependencies, type RecordedDependency } from "./recorded.ts";
import type { ReferrerReason } from "./reasons.ts";

export interface ReferrerView {
  readonly binding: ResourceBinding;
  /** What the workload needs and asks to take along; absent while that cannot be known. */
  readonly dependencies?: readonly RecordedDependency[] | undefined;
  /** Whether objects are bound for this binding now. */
  readonly hasFollowers: boolean;
}

/** The binding as it is to be written; only the record differs. */
export interface RecordCommand {
  readonly kind: "update";
  readonly binding: ResourceBinding;
}

export type ReferrerPlan = Plan<RecordCommand, ReferrerReason>;

/** What to record on a binding. */
export function decideReferrer(view: ReferrerView): ReferrerPlan {
  const { binding, dependencies, hasFollowers } = view;
  if (binding.metadata.deletionTimestamp !== undefined) {
    if (hasFollowers) return plan(binding, binding, "AwaitingFollowers");
    return plan(binding, withFinalizer(binding, false), "Released");
  }
  if (dependencies === undefined) return plan(binding, binding, "Unknown");
  const isNeeded = dependencies.length > 0 || hasFollowers;
  const text = isNeeded ? formatDependencies(dependencies) : undefined;
  const recorded = withRecord(withFinalizer(binding, isNeeded), text);
  return plan(binding, recorded, isNeeded ? "Recorded" : "NothingNeeded");
}

function plan(
  before: ResourceBinding,
  after: ResourceBinding,
  reason: ReferrerReason,
): ReferrerPlan {
  const unchanged = { commands: [], conditions: [], events: [] };
  if (after === before)
    return { ...anew, ...unchanged, reason: reason === "Recorded" ? "UpToDate" : reason };
  const command: RecordCommand = { kind: "update", binding: deepFreeze(after) };
  return { ...anew, ...unchanged, commands: [command], reason };
}

function withFinalizer(binding: ResourceBinding, wanted: boolean): ResourceBinding {
  const { finalizers = [] } = binding.metadata;
  if (finalizers.includes(DEPENDENCIES_FINALIZER) === wanted) return binding;
  const changed = wanted
    ? [...finalizers, DEPENDENCIES_FINALIZER]
    : finalizers.filter((finalizer) => finalizer !== DEPENDENCIES_FINALIZER);
  return { ...binding, metadata: { ...binding.metadata, finalizers: changed } };
}

function withRecord(binding: ResourceBinding, text: string | undefined): ResourceBinding {
  const { [DEPENDENCIES]: before, ...others } = binding.metadata.annotations ?? {};
  if (before === text) return binding;
  const annotations = text === undefined ? others : { ...others, [DEPENDENCIES]: text };
  return { ...binding, metadata: { ...binding.metadata, annotations } };
}
