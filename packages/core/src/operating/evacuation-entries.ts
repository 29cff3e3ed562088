/**
 * The entries of an evacuation as people read them, each binding once, by the function that the counts come from: a table
 * that is derived otherwise contradicts them, as when a taint is removed and what was queued is abandoned.
 */
import type { Evacuation, EvacuationEntry, EvacuationSlice, ResourceBinding } from "@lifeboat/api";
import type { Moment } from "@lifeboat/base";
import { type ApprovalMode, isApproved, needsApproval } from "../failover/evacuation/approval.ts";
import { entryState, type EntryState, type EntryTerm } from "../failover/evacuation/entry.ts";
import { takenOutOf } from "../failover/evacuation/taken-out.ts";
import { taintId } from "../failover/evacuation/taint-identity.ts";

export interface EvacuationEntriesView {
  readonly evacuation: Evacuation;
  readonly slices: readonly EvacuationSlice[];
  /** Of both scopes. */
  readonly bindings: readonly ResourceBinding[];
  /** `--evacuation-approval`. */
  readonly approval: ApprovalMode;
  readonly moment: Moment;
}

export interface ListedEntry {
  /** As it was recorded; of several taints, the first that moves it. */
  readonly entry: EvacuationEntry;
  readonly state: EntryState | "Held" | "AwaitingApproval";
  readonly binding: ResourceBinding | undefined;
}

export function evacuationEntries(view: EvacuationEntriesView): readonly ListedEntry[] {
  const { evacuation, slices } = view;
  const { status } = evacuation;
  const bindings = new Map(view.bindings.map((one) => [one.metadata.uid, one]));
  const takenOut = new Set(takenOutOf(evacuation).map(({ uid }) => uid));
  const held = new Set((status?.held ?? []).map(({ binding }) => binding.uid));
  const inForce = new Set(
    (status?.taints ?? [])
      .filter(({ recorded, removedAt }) => recorded && removedAt === undefined)
      .map(({ taint }) => taintId(taint)),
  );
  const found = new Map<string, { entry: EvacuationEntry; readonly terms: ListedTerm[] }>();
  for (const { spec } of slices) {
    const taint = taintId(spec.taint);
    for (const entry of spec.entries) {
      const { uid } = entry.binding;
      const term = {
        taint,
        isExempt: entry.exempt !== undefined,
        isInForce: inForce.has(taint),
        result: entry.result,
        needsApproval: needsApproval(entry, spec.taint, view.approval),
      };
      const known = found.get(uid);
      if (known === undefined) found.set(uid, { entry, terms: [term] });
      else {
        known.terms.push(term);
        if (known.entry.exempt !== undefined) known.entry = entry;
      }
    }
  }
  return [...found].map(([uid, { entry, terms }]) => {
    const binding = bindings.get(uid);
    const { state } = entryState({
      evacuation: evacuation.metadata.name,
      cluster: evacuation.spec.cluster,
      uid,
      terms,
      binding,
      takenOut: takenOut.has(uid),
    });
    if (state !== "Queued") return { entry, state, binding };
    const moving = terms.filter(({ isInForce, isExempt }) => isInForce && !isExempt);
    const isApprovedNow = isApproved(evacuation.spec.approvals ?? [], entry.binding, view.moment);
    if (!isApprovedNow && moving.every((term) => term.needsApproval))
      return { entry, state: "AwaitingApproval", binding };
    return { entry, state: held.has(uid) ? "Held" : state, binding };
  });
}

interface ListedTerm extends EntryTerm {
  readonly needsApproval: boolean;
}
