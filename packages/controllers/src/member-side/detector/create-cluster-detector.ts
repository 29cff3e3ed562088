/**
 * One instance of the detector of a cluster: it runs on a node of the member and reports to the control plane, never through the
 * member's API server. The rules are in core/remedy/detector.
 *
 *   probing    every period: one detection, the window, the instance's own Lease
 *   leading    in the elected instance: the Cluster's condition, from the Leases of all
 *
 * 1. The window starts from the condition of the Cluster, so a restart neither shortens it nor turns a verdict.
 * 2. Freshness is measured by the own monotonic clock, from when a renewal was seen. Time in which this process stood still, or in which
 *    the control plane did not answer it, is taken from the silence of the others: they could not be heard.
 * 3. Before the condition is written, the Leases are read from the server: a watch that broke is no silence of another instance.
 */
import {
  type Cluster,
  clusters,
  findCondition,
  orNothing,
  Refused,
  setCondition,
} from "@lifeboat/api";
import { formatMicroTime, sleep } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import {
  afterDetection,
  decideDetection,
  type DetectorWindow,
  firstWindow,
  type InstanceReport,
  instanceLeaseName,
  instanceMarks,
  isLeaseDue,
  leaderLeaseName,
  reportedVerdict,
} from "@lifeboat/core/remedy/detector";
import {
  type Client,
  createLeaderElection,
  createManager,
  Informer,
  type KitPorts,
  type Lease,
  leases,
  NotSent,
  OutcomeUnknown,
  type Service,
} from "@lifeboat/kit";
import type { Ids } from "@lifeboat/base";
import { withDeadline } from "../status/deadline.ts";

/** One detection. It answers whether it succeeded, and may throw nothing; the signal aborts at the end of the period. */
export type Probe = (signal: AbortSignal) => Promise<boolean>;

export interface ClusterDetectorOptions {
  readonly cluster: string;
  /** The node, or another name that no second instance has. */
  readonly host: string;
  /** The type of the condition. */
  readonly condition: string;
  readonly plane: Client;
  readonly probe: Probe;
  readonly periodMs: number;
  readonly failureThresholdMs: number;
  readonly successThresholdMs: number;
  /** How long an instance may be silent before it no longer counts. */
  readonly staleThresholdMs: number;
}

/**
 * A little slower than other elections: there is one for each condition of each cluster, and its candidates are the nodes. Until
 * another instance leads no change is reported, so it is not much slower either.
 */
const ELECTION = { leaseDurationMs: 20_000, renewDeadlineMs: 15_000, retryPeriodMs: 7000 };
/** Detections further apart than so many periods do not belong together. */
const GAP_PERIODS = 3;

export interface ClusterDetector extends Service {
  /** Whether the Cluster was read, so that detections count. */
  isReady(): boolean;
}

/** Builds the instance. */
export function createClusterDetector(
  ports: KitPorts & { readonly ids: Ids },
  options: ClusterDetectorOptions,
): ClusterDetector {
  return new RunningDetector(ports, options);
}

interface Seen {
  readonly renewTime: string | undefined;
  /** When a renewal was last seen, by the monotonic clock. */
  at: number;
}

class RunningDetector implements ClusterDetector {
  readonly name: string;
  readonly #ports: KitPorts & { readonly ids: Ids };
  readonly #options: ClusterDetectorOptions;
  readonly #cluster: Informer<Cluster>;
  readonly #leases: Informer<Lease>;
  readonly #seen = new Map<string, Seen>();
  #window: DetectorWindow = { verdict: undefined };
  #written: { readonly verdict: boolean | undefined; readonly at: number } | undefined;
  #lease: Lease | undefined;
  #isReady = false;
  /** When the control plane last answered a request, and whether it failed one since. */
  #answered: { readonly at: number; isAway: boolean } | undefined;

