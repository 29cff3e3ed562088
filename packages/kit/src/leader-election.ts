/**
 * Leader election by a Lease: of several processes one leads, and none begins while another still may.
 *
 *   waiting ──(lease free, or not renewed for its duration as seen from here)──▶ leading
 *   leading ──(renewDeadline passed since the last renewal was *sent*)──▶ stopping ──(work ended)──▶ waiting
 *   leading ──(signal aborts)──▶ stopping ──▶ released
 *
 * 1. Every write carries the resourceVersion it was decided on; of two takers one is refused.
 * 2. Time is measured by the local monotonic clock only. A holder counts from before it sent its renewal; others count
 *    from when they saw it. As renewDeadline < leaseDuration, the work's signal has aborted before another may begin.
 * 3. A write whose outcome is unknown is not taken for a renewal; the lease is read again.
 * 4. A process neither competes again nor releases before its work has ended.
 * 5. The identity is new with each run, so a process is never taken for its own predecessor.
 * 6. A term that has lapsed stays over, also when its alarm rings late: a process that was paused runs what its sockets
 *    received before its timers. `Term.isHeld` compares the clock itself; writes ask it (fenced-client.ts).
 */
import {
  isRefused,
  keptAs,
  type KubeObject,
  leases as anyLeases,
  type ObjectKey,
  Refused,
} from "@lifeboat/api";
import {
  assert,
  type Clock,
  formatMicroTime,
  type Ids,
  InvariantError,
  sleep,
} from "@lifeboat/base";
import { type Client, NotSent, OutcomeUnknown } from "./client.ts";
import { leading } from "./kit-metrics.ts";
import type { KitPorts, Service } from "./ports.ts";
import type { Term } from "./term.ts";

export interface LeaderElectionOptions {
  readonly lease: ObjectKey;
  /** The name of this process, for people: the host's or pod's. */
  readonly identity: string;
  /** How long others wait after the last renewal they saw. */
  readonly leaseDurationMs: number;
  /** How long the leader goes on without a renewal that succeeded. */
  readonly renewDeadlineMs: number;
  /** How often is tried to take or renew, with up to a fifth of jitter. */
  readonly retryPeriodMs: number;
  /** How long is tried to get the lease before the service ends; absent: as long as it runs. */
  readonly giveUpAfterMs?: number;
  /** The work. It must end soon after its signal aborts; when it ends before, the lease is released. */
  lead(signal: AbortSignal, term: Term): Promise<void>;
}

/** What Kubernetes' own components use. */
export const LEADER_ELECTION_TIMES = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
} as const;

export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

export const leases = keptAs<Lease>(anyLeases);

/** A service that does its work only while it leads. */
export function createLeaderElection(
  ports: KitPorts & { readonly ids: Ids },
  client: Client,
  options: LeaderElectionOptions,
): Service {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = options;
  assert(
    retryPeriodMs * 1.2 < renewDeadlineMs && renewDeadlineMs < leaseDurationMs,
    "retryPeriod (with jitter) < renewDeadline < leaseDuration",
    { leaseDurationMs, renewDeadlineMs, retryPeriodMs },
  );
  return {
    name: `leader election ${options.lease.name}`,
    run: (signal) => new Election(ports, client, options).run(signal),
  };
}

class Election {
  readonly #ports: KitPorts & { readonly ids: Ids };
  readonly #client: Client;
  readonly #options: LeaderElectionOptions;
  readonly #identity: string;
  /** The lease as last seen, and when a change of it was first seen here. Undefined: read it first. */
  #seen: Lease | undefined;
  #seenAt = 0;
  /** The last version whose age is measured, kept while `#seen` is unknown. */
  #lastVersion = "";

