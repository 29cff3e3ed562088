/**
 * Taints of all three effects keep new work away; what runs stays until an eviction is decided.
 *
 * 1. Tolerations never apply to PreferNoExecute (D5), nor to an operator's drain (D22).
 * 2. A toleration with seconds ends with them: a workload that was moved for a taint does not come straight back to it.
 */
import { addMs, type Instant } from "@lifeboat/base";
import type { CandidateTaint } from "../candidate.ts";
import type { TolerationRule } from "../rules.ts";
import type { Filter, Rejection } from "./filter.ts";

const NAME = "TaintToleration";
/** Set by `lifeboat drain`. */
const DRAIN = "lifeboat.dev/drain";
const EFFECTS: readonly string[] = ["NoSchedule", "NoExecute", "PreferNoExecute"];

export const taints: Filter = {
  name: NAME,
  binds: false,
  prepare: ({ rules: { tolerations }, now }, { someTainted }) =>
    someTainted
      ? ({ taints: borne }) => {
          for (const taint of borne)
            if (EFFECTS.includes(taint.effect) && !isTolerated(taint, tolerations, now))
              return untolerated(taint);
          return undefined;
        }
      : undefined,
};

/** Whether a taint does not keep a workload with these tolerations away now. */
export function isTolerated(
  taint: CandidateTaint,
  tolerations: readonly TolerationRule[],
  now: Instant,
): boolean {
  if (taint.effect === "PreferNoExecute" || taint.key === DRAIN) return false;
  for (const toleration of tolerations) if (tolerates(toleration, taint, now)) return true;
  return false;
}

function tolerates(toleration: TolerationRule, taint: CandidateTaint, now: Instant): boolean {
  if (toleration.effect !== "" && toleration.effect !== taint.effect) return false;
  if (toleration.key === "" ? !toleration.exists : toleration.key !== taint.key) return false;
  if (!toleration.exists && toleration.value !== taint.value) return false;
  if (toleration.seconds === undefined || taint.timeAdded === undefined) return true;
  return now < addMs(taint.timeAdded, toleration.seconds * 1000);
}

function untolerated(taint: CandidateTaint): Rejection {
  return {
    filter: NAME,
    message: `cluster(s) had untolerated taint ${taint.text}`,
    help: `remove the taint ${taint.text} from the cluster, or tolerate it in the policy`,
  };
}
