/**
 * A controller: keys from informers, a queue, a few workers, one function that reconciles a key.
 *
 * 1. No key is reconciled before every informer it watches is synced, whatever was reported until then.
 * 2. A key is reconciled by one worker at a time, and once more after the last change that concerns it.
 * 3. A reconcile ends in `done`, in `checkAgainAt(t)`, or throws. What is thrown decides what follows:
 *
 *      Refused Conflict, AlreadyExists   the cache was behind: again soon, no error
 *      NotSent, OutcomeUnknown           the server is away: again after a growing pause, a warning
 *      InvariantError                    the program is wrong: the controller stops, and its run rejects
 *      anything else                     again after a growing pause, one error line
 *
 * 4. A step of the wall clock during a reconcile makes its `checkAgainAt` meaningless: the key is reconciled again at once.
 * 5. A reconcile makes an older `checkAgainAt` of its key void: each one returns when time alone matters next.
 *
 * The pauses are the queue's: 5 ms doubling to 30 s per key, and at least a server's Retry-After.
 */
import {
  equalJson,
  formatKey,
  type KubeObject,
  type ObjectKey,
  parseKey,
  Refused,
} from "@lifeboat/api";
import { type Clock, type Instant, InvariantError, STEADY_TOLERANCE_MS } from "@lifeboat/base";
import { NotSent, OutcomeUnknown } from "./client.ts";
import type { Informer } from "./informer.ts";
import {
  type ControllerMetrics,
  declareControllerMetrics,
  type ReconcileOutcome,
} from "./kit-metrics.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Service } from "./ports.ts";
import { WorkQueue } from "./work-queue.ts";

export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "checkAgainAt"; readonly at: Instant };

/** Nothing is left to do until something changes. */
export const done: Outcome = Object.freeze({ kind: "done" });

/** Nothing is left to do until something changes or this time has come. */
export function checkAgainAt(at: Instant): Outcome {
  return { kind: "checkAgainAt", at };
}

/** One source of keys. Made by `watching`. */
export interface ControllerWatch {
  whenSynced(signal: AbortSignal): Promise<boolean>;
  /** Calls `add` for the keys of everything that is there and of every change; the answer ends it. */
  subscribe(add: (key: ObjectKey) => void): () => void;
}

/** Maps the changes of an informer to the keys they concern. `keys` must be pure and quick, and must not throw. */
export function watching<T extends KubeObject>(
  informer: Informer<T>,
  keys: (old: T | undefined, now: T | undefined) => readonly ObjectKey[],
): ControllerWatch {
  return {
    whenSynced: (signal) => informer.whenSynced(signal),
    subscribe: (add) =>
      informer.onChange((old, now) => {
        for (const key of keys(old, now)) add(key);
      }),
  };
}

/** Maps an object to its own key: the usual watch of the kind a controller is for. */
export function ownKey<T extends KubeObject>(
  old: T | undefined,
  now: T | undefined,
): readonly ObjectKey[] {
  const { namespace = "", name = "" } = (now ?? old)?.metadata ?? {};
  return [{ namespace, name }];
}

/**
 * Maps an object to keys when it comes, goes, or something that counts of it changes: `of` gives what counts. For kinds of which other
 * fields change all the time.
 */
export function whenChanged<T extends KubeObject>(
  of: (object: T) => unknown,
  keys: (object: T) => readonly ObjectKey[],
): (old: T | undefined, now: T | undefined) => readonly ObjectKey[] {
  return (old, now) => {
    const object = now ?? old;
    if (object === undefined) return [];
    const isSame = old !== undefined && now !== undefined && equalJson(of(old), of(now));
    return isSame ? [] : keys(object);
  };
}

export interface ControllerOptions {
  /** In logs and metrics: kebab-case, the folder's name. */
  readonly name: string;
  /** How many keys are reconciled at the same time. */
  readonly concurrency: number;
  readonly watches: readonly ControllerWatch[];
  /** Reconciles a key. The signal aborts when the controller stops. */
  reconcile(key: ObjectKey, signal: AbortSignal): Promise<Outcome>;
}

export interface Controller extends Service {
  /** Enqueues a key for a reason that no informer reports. */
  enqueue(key: ObjectKey): void;
}