  constructor(
    ports: KitPorts & { readonly ids: Ids },
    client: Client,
    options: LeaderElectionOptions,
  ) {
    this.#ports = ports;
    this.#client = client;
    this.#options = options;
    this.#identity = `${options.identity}_${ports.ids.uid()}`;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, metrics } = this.#ports;
    const gauge = metrics.gauge(leading);
    const labels = { lease: this.#options.lease.name };
    gauge.set(0, labels);
    while (!signal.aborted) {
      const heldSince = await this.#acquire(signal);
      if (heldSince === undefined) return;
      log.info("leading", { lease: this.#options.lease.name, identity: this.#identity });
      gauge.set(1, labels);
      try {
        await this.#lead(heldSince, signal);
      } finally {
        gauge.set(0, labels);
        log.info("no longer leading", {
          lease: this.#options.lease.name,
          identity: this.#identity,
        });
      }
      await this.#release();
      // Give others the first chance.
      await sleep(clock, this.#options.retryPeriodMs, signal);
    }
  }

  /** Tries until the lease is ours; answers when the write that got it was sent. Undefined when the signal aborts, or it is given up. */
  async #acquire(signal: AbortSignal): Promise<number | undefined> {
    const { clock } = this.#ports;
    const { renewDeadlineMs, giveUpAfterMs = Infinity } = this.#options;
    const began = clock.monotonic();
    while (!signal.aborted && clock.monotonic() - began <= giveUpAfterMs) {
      const sentAt = await this.#try(signal);
      // An answer that comes after the deadline is no right to begin: others may hold the lease by now.
      if (sentAt !== undefined && clock.monotonic() - sentAt < renewDeadlineMs) return sentAt;
      await sleep(clock, this.#pause(), signal);
    }
    return undefined;
  }

  /** Does the work while the lease can be renewed. Resolves when the work has ended. */
  async #lead(heldSince: number, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const onAbort = (): void => stop.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    const term = new HeldTerm(this.#ports.clock, heldSince, this.#options.renewDeadlineMs);
    const renewing = this.#renew(term, stop);
    try {
      if (!signal.aborted) await this.#options.lead(stop.signal, term);
    } finally {
      term.end();
      signal.removeEventListener("abort", onAbort);
      stop.abort();
      await renewing;
    }
  }

  /** Renews until the signal aborts, or aborts `stop` when the last renewal is too long ago. */
  async #renew(term: HeldTerm, stop: AbortController): Promise<void> {
    const { clock } = this.#ports;
    // The alarm is set apart from the loop, because a renewal may hang for longer than the deadline.
    let alarm = this.#setAlarm(term, stop);
    while (await sleep(clock, this.#pause(), stop.signal)) {
      const sentAt = await this.#try(stop.signal);
      if (sentAt === undefined || !term.renewed(sentAt)) continue;
      alarm();
      alarm = this.#setAlarm(term, stop);
    }
    alarm();
  }

  #setAlarm(term: HeldTerm, stop: AbortController): () => void {
    const { clock, log } = this.#ports;
    const left = term.heldUntil - clock.monotonic();
    return clock.after(Math.max(0, left), () => {
      term.end();
      log.warn("the lease could not be renewed in time", { lease: this.#options.lease.name });
      stop.abort();
    });
  }

  /** Takes or renews the lease once. Answers when the write was sent if it succeeded, else undefined. */
  async #try(signal: AbortSignal): Promise<number | undefined> {
    try {
      const lease = this.#seen ?? (await this.#read(signal));
      const sentAt = this.#ports.clock.monotonic();
      if (lease === undefined) {
        this.#saw(await this.#client.create(leases, this.#fresh(), { signal }));
        return sentAt;
      }
      if (!this.#mayTake(lease)) {
        // What others write is only seen by reading.
        this.#seen = undefined;
        return undefined;
      }
      const held = { ...lease, spec: this.#held(lease.spec ?? {}) };
      this.#saw(await this.#client.update(leases, held, { signal }));
      return sentAt;
    } catch (error) {
      this.#seen = undefined;
      if (error instanceof InvariantError) throw error;
      const expected =
        error instanceof Refused || error instanceof NotSent || error instanceof OutcomeUnknown;
      if (!expected) throw error;
      this.#ports.log.debug("the lease was not got", { error });
      return undefined;
    }
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    try {
      const lease = await this.#client.get(leases, this.#options.lease, { signal });
      this.#saw(lease);
      return lease;
    } catch (error) {
      if (!isRefused(error, "NotFound")) throw error;
      return undefined;
    }
  }

  #saw(lease: Lease): void {
    this.#seen = lease;
    if (lease.metadata.resourceVersion === this.#lastVersion) return;
    this.#lastVersion = lease.metadata.resourceVersion;
    this.#seenAt = this.#ports.clock.monotonic();
  }

  #mayTake(lease: Lease): boolean {
    const { holderIdentity = "", leaseDurationSeconds = 0 } = lease.spec ?? {};
    if (holderIdentity === "" || holderIdentity === this.#identity) return true;
    const waited = this.#ports.clock.monotonic() - this.#seenAt;
    // The holder may have been started with a longer duration than we were: the lease holds its duration.
    return waited > Math.max(this.#options.leaseDurationMs, leaseDurationSeconds * 1000);
  }

  #fresh() {
    const { namespace, name } = this.#options.lease;
    return {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace, name },
      spec: this.#held({}),
    };
  }

  #held(before: LeaseSpec): LeaseSpec {
    const now = formatMicroTime(this.#ports.clock.now());
    const ours = before.holderIdentity === this.#identity;
    const transitions = before.leaseTransitions ?? 0;
    const changedHands = !ours && before.acquireTime !== undefined;
    return {
      ...before,
      holderIdentity: this.#identity,
      leaseDurationSeconds: Math.max(1, Math.ceil(this.#options.leaseDurationMs / 1000)),
      acquireTime: ours && before.acquireTime !== undefined ? before.acquireTime : now,
      renewTime: now,
      leaseTransitions: changedHands ? transitions + 1 : transitions,
    };
  }

  /** Marks the lease as free, if it is still ours. Others would find out anyway: a failure only delays them. */
  async #release(): Promise<void> {
    const lease = this.#seen;
    this.#seen = undefined;
    if (lease?.spec?.holderIdentity !== this.#identity) return;
    const renewTime = formatMicroTime(this.#ports.clock.now());
    const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime };
    try {
      await this.#client.update(leases, { ...lease, spec });
    } catch (error) {
      if (error instanceof InvariantError) throw error;
      this.#ports.log.debug("the lease was not released", { error });
    }
  }

  #pause(): number {
    return this.#options.retryPeriodMs * (1 + this.#ports.random.next() / 5);
  }
}

/** A term by the monotonic clock: held until the deadline after the last renewal, counted from when that was sent. */
class HeldTerm implements Term {
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #over = new AbortController();
  #heldUntil: number;
  #isOver = false;

  constructor(clock: Clock, heldSince: number, deadlineMs: number) {
    this.#clock = clock;
    this.#deadlineMs = deadlineMs;
    this.#heldUntil = heldSince + deadlineMs;
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get heldUntil(): number {
    return this.#heldUntil;
  }

  isHeld(): boolean {
    if (this.#clock.monotonic() >= this.#heldUntil) this.#isOver = true;
    return !this.#isOver;
  }

  /** Takes in a renewal; answers false when it comes too late, so that the alarm that is set still rings. */
  renewed(sentAt: number): boolean {
    if (!this.isHeld()) return false;
    this.#heldUntil = sentAt + this.#deadlineMs;
    return true;
  }

  end(): void {
    this.#isOver = true;
    this.#over.abort();
  }
}
