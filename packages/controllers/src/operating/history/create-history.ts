/**
 * Writes the history of the fleet: what the control plane decides and what people do, as LedgerSlices. The rules are in
 * core/history.
 *
 * 1. It follows objects, never the code that changes them: whatever writes an object, the change is recorded once.
 * 2. Entries are collected and written together, at most once a second; while there is much to record, every five seconds.
 * 3. What a process that died had not written is recorded by the next one: it compares the objects with what the history shows.
 * 4. Nothing waits for it. An API server that does not take slices delays the history and nothing else; beyond a bound the oldest
 *    entries that could not be written are dropped, which is logged.
 */
import {
  equalJson,
  isRefused,
  type KubeObject,
  type LedgerEntry,
  type LedgerSlice,
  ledgerSlices,
  orNothing,
} from "@lifeboat/api";
import { type Instant, parseTime, sleep } from "@lifeboat/base";
import {
  decideSlices,
  entriesBetween,
  foldEntries,
  missingEntries,
  readLedger,
  type SlicesPlan,
} from "@lifeboat/core/history";
import type { Service } from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import { logEntry } from "./log-entry.ts";
import * as declared from "./metrics.ts";

/** Builds the service. */
export function createHistory(context: HistoryContext): Service {
  return new History(context);
}

type HistoryContext = Pick<PlaneContext, "clock" | "informers" | "log" | "metrics" | "plane">;

/** The first entry after a quiet time waits this long for others. */
const GATHER_MS = 1000;
/** Between two writes, while there is much to record. */
const PAUSE_MS = 5000;
const RETRY_MS = 2000;
/** Entries that wait to be written. */
const MAX_PENDING = 50_000;
/** Slices before these are known by their numbers alone: no later slice takes their entries over. */
const WHOLE_SLICES = 30;

