/**
 * The brake of blocks by conditions (D27), on the fleet's record: what is let through stands there before the Cluster is written,
 * and the condition MassTrafficBlock outlives every process. A person's word (`spec.trafficBlocksAgreedAt`) is shown at once. The
 * rules are in core/remedy/actions/brake.ts.
 */
import { type EvacuationBudget, type ObjectKey, setCondition } from "@lifeboat/api";
import { type Instant, parseTime } from "@lifeboat/base";
import type { PlannedCondition } from "@lifeboat/core";
import {
  type BlockPlan,
  type BlockView,
  decideBlock,
  releasedBlocks,
} from "@lifeboat/core/remedy/actions";
import {
  checkAgainAt,
  type Controller,
  createController,
  done,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import { type RecordSwap, swapRecordStatus } from "../../context/fleet-record.ts";

export class TrafficBrake implements Service {
  readonly name = "traffic-brake";
  readonly #context: PlaneContext;
  readonly #controller: Controller;

  constructor(context: PlaneContext) {
    this.#context = context;
    this.#controller = createController(context, {
      name: this.name,
      concurrency: 1,
      watches: [watching(context.informers.evacuationBudgets, ownKey)],
      reconcile: (key, signal) => this.#showRelease(key, signal),
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  /** Whether conditions may block this cluster; when they may, the record names it. */
  async admit(cluster: string, signal: AbortSignal): Promise<boolean> {
    const { plane, time, events, clock, informers } = this.#context;
    const fleet = informers.clusters.size;
    const { record, plan } = await swapRecordStatus(
      plane,
      (now) => {
        const decided = decideBlock({ ...viewOf(now), cluster, fleet }, time.moment());
        const status = statusAfter(now, decided, clock.now());
        return { ...(status && { status }), answer: { record: now, plan: decided } };
      },
      { signal },
    );
    for (const event of plan.events) events.record(record, event);
    return plan.mayBlock;
  }

  /** Shows a release while no block waits, and comes back for one whose time has not come. */
  async #showRelease(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const { clock, informers, plane } = this.#context;
    const record = informers.evacuationBudgets.get(key);
    if (record === undefined) return done;
    const now = clock.now();
    if (releasedBlocks(viewOf(record), now) !== undefined) {
      await swapRecordStatus(plane, (newest) => shownRelease(newest, now), { signal });
      return done;
    }
    const agreed = parseTime(record.spec.trafficBlocksAgreedAt ?? "");
    return agreed === undefined || agreed <= now ? done : checkAgainAt(agreed);
  }
}

function viewOf({ spec, status }: EvacuationBudget): Omit<BlockView, "cluster" | "fleet"> {
  return {
    recent: status?.trafficBlocks ?? [],
    conditions: status?.conditions ?? [],
    agreedAt: spec.trafficBlocksAgreedAt,
  };
}

/** undefined: nothing is to be written. */
function statusAfter(
  { status }: EvacuationBudget,
  { recent, condition }: BlockPlan,
  now: Instant,
): EvacuationBudget["status"] {
  if (recent === undefined && condition === undefined) return undefined;
  return {
    ...status,
    ...(recent && { trafficBlocks: recent }),
    ...(condition && { conditions: setCondition(status?.conditions, condition, now) }),
  };
}

function shownRelease(record: EvacuationBudget, now: Instant): RecordSwap<void> {
  const condition: PlannedCondition | undefined = releasedBlocks(viewOf(record), now);
  if (condition === undefined) return { answer: undefined };
  const conditions = setCondition(record.status?.conditions, condition, now);
  return { status: { ...record.status, conditions }, answer: undefined };
}
