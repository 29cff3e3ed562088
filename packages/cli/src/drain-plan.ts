/** What draining or tainting a cluster would do, as people read it. */
import { humanDuration } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { type DrainStep, sharesOf } from "@lifeboat/core/operating";
import { columns, hanging } from "./wrap.ts";

/** How much of a plan is shown in a prompt. */
const IN_PROMPT = 10;

/** The plan as people read it; `limit`: of how many workloads. */
export function drainPlanLines(
  cluster: string,
  steps: readonly DrainStep[],
  now: Instant,
  limit = steps.length,
): readonly string[] {
  if (steps.length === 0) return [`nothing is on ${cluster}`];
  const held = steps.filter((step) => step.held !== undefined).length;
  const exempt = steps.filter((step) => step.exempt !== undefined).length;
  const moving = steps.length - held - exempt;
  const rows = steps.slice(0, limit).map((step) => [step.workload, becomes(step, now)]);
  const what = `${moving} workload${moving === 1 ? "" : "s"} would leave ${cluster}`;
  const waiting = held === 0 ? "" : `, ${held} would be held until a target exists`;
  const rest = exempt === 0 ? waiting : `${waiting}, ${exempt} would stay`;
  const more = steps.length - rows.length;
  return [
    ...hanging("", `${what}${rest}:`),
    "",
    ...columns(["WORKLOAD", "WOULD RUN ON"], rows),
    ...(more <= 0 ? [] : [`and ${more} more: --dry-run shows all`]),
  ];
}

/** The plan as it stands above a question. */
export function promptLines(
  cluster: string,
  steps: readonly DrainStep[],
  now: Instant,
): readonly string[] {
  return [...drainPlanLines(cluster, steps, now, IN_PROMPT), ""];
}

function becomes({ targets, leavesAt, held, exempt }: DrainStep, now: Instant): string {
  if (exempt !== undefined) return `stays, ${exempt}`;
  if (held !== undefined) return `held, ${held}`;
  const later = leavesAt === undefined ? "" : ` after ${humanDuration(leavesAt - now)}`;
  return `${sharesOf(targets)}${later}`;
}
