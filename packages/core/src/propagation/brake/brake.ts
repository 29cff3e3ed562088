/**
 * The mass-deletion brake (D19): how many Works may be deleted now.
 *
 *     closed ──(more than a tenth and more than twenty within a minute)──▶ braked ──(a person)──▶ open for ten minutes
 *        ▲                                                                                              │
 *        └──────────────────────────────────────────────────────────────────────────────────────────────┘
 *
 * What was let through stands on the budget before anything is deleted: a list of moments of the last minute with the
 * number let through at each. So a restart grants nothing twice, and a lost response counts as used.
 *
 * 1. Within any minute that is not open at most max(20, a tenth of all Works) are let through.
 * 2. Braked, nothing is let through until a person releases the brake at or after the time it came on.
 * 3. A release in the future counts when its time has come: no release takes the brake off for good.
 * 4. Deletions that follow from an eviction or from deleting a template or Cluster neither count nor wait.
 */
import { type Condition, findCondition } from "@lifeboat/api";
import {
  deepFreeze,
  formatTime,
  type Instant,
  instantOf,
  type Moment,
  addMs,
  parseTime,
} from "@lifeboat/base";
import type { PlannedCondition, PlannedEvent } from "../../plan.ts";
import { type DeletionReason, deletionReasons } from "./reasons.ts";

/** Why a Work goes. */
export type DeletionCause =
  /** The template is gone or going, by itself or with its namespace. */
  | "TemplateDeleted"
  /** The Cluster object is gone. */
  | "ClusterDeleted"
  /** An eviction moved the copy away. */
  | "Evicted"
  /** The workloads that need the resource have left the cluster before. */
  | "WorkloadMoved"
  /** The binding was deleted although its template exists. */
  | "BindingDeleted"
  /** The schedule no longer names the cluster: a policy or a label was edited. */
  | "Descheduled";

/** How many Works were let through at a moment, and how many there were at all. */
export interface LetThrough {
  readonly at: string;
  readonly count: number;
  readonly works: number;
}

export interface DeletionView {
  /** How many Works are to be deleted, without exempt ones. */
  readonly asked: number;
  /** How many Works there are. */
  readonly works: number;
  /** The budget's record of the last minute. */
  readonly recent: readonly LetThrough[];
  /** The budget's conditions. */
  readonly conditions: readonly Condition[];
  /** When a person last released the brake. */
  readonly releasedAt?: string | undefined;
}

export interface DeletionPlan {
  /** How many may go now. */
  readonly granted: number;
  /** The record to write before any of them goes. */
  readonly recent: readonly LetThrough[];
  /** The condition to report; absent: it stays as it is. */
  readonly condition?: PlannedCondition<DeletionReason>;
  readonly events: readonly PlannedEvent[];
  readonly reason: DeletionReason;
}

/** The condition of the budget: True while deletions are stopped. */
export const MASS_DELETION = "MassDeletion";

/** A second longer than a minute, because records are cut to the second. */
const WINDOW_MS = 61_000;
const OPEN_MS = 600_000;
const ALWAYS_ALLOWED = 20;
const ALLOWED_SHARE = 10;

const EXEMPT: ReadonlySet<DeletionCause> = new Set([
  "TemplateDeleted",
  "ClusterDeleted",
  "Evicted",
  "WorkloadMoved",
]);

/** Whether deletions of this cause neither count nor wait. */
export function isExempt(cause: DeletionCause): boolean {
  return EXEMPT.has(cause);
}

/** How many of the Works that are to be deleted may go now. */
export function decideDeletion(view: DeletionView, moment: Moment): DeletionPlan {
  const { now } = moment;
  const state = stateOfBrake(MASS_DELETION, view.conditions, view.releasedAt, now);
  if (state === "braked") return plan(0, view.recent, "TooManyDeletions");
  if (state === "open") return opened(view);
  const recent = within(view.recent, moment);
  const works = Math.max(view.works, ...recent.map((one) => one.works));
  const used = recent.reduce((sum, { count }) => sum + count, 0);
  const allowed = Math.max(ALWAYS_ALLOWED, Math.floor(works / ALLOWED_SHARE));
  const granted = Math.min(view.asked, Math.max(0, allowed - used));
  const record = recorded(recent, granted, view.works, now);
  if (granted === view.asked) return plan(granted, record, "WithinAllowance");
  return braked(granted, record, { used: used + granted, works, asked: view.asked });
}

