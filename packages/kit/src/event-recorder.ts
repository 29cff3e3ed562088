/**
 * Records Events (core/v1) about objects, for people: aggregated, bounded, and never in the way of other writes.
 *
 *   record ──▶ rate (per object) ──▶ flood (per object and reason) ─┬─▶ line of news, by series ──────────┬─▶ a few writers ──▶ create, or
 *                                                                   └─▶ repeats, gathered for a while ──┘                     count up
 *
 * 1. `record` never waits, never throws, and keeps a bounded number of Events and of memories.
 * 2. The same Event again is one object whose `count` goes up. News is written at once; what was written before and happens
 *    again is gathered for ten seconds, and costs one write in that time, and none while it waits for a writer. More than ten different messages of one reason about one object within ten minutes become one object with the latest one.
 * 3. About one object at most 25 Events come in a burst, then one in five minutes.
 * 4. Few writes are under way at a time, so that the Events of a failing cluster with thousands of workloads do not
 *    displace the writes that save them; one series is never written by two.
 * 5. A write that fails drops the Event: Events are hints, and retrying them would harm what matters. When the line is full
 *    newer ones are dropped; one log line reports it, until the line has emptied.
 * 6. Repeats take no place from news: they have a limit of their own, and are written when no news waits.
 */
import { events, formatKey, isRefused, type ObjectKey, type ObjectMeta } from "@lifeboat/api";
import { type Clock, formatTime, type Ids, InvariantError } from "@lifeboat/base";
import type { Client } from "./client.ts";
import { eventsRecorded } from "./kit-metrics.ts";
import type { Log } from "./log.ts";
import type { Counter, Metrics } from "./metrics.ts";
import type { Service } from "./ports.ts";
import { RecentMap } from "./recent-map.ts";

/** What happened, in the words of a plan. */
export interface RecordedEvent {
  readonly type: "Normal" | "Warning";
  /** One word in CamelCase, from a closed set. */
  readonly reason: string;
  readonly message: string;
}

/** What an Event is about. */
export interface Involved {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Pick<ObjectMeta, "name" | "uid"> & {
    readonly namespace?: string;
    readonly resourceVersion?: string;
  };
}

export interface EventRecorder extends Service {
  /** Records that something happened to an object. */
  record(involved: Involved, event: RecordedEvent): void;
}

export interface EventRecorderOptions {
  /** The reporting controller's name. */
  readonly component: string;
  /** Which of several: the host's or pod's name. */
  readonly instance: string;
}

export interface EventRecorderPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
}

const QUEUE_LIMIT = 10_000;
const WRITERS = 4;
const MEMORY_LIMIT = 4096;
/** A series that is forgotten costs a new object when it goes on. */
const SERIES_LIMIT = 16_384;
/** Of series that are gathered, or have been and wait for a writer: all that are remembered may repeat. */
const GATHERED_LIMIT = SERIES_LIMIT;
/** How long repeats of a series are gathered. */
const GATHERING_MS = 10_000;
const BURST = 25;
const REFILL_MS = 300_000;
const FLOOD_MESSAGES = 10;
const FLOOD_WINDOW_MS = 600_000;
const MAX_MESSAGE = 1024;
const MAX_NAME = 253;

/** An Event that was written before and may be counted up. */
interface Series {
  readonly key: ObjectKey;
  readonly firstTimestamp: string;
  count: number;
}

interface Pending {
  readonly involved: Involved;
  readonly event: RecordedEvent;
  readonly series: string;
  /** When it happened first and last, and how often, since it was last written. */
  readonly since: string;
  readonly time: string;
  readonly times: number;
}

/** Builds a recorder; what is recorded is written while it runs. */
export function createEventRecorder(
  ports: EventRecorderPorts,
  client: Client,
  options: EventRecorderOptions,
): EventRecorder {
  return new AggregatingRecorder(ports, client, options);
}

class AggregatingRecorder implements EventRecorder {
  readonly name: string;
  readonly #ports: EventRecorderPorts;
  readonly #client: Client;
  readonly #options: EventRecorderOptions;
  readonly #outcomes: Counter<"outcome">;
  readonly #budgets = new RecentMap<{ left: number; at: number }>(MEMORY_LIMIT);
  readonly #floods = new RecentMap<{ messages: Set<string>; since: number }>(MEMORY_LIMIT);
  readonly #series = new RecentMap<Series>(SERIES_LIMIT);
  /** News that waits, by series; the oldest first. */
  readonly #line = new Map<string, Pending>();
  /** Repeats that are gathered, by series, with the monotonic time from which they may be written; the oldest first. */
  readonly #gathered = new Map<string, { pending: Pending; readonly dueAt: number }>();
  #cancelGathering: (() => void) | undefined;
  /** The series that are being written. */
  readonly #writing = new Set<string>();
  /** Wakes the writers that have nothing to do. */
  readonly #idle: (() => void)[] = [];
  #hasToldDropping = false;

