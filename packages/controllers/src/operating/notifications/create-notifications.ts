/**
 * Sends notices to a webhook: failed clusters, evacuations that begin and end, decisions that wait for a person. The rules are in
 * core/notifications.
 *
 * 1. Clusters and evacuations come from the history, which is written before anything is sent; what waits comes from the objects.
 * 2. What was sent is recorded (ConfigMap `lifeboat-system/notifications`) before the next notice is sent. A process that dies between
 *    a delivery and that write sends this one notice again.
 * 3. One notice at a time, in order, one a second at most. A receiver that does not answer delays notices and nothing else.
 * 4. Neither the address nor the receiver's credentials are logged or recorded.
 */
import { type Json, type LedgerEntry, type LedgerSlice, ledgerSlices } from "@lifeboat/api";
import { type Instant, sleep } from "@lifeboat/base";
import { tasksOf } from "@lifeboat/core/binding";
import type { FenceTrust } from "@lifeboat/core/failover/eviction-tasks";
import { type NumberedEntry, readLedger } from "@lifeboat/core/history";
import {
  type Answer,
  answerText,
  type Delivery,
  firstRecord,
  formatStored,
  nextNotice,
  type Notice,
  type NoticeEvent,
  type NoticeRecord,
  outcomeOf,
  readStored,
  renderNotice,
  type SeenWait,
  type StoredNotices,
  waitKey,
  withDelivery,
} from "@lifeboat/core/notifications";
import { waitsOf } from "@lifeboat/core/operating";
import { Backoff, type Client, Informer, type Service } from "@lifeboat/kit";
import { allBindings, type Binding, bindingsBy } from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import { FLEET_RECORD } from "../../context/fleet-record.ts";
import { findConfigMap, OWN_NAMESPACE, putConfigMap } from "../../context/start-once.ts";
import * as declared from "./metrics.ts";

/** Sends one body to the receiver; answers what it answered, and never rejects. */
export type Deliver = (body: string, id: string, signal: AbortSignal) => Promise<Answer>;

export interface NotificationOptions {
  readonly deliver: Deliver;
  /** Where to and how, without a secret: `slack to hooks.slack.com`. */
  readonly destination: string;
  readonly template: Json;
  readonly events: ReadonlySet<NoticeEvent>;
  /** The name of this control plane in notices. */
  readonly plane: string;
}

/** Where the record and the log of deliveries are. */
export const NOTIFICATIONS_KEY = Object.freeze({
  namespace: OWN_NAMESPACE,
  name: "notifications",
});

/** What a control plane has sent, as far as it recorded. */
export async function readNotifications(plane: Client): Promise<StoredNotices> {
  return readStored((await findConfigMap(plane, NOTIFICATIONS_KEY))?.["data"]);
}

/** Builds the service. */
export function createNotifications(
  context: NotificationContext,
  options: NotificationOptions,
  trust: FenceTrust,
): Service {
  return new Notifications(context, options, trust);
}

type NotificationContext = Pick<
  PlaneContext,
  "clock" | "informers" | "log" | "metrics" | "plane" | "random"
>;

/** Receivers such as Slack take one a second. */
const PACE_MS = 1000;
/** How often what waits is looked for, while objects change. */
const LOOK_MS = 5000;
const ATTEMPT_MS = 10_000;
const BACKOFF = { baseMs: 2000, capMs: 300_000 };
const RETRY_MS = 2000;

/** The actions that become notices; the others are not kept. */
const SENT_ACTIONS: ReadonlySet<string> = new Set([
  "NotReady",
  "Ready",
  "Left",
  "EvacuationBegan",
  "EvacuationEnded",
]);
const OTHER: LedgerEntry = Object.freeze({
  at: "",
  action: "",
  subject: Object.freeze({ kind: "", name: "", uid: "" }),
  fact: "",
});

class Notifications implements Service {
  readonly name = "notifications";
  readonly #context: NotificationContext;
  readonly #options: NotificationOptions;
  readonly #trust: FenceTrust;
  readonly #attempts;
  readonly #failing;
  readonly #backoff: Backoff;
  /** When each wait was first seen, by its key. */
  #seen = new Map<string, Instant>();
  #waits: readonly SeenWait[] = [];
  #areWaitsStale = true;
  #record: NoticeRecord = { number: 0, open: {} };
  #deliveries: readonly Delivery[] = [];
  /** The notice that is being tried. */
  #tried: { readonly id: string; readonly since: Instant; attempts: number } | undefined;
  #wake: () => void = () => undefined;

