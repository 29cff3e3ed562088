/** What draining a cluster would do, as people read it. */
import { type DrainStep, sharesOf } from "@lifeboat/core/operating";
import { columns } from "./wrap.ts";

/** The plan as people read it. */
export function drainPlanLines(cluster: string, steps: readonly DrainStep[]): readonly string[] {
  if (steps.length === 0) return [`nothing is on ${cluster}`];
  const held = steps.filter((step) => step.held !== undefined).length;
  const moving = steps.length - held;
  const rows = steps.map(({ workload, targets, held: why }) => [
    workload,
    why === undefined ? sharesOf(targets) : `held, ${why}`,
  ]);
  const what = `${moving} workload${moving === 1 ? "" : "s"} would leave ${cluster}`;
  const rest = held === 0 ? "" : `, ${held} would be held until a target exists`;
  return [`${what}${rest}:`, "", ...columns(["WORKLOAD", "WOULD RUN ON"], rows)];
}
