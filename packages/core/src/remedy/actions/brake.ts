/**
 * The brake of D27: how many clusters conditions may block within a minute.
 *
 *     closed ──(more than half of the fleet within a minute)──▶ braked ──(a person)──▶ open for ten minutes ──▶ closed
 *
 * A probe that is broken itself reports every cluster as sick at once. So a block which would be more than half of the fleet's
 * within a minute is not written, and no further one either, until a person agrees.
 *
 * 1. Within any minute that is not open, conditions block at most half of the fleet, and always at least one cluster.
 * 2. What is let through stands on the fleet's record before it is written on the Cluster, so neither a restart nor a second
 *    leader lets more through. A cluster counts once, with its last block.
 * 3. A Remedy without `decisionMatches` is a person's word and never asks here.
 */
import { type Condition } from "@lifeboat/api";
import { deepFreeze, formatTime, type Instant, type Moment, parseTime } from "@lifeboat/base";
import type { PlannedCondition, PlannedEvent } from "../../plan.ts";
import { stateOfBrake } from "../../propagation/brake/index.ts";
import { type BlockReason, blockReasons } from "./reasons.ts";

/** The condition of the fleet's record: True while conditions block no further traffic. */
export const MASS_TRAFFIC_BLOCK = "MassTrafficBlock";

/** A second longer than a minute, because records are cut to the second. */
const WINDOW_MS = 61_000;

/** A block that was let through. */
export interface BlockedCluster {
  readonly at: string;
  readonly cluster: string;
}

export interface BlockView {
  /** The cluster that conditions would block. */
  readonly cluster: string;
  /** How many clusters there are. */
  readonly fleet: number;
  /** The record of the last minute. */
  readonly recent: readonly BlockedCluster[];
  /** The record's conditions. */
  readonly conditions: readonly Condition[];
  /** When a person last agreed. */
  readonly agreedAt?: string | undefined;
}

export interface BlockPlan {
  readonly mayBlock: boolean;
  /** The record to write before the Cluster; absent: it stays. */
  readonly recent?: readonly BlockedCluster[];
  /** The condition to report; absent: it stays as it is. */
  readonly condition?: PlannedCondition<BlockReason>;
  readonly events: readonly PlannedEvent[];
  readonly reason: BlockReason;
}

/** Whether conditions may block one more cluster now. */
export function decideBlock(view: BlockView, { now, due }: Moment): BlockPlan {
  const state = stateOfBrake(MASS_TRAFFIC_BLOCK, view.conditions, view.agreedAt, now);
  if (state === "braked") return { mayBlock: false, events: [], reason: "TooManyBlocks" };
  if (state === "open") {
    const condition = releasedBlocks(view, now);
    return { mayBlock: true, ...(condition && { condition }), events: [], reason: "BrakeReleased" };
  }
  const recent = view.recent.filter(({ at }) => {
    const time = parseTime(at);
    return time !== undefined && now < due(time, WINDOW_MS);
  });
  const within: BlockPlan = { mayBlock: true, events: [], reason: "WithinAllowance" };
  const others = recent.filter(({ cluster }) => cluster !== view.cluster);
  const allowed = Math.max(1, Math.floor(view.fleet / 2));
  if (others.length < allowed) {
    const record = [...others, { at: formatTime(now), cluster: view.cluster }];
    return { ...within, recent: deepFreeze(record) };
  }
  return braked(view, recent);
}

/** The condition to report while no block asks: a person's word is shown at once. */
export function releasedBlocks(
  { conditions, agreedAt }: Pick<BlockView, "conditions" | "agreedAt">,
  now: Instant,
): PlannedCondition<BlockReason> | undefined {
  const isBraked = conditions.some(
    ({ type, status }) => type === MASS_TRAFFIC_BLOCK && status === "True",
  );
  if (!isBraked || stateOfBrake(MASS_TRAFFIC_BLOCK, conditions, agreedAt, now) === "braked")
    return undefined;
  return RELEASED;
}

const RELEASED: PlannedCondition<BlockReason> = deepFreeze({
  type: MASS_TRAFFIC_BLOCK,
  status: "False",
  reason: "BrakeReleased",
  message: blockReasons.BrakeReleased,
});

function braked({ cluster, fleet }: BlockView, recent: readonly BlockedCluster[]): BlockPlan {
  const message =
    `Conditions blocked the traffic of ${recent.length} of ${fleet} clusters within a minute and would have blocked ${cluster} as well: ` +
    "they block no further cluster until a person agrees (lifeboat brake release)";
  const reason: BlockReason = "TooManyBlocks";
  return deepFreeze({
    mayBlock: false,
    condition: { type: MASS_TRAFFIC_BLOCK, status: "True", reason, message },
    events: [{ type: "Warning", reason: MASS_TRAFFIC_BLOCK, message }],
    reason,
  });
}
