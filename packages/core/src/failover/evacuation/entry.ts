/**
 * The state of one recorded binding, derived from the binding alone, so that no process has to remember it (D7):
 *
 *   cluster in `spec.clusters`    Queued, or Abandoned when no reason to move is left
 *   task for the cluster          Evicted
 *   neither, in no cluster        Evicted: the workload is stranded until it is placed again
 *   neither, or no binding        Done
 *
 * An eviction leaves a mark on the binding: the name of its evacuation and its taint. A binding that has the mark and is on
 * the cluster again was put back by a person or with their consent: it is not evicted for that taint again. Neither is a
 * binding whose result a person edited since it was recorded.
 */
import type { ResourceBinding } from "@lifeboat/api";
import { isLeaving, isMoving, isOn, resultOf } from "../../binding/index.ts";
import { isFields, textAt, textsAt } from "../../fields.ts";
import { EVICTED_FOR } from "../../well-known.ts";
import { isEditedByHand } from "./own-result.ts";

export type EntryState = "Queued" | "Evicted" | "Done" | "Abandoned" | "Exempt";

/** What is known of one binding in one evacuation; one term per taint that recorded it. */
export interface EntryView {
  readonly evacuation: string;
  readonly cluster: string;
  readonly uid: string;
  readonly terms: readonly EntryTerm[];
  readonly binding: ResourceBinding | undefined;
  /** A person took it out of the evacuation. */
  readonly takenOut: boolean;
}

export interface EntryTerm {
  /** See `taintId`. */
  readonly taint: string;
  readonly isExempt: boolean;
  /** Recorded completely, and the cluster bears the taint. */
  readonly isInForce: boolean;
  /** The result when it was recorded (see own-result.ts); absent: that is not known. */
  readonly result?: string | undefined;
}

export interface EntryAnswer {
  readonly state: EntryState;
  /** A person put it back where it had been evicted from, or edited its result. */
  readonly putBack: boolean;
  /** This evacuation left it in no cluster, and it has not been placed again. */
  readonly isStranded: boolean;
}

export function entryState(view: EntryView): EntryAnswer {
  const { binding, cluster } = view;
  const is = (state: EntryState, putBack = false): EntryAnswer => ({
    state,
    putBack,
    isStranded: false,
  });
  if (binding === undefined || binding.metadata.uid !== view.uid) return is("Done");
  if (view.terms.every(({ isExempt }) => isExempt)) return is("Exempt");
  if (isOn(binding, cluster) && binding.metadata.deletionTimestamp === undefined) {
    if (view.takenOut) return is("Abandoned");
    const inForce = view.terms.filter((one) => one.isInForce && !one.isExempt);
    const marks = inForce.filter(
      ({ taint, result }) => isMarked(binding, view, taint) || isEditedByHand(binding, result),
    );
    // seed: put-back
    if (marks.length === inForce.length) return is("Abandoned", marks.length > 0);
    return is("Queued");
  }
  if (isLeaving(binding, cluster)) return is("Evicted");
  const last = strandedBy(binding);
  const isStranded = last?.cluster === cluster && last.mark.startsWith(markOf(view.evacuation, ""));
  return { ...is(isStranded ? "Evicted" : "Done"), isStranded };
}

/**
 * The last eviction of a workload that it left in no cluster: the task is over, the result is empty. So it is when no cluster
 * fits any more after the old copy was purged. undefined: the workload is somewhere, or is still leaving.
 */
export function strandedBy(
  binding: ResourceBinding,
): { readonly cluster: string; readonly mark: string } | undefined {
  if (resultOf(binding).length > 0 || isMoving(binding)) return undefined;
  if (binding.metadata.deletionTimestamp !== undefined) return undefined;
  const [cluster, mark] = Object.entries(evictionMarks(binding)).at(-1) ?? [];
  return cluster === undefined || mark === undefined ? undefined : { cluster, mark };
}

/**
 * Whether the binding was evicted from the cluster for this taint before, by this evacuation or by one that the gate ended. A taint
 * without a time is known for the same only within one evacuation.
 */
function isMarked(
  binding: ResourceBinding,
  { evacuation, cluster }: Pick<EntryView, "evacuation" | "cluster">,
  taint: string,
): boolean {
  const mark = evictionMarks(binding)[cluster];
  if (mark === undefined || taint.endsWith("@")) return mark === markOf(evacuation, taint);
  return mark.endsWith(markOf("", taint));
}

export function markOf(evacuation: string, taint: string): string {
  return `${evacuation} ${taint}`;
}

/** By cluster: for which evacuation and taint the binding was last evicted from it. */
export function evictionMarks(binding: ResourceBinding): Readonly<Record<string, string>> {
  const text = textAt(binding, "metadata", "annotations", EVICTED_FOR);
  if (text === "") return {};
  try {
    const marks: unknown = JSON.parse(text);
    return isFields(marks) ? textsAt({ marks }, "marks") : {};
  } catch {
    return {};
  }
}

/** As many clusters are remembered; the one that was evicted from longest ago is forgotten first. */
const MAX_MARKS = 10;

/** The text of the annotation after an eviction from a cluster. */
export function withMark(binding: ResourceBinding, cluster: string, mark: string): string {
  const { [cluster]: _former, ...others } = evictionMarks(binding);
  const kept = Object.entries(others).slice(1 - MAX_MARKS);
  return JSON.stringify(Object.fromEntries([...kept, [cluster, mark]]));
}
