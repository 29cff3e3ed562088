/** What a restoration would do, as a person is asked about it. */
import { type RestorePlan, sharesOf } from "@lifeboat/core/operating";

export function restoreText(what: string, plan: RestorePlan & { outcome: "restore" }): string {
  const { targets, leaves, purgeMode, warnings } = plan;
  const leaving = leaves.map(({ name }) => name).join(", ");
  const how =
    leaves.length === 0
      ? ""
      : purgeMode === "Directly"
        ? ` It leaves ${leaving} first, and does not run until it is gone there.`
        : ` It leaves ${leaving} once it is healthy where it goes back to.`;
  return `${what} goes back to ${sharesOf(targets)}.${how}${stateText(warnings)}`;
}

/** What a person should know about the state of a workload before it goes; empty: nothing. */
export function stateText(warnings: readonly string[]): string {
  return warnings.map((warning) => ` State: ${warning}.`).join("");
}
