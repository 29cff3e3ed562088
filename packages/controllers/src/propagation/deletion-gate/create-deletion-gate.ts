/**
 * The gate of all Work deletions, on the fleet's budget.
 *
 *   ask ──▶ batch ──▶ read budget ──▶ decide ──▶ write budget (compare and swap) ──▶ answer
 *
 * 1. What is let through stands on the budget before the answer, so a restart, a second leader and a lost response grant
 *    nothing twice: the swap fails for all but one, and what may have been written counts as used.
 * 2. Asks that come while a write is under way share the next one.
 * 3. A Work that was let through and whose deletion failed is let through again within a minute, once counted.
 * 4. Exempt deletions neither wait nor write.
 * 5. The condition MassDeletion on the budget is the brake: it outlives every process, and a person's release
 *    (`spec.brakeReleasedAt`) is shown there at once.
 */
import { type EvacuationBudget, hasCondition, type ObjectKey, setCondition } from "@lifeboat/api";
import { type Instant, instantOf, parseTime } from "@lifeboat/base";
import type { PlannedCondition } from "@lifeboat/core";
import {
  agreedConditions,
  brakeCondition,
  decideDeletion,
  type DeletionPlan,
  type DeletionView,
  isExempt,
  MASS_DELETION,
} from "@lifeboat/core/propagation/brake";
import {
  checkAgainAt,
  type Controller,
  type ControllerWatch,
  createController,
  done,
  type Outcome,
  ownKey,
  watching,
} from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import type { AskedDeletion, DeletionGate } from "../../context/deletion-gate.ts";
import { type RecordSwap, swapRecordStatus } from "../../context/fleet-record.ts";
import { deletionsAsked } from "./metrics.ts";

const REMEMBERED_MS = 60_000;
const NOTHING: ReadonlySet<string> = new Set();

/** Builds the gate; it answers from the start, and shows releases while it runs. */
export function createDeletionGate(context: PlaneContext): DeletionGate {
  return new BudgetGate(context);
}

interface Ask {
  readonly uids: readonly string[];
  resolve(granted: ReadonlySet<string>): void;
  reject(error: unknown): void;
}

class BudgetGate implements DeletionGate {
  readonly name = "deletion-gate";
  readonly #context: PlaneContext;
  readonly #controller: Controller;
  readonly #asked;
  /** When each of these uids was let through, on the monotonic clock. */
  readonly #granted = new Map<string, number>();
  #waiting: Ask[] = [];
  #isBusy = false;

  constructor(context: PlaneContext) {
    this.#context = context;
    this.#asked = context.metrics.counter(deletionsAsked);
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

  watching(waiting: () => Iterable<ObjectKey>): ControllerWatch {
    return watching(this.#context.informers.evacuationBudgets, (old, now) =>
      isReleased(old, now) ? [...waiting()] : [],
    );
  }

  async admit(asked: readonly AskedDeletion[]): Promise<ReadonlySet<string>> {
    this.#forgetOld();
    const isFree = ({ uid, cause }: AskedDeletion): boolean =>
      isExempt(cause) || this.#granted.has(uid);
    const counted = asked.filter((one) => !isFree(one));
    const granted = counted.length === 0 ? NOTHING : await this.#enqueue(counted);
    for (const { uid, cause } of counted)
      this.#asked.add(1, { cause, outcome: granted.has(uid) ? "granted" : "refused" });
    return new Set([...asked.filter(isFree).map(({ uid }) => uid), ...granted]);
  }

  /** Oldest first: the map keeps the order in which they came. */
  #forgetOld(): void {
    const before = this.#context.clock.monotonic() - REMEMBERED_MS;
    for (const [uid, at] of this.#granted) {
      if (at > before) return;
      this.#granted.delete(uid);
    }
  }