  constructor(context: NotificationContext, options: NotificationOptions, trust: FenceTrust) {
    this.#context = context;
    this.#options = options;
    this.#trust = trust;
    this.#attempts = context.metrics.counter(declared.noticeAttempts);
    this.#failing = context.metrics.gauge(declared.noticeFailing);
    this.#backoff = new Backoff(context.random, BACKOFF);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { plane, informers } = this.#context;
    const ledger = new Informer<LedgerSlice>(this.#context, plane, ledgerSlices, {
      transform: withoutOthers,
    });
    const following = ledger.run(signal);
    const { clusters, evacuations, evacuationBudgets } = informers;
    const { resourceBindings, clusterResourceBindings } = informers;
    const bindings = [resourceBindings, clusterResourceBindings];
    for (const source of [ledger, clusters, evacuations, evacuationBudgets, ...bindings])
      if (!(await source.whenSynced(signal))) return following;
    const changed = (): void => {
      this.#areWaitsStale = true;
      this.#wake();
    };
    const stops = [
      ledger.onChange(() => this.#wake()),
      clusters.onChange(changed),
      evacuations.onChange(changed),
      evacuationBudgets.onChange(changed),
      ...bindings.map((source) =>
        source.onChange((old, now) => {
          if (isLeaving(old) || isLeaving(now)) changed();
        }),
      ),
    ];
    try {
      if (await this.#open(ledger, signal)) await this.#sendAll(ledger, signal);
    } finally {
      for (const stop of stops) stop();
      this.#failing.remove({});
    }
    return following;
  }

  /** Reads what was sent; at the very first start nothing of the history is sent. */
  async #open(ledger: Informer<LedgerSlice>, signal: AbortSignal): Promise<boolean> {
    return this.#untilDone(
      "the record of notices could not be read, trying again",
      signal,
      async () => {
        const { record, deliveries } = await readNotifications(this.#context.plane);
        this.#deliveries = deliveries;
        this.#record = record ?? firstRecord(entriesOf(ledger));
        if (record === undefined) await this.#store(this.#record);
      },
    );
  }

  async #sendAll(ledger: Informer<LedgerSlice>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    while (!signal.aborted) {
      this.#lookForWaits();
      const now = clock.now();
      const view = { entries: entriesOf(ledger), waits: this.#waits, events: this.#options.events };
      const { notice, record, checkAgainAt } = nextNotice(this.#record, view, now);
      if (notice === undefined) {
        this.#record = record;
        const restMs = checkAgainAt === undefined ? undefined : Math.max(0, checkAgainAt - now);
        if (!(await this.#untilWoken(restMs, signal))) return;
        if (!(await sleep(clock, LOOK_MS, signal))) return;
        continue;
      }
      const pauseMs = await this.#send(notice, record, signal);
      if (!(await sleep(clock, pauseMs, signal))) return;
    }
  }

  /** One attempt. Answers how long to pause after it. */
  async #send(notice: Notice, after: NoticeRecord, signal: AbortSignal): Promise<number> {
    const { clock, log } = this.#context;
    const { destination, plane, template } = this.#options;
    if (this.#tried?.id !== notice.id)
      this.#tried = { id: notice.id, since: clock.now(), attempts: 0 };
    const tried = this.#tried;
    tried.attempts += 1;
    const body = JSON.stringify(renderNotice(template, notice, plane));
    const answer = await this.#attempt(body, notice.id, signal);
    if (signal.aborted) return 0;
    const now = clock.now();
    const outcome = outcomeOf(answer, tried.attempts, tried.since, now);
    const message = answerText(answer);
    this.#attempts.add(1, { outcome });
    this.#deliveries = withDelivery(this.#deliveries, notice, {
      at: now,
      outcome,
      attempts: tried.attempts,
      message,
    });
    const isOver = outcome !== "Retry";
    this.#failing.set(outcome === "Delivered" ? 0 : (now - tried.since) / 1000, {});
    if (outcome !== "Delivered")
      log.warn("a notice was not delivered", {
        event: notice.event,
        outcome,
        destination,
        message,
      });
    if (isOver) {
      this.#record = after;
      this.#tried = undefined;
    }
    const wrote = "the record of notices could not be written, trying again";
    await this.#untilDone(wrote, signal, () => this.#store(this.#record));
    if (outcome === "Delivered") this.#backoff.reset();
    if (isOver) return PACE_MS;
    const asked = answer.kind === "answered" ? (answer.retryAfterMs ?? 0) : 0;
    return Math.max(this.#backoff.next(), Math.min(asked, BACKOFF.capMs));
  }

  async #attempt(body: string, id: string, signal: AbortSignal): Promise<Answer> {
    const { clock } = this.#context;
    const late = new AbortController();
    const cancel = clock.after(ATTEMPT_MS, () => late.abort());
    try {
      const answer = await this.#options.deliver(body, id, AbortSignal.any([signal, late.signal]));
      return late.signal.aborted && answer.kind === "failed"
        ? { kind: "failed", message: `no answer within ${ATTEMPT_MS / 1000} s` }
        : answer;
    } finally {
      cancel();
    }
  }

