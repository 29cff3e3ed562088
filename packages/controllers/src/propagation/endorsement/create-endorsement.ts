/**
 * What execution in the control plane does with bindings, for Pull clusters, whose agents read none (D26):
 *
 *   a Work that was never tried and whose binding is gone      is deleted: it arrived too late
 *   a stray copy that an agent reports on its Lease            is judged; if it has to go, a Work is made for it and deleted
 *   a Work that was applied, or could not be                   is reported on its template by an Event (applied-events.ts)
 *
 * Endorsements themselves are written by the binding controller, with the Works.
 *
 * 1. Bindings and Works are read from the server before anything goes; a deletion carries uid and version.
 * 2. A report is a claim of the member: it reaches nothing but its own execution namespace, a few Works at a time, and never an
 *    existing Work.
 * 3. After a restore nothing is removed for a report until a person agrees (restore-hold.ts).
 */
import {
  isRefused,
  keyOf,
  type ObjectKey,
  orNothing,
  type Work,
  works as workResource,
} from "@lifeboat/api";
import { addMs, type Instant } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { describeObject } from "@lifeboat/core/propagation/applying";
import {
  clusterOfExecutionNamespace,
  executionNamespace,
} from "@lifeboat/core/propagation/rendering";
import {
  bindingKeyOf,
  judgeFirstCopy,
  judgeStray,
  parseStrays,
  removalWork,
  removesStray,
  type StrayReport,
  wasTried,
} from "@lifeboat/core/propagation/works";
import {
  checkAgainAt,
  createController,
  done,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import { type Binding, bindingResource } from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import { createAppliedEvents } from "./applied-events.ts";
import { isHeld } from "../../member-side/execution/restore-hold.ts";

const CONCURRENCY = 4;
/** A report that has to wait is judged again by the next renewal that still bears it, but not more often than that. */
const AGAIN_MS = 30_000;

/** Builds the controllers: one for Works, one for what agents report. */
export function createEndorsement(context: PlaneContext): readonly Service[] {
  const { informers } = context;
  const strays = new Strays(context);
  return [
    createAppliedEvents(context),
    createController(context, {
      name: "orphaned-works",
      concurrency: CONCURRENCY,
      watches: [
        watching(informers.works, (_old, now) =>
          now !== undefined && mayBeOrphan(now) && isPull(context, now) ? [keyOf(now)] : [],
        ),
        watching(informers.clusters, (old, now) =>
          old === undefined || old.spec.syncMode === now?.spec.syncMode
            ? []
            : informers.works
                .byIndex("cluster", executionNamespace(old.metadata.name))
                .filter(mayBeOrphan)
                .map(keyOf),
        ),
      ],
      reconcile: (key, signal) => removeOrphan(context, key, signal),
    }),
    createController(context, {
      name: "stray-copies-of-agents",
      concurrency: CONCURRENCY,
      watches: [
        watching(informers.leases, (old, now) =>
          now?.metadata.annotations?.[wellKnown.STRAY_COPIES] === undefined ? [] : ownKey(old, now),
        ),
        {
          whenSynced: (signal) => informers.clusters.whenSynced(signal),
          subscribe: () => () => {},
        },
      ],
      reconcile: (key, signal) => strays.look(key, signal),
    }),
  ];
}

function isPull({ informers }: PlaneContext, { metadata }: Work): boolean {
  const name = clusterOfExecutionNamespace(metadata.namespace ?? "") ?? "";
  return informers.clusters.get({ namespace: "", name })?.spec.syncMode === "Pull";
}

/** Whether a Work may be one that nothing else removes. */
function mayBeOrphan(work: Work): boolean {
  const { deletionTimestamp, annotations } = work.metadata;
  if (deletionTimestamp !== undefined) return false;
  return removesStray(work) || (!wasTried(work) && bindingKeyOf(annotations) !== undefined);
}

async function removeOrphan(
  context: PlaneContext,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Outcome> {
  const { plane, informers } = context;
  const cached = informers.works.get(key);
  if (cached === undefined || !mayBeOrphan(cached) || !isPull(context, cached)) return done;
  const work = await orNothing(plane.get(workResource, key, { signal }));
  if (work === undefined || !mayBeOrphan(work)) return done;
  const cluster = clusterOfExecutionNamespace(key.namespace) ?? "";
  const binding = await readBinding(context, work.metadata.annotations, signal);
  const isOrphan = judgeFirstCopy({ cluster, work, binding }) === "orphaned";
  if (!isOrphan && !removesStray(work)) return done;
  await remove(context, work, signal);
  return done;
}

async function remove({ plane }: PlaneContext, work: Work, signal: AbortSignal): Promise<void> {
  const { uid, resourceVersion } = work.metadata;
  const preconditions = { uid, resourceVersion };
  await orNothing(plane.delete(workResource, keyOf(work), { preconditions, signal }));
}

async function readBinding(
  { plane }: PlaneContext,
  annotations: Readonly<Record<string, string>> | undefined,
  signal: AbortSignal,
): Promise<Binding | undefined> {
  const key = bindingKeyOf(annotations);
  return key && orNothing(plane.get(bindingResource(key), key, { signal }));
}

class Strays {
  readonly #context: PlaneContext;
  /** By cluster: when its report was last judged, by the monotonic clock. */
  readonly #judgedAt = new Map<string, number>();

  constructor(context: PlaneContext) {
    this.#context = context;
  }

  async look(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const { informers, clock } = this.#context;
    const { name: cluster } = key;
    const lease = informers.leases.get(key);
    const known = informers.clusters.get({ namespace: "", name: cluster });
    const isAgents =
      known?.spec.syncMode === "Pull" && known.metadata.deletionTimestamp === undefined;
    if (lease === undefined || !isAgents) {
      this.#judgedAt.delete(cluster);
      return done;
    }
    const again = this.#tooSoon(cluster);
    if (again !== undefined) return checkAgainAt(again);
    this.#judgedAt.set(cluster, clock.monotonic());
    for (const report of parseStrays(lease.metadata.annotations?.[wellKnown.STRAY_COPIES]))
      await this.#judge(cluster, report, signal);
    return done;
  }

  #tooSoon(cluster: string): Instant | undefined {
    const { clock } = this.#context;
    const leftMs = (this.#judgedAt.get(cluster) ?? -Infinity) + AGAIN_MS - clock.monotonic();
    return leftMs > 0 ? addMs(clock.now(), Math.ceil(leftMs)) : undefined;
  }

  async #judge(cluster: string, report: StrayReport, signal: AbortSignal): Promise<void> {
    const { plane, events } = this.#context;
    const { copy, work, seenForMs } = report;
    const annotations = removalWork(cluster, report).metadata.annotations ?? {};
    const binding = await readBinding(this.#context, annotations, signal);
    if (binding === undefined || judgeStray({ cluster, copy, binding, seenForMs }) !== "remove")
      return;
    if (await isHeld(this.#context, signal)) return;
    const key = { namespace: executionNamespace(cluster), name: work };
    if ((await orNothing(plane.get(workResource, key, { signal }))) !== undefined) return;
    try {
      await plane.create(workResource, removalWork(cluster, report), { signal });
    } catch (error) {
      // What the member claims may be no valid object; then its claim is void.
      if (isRefused(error, "AlreadyExists") || isRefused(error, "Invalid")) return;
      throw error;
    }
    events.record(binding, {
      type: "Normal",
      reason: "StrayCopyRemoved",
      message: `${describeObject(copy)} was in cluster ${cluster} without a Work and is being removed.`,
    });
  }
}
