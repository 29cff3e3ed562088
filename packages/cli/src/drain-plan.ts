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
  const rows = steps.slice(0, limit).map((step) => [step.workload, becomes(step, now)]);
  const more = steps.length - rows.length;
  return [
    ...hanging("", `${leavingOf([[cluster, steps]], "would")}:`),
    "",
    ...columns(["WORKLOAD", "WOULD RUN ON"], rows),
    ...(more <= 0 ? [] : [`and ${more} more: --dry-run shows all`]),
  ];
}

/**
 * How many workloads leave and how many do not: `2 workloads would leave m1, 1 would be held until a target exists`. One that leaves
 * several clusters counts once.
 */
export function leavingOf(
  plans: readonly (readonly [cluster: string, steps: readonly DrainStep[]])[],
  will: "will" | "would",
): string {
  const found = new Map<string, DrainStep>();
  for (const [, steps] of plans)
    for (const step of steps) {
      const before = found.get(step.workload);
      if (before === undefined || rankOf(step) < rankOf(before)) found.set(step.workload, step);
    }
  const ranks = [...found.values()].map(rankOf);
  const count = (rank: Rank): number => ranks.filter((one) => one === rank).length;
  const moving = count(Rank.Leaves);
  const clusters = plans.map(([cluster]) => cluster).join(", ");
  const others = [
    [count(Rank.Waits), "wait for an approval"],
    [count(Rank.Held), "be held until a target exists"],
    [count(Rank.Stays), "stay"],
  ] as const;
  return [
    `${moving} workload${moving === 1 ? "" : "s"} ${will} leave ${clusters}`,
    ...others.flatMap(([n, what]) => (n === 0 ? [] : [`${n} ${will} ${what}`])),
  ].join(", ");
}

/** What becomes of a step, what happens soonest first. */
const Rank = { Leaves: 0, Waits: 1, Held: 2, Stays: 3 } as const;
type Rank = (typeof Rank)[keyof typeof Rank];

function rankOf({ exempt, held, awaitsApproval = false }: DrainStep): Rank {
  if (exempt !== undefined) return Rank.Stays;
  if (awaitsApproval) return Rank.Waits;
  return held === undefined ? Rank.Leaves : Rank.Held;
}

/** The plan as it stands above a question. */
export function promptLines(
  cluster: string,
  steps: readonly DrainStep[],
  now: Instant,
): readonly string[] {
  return [...drainPlanLines(cluster, steps, now, IN_PROMPT), ""];
}

function becomes(
  { targets, leavesAt, held, exempt, awaitsApproval = false }: DrainStep,
  now: Instant,
): string {
  if (exempt !== undefined) return `stays, ${exempt}`;
  if (held !== undefined) return `held, ${held}`;
  const later = leavesAt === undefined ? "" : ` after ${humanDuration(leavesAt - now)}`;
  return `${sharesOf(targets)}${later}${awaitsApproval ? ", once approved" : ""}`;
}