  /** Only bindings that leave somewhere, or are on a cluster that leaves, can wait for a person. */
  #lookForWaits(): void {
    if (!this.#areWaitsStale) return;
    this.#areWaitsStale = false;
    const { informers, clock } = this.#context;
    const clusters = informers.clusters.list();
    const evacuations = informers.evacuations.list();
    const held = new Set(
      evacuations.flatMap(({ status }) => (status?.held ?? []).map(({ binding }) => binding.uid)),
    );
    const bindings = new Set(
      allBindings(informers).filter((one) => isLeaving(one) || held.has(one.metadata.uid)),
    );
    for (const { metadata } of clusters)
      if (metadata.deletionTimestamp !== undefined)
        for (const one of bindingsBy(informers, "cluster", metadata.name)) bindings.add(one);
    const waits = waitsOf({
      clusters,
      evacuations,
      bindings: [...bindings],
      budget: informers.evacuationBudgets.get(FLEET_RECORD),
      trust: this.#trust,
      // Servers of names report by their own Leases, which no controller follows.
      heldNames: [],
    });
    const now = clock.now();
    const seen = new Map(
      waits.map((wait) => [waitKey(wait), this.#seen.get(waitKey(wait)) ?? now] as const),
    );
    this.#seen = seen;
    this.#waits = waits.map((wait) => ({ ...wait, seenAt: seen.get(waitKey(wait)) ?? now }));
  }

  #store(record: NoticeRecord): Promise<void> {
    const data = formatStored(record, this.#deliveries);
    return putConfigMap(this.#context.plane, NOTIFICATIONS_KEY, data);
  }

  async #untilDone(
    failed: string,
    signal: AbortSignal,
    work: () => Promise<void>,
  ): Promise<boolean> {
    const { clock, log } = this.#context;
    for (;;) {
      try {
        await work();
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        log.warn(failed, { error });
        if (!(await sleep(clock, RETRY_MS, signal))) return false;
      }
    }
  }

  /** Until something changes, or for so long; false: the signal aborted. */
  #untilWoken(restMs: number | undefined, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (isAwake: boolean): void => {
        this.#wake = () => undefined;
        signal.removeEventListener("abort", onAbort);
        cancel?.();
        resolve(isAwake);
      };
      const onAbort = (): void => end(false);
      const cancel =
        restMs === undefined ? undefined : this.#context.clock.after(restMs, () => end(true));
      signal.addEventListener("abort", onAbort, { once: true });
      this.#wake = () => end(true);
    });
  }
}

function isLeaving(binding: Binding | undefined): boolean {
  return binding !== undefined && tasksOf(binding).length > 0;
}

function entriesOf(ledger: Informer<LedgerSlice>): readonly NumberedEntry[] {
  return readLedger(ledger.list());
}

/** Numbers follow from places, so what becomes no notice is replaced by one shared entry. */
function withoutOthers(slice: LedgerSlice): LedgerSlice {
  const entries = slice.spec.entries.map((entry) =>
    SENT_ACTIONS.has(entry.action) ? entry : OTHER,
  );
  return { ...slice, spec: { ...slice.spec, entries } };
}
