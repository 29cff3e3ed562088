/**
 * The shape of every decision.
 *
 * A decision is a pure function `decideX(view, now) → Plan`. The view is one frozen value that holds all the decision
 * reads; the plan is data. Shells carry a plan out and have no judgment of their own.
 */
import type { Instant } from "@lifeboat/base";

/** A condition as a plan reports it; the shell stamps the transition time. */
export interface PlannedCondition<Reason extends string = string> {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: Reason;
  readonly message: string;
}

export interface PlannedEvent<Reason extends string = string> {
  readonly type: "Normal" | "Warning";
  readonly reason: Reason;
  readonly message: string;
}

export interface Plan<Command, Reason extends string> {
  /** What to do, in this order. A shell stops at the first command that fails and decides again. */
  readonly commands: readonly Command[];
  readonly conditions: readonly PlannedCondition[];
  readonly events: readonly PlannedEvent[];
  /** Set when time alone can change the answer. */
  readonly checkAgainAt?: Instant;
  /** Why, from a closed set: it feeds condition, event, log, metric, `lifeboat explain` and the dashboard. */
  readonly reason: Reason;
}

/**
 * The closed set of reasons of one decision: each name with one sentence for people.
 *
 *     export const reasons = defineReasons({ Placed: "Every replica has a cluster." });
 *     export type PlacementReason = keyof typeof reasons;
 */
export function defineReasons<const Table extends Readonly<Record<string, string>>>(
  table: Table,
): Table {
  return Object.freeze(table);
}
