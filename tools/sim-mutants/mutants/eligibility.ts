/** Seeded bugs for the oracles of group B: the gate, and who is moved at all. */
import type { SimMutant } from "../mutant.ts";

export const eligibilityMutants: readonly SimMutant[] = [
  {
    oracle: "gate-off-moves-nobody",
    promise: "B1",
    breaks: "evacuations do not know of the gate",
    file: "packages/controllers/src/failover/evacuation/create-evacuations.ts",
    symbol: "Evacuations.#build",
    replace: `() => {
      this.#options = { ...this.#options, failover: true };
      return original();
    }`,
    caughtIn: ["gate-off"],
  },
  {
    oracle: "no-schedule-moves-nobody",
    promise: "B2",
    breaks: "NoSchedule is taken for NoExecute",
    file: "packages/core/src/failover/evacuation/affected.ts",
    symbol: "evictingTaints",
    replace: `({ spec }) =>
      (spec.taints ?? []).map((taint) => ({
        ...taint,
        effect: EVICTING_EFFECTS.includes(taint.effect) ? taint.effect : "NoExecute",
      }))`,
    caughtIn: ["no-schedule"],
  },
  {
    oracle: "tolerations-are-respected",
    promise: "B3",
    breaks: "who tolerates a taint for ever leaves at once",
    file: "packages/core/src/failover/evacuation/affected.ts",
    symbol: "toleratedSeconds",
    replace: `(...all) => {
      const seconds = original(...all);
      return seconds === Infinity ? 0 : seconds;
    }`,
    caughtIn: ["tolerated"],
  },
  {
    oracle: "tolerations-are-respected",
    promise: "B3",
    breaks: "nobody waits for the seconds of a toleration",
    file: "packages/core/src/failover/evacuation/affected.ts",
    symbol: "until",
    replace: "(_added, _seconds, purgeMode) => ({ affected: true, purgeMode })",
    caughtIn: ["tolerated"],
  },
  {
    oracle: "prefer-no-execute-asks-the-policy",
    promise: "B4",
    breaks: "the seconds of failover.cluster are not waited for",
    file: "packages/core/src/failover/evacuation/affected.ts",
    marked: "seconds-of-policy",
    replace: "return until(added, 0, purgeMode);",
    caughtIn: ["prefer-no-execute"],
  },
  {
    oracle: "new-targets-are-untainted",
    promise: "B5",
    breaks: "PreferNoExecute repels nobody",
    file: "packages/core/src/placement/filters/taints.ts",
    symbol: "EFFECTS",
    replace: 'original.filter((effect) => effect !== "PreferNoExecute")',
    caughtIn: ["placed-while-tainted"],
  },
  {
    oracle: "eligibility-is-recorded-as-it-is",
    promise: "B6",
    breaks: "who has no failover.cluster leaves for PreferNoExecute",
    file: "packages/core/src/failover/evacuation/affected.ts",
    marked: "no-failover-policy",
    replace: "if (wish === undefined) return until(added, 0, purgeMode);",
    caughtIn: ["prefer-no-execute"],
  },
  {
    oracle: "eligibility-is-frozen",
    promise: "B6",
    breaks: "the purge mode is that of the present policy",
    file: "packages/controllers/src/failover/evacuation/release-view.ts",
    symbol: "releaseViewOf.purgeMode",
    replace: 'binding.spec.failover?.cluster?.purgeMode === "Directly" ? "Directly" : "Gracefully"',
    caughtIn: ["policy-edited-while-queued"],
  },
  {
    oracle: "nobody-is-evicted-to-nowhere",
    promise: "B7",
    breaks: "nobody asks whether there is a target",
    file: "packages/core/src/failover/leaving/decide.ts",
    condition: "no-target",
    replace: "false",
    caughtIn: ["nowhere-to-go"],
  },
  {
    oracle: "purge-mode-is-said",
    promise: "B8",
    breaks: "the purge mode of the policy is ignored",
    file: "packages/core/src/failover/evacuation/affected.ts",
    symbol: "affectedBy.purgeMode",
    replace: "purgeModeOf(undefined, defaultPurgeMode)",
    caughtIn: ["fail-directly"],
  },
];