/** The condition to report while no deletion asks: a release that a person gave is shown at once. */
export function brakeCondition(
  view: Pick<DeletionView, "conditions" | "releasedAt">,
  now: Instant,
): PlannedCondition<DeletionReason> | undefined {
  const isBraked = findCondition(view.conditions, MASS_DELETION)?.status === "True";
  const state = stateOfBrake(MASS_DELETION, view.conditions, view.releasedAt, now);
  return isBraked && state !== "braked" ? RELEASED : undefined;
}

/** Later than the brake came on, however the clocks of the two machines differ. */
export function releaseTime({ lastTransitionTime }: Condition, now: Instant): string {
  const braked = parseTime(lastTransitionTime);
  return formatTime(braked === undefined ? now : instantOf(Math.max(now, braked)));
}

const RELEASED: PlannedCondition<DeletionReason> = deepFreeze({
  type: MASS_DELETION,
  status: "False",
  reason: "BrakeReleased",
  message: deletionReasons.BrakeReleased,
});

/** The state of a brake whose condition has this type: every brake that a person releases moves alike. */
export function stateOfBrake(
  type: string,
  conditions: readonly Condition[],
  releasedAt: string | undefined,
  now: Instant,
): "closed" | "braked" | "open" {
  const condition = findCondition(conditions, type);
  const released = releasedAt === undefined ? undefined : parseTime(releasedAt);
  const hasCome = released !== undefined && released <= now;
  if (condition?.status === "True") {
    const since = parseTime(condition.lastTransitionTime);
    if (!hasCome || (since !== undefined && released < since)) return "braked";
  }
  return hasCome && now < released + OPEN_MS ? "open" : "closed";
}

/** Until when deletions go on without the brake because a person released it; undefined: it is not released now. */
export function releasedUntil(
  conditions: readonly Condition[],
  releasedAt: string | undefined,
  now: Instant,
): Instant | undefined {
  const released = parseTime(releasedAt ?? "");
  const isOpen = stateOfBrake(MASS_DELETION, conditions, releasedAt, now) === "open";
  return isOpen && released !== undefined ? addMs(released, OPEN_MS) : undefined;
}

function opened(view: DeletionView): DeletionPlan {
  const isBraked = findCondition(view.conditions, MASS_DELETION)?.status === "True";
  const base = plan(view.asked, [], "BrakeReleased");
  return isBraked ? { ...base, condition: RELEASED } : base;
}

function within(recent: readonly LetThrough[], { now, due }: Moment): readonly LetThrough[] {
  return recent.filter(({ at }) => {
    const time = parseTime(at);
    return time !== undefined && now < due(time, WINDOW_MS);
  });
}

/** One entry a second at most, so that the record stays small whatever happens. */
function recorded(
  recent: readonly LetThrough[],
  granted: number,
  works: number,
  now: Instant,
): readonly LetThrough[] {
  if (granted === 0) return recent;
  const at = formatTime(now);
  const last = recent.at(-1);
  if (last?.at !== at) return deepFreeze([...recent, { at, count: granted, works }]);
  const count = last.count + granted;
  return deepFreeze([...recent.slice(0, -1), { at, count, works: Math.max(works, last.works) }]);
}

function braked(
  granted: number,
  recent: readonly LetThrough[],
  { used, works, asked }: { used: number; works: number; asked: number },
): DeletionPlan {
  const message =
    `${used} of ${works} Works were deleted within a minute and ${asked - granted} more were to be: ` +
    "nothing more is deleted until the brake is released (lifeboat brake release)";
  const reason: DeletionReason = "TooManyDeletions";
  return deepFreeze({
    granted,
    recent,
    condition: { type: MASS_DELETION, status: "True", reason, message },
    events: [{ type: "Warning", reason: MASS_DELETION, message }],
    reason,
  });
}

function plan(
  granted: number,
  recent: readonly LetThrough[],
  reason: DeletionReason,
): DeletionPlan {
  return { granted, recent, events: [], reason };
}