  constructor(ports: EventRecorderPorts, client: Client, options: EventRecorderOptions) {
    this.name = `events of ${options.component}`;
    this.#ports = ports;
    this.#client = client;
    this.#options = options;
    this.#outcomes = ports.metrics.counter(eventsRecorded);
  }

  record(involved: Involved, event: RecordedEvent): void {
    const subject = subjectOf(involved);
    if (!this.#hasBudget(subject)) {
      this.#outcomes.add(1, { outcome: "dropped" });
      return;
    }
    const message = shorten(event.message);
    const flooded = this.#isFlood(`${subject} ${event.type} ${event.reason}`, message);
    const shown = flooded ? `(combined from similar events): ${message}` : message;
    const series = `${subject} ${event.type} ${event.reason} ${flooded ? "" : message}`;
    const gathered = this.#gathered.get(series);
    const waiting = gathered?.pending ?? this.#line.get(series);
    const isRepeat = waiting === undefined && this.#series.get(series) !== undefined;
    const isFull = isRepeat
      ? this.#gathered.size >= GATHERED_LIMIT
      : this.#line.size >= QUEUE_LIMIT;
    if (waiting === undefined && isFull) {
      this.#drop(event);
      return;
    }
    const time = formatTime(this.#ports.clock.now());
    const pending = {
      involved,
      event: { ...event, message: shorten(shown) },
      series,
      since: waiting?.since ?? time,
      time,
      times: (waiting?.times ?? 0) + 1,
    };
    if (gathered !== undefined) gathered.pending = pending;
    else if (isRepeat) this.#gather(pending);
    else {
      this.#line.set(series, pending);
      this.#idle.shift()?.();
    }
  }

  #gather(pending: Pending): void {
    const dueAt = this.#ports.clock.monotonic() + GATHERING_MS;
    this.#gathered.set(pending.series, { pending, dueAt });
    this.#wakeAfter(GATHERING_MS);
  }

