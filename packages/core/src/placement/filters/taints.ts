/**
 * Taints of all three effects keep new work away; what runs stays until an eviction is decided.
 *
 * 1. Tolerations never apply to PreferNoExecute (D5), nor to an operator's drain (D22).
 * 2. A toleration with seconds ends with them: a workload that was moved for a taint does not come straight back to it.
 */
import type { Moment } from "@lifeboat/base";
import { isDrainTaint } from "../../binding/index.ts";
import type { CandidateTaint } from "../candidate.ts";
import type { TolerationRule } from "../rules.ts";
import type { Filter, Rejection } from "./filter.ts";

const NAME = "TaintToleration";
const EFFECTS: readonly string[] = ["NoSchedule", "NoExecute", "PreferNoExecute"];

export const taints: Filter = {
  name: NAME,
  binds: false,
  prepare: ({ rules: { tolerations }, moment }, { someTainted }) => {
    if (!someTainted) return undefined;
    const isTolerated = toleranceOf(tolerations, moment);
    return ({ taints: borne }) => {
      for (const taint of borne)
        if (EFFECTS.includes(taint.effect) && !isTolerated(taint)) return untolerated(taint);
      return undefined;
    };
  },
};

/**
 * Whether a taint does not keep a workload with these tolerations away now. Asking costs the same however many
 * tolerations there are: of those that mean the same taints only the most patient one counts.
 */
export function toleranceOf(
  tolerations: readonly TolerationRule[],
  { now, due }: Moment,
): (taint: CandidateTaint) => boolean {
  const patience = new Map<string, number>();
  for (const { key, exists, value, effect, seconds } of tolerations) {
    if (key === "" && !exists) continue;
    const meant = meaning(key, exists ? undefined : value, effect);
    patience.set(meant, Math.max(patience.get(meant) ?? 0, seconds ?? Infinity));
  }
  const tolerates = (meant: string, { timeAdded }: CandidateTaint): boolean => {
    const seconds = patience.get(meant);
    if (seconds === undefined) return false;
    return timeAdded === undefined || now < due(timeAdded, seconds * 1000);
  };
  return (taint) => {
    const { key, value, effect } = taint;
    if (effect === "PreferNoExecute" || isDrainTaint(taint) || patience.size === 0) return false;
    return [effect, ""].some(
      (meant) =>
        tolerates(meaning(key, value, meant), taint) ||
        tolerates(meaning(key, undefined, meant), taint) ||
        tolerates(meaning("", undefined, meant), taint),
    );
  };
}

/** The taints that a toleration means; `value` undefined: every value, `key` "" then: every key, `effect` "": every one. */
function meaning(key: string, value: string | undefined, effect: string): string {
  return JSON.stringify([key, value ?? null, effect]);
}

function untolerated(taint: CandidateTaint): Rejection {
  return {
    filter: NAME,
    message: `cluster(s) had untolerated taint ${taint.text}`,
    help: helpAgainst(taint),
  };
}

/** Only what can help: some taints no toleration covers. */
function helpAgainst(taint: CandidateTaint): string {
  const { effect, text } = taint;
  if (isDrainTaint(taint)) return "take back the drain of the cluster with `lifeboat uncordon`";
  const remove = `remove the taint ${text} from the cluster`;
  return effect === "PreferNoExecute" ? remove : `${remove}, or tolerate it in the policy`;
}