  #enqueue(asked: readonly AskedDeletion[]): Promise<ReadonlySet<string>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ uids: asked.map(({ uid }) => uid), resolve, reject });
      if (!this.#isBusy) void this.#serve();
    });
  }

  async #serve(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        const granted = await this.#reserve([...new Set(batch.flatMap(({ uids }) => uids))]);
        for (const ask of batch) ask.resolve(new Set(ask.uids.filter((uid) => granted.has(uid))));
      } catch (error) {
        for (const ask of batch) ask.reject(error);
      }
    }
    this.#isBusy = false;
  }

  /** Writes on the budget what may go; the first of `uids` that may. */
  async #reserve(uids: readonly string[]): Promise<ReadonlySet<string>> {
    const { clock, time } = this.#context;
    const now = clock.monotonic();
    const { granted } = await this.#swap((budget) =>
      decideDeletion(
        { ...viewOf(budget), asked: uids.length, works: this.#works() },
        time.moment(),
      ),
    );
    const free = uids.slice(0, granted);
    for (const uid of free) this.#granted.set(uid, now);
    return new Set(free);
  }

  #works(): number {
    return this.#context.informers.works.size;
  }

  /** Decides on the newest record and writes the outcome. */
  async #swap(decide: (record: EvacuationBudget) => DeletionPlan): Promise<DeletionPlan> {
    const { plane, events } = this.#context;
    const { record, plan } = await swapRecordStatus(plane, (record) => {
      const plan = decide(record);
      const status = this.#statusAfter(record, plan);
      return { ...(status && { status }), answer: { record, plan } };
    });
    for (const event of plan.events) events.record(record, event);
    return plan;
  }

  /** undefined: nothing is to be written. */
  #statusAfter({ status }: EvacuationBudget, plan: DeletionPlan): EvacuationBudget["status"] {
    const { condition } = plan;
    if (plan.granted === 0 && condition === undefined) return undefined;
    const conditions =
      condition === undefined
        ? status?.conditions
        : setCondition(status?.conditions, condition, this.#context.clock.now());
    return {
      ...status,
      deletions: plan.recent,
      ...(conditions === undefined ? {} : { conditions }),
    };
  }

  /** Shows a release while no deletion waits, and comes back for one whose time has not come. */
  async #showRelease(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const { clock, informers, plane } = this.#context;
    const budget = informers.evacuationBudgets.get(key);
    if (budget === undefined) return done;
    const now = clock.now();
    if (releasedConditions(budget, now).length > 0) {
      await swapRecordStatus(plane, (record) => shownRelease(record, now), { signal });
      return done;
    }
    const { brakeReleasedAt = "", restoreAgreedAt = "" } = budget.spec;
    const future = [parseTime(brakeReleasedAt), parseTime(restoreAgreedAt)]
      .filter((time) => time !== undefined)
      .filter((time) => time > now);
    return future.length === 0 ? done : checkAgainAt(instantOf(Math.min(...future)));
  }
}

function viewOf({ spec, status }: EvacuationBudget): Omit<DeletionView, "asked" | "works"> {
  return {
    recent: status?.deletions ?? [],
    conditions: status?.conditions ?? [],
    releasedAt: spec.brakeReleasedAt,
  };
}

function shownRelease(record: EvacuationBudget, now: Instant): RecordSwap<void> {
  const { status } = record;
  const shown = releasedConditions(record, now);
  if (shown.length === 0) return { answer: undefined };
  let conditions = status?.conditions;
  for (const condition of shown) conditions = setCondition(conditions, condition, now);
  return { status: { ...status, ...(conditions && { conditions }) }, answer: undefined };
}

/** What a person has let go on, and the record does not show yet. */
function releasedConditions(record: EvacuationBudget, now: Instant): readonly PlannedCondition[] {
  const released = brakeCondition(viewOf(record), now);
  return [...(released === undefined ? [] : [released]), ...agreedConditions(record, now)];
}

/** A relist may skip states, so a release is seen by either of its signs. */
function isReleased(old: EvacuationBudget | undefined, now: EvacuationBudget | undefined): boolean {
  return (
    old?.spec.brakeReleasedAt !== now?.spec.brakeReleasedAt || (isBraked(old) && !isBraked(now))
  );
}

function isBraked(budget: EvacuationBudget | undefined): boolean {
  return hasCondition(budget?.status?.conditions, MASS_DELETION);
}
