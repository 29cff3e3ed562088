/** An evacuation in numbers, counted from its entries: what its status and the metrics report. */
import type { EvacuationStatus } from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";
import type { EntryCounts, EvacuationLine } from "@lifeboat/core/failover/evacuation";
import type { Board } from "./board.ts";
import type { Item, Track } from "./items.ts";

export interface Summary {
  readonly counts: EntryCounts;
  /** Evicted ones that are in no cluster. */
  readonly stranded: number;
  /** Queued ones that may go now. */
  readonly due: number;
  /** When the next queued one may go that may not yet. */
  readonly nextDueAt: Instant | undefined;
  readonly lastDueAt: Instant | undefined;
  readonly line: EvacuationLine;
  readonly held: NonNullable<EvacuationStatus["held"]>;
  readonly putBack: NonNullable<EvacuationStatus["editedByHand"]>;
  /** Due and held ones, by kind such as `apps/v1/Deployment`. */
  readonly kinds: ReadonlyMap<string, number>;
}

/** Goes through all entries: callers ask at most once a second for each evacuation. */
export function summarize(board: Board, track: Track, now: Instant): Summary {
  const states = { Queued: 0, Evicted: 0, Done: 0, Abandoned: 0, Exempt: 0 };
  const held: Item[] = [];
  const putBack: Item["entry"]["binding"][] = [];
  const kinds = new Map<string, number>();
  const line = { workloads: 0, passive: 0 };
  let awaitingApproval = 0;
  let paused = 0;
  let stranded = 0;
  let due = 0;
  let nextDueAt: Instant | undefined;
  let lastDueAt: Instant | undefined;
  for (const item of track.items.values()) {
    states[item.state] += 1;
    if (item.isStranded) stranded += 1;
    if (item.putBack) putBack.push(item.entry.binding);
    if (item.state !== "Queued") continue;
    const dueAt = board.line.dueAt(item);
    const isDue = dueAt !== undefined && dueAt <= now;
    if (board.line.awaitsApproval(item)) {
      awaitingApproval += 1;
      continue;
    }
    if (board.line.orders.stopsNamespace(item.key.namespace)) paused += 1;
    if (item.held !== undefined) held.push(item);
    else {
      line[item.lane === "Workload" ? "workloads" : "passive"] += 1;
      if (isDue) due += 1;
      if (dueAt !== undefined && dueAt > now) {
        if (nextDueAt === undefined || dueAt < nextDueAt) nextDueAt = dueAt;
        if (lastDueAt === undefined || dueAt > lastDueAt) lastDueAt = dueAt;
      }
    }
    // seed: due-or-held
    if (isDue || item.held !== undefined) {
      const { apiVersion, kind } = item.entry.resource;
      const name = `${apiVersion}/${kind}`;
      kinds.set(name, (kinds.get(name) ?? 0) + 1);
    }
  }
  return {
    counts: {
      total: track.items.size,
      queued: states.Queued - held.length - awaitingApproval,
      evicted: states.Evicted,
      done: states.Done,
      held: held.length,
      abandoned: states.Abandoned,
      exempt: states.Exempt,
      ...(awaitingApproval === 0 ? {} : { awaitingApproval }),
      ...(paused === 0 ? {} : { paused }),
    },
    stranded,
    due,
    nextDueAt,
    lastDueAt,
    line,
    held: held.toSorted((a, b) => a.order - b.order).map(shown),
    putBack,
    kinds,
  };
}

function shown({ entry, held }: Item): Summary["held"][number] {
  return {
    binding: entry.binding,
    reason: held?.reason ?? "",
    message: (held?.message ?? "").slice(0, 1024),
    ...(held === undefined ? {} : { since: formatTime(held.since) }),
  };
}
