/**
 * Follows one member: probes it at a steady pace by its present connection and collects what it reports.
 *
 * 1. One probe at a time. A probe that takes longer than its time is a failed one, and the next begins when it is due.
 * 2. A new connection is probed at once; a probe by the old one that is still under way does not count any more.
 * 3. A member of another replica is probed and nothing else: nodes, pods and its API are read by the replica that it belongs to.
 * 4. What cannot be asked at all (no Secret, no address) is observed at the same pace, from the second beat on: the
 *    Secret of a cluster often comes a moment after the Cluster.
 */
import { type Cluster, equalJson } from "@lifeboat/api";
import { sleep, unreachable } from "@lifeboat/base";
import {
  type ClusterKnowledge,
  extendStreak,
  type Observation,
  observeUnusable,
  type Streak,
  streakAfterChange,
} from "@lifeboat/core/failover/health";
import type { Client, KitPorts } from "@lifeboat/kit";
import type { MemberAccess, MemberConnection } from "../../context/member-connections.ts";
import { MemberCollector } from "./member-collector.ts";
import { probe } from "./probe.ts";

export interface FollowerOptions {
  readonly updateFrequencyMs: number;
  readonly probeTimeoutMs: number;
}

export class MemberFollower {
  /** The Cluster that it is for: another one of the same name gets another follower. */
  readonly uid: string;
  /** Since when it follows, by the monotonic clock. */
  readonly since: number;
  readonly #ports: KitPorts;
  readonly #options: FollowerOptions;
  readonly #onNews: () => void;
  #connection: MemberConnection = { kind: "none" };
  /** Where the last connection led that could be used. */
  #access: MemberAccess | undefined;
  #stop = new AbortController();
  #collector: MemberCollector | undefined;
  #collecting: AbortController | undefined;
  #collects = true;
  #streak: Streak | undefined;
  #tookMs: number | undefined;
  /** What was last written, and after which probe, by its time. */
  #written: { readonly knowledge: ClusterKnowledge; readonly after: number } | undefined;
  #settled: { readonly cluster: Cluster; readonly knowledge: ClusterKnowledge } | undefined;

  /** Follows no member until `use`; `onNews` is called after every probe and when something becomes known. */
  constructor(ports: KitPorts, uid: string, options: FollowerOptions, onNews: () => void) {
    this.#ports = ports;
    this.since = ports.clock.monotonic();
    this.uid = uid;
    this.#options = options;
    this.#onNews = onNews;
  }

  /** Whether the status was written since the last probe. */
  get isWritten(): boolean {
    return this.#writtenLately !== undefined;
  }

  /** Whether this was written since the last probe: another process, which knows otherwise, wrote after that. */
  isContradicted(knowledge: ClusterKnowledge): boolean {
    const written = this.#writtenLately;
    // By content: what is known of an API that could be read in part only is put together again for every reconcile.
    return written !== undefined && equalJson(written, knowledge);
  }

  get #writtenLately(): ClusterKnowledge | undefined {
    return this.#written?.after === this.#streak?.last ? this.#written?.knowledge : undefined;
  }

  /** The status holds this now. */
  wrote(knowledge: ClusterKnowledge): void {
    if (this.#streak !== undefined) this.#written = { knowledge, after: this.#streak.last };
  }

  /** Whether the Cluster holds all of this already: both are what they were when that was found. */
  isSettled(cluster: Cluster, knowledge: ClusterKnowledge): boolean {
    const known = this.#settled;
    return known?.cluster === cluster && isSameKnowledge(known.knowledge, knowledge);
  }

  /** The Cluster holds all of this: at rest, most reconciles end here. */
  settle(cluster: Cluster, knowledge: ClusterKnowledge): void {
    this.#settled = { cluster, knowledge };
  }

  /** What the probes report; undefined before the first. */
  get streak(): Streak | undefined {
    return this.#streak;
  }

  /** What the present connection has collected. */
  get collector(): MemberCollector | undefined {
    return this.#collector;
  }

  /** How long the last probe took; undefined when that was asked before. */
  takeDurationMs(): number | undefined {
    const took = this.#tookMs;
    this.#tookMs = undefined;
    return took;
  }

  /** Goes on by this connection, and collects or only probes. The same again changes nothing. */
  use(connection: MemberConnection, collects = true): void {
    this.#collectIf(collects);
    if (connection === this.#connection) return;
    this.#stop.abort();
    this.#collecting?.abort();
    this.#stop = new AbortController();
    this.#connection = connection;
    this.#collector = undefined;
    const now = connection.kind === "connected" ? connection.access : this.#access;
    this.#streak = streakAfterChange(this.#streak, !isElsewhere(this.#access, now));
    this.#access = now;
    void this.#follow(connection, this.#stop.signal);
  }

  close(): void {
    this.#stop.abort();
    this.#collecting?.abort();
  }

  #collectIf(collects: boolean): void {
    if (collects === this.#collects) return;
    this.#collects = collects;
    this.#collecting?.abort();
    this.#collector = this.#newCollector();
    // It was probed before, so what is collected need not wait for the next probe.
    if (this.#streak?.observation.status === "True") this.#collector?.answered(false);
  }

  #newCollector(): MemberCollector | undefined {
    if (!this.#collects || this.#connection.kind !== "connected") return undefined;
    this.#collecting = new AbortController();
    const { signal } = this.#collecting;
    return new MemberCollector(this.#ports, this.#connection, signal, this.#onNews);
  }

  async #follow(connection: MemberConnection, signal: AbortSignal): Promise<void> {
    switch (connection.kind) {
      case "connected":
        this.#collector = this.#newCollector();
        return this.#probeSteadily(connection.client, signal);
      case "unusable":
        return this.#waitFor(observeUnusable(connection.message), signal);
      case "none":
        return;
      default:
        return unreachable(connection);
    }
  }

  async #probeSteadily(client: Client, signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const { updateFrequencyMs, probeTimeoutMs } = this.#options;
    while (!signal.aborted) {
      const began = clock.monotonic();
      const observation = await probe(clock, client, probeTimeoutMs, signal);
      if (signal.aborted) return;
      this.#tookMs = clock.monotonic() - began;
      const wasSilent = this.#streak?.observation.status === "False";
      this.#observed(observation);
      if (observation.status === "True") this.#collector?.answered(wasSilent);
      await sleep(clock, Math.max(0, updateFrequencyMs - (clock.monotonic() - began)), signal);
    }
  }

  async #waitFor(observation: Observation, signal: AbortSignal): Promise<void> {
    while (await sleep(this.#ports.clock, this.#options.updateFrequencyMs, signal))
      this.#observed(observation);
  }

  #observed(observation: Observation): void {
    this.#streak = extendStreak(this.#streak, observation, this.#ports.clock.monotonic());
    this.#onNews();
  }
}

/** By identity but for the conditions, which are made again for every reconcile. */
function isSameKnowledge(a: ClusterKnowledge, b: ClusterKnowledge): boolean {
  return (
    a.kubernetesVersion === b.kubernetesVersion &&
    a.apiEnablements === b.apiEnablements &&
    a.nodeSummary === b.nodeSummary &&
    a.nodeAddresses === b.nodeAddresses &&
    a.resourceSummary === b.resourceSummary &&
    equalJson(a.conditions, b.conditions)
  );
}

/** Whether the new connection leads to another address, for which reports of the old one do not count. */
function isElsewhere(old: MemberAccess | undefined, now: MemberAccess | undefined): boolean {
  return (
    old !== undefined &&
    now !== undefined &&
    (old.endpoint !== now.endpoint || old.proxyUrl !== now.proxyUrl)
  );
}
