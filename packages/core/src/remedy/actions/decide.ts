/**
 * What `status.remedyActions` of one Cluster has to hold, from all Remedies.
 *
 *     wanted by Remedies ──▶ sources (annotation) ──▶ actions (status)
 *
 * 1. The actions are the sorted union of what all Remedies want, without what the brake holds (D27). They are computed from the
 *    Remedies at every change, so a deleted Remedy leaves nothing behind, and an edit by hand is undone.
 * 2. The annotation is written before the status: a process that dies between the two writes leaves a record from which the next
 *    one goes on, and a block that was let through does not ask the brake a second time.
 * 3. Only TrafficControl for conditions asks the brake, and only once, when it begins.
 * 4. A source keeps its `since` as long as its cause lasts, whichever Remedies want it.
 */
import { REMEDY_ACTIONS, type Remedy, TRAFFIC_CONTROL } from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";
import { compareText } from "../../fields.ts";
import type { PlannedEvent } from "../../plan.ts";
import { REMEDY_SOURCES } from "../../well-known.ts";
import {
  boundedNames,
  formatSources,
  namesOfSource,
  readSources,
  type RemedySource,
} from "./record.ts";
import type { RemedyReason } from "./reasons.ts";
import { type RemedyCluster, type WantedAction, wantedActions } from "./wanted.ts";

export interface RemedyView {
  readonly cluster: RemedyCluster;
  /** All Remedies. */
  readonly remedies: readonly Remedy[];
  /** Whether the brake lets a new block for conditions through; only asked when `asksBrake`. */
  readonly mayBlock: boolean;
}

export interface RemedyPlan {
  /** The text of the annotation that has to be written; null: it goes; absent: it stays. */
  readonly sources?: string | null;
  /** The actions that have to be written; absent: they stay. */
  readonly actions?: readonly string[];
  /** Recorded once both writes went through. */
  readonly events: readonly PlannedEvent<RemedyReason>[];
}

const UNCHANGED: RemedyPlan = Object.freeze({ events: [] });

/** Whether a block for conditions begins, so that the brake must be asked first. */
export function asksBrake({ cluster, remedies }: Omit<RemedyView, "mayBlock">): boolean {
  if (cluster.metadata.deletionTimestamp !== undefined) return false;
  const isWanted = wantedActions(remedies, cluster).some(isBlockByConditions);
  return isWanted && !readSources(cluster).some((one) => isBlockByConditions(one) && !one.held);
}

/** Whether the brake holds a block of this cluster. */
export function isBlockHeld(cluster: RemedyCluster): boolean {
  return readSources(cluster).some((one) => isBlockByConditions(one) && one.held === true);
}

/** What to write on a Cluster. */
export function decideRemedy(view: RemedyView, now: Instant): RemedyPlan {
  const { cluster, remedies } = view;
  if (cluster.metadata.deletionTimestamp !== undefined) return UNCHANGED;
  const before = readSources(cluster);
  const isNewBlockHeld = asksBrake(view) && !view.mayBlock;
  const sources = wantedActions(remedies, cluster).map((wanted) =>
    sourceOf(wanted, before, isNewBlockHeld && isBlockByConditions(wanted), now),
  );
  const text = formatSources(sources);
  const actions = actionsOf(sources);
  const current = cluster.status?.remedyActions ?? [];
  const isSourceNew = text !== cluster.metadata.annotations?.[REMEDY_SOURCES];
  const isActionNew = actions.join("\n") !== current.join("\n");
  if (!isSourceNew && !isActionNew) return UNCHANGED;
  return {
    ...(isSourceNew && { sources: text ?? null }),
    ...(isActionNew && { actions }),
    events: eventsOf({ before, sources, current, actions }),
  };
}

function isBlockByConditions({ action, cause }: Pick<WantedAction, "action" | "cause">): boolean {
  return action === TRAFFIC_CONTROL && cause === "Conditions";
}

function sourceOf(
  { action, cause, remedies }: WantedAction,
  before: readonly RemedySource[],
  held: boolean,
  now: Instant,
): RemedySource {
  const old = before.find((one) => one.action === action && one.cause === cause);
  const isSame = old !== undefined && (old.held === true) === held && old.since !== "";
  const since = isSame ? old.since : formatTime(now);
  return { action, cause, ...boundedNames(remedies), since, ...(held && { held }) };
}

function actionsOf(sources: readonly RemedySource[]): readonly string[] {
  const given = sources.filter(({ held }) => held !== true).map(({ action }) => action);
  return [...new Set(given)].sort(compareText);
}

interface Change {
  readonly before: readonly RemedySource[];
  readonly sources: readonly RemedySource[];
  readonly current: readonly string[];
  readonly actions: readonly string[];
}

function eventsOf(change: Change): readonly PlannedEvent<RemedyReason>[] {
  const { before, sources, current, actions } = change;
  const held = sources.filter(
    (one) => one.held && !before.some((old) => old.held && old.action === one.action),
  );
  const added = actions.filter((action) => !current.includes(action));
  const removed = current.filter((action) => !actions.includes(action));
  return [
    ...actionEvent(change, added, removed),
    ...held.map((one) => heldEvent(one)),
    ...added
      .filter((action) => !REMEDY_ACTIONS.includes(action))
      .map((action): PlannedEvent<RemedyReason> => ({
        type: "Warning",
        reason: "UnknownRemedyAction",
        message: `The action ${JSON.stringify(action)} stands in status.remedyActions, and no part of this control plane carries it out.`,
      })),
  ];
}

/** One Event for all that changed. An action that was removed or added by hand has no new source: that is a correction. */
function actionEvent(
  { before, sources, current, actions }: Change,
  added: readonly string[],
  removed: readonly string[],
): readonly PlannedEvent<RemedyReason>[] {
  const had = new Set(actionsOf(before));
  const isCorrection =
    added.every((action) => had.has(action)) && removed.every((action) => !had.has(action));
  const parts = [
    ...added.map((action) => `${action} begins, asked for by ${sourceNames(sources, action)}`),
    ...removed.map((action) => `${action} ends: no Remedy asks for it any more`),
  ];
  if (parts.length === 0) {
    if (current.join("\n") === actions.join("\n")) return [];
    return [corrected("The list is sorted again, without duplicates")];
  }
  const message = parts.join("; ");
  if (isCorrection) return [corrected(message)];
  return [{ type: "Normal", reason: "RemedyActionsChanged", message: `${message}.` }];
}

function corrected(what: string): PlannedEvent<RemedyReason> {
  return {
    type: "Warning",
    reason: "RemedyActionsCorrected",
    message: `status.remedyActions was changed by another client. ${what}.`,
  };
}

function sourceNames(sources: readonly RemedySource[], action: string): string {
  return sources
    .filter((one) => one.action === action && one.held !== true)
    .map(namesOfSource)
    .join(" and ");
}

function heldEvent(source: RemedySource): PlannedEvent<RemedyReason> {
  return {
    type: "Warning",
    reason: "RemedyActionHeld",
    message:
      `${namesOfSource(source)} would block the traffic of this cluster. Conditions have blocked half of the fleet within a minute, ` +
      "so the block waits until a person agrees (lifeboat brake release).",
  };
}