  /** Wakes the writers when the oldest repeats are due. */
  #wakeAfter(ms: number): void {
    this.#cancelGathering ??= this.#ports.clock.after(Math.ceil(ms), () => {
      this.#cancelGathering = undefined;
      this.#wakeAll();
    });
  }

  #wakeAll(): void {
    for (const wake of this.#idle.splice(0)) wake();
  }

  #drop({ reason }: RecordedEvent): void {
    this.#outcomes.add(1, { outcome: "dropped" });
    if (this.#hasToldDropping) return;
    this.#hasToldDropping = true;
    this.#ports.log.warn("too many Events wait, newer ones are dropped until they are written", {
      waiting: this.#line.size + this.#gathered.size,
      reason,
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const onAbort = (): void => {
      stop.abort();
      this.#cancelGathering?.();
      this.#wakeAll();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) stop.abort();
    const writers = Array.from({ length: WRITERS }, () => this.#writeAll(stop.signal));
    try {
      await Promise.all(writers);
    } finally {
      onAbort();
      signal.removeEventListener("abort", onAbort);
      await Promise.allSettled(writers);
    }
  }

  /** One writer. What it finds being written by another, that one takes when it is through. */
  async #writeAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const next = this.#take();
      if (next === undefined) {
        if (this.#line.size === 0) this.#hasToldDropping = false;
        await new Promise<void>((resolve) => this.#idle.push(resolve));
        continue;
      }
      this.#writing.add(next.series);
      await this.#write(next, signal).finally(() => this.#writing.delete(next.series));
    }
  }

  #take(): Pending | undefined {
    for (const pending of this.#line.values()) {
      if (this.#writing.has(pending.series)) continue;
      this.#line.delete(pending.series);
      return pending;
    }
    const now = this.#ports.clock.monotonic();
    for (const [series, { pending, dueAt }] of this.#gathered) {
      if (dueAt > now) {
        this.#wakeAfter(dueAt - now);
        return undefined;
      }
      if (this.#writing.has(series)) continue;
      this.#gathered.delete(series);
      return pending;
    }
    return undefined;
  }

  async #write(pending: Pending, signal: AbortSignal): Promise<void> {
    try {
      await this.#countUpOrCreate(pending, signal);
      this.#outcomes.add(pending.times, { outcome: "written" });
    } catch (error) {
      if (error instanceof InvariantError) throw error;
      this.#series.delete(pending.series);
      this.#outcomes.add(pending.times, { outcome: "dropped" });
      this.#ports.log.debug("an Event was not written", {
        involved: formatKey(keyOfInvolved(pending.involved)),
        reason: pending.event.reason,
        error,
      });
    }
  }

  async #countUpOrCreate(pending: Pending, signal: AbortSignal): Promise<void> {
    const known = this.#series.get(pending.series);
    if (known === undefined) {
      await this.#create(pending, pending.times, pending.since, signal);
      return;
    }
    const count = known.count + pending.times;
    const body = { count, lastTimestamp: pending.time, message: pending.event.message };
    try {
      await this.#client.patch(events, known.key, { type: "merge", body }, { signal });
      known.count = count;
    } catch (error) {
      // It has expired: the series goes on in a new object.
      if (!isRefused(error, "NotFound")) throw error;
      await this.#create(pending, count, known.firstTimestamp, signal);
    }
  }

  async #create(
    { involved, event, series, time }: Pending,
    count: number,
    firstTimestamp: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { apiVersion, kind, metadata } = involved;
    const { component, instance } = this.#options;
    const key = this.#newKey(involved);
    await this.#client.create(
      events,
      {
        apiVersion: "v1",
        kind: "Event",
        metadata: { ...key },
        involvedObject: {
          apiVersion,
          kind,
          name: metadata.name,
          uid: metadata.uid,
          ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
          ...(metadata.resourceVersion === undefined
            ? {}
            : { resourceVersion: metadata.resourceVersion }),
        },
        type: event.type,
        reason: event.reason,
        message: event.message,
        source: { component, host: instance },
        reportingComponent: component,
        reportingInstance: instance,
        count,
        firstTimestamp,
        lastTimestamp: time,
      },
      { signal },
    );
    this.#series.set(series, { key, firstTimestamp, count });
  }

  /** Events about objects at cluster scope are kept in `default`, as Kubernetes does. */
  #newKey(involved: Involved): ObjectKey {
    const suffix = this.#ports.ids.uid().replaceAll("-", "").slice(0, 16);
    const name = involved.metadata.name.slice(0, MAX_NAME - suffix.length - 1);
    return {
      namespace: involved.metadata.namespace ?? "default",
      name: `${name.replace(/[^a-z0-9]+$/, "")}.${suffix}`,
    };
  }

  /** A bucket of tokens per object: full at first, refilled slowly. */
  #hasBudget(subject: string): boolean {
    const now = this.#ports.clock.monotonic();
    const budget = this.#budgets.get(subject);
    if (budget === undefined) {
      this.#budgets.set(subject, { left: BURST - 1, at: now });
      return true;
    }
    const left = Math.min(BURST, budget.left + (now - budget.at) / REFILL_MS);
    budget.left = left >= 1 ? left - 1 : left;
    budget.at = now;
    return left >= 1;
  }

  #isFlood(kind: string, message: string): boolean {
    const now = this.#ports.clock.monotonic();
    let flood = this.#floods.get(kind);
    if (flood === undefined || now - flood.since > FLOOD_WINDOW_MS) {
      flood = { messages: new Set(), since: now };
      this.#floods.set(kind, flood);
    }
    if (flood.messages.has(message)) return false;
    if (flood.messages.size >= FLOOD_MESSAGES) return true;
    flood.messages.add(message);
    return false;
  }
}

function subjectOf(involved: Involved): string {
  const { apiVersion, kind, metadata } = involved;
  return `${apiVersion} ${kind} ${formatKey(keyOfInvolved(involved))} ${metadata.uid}`;
}

function keyOfInvolved({ metadata }: Involved): ObjectKey {
  return { namespace: metadata.namespace ?? "", name: metadata.name };
}

/** Cut between characters, not within one. */
function shorten(message: string): string {
  if (message.length <= MAX_MESSAGE) return message;
  const cut = message.slice(0, MAX_MESSAGE - 1);
  const last = cut.charCodeAt(cut.length - 1);
  const whole = last >= 0xd800 && last <= 0xdbff ? cut.slice(0, -1) : cut;
  return `${whole}…`;
}