  constructor(ports: KitPorts & { readonly ids: Ids }, options: ClusterDetectorOptions) {
    const { cluster, plane } = options;
    this.name = `detector ${cluster}`;
    this.#ports = ports;
    this.#options = options;
    this.#cluster = new Informer(ports, plane, clusters, {
      fieldSelector: `metadata.name=${cluster}`,
    });
    this.#leases = new Informer(ports, plane, leases, {
      namespace: executionNamespace(cluster),
      labelSelector: `${wellKnown.DETECTOR_OF}=${cluster}`,
    });
  }

  isReady(): boolean {
    return this.#isReady;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { cluster, plane, host, condition } = this.#options;
    const probing = { name: "detector-probing", run: (until: AbortSignal) => this.#detect(until) };
    const election = createLeaderElection(this.#ports, plane, {
      ...ELECTION,
      lease: { namespace: executionNamespace(cluster), name: leaderLeaseName(condition) },
      identity: host,
      lead: (until, term) => this.#lead(until, () => term.isHeld()),
    });
    const stopFollowing = this.#leases.onChange((_old, now) => this.#note(now));
    try {
      const services = [this.#cluster, this.#leases, probing, election];
      await createManager(this.#ports, services).run(signal);
    } finally {
      stopFollowing();
      this.#isReady = false;
    }
  }

  async #detect(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const { periodMs, condition } = this.#options;
    if (!(await this.#cluster.whenSynced(signal))) return;
    this.#window = firstWindow(findCondition(this.#own()?.status?.conditions, condition)?.status);
    this.#isReady = true;
    for (let last = clock.monotonic(); ;) {
      const began = clock.monotonic();
      this.#forgive(began - last - GAP_PERIODS * periodMs);
      last = began;
      const success = await this.#probe(signal);
      if (signal.aborted) return;
      this.#window = afterDetection(this.#window, success, clock.monotonic(), {
        failureMs: this.#options.failureThresholdMs,
        successMs: this.#options.successThresholdMs,
        maxGapMs: GAP_PERIODS * periodMs,
      });
      await this.#attempt(signal, () => this.#report(signal));
      const left = periodMs - (clock.monotonic() - began);
      if (!(await sleep(clock, Math.max(0, left), signal))) return;
    }
  }

  /** No answer within the period is a failure, and so is anything that a probe throws. */
  async #probe(signal: AbortSignal): Promise<boolean> {
    const { probe, periodMs } = this.#options;
    try {
      return await withDeadline(this.#ports.clock, periodMs, signal, probe);
    } catch (error) {
      this.#ports.log.debug("the detection failed", { error });
      return false;
    }
  }

  #own(): Cluster | undefined {
    return this.#cluster.get({ namespace: "", name: this.#options.cluster });
  }

  async #report(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const { periodMs } = this.#options;
    const { verdict } = this.#window;
    const now = clock.monotonic();
    if (!isLeaseDue({ verdict, written: this.#written }, now)) return;
    await withDeadline(clock, periodMs, signal, (until) => this.#write(verdict, until));
    this.#hear();
    this.#written = { verdict, at: now };
  }

  async #write(verdict: boolean | undefined, signal: AbortSignal): Promise<void> {
    const { plane, cluster, host, condition, staleThresholdMs } = this.#options;
    const namespace = executionNamespace(cluster);
    const name = instanceLeaseName(host, condition);
    const spec = {
      holderIdentity: host,
      leaseDurationSeconds: Math.ceil(staleThresholdMs / 1000),
      renewTime: formatMicroTime(this.#ports.clock.now()),
    };
    const marks = instanceMarks(cluster, condition, verdict);
    const found =
      this.#lease ?? (await orNothing(plane.get(leases, { namespace, name }, { signal })));
    // Read again after any failure: the write may have taken effect.
    this.#lease = undefined;
    const metadata = { ...found?.metadata, namespace, name, ...marks };
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
    this.#lease =
      found === undefined
        ? await plane.create(leases, lease, { signal })
        : await plane.update(
            leases,
            { ...found, ...lease, metadata: { ...found.metadata, ...marks } },
            { signal },
          );
  }

  /** Takes in that an instance renewed its Lease. */
  #note(lease: Lease | undefined): void {
    if (lease === undefined) return;
    const { name } = lease.metadata;
    const renewTime = lease.spec?.renewTime;
    if (this.#seen.get(name)?.renewTime === renewTime && this.#seen.has(name)) return;
    this.#seen.set(name, { renewTime, at: this.#ports.clock.monotonic() });
  }

  /** Takes the time in which this process stood still from the silence of the others. */
  #forgive(stoodStillMs: number): void {
    if (stoodStillMs <= 0) return;
    for (const one of this.#seen.values()) one.at += stoodStillMs;
  }

  /** The control plane answers: time in which it did not is no silence of the others. */
  #hear(): void {
    const at = this.#ports.clock.monotonic();
    if (this.#answered?.isAway === true) this.#forgive(at - this.#answered.at);
    this.#answered = { at, isAway: false };
  }

  async #lead(signal: AbortSignal, isLeader: () => boolean): Promise<void> {
    const { clock } = this.#ports;
    if (!(await this.#leases.whenSynced(signal))) return;
    do {
      if (!isLeader()) return;
      await this.#attempt(signal, () => this.#judge(signal, isLeader));
    } while (await sleep(clock, this.#options.periodMs, signal));
  }

  async #judge(signal: AbortSignal, isLeader: () => boolean): Promise<void> {
    const { plane, cluster, condition, periodMs } = this.#options;
    const { clock } = this.#ports;
    const current = findCondition(this.#own()?.status?.conditions, condition);
    if (decideDetection(condition, this.#reports(this.#leases.list()), current) === undefined)
      return;
    await withDeadline(clock, periodMs, signal, async (until) => {
      const { items } = await plane.list(leases, {
        namespace: executionNamespace(cluster),
        labelSelector: `${wellKnown.DETECTOR_OF}=${cluster}`,
        signal: until,
      });
      this.#hear();
      for (const lease of items) this.#note(lease);
      const own = await orNothing(
        plane.get(clusters, { namespace: "", name: cluster }, { signal: until }),
      );
      const now = findCondition(own?.status?.conditions, condition);
      const planned = decideDetection(condition, this.#reports(items), now);
      if (own === undefined || planned === undefined || !isLeader()) return;
      const conditions = setCondition(own.status?.conditions, planned, clock.now());
      const status = { ...own.status, conditions };
      await plane.update(clusters, { ...own, status }, { subresource: "status", signal: until });
      this.#ports.log.info("the condition is written", { condition, status: planned.status });
    });
  }

  /** What all instances report; the own verdict is the one in memory. */
  #reports(all: readonly Lease[]): readonly InstanceReport[] {
    const { host, condition } = this.#options;
    const now = this.#ports.clock.monotonic();
    const own = instanceLeaseName(host, condition);
    const others = all.flatMap((lease): readonly InstanceReport[] => {
      const { name } = lease.metadata;
      const verdict = reportedVerdict(lease, condition);
      if (verdict === null || name === own) return [];
      const { holderIdentity = name, leaseDurationSeconds = 0 } = lease.spec ?? {};
      const silentMs = now - (this.#seen.get(name)?.at ?? now);
      return [{ host: holderIdentity, verdict, isFresh: silentMs < leaseDurationSeconds * 1000 }];
    });
    return [...others, { host, verdict: this.#window.verdict, isFresh: true }];
  }

  /** What a failed request leaves undone is done by the next detection. */
  async #attempt(signal: AbortSignal, act: () => Promise<void>): Promise<void> {
    try {
      if (!signal.aborted) await act();
    } catch (error) {
      const isTheirs =
        error instanceof Refused || error instanceof NotSent || error instanceof OutcomeUnknown;
      if (!isTheirs) throw error;
      if (this.#answered !== undefined) this.#answered.isAway = true;
      if (!signal.aborted) this.#ports.log.warn("the control plane was not reached", { error });
    }
  }
}
