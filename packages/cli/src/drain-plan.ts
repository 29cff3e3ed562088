/** What draining a cluster would do, as people read it. */
import { type DrainStep, sharesOf } from "@lifeboat/core/operating";
import { columns } from "./wrap.ts";

/** The plan as people read it. */
export function drainPlanLines(cluster: string, steps: readonly DrainStep[]): readonly string[] {
  if (steps.length === 0) return [`nothing is on ${cluster}`];
  const held = steps.filter((step) => step.held !== undefined).length;
  const exempt = steps.filter((step) => step.exempt !== undefined).length;
  const moving = steps.length - held - exempt;
  const rows = steps.map(({ workload, targets, held: why, exempt: never }) => [
    workload,
    never !== undefined
      ? `stays, ${never}`
      : why === undefined
        ? sharesOf(targets)
        : `held, ${why}`,
  ]);
  const what = `${moving} workload${moving === 1 ? "" : "s"} would leave ${cluster}`;
  const waiting = held === 0 ? "" : `, ${held} would be held until a target exists`;
  const rest = exempt === 0 ? waiting : `${waiting}, ${exempt} would stay`;
  return [`${what}${rest}:`, "", ...columns(["WORKLOAD", "WOULD RUN ON"], rows)];
}