export interface ControllerPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Builds a controller; `run` starts it. It can be run again after it has ended. */
export function createController(ports: ControllerPorts, options: ControllerOptions): Controller {
  return new KeyedController(ports, options);
}

class KeyedController implements Controller {
  readonly name: string;
  readonly #ports: ControllerPorts;
  readonly #options: ControllerOptions;
  readonly #log: Log;
  readonly #metrics: ControllerMetrics;
  #queue: WorkQueue;

  constructor(ports: ControllerPorts, options: ControllerOptions) {
    this.name = options.name;
    this.#ports = ports;
    this.#options = options;
    this.#log = ports.log.child({ controller: options.name });
    this.#metrics = declareControllerMetrics(ports.metrics);
    this.#queue = new WorkQueue(ports.clock);
  }

  enqueue(key: ObjectKey): void {
    this.#queue.add(formatKey(key));
  }

  async run(signal: AbortSignal): Promise<void> {
    const { watches, concurrency } = this.#options;
    // One after another: a signal with many listeners at a time makes Node warn of a leak.
    // seed: await-informers
    for (const watch of watches) if (!(await watch.whenSynced(signal))) return;
    if (signal.aborted) return;
    // A signal for each worker, for the same reason: every call of a reconcile listens to it.
    const stops = Array.from({ length: concurrency }, () => new AbortController());
    const queue = this.#queue;
    const onAbort = (): void => {
      for (const stop of stops) stop.abort();
      void queue.shutDown({ drain: false });
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const subscriptions = watches.map((watch) => watch.subscribe((key) => this.enqueue(key)));
    const workers = stops.map((stop) => this.#work(queue, stop.signal));
    try {
      await Promise.all(workers);
    } finally {
      for (const unsubscribe of subscriptions) unsubscribe();
      signal.removeEventListener("abort", onAbort);
      onAbort();
      await Promise.allSettled(workers);
      this.#queue = new WorkQueue(this.#ports.clock);
      this.#metrics.depth.set(0, { controller: this.name });
    }
  }

  async #work(queue: WorkQueue, signal: AbortSignal): Promise<void> {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      this.#metrics.depth.set(queue.depth, { controller: this.name });
      try {
        await this.#look(queue, key, signal);
      } finally {
        queue.done(key);
      }
    }
  }

  async #look(queue: WorkQueue, key: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const started = clock.monotonic();
    const offset = clock.now() - started;
    queue.cancelDelay(key);
    let outcome: ReconcileOutcome;
    try {
      const result = await this.#options.reconcile(parseKey(key), signal);
      queue.forget(key);
      outcome = result.kind === "done" ? "done" : "check_again";
      if (result.kind === "checkAgainAt") queue.addAfter(key, this.#delayUntil(result.at, offset));
    } catch (error) {
      if (error instanceof InvariantError) throw error;
      if (signal.aborted) return;
      outcome = this.#failed(queue, key, error);
    }
    this.#metrics.outcomes.add(1, { controller: this.name, outcome });
    this.#metrics.duration.observe((clock.monotonic() - started) / 1000, {
      controller: this.name,
    });
  }

  #delayUntil(at: Instant, offset: number): number {
    const { clock } = this.#ports;
    const now = clock.now();
    const isStepped = Math.abs(now - clock.monotonic() - offset) > STEADY_TOLERANCE_MS;
    return isStepped ? 0 : at - now;
  }

  #failed(queue: WorkQueue, key: string, error: unknown): ReconcileOutcome {
    const retryAfter = error instanceof Refused ? error.status.details?.retryAfterSeconds : 0;
    const pauseMs = queue.addAfterFailure(key, (retryAfter ?? 0) * 1000);
    if (isOutdated(error)) {
      this.#log.debug("the cache was behind, looking again", { key, pauseMs });
      return "conflict";
    }
    if (error instanceof NotSent || error instanceof OutcomeUnknown) {
      this.#log.warn("the server is away", { key, pauseMs, error });
      return "unavailable";
    }
    this.#log.error("reconciling failed", { key, pauseMs, error });
    return "error";
  }
}

/** Whether a write was refused because it was decided on an old state. */
function isOutdated(error: unknown): boolean {
  return (
    error instanceof Refused &&
    (error.status.reason === "Conflict" || error.status.reason === "AlreadyExists")
  );
}
