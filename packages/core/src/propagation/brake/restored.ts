/**
 * The hold after a restore (D20): a control plane that was restored from a backup does not know what was decided since. A Work
 * that it takes for deleted may have been created again, a copy that it takes for stray may be the one that serves. So nothing
 * is deleted in any member until a person agrees.
 *
 * The condition stands on the fleet's record before any controller runs; the person's word is a time at or after it.
 */
import { type EvacuationBudget, findCondition } from "@lifeboat/api";
import { type Instant, parseTime } from "@lifeboat/base";
import type { PlannedCondition } from "../../plan.ts";
import { type DeletionReason, deletionReasons } from "./reasons.ts";

/** The condition of the fleet's record: True while nothing is deleted in members because of a restore. */
export const RESTORED = "RestoredFromBackup";

type RecordParts = Pick<EvacuationBudget, "spec" | "status">;

/** Whether deletions in members wait for a person because of a restore. */
export function isHeldByRestore(record: RecordParts | undefined, now: Instant): boolean {
  const condition = findCondition(record?.status?.conditions, RESTORED);
  if (condition?.status !== "True") return false;
  const since = parseTime(condition.lastTransitionTime);
  const agreed = parseTime(record?.spec.restoreAgreedAt ?? "");
  if (agreed === undefined || agreed > now) return true;
  return since !== undefined && agreed < since;
}

/** What the record shows from the first start after a restore on. */
export function restoredCondition(takenAt: string): PlannedCondition<DeletionReason> {
  const since = takenAt === "" ? "of an unknown time" : `of ${takenAt}`;
  return held("Restored", `The control plane was restored from a backup ${since}`);
}

/** What the record shows after a control plane was moved to another API server, or adopted there. */
export function movedInCondition(whence: string): PlannedCondition<DeletionReason> {
  return held("MovedIn", `The control plane ${whence}`);
}

function held(reason: DeletionReason, happened: string): PlannedCondition<DeletionReason> {
  const message = `${happened}: nothing is deleted in members until a person agrees (lifeboat brake release)`;
  return { type: RESTORED, status: "True", reason, message };
}

/** The conditions to report once a person has agreed; none: nothing changes. */
export function agreedConditions(
  record: RecordParts,
  now: Instant,
): readonly PlannedCondition<DeletionReason>[] {
  const { conditions } = record.status ?? {};
  if (findCondition(conditions, RESTORED)?.status !== "True" || isHeldByRestore(record, now))
    return [];
  const reason: DeletionReason = "RestoreAgreed";
  return [RESTORED, UNKNOWN_COPIES]
    .filter((type) => findCondition(conditions, type) !== undefined)
    .map((type) => ({ type, status: "False", reason, message: deletionReasons[reason] }));
}

/** The condition of the fleet's record: True while members hold copies that a restored control plane has no Work for. */
export const UNKNOWN_COPIES = "UnknownCopies";

/** What was found in the members of a restored control plane. */
export interface MemberSurvey {
  readonly cluster: string;
  /** Copies without a Work, such as `Deployment shop/web`; undefined: the member could not be read. */
  readonly unknown: readonly string[] | undefined;
}

const SHOWN = 10;

/** What is to be reported about copies that the restored state does not know. */
export function unknownCopiesCondition(
  surveys: readonly MemberSurvey[],
): PlannedCondition<DeletionReason> {
  const copies = surveys.flatMap(({ cluster, unknown = [] }) =>
    unknown.map((copy) => `${copy} in ${cluster}`),
  );
  const unread = surveys.filter(({ unknown }) => unknown === undefined);
  const sentences = [
    ...(copies.length === 0
      ? ["Every copy that was found in the members has a Work"]
      : [
          `${copies.length} ${copies.length === 1 ? "copy has" : "copies have"} no Work in the restored state: ` +
            listed(copies),
        ]),
    ...(unread.length === 0 ? [] : [`not read: ${listed(unread.map(({ cluster }) => cluster))}`]),
  ];
  return {
    type: UNKNOWN_COPIES,
    status: copies.length > 0 ? "True" : unread.length > 0 ? "Unknown" : "False",
    reason: copies.length > 0 ? "NoWork" : "NothingUnknown",
    message: sentences.join("; "),
  };
}

function listed(names: readonly string[]): string {
  const rest = names.length - SHOWN;
  return names.slice(0, SHOWN).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
