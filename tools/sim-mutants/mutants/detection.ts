/** Seeded bugs for the oracles of group A: how clusters are found to be faulty, and tainted. */
import type { SimMutant } from "../mutant.ts";

export const detectionMutants: readonly SimMutant[] = [
  {
    oracle: "ready-follows-the-probes",
    promise: "A1",
    breaks: "one failed probe is enough",
    file: "packages/core/src/failover/health/ready.ts",
    symbol: "decideReady.thresholdMs",
    replace: "0",
    caughtIn: ["fail"],
  },
  {
    oracle: "members-that-answer-are-ready",
    promise: "A1",
    breaks: "a cluster that was not Ready never is again",
    file: "packages/core/src/failover/health/ready.ts",
    symbol: "decideReady.thresholdMs",
    replace: 'status === "True" ? Infinity : original',
    caughtIn: ["recover-early"],
  },
  {
    oracle: "taints-wait-for-their-window",
    promise: "A3",
    breaks: "a taint is added as soon as the conditions match",
    file: "packages/core/src/failover/taints/taints.ts",
    condition: "before-due",
    replace: "original && !matches",
    caughtIn: ["recover-early"],
  },
  {
    oracle: "taints-wait-for-their-window",
    promise: "A5",
    breaks: "a window goes on over a time in which the conditions did not match",
    file: "packages/core/src/failover/taints/taints.ts",
    marked: "window-begins",
    replace: "since = old?.since ?? at;",
    caughtIn: ["flap"],
  },
  {
    oracle: "taints-stay-for-their-window",
    promise: "A4",
    breaks: "a taint leaves as soon as the conditions do not match",
    file: "packages/core/src/failover/taints/taints.ts",
    condition: "before-due",
    replace: "original && matches",
    caughtIn: ["fail-directly-silent"],
  },
  {
    oracle: "policies-match-as-they-say",
    promise: "A6",
    breaks: "one of several conditions is enough",
    file: "packages/core/src/failover/taints/conditions.ts",
    symbol: "matchesAll",
    replace: `(wanted = [], conditions, whenEmpty) =>
      wanted.length === 0 ? whenEmpty : wanted.some((one) => matchesOne(one, conditions))`,
    caughtIn: ["conditions"],
  },
  {
    oracle: "policies-match-as-they-say",
    promise: "A6",
    breaks: "a condition that a cluster does not have matches",
    file: "packages/core/src/failover/taints/conditions.ts",
    symbol: "matchesOne",
    replace: `(wanted, conditions) =>
      original(wanted, conditions) || !conditions.some(({ type }) => type === wanted.conditionType)`,
    caughtIn: ["conditions"],
  },
  {
    oracle: "taints-have-an-author",
    promise: "A7",
    breaks: "every taint of a policy moves workloads",
    file: "packages/core/src/failover/taints/taints.ts",
    symbol: "mergeTaints.added.effect",
    replace: '"NoExecute"',
    caughtIn: ["gate-off", "fail"],
  },
  {
    oracle: "taints-have-an-author",
    promise: "A7",
    breaks: "policies add every taint while the gate is off",
    file: "packages/core/src/failover/taints/taints.ts",
    symbol: "mayAdd",
    replace: "(view, ...others) => original({ ...view, failover: true }, ...others)",
    caughtIn: ["gate-off"],
  },
  {
    oracle: "foreign-taints-are-left-alone",
    promise: "A8",
    breaks: "what people set is taken off",
    file: "packages/core/src/failover/taints/taints.ts",
    condition: "foreign",
    replace: "false",
    caughtIn: ["fail-gracefully"],
  },
  {
    oracle: "taints-are-as-policies-say",
    promise: "A9",
    breaks: "nobody looks again when a window has passed",
    file: "packages/controllers/src/failover/taint-policy/create-taint-policies.ts",
    symbol: "TaintPolicies.#look",
    replace: `async (...all) => {
      await original(...all);
      return done;
    }`,
    caughtIn: ["window-at-rest"],
  },
  {
    oracle: "taints-keep-their-time",
    promise: "A10",
    breaks: "every look makes a taint younger",
    file: "packages/core/src/failover/taints/taints.ts",
    marked: "still-held",
    replace: `return one === undefined
      ? []
      : [{ ...withValue(taint, one.value), timeAdded: formatTime(now) }];`,
    caughtIn: ["fail"],
  },
];