class History implements Service {
  readonly name = "history";
  readonly #context: HistoryContext;
  readonly #entries;
  readonly #writes;
  readonly #dropped;
  #slices: readonly LedgerSlice[] = [];
  #pending: LedgerEntry[] = [];
  #wake: () => void = () => undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(context: HistoryContext) {
    this.#context = context;
    this.#entries = context.metrics.counter(declared.historyEntries);
    this.#writes = context.metrics.counter(declared.historyWrites);
    this.#dropped = context.metrics.counter(declared.historyDropped);
  }

  async run(signal: AbortSignal): Promise<void> {
    for (const source of this.#sources()) if (!(await source.whenSynced(signal))) return;
    const known = await this.#read(signal);
    if (known === undefined || signal.aborted) return;
    // Between the comparison and the first change that is followed nothing is awaited, so no change is missed.
    this.#add(this.#missing(known));
    const stops = this.#sources().map((source) => {
      let isNew = false;
      const stop = source.onChange((old: KubeObject | undefined, now: KubeObject | undefined) => {
        if (isNew) this.#add(entriesBetween(old, now, this.#context.clock.now()));
      });
      isNew = true;
      return stop;
    });
    try {
      await this.#writeAll(signal);
    } finally {
      for (const stop of stops) stop();
    }
  }

  #sources(): readonly Source[] {
    const { informers } = this.#context;
    const { clusters, resourceBindings, clusterResourceBindings } = informers;
    const { evacuations, evacuationBudgets, remedies } = informers;
    return [
      clusters,
      resourceBindings,
      clusterResourceBindings,
      evacuations,
      evacuationBudgets,
      remedies,
    ];
  }

  /** All slices; undefined: the signal aborted first. */
  async #read(signal: AbortSignal): Promise<readonly LedgerSlice[] | undefined> {
    const { plane, log, clock } = this.#context;
    for (;;) {
      try {
        const { items } = await plane.list(ledgerSlices, { signal });
        this.#slices = shortened(items);
        return items;
      } catch (error) {
        if (signal.aborted) return undefined;
        log.warn("the history could not be read, trying again", { error });
        if (!(await sleep(clock, RETRY_MS, signal))) return undefined;
      }
    }
  }

  #missing(slices: readonly LedgerSlice[]): readonly LedgerEntry[] {
    const entries = readLedger(slices);
    const last = entries.reduce((newest, { at }) => (at > newest ? at : newest), "");
    const horizon: Instant | undefined = parseTime(last);
    return missingEntries(
      {
        known: foldEntries(entries),
        horizon,
        objects: this.#sources().flatMap((source) => [...source.list()]),
      },
      this.#context.clock.now(),
    );
  }

  #add(entries: readonly LedgerEntry[]): void {
    if (entries.length === 0) return;
    for (const entry of entries) {
      this.#pending.push(entry);
      this.#entries.add(1, { action: entry.action });
      logEntry(this.#context.log, entry);
    }
    const excess = this.#pending.length - MAX_PENDING;
    if (excess > 0) {
      this.#pending.splice(0, excess);
      this.#dropped.add(excess, {});
      this.#context.log.warn("entries of the history are lost, because they cannot be written", {
        lost: excess,
      });
    }
    this.#wake();
  }

  async #writeAll(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#context;
    while (!signal.aborted) {
      if (!(await this.#untilPending(signal))) return;
      const since = clock.monotonic() - this.#writtenAt;
      if (!(await sleep(clock, Math.max(GATHER_MS, PAUSE_MS - since), signal))) return;
      const batch = this.#pending;
      this.#pending = [];
      let left: readonly LedgerEntry[] = batch;
      while (left.length > 0) {
        try {
          left = await this.#write(left, signal);
        } catch (error) {
          if (signal.aborted) return;
          log.warn("the history could not be written, trying again", { error });
          if (!(await sleep(clock, RETRY_MS, signal))) return;
        }
      }
      this.#writtenAt = clock.monotonic();
    }
  }

  /** Answers what has to be written again: all of it, when another process wrote slices of the same numbers. */
  async #write(
    entries: readonly LedgerEntry[],
    signal: AbortSignal,
  ): Promise<readonly LedgerEntry[]> {
    const plan = decideSlices(this.#slices, entries);
    if (!(await this.#create(plan, signal))) {
      await this.#read(signal);
      return entries;
    }
    await this.#remove(plan.remove, signal);
    return [];
  }

  /** Whether all slices are there as planned. */
  async #create({ create }: SlicesPlan, signal: AbortSignal): Promise<boolean> {
    const { plane } = this.#context;
    const made: LedgerSlice[] = [];
    for (const slice of create) {
      this.#writes.add(1, {});
      try {
        made.push(await plane.create(ledgerSlices, slice, { signal }));
      } catch (error) {
        if (!isRefused(error, "AlreadyExists")) throw error;
        // Perhaps this process wrote it, and the answer was lost.
        const found = await orNothing(
          plane.get(ledgerSlices, { namespace: "", name: slice.metadata.name ?? "" }, { signal }),
        );
        if (found === undefined || !equalJson(found.spec, slice.spec)) return false;
        made.push(found);
      }
    }
    const names = new Set(made.map(({ metadata }) => metadata.name));
    const others = this.#slices.filter(({ metadata }) => !names.has(metadata.name));
    this.#slices = shortened([...others, ...made]);
    return true;
  }

  async #remove(names: readonly string[], signal: AbortSignal): Promise<void> {
    const { plane } = this.#context;
    const gone = new Set<string>();
    try {
      for (const name of names) {
        this.#writes.add(1, {});
        await orNothing(plane.delete(ledgerSlices, { namespace: "", name }, { signal }));
        gone.add(name);
      }
    } finally {
      // What is left is removed with a later write.
      this.#slices = this.#slices.filter(({ metadata }) => !gone.has(metadata.name));
    }
  }

  #untilPending(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#pending.length > 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = (): void => resolve(false);
      signal.addEventListener("abort", end, { once: true });
      this.#wake = () => {
        this.#wake = () => undefined;
        signal.removeEventListener("abort", end);
        resolve(true);
      };
    });
  }
}

interface Source {
  whenSynced(signal: AbortSignal): Promise<boolean>;
  list(): Iterable<KubeObject>;
  onChange(handler: (old: KubeObject | undefined, now: KubeObject | undefined) => void): () => void;
}

/** Entries are kept in memory only of the newest slices. */
function shortened(slices: readonly LedgerSlice[]): readonly LedgerSlice[] {
  const sorted = slices.toSorted((a, b) => a.spec.last - b.spec.last);
  return sorted.map((slice, i) =>
    i >= sorted.length - WHOLE_SLICES || slice.spec.entries.length === 0
      ? slice
      : { ...slice, spec: { ...slice.spec, entries: [] } },
  );
}
