/**
 * member-shares: keeps this replica's own Lease, reads those of the others, and holds which members are this replica's.
 *
 *   probes, questions of others ──▶ report ──▶ own Lease ──▶ list of all Leases ──▶ terms, probes, opinions
 *
 * 1. Which member is whose, when a replica sees, and when it may act is decided by `core/clusters/shares`; this is its shell.
 * 2. Leases are listed from the server at every beat, never taken from a watch: a watch that stands still would show others as gone.
 * 3. What a replica gives up ends here before it is written down.
 * 4. On its way out a replica deletes its Lease, so that others take over at once. Leases that nothing renewed for ten minutes are
 *    deleted by the replica that comes first by name.
 */
import { type Cluster, isRefused, type ObjectKey, orNothing, Refused } from "@lifeboat/api";
import { formatMicroTime, type Ids, sleep } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import {
  actsUntil,
  type Claim,
  decideSight,
  EMPTY_REPORT,
  formatReport,
  lapsed,
  listed,
  type ListedReplica,
  mayAct,
  newClaim,
  parseReport,
  type ProbedMember,
  questionFor,
  renewed,
  renewing,
  type ReplicaReport,
  replicasOf,
  type SecondAnswer,
  secondOpinion,
  type SecondOpinion,
  type ShareTimes,
  sightReasons,
  wouldOwn,
} from "@lifeboat/core/clusters/shares";
import {
  type Client,
  type Informer,
  type KitPorts,
  type Lease,
  leases,
  NotSent,
  OutcomeUnknown,
  type Service,
  type Term,
} from "@lifeboat/kit";
import type { MemberShares, ObservedMember } from "../../context/member-shares.ts";
import { blindReplica, ownMembers } from "./metrics.ts";

export interface MemberSharesOptions extends ShareTimes {
  /** How often the Lease is renewed and the others are read. */
  readonly retryPeriodMs: number;
  /** From when a member that does not answer counts as lost. */
  readonly failureThresholdMs: number;
  /** The name of this process, for people. */
  readonly instance: string;
  readonly namespace: string;
}

export interface RunningShares extends MemberShares, Service {
  /** Whether the own Lease is fresh: false while this replica acts for no member. */
  isFresh(): boolean;
}

/** Builds the shares over an unfenced client. */
export function createMemberShares(
  ports: KitPorts & { readonly ids: Ids },
  plane: Client,
  clusters: Informer<Cluster>,
  options: MemberSharesOptions,
): RunningShares {
  return new Shares(ports, plane, clusters, options);
}

/** After this long a Lease that nothing renews is deleted. */
const FORGOTTEN_MS = 600_000;

interface Question {
  readonly question: string;
  /** When it was first read, by the monotonic clock. */
  readonly since: number;
}

class Shares implements RunningShares {
  readonly name = "member-shares";
  readonly #ports: KitPorts;
  readonly #plane: Client;
  readonly #clusters: Informer<Cluster>;
  readonly #options: MemberSharesOptions;
  readonly #key: ObjectKey;
  readonly #identity: string;
  readonly #handlers = new Set<(cluster: string) => void>();
  readonly #waiting = new Set<() => void>();
  readonly #observed = new Map<string, ObservedMember>();
  readonly #terms = new Map<string, ShareTerm>();
  /** What was last handed out about each member, to find out what changed. */
  readonly #shown = new Map<string, string>();
  readonly #questions = new Map<string, Question>();
  /** Leases that nothing renews, with the time since when. */
  readonly #idle = new Map<string, { readonly version: string; readonly since: number }>();
  readonly #ceded = new Set<string>();
  #isBlind = false;
  #lease: Lease | undefined;
  #claim: Claim;

  constructor(
    ports: KitPorts & { readonly ids: Ids },
    plane: Client,
    clusters: Informer<Cluster>,
    options: MemberSharesOptions,
  ) {
    const id = ports.ids.uid();
    this.#ports = ports;
    this.#plane = plane;
    this.#clusters = clusters;
    this.#options = options;
    this.#identity = `${options.instance}_${id}`;
    this.#key = { namespace: options.namespace, name: `lifeboat-replica-${id}` };
    this.#claim = newClaim(this.#key.name);
  }

  isFresh(): boolean {
    return this.#ports.clock.monotonic() < actsUntil(this.#claim, this.#options);
  }

  whenSynced(signal: AbortSignal): Promise<boolean> {
    if (this.#isSynced || signal.aborted) return Promise.resolve(this.#isSynced);
    return new Promise((resolve) => {
      const finish = (): void => {
        this.#waiting.delete(finish);
        signal.removeEventListener("abort", finish);
        resolve(this.#isSynced);
      };
      this.#waiting.add(finish);
      signal.addEventListener("abort", finish, { once: true });
    });
  }

  get #isSynced(): boolean {
    return this.#claim.listedAt !== undefined;
  }

  termOf(cluster: string): Term | undefined {
    if (!this.#mayAct(cluster)) {
      this.#end(cluster);
      return undefined;
    }
    const known = this.#terms.get(cluster);
    if (known?.isHeld() === true) return known;
    const term = new ShareTerm(() => this.#mayAct(cluster));
    this.#terms.set(cluster, term);
    return term;
  }

  probes(cluster: string): boolean {
    if (!this.#isSynced) return false;
    // What it would own if it saw is probed while it is blind, too: so it finds out when it sees again.
    return (
      wouldOwn(this.#claim, { isBlind: false, ceded: [] }, cluster) ||
      wouldOwn(this.#claim, this.#report, cluster) ||
      this.#ceded.has(cluster) ||
      this.#questions.has(cluster)
    );
  }

  observed(cluster: string, seen: ObservedMember | undefined): void {
    const former = this.#observed.get(cluster);
    if (seen === undefined) {
      this.#observed.delete(cluster);
      this.#ceded.delete(cluster);
    } else this.#observed.set(cluster, seen);
    // At rest every probe is answered, and nothing is to be decided.
    const isFailing = [former, seen].some((one) => one?.streak.observation.status === "False");
    if (isFailing) this.#decide();
  }

  opinionOf(cluster: string): SecondOpinion | undefined {
    const report = this.#report;
    const question = this.#questionOf(cluster);
    const replicas = replicasOf(this.#claim, report);
    return question === undefined ? undefined : secondOpinion(replicas, cluster, question);
  }

  onChange(handler: (cluster: string) => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#ports;
    if (!(await this.#clusters.whenSynced(signal))) return;
    try {
      while (!signal.aborted) {
        await this.#beat(signal);
        const pauseMs = this.#options.retryPeriodMs * (1 + random.next() / 5);
        if (!(await sleep(clock, pauseMs, signal))) return;
      }
    } finally {
      this.#claim = lapsed(this.#claim);
      this.#show();
      await this.#release();
    }
  }

  async #beat(signal: AbortSignal): Promise<void> {
    this.#decide();
    await this.#attempt(() => this.#renew(signal));
    await this.#attempt(() => this.#list(signal));
    for (const finish of this.#isSynced ? this.#waiting : []) finish();
    this.#decide();
    this.#show();
  }

  /** What fails is tried again at the next beat; the claim ends by itself when that takes too long. */
  async #attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const isTheirs =
        error instanceof Refused || error instanceof NotSent || error instanceof OutcomeUnknown;
      if (!isTheirs) throw error;
      this.#lease = undefined;
      this.#ports.log.debug("a replica's Lease was not renewed or listed", { error });
    }
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const report = this.#report;
    const known = this.#lease ?? (await orNothing(this.#plane.get(leases, this.#key, { signal })));
    if (known === undefined) this.#claim = lapsed(this.#claim);
    this.#claim = renewing(this.#claim, report);
    const sentAt = clock.monotonic();
    this.#lease = await this.#write(known, report, signal);
    const times = { sentAt, at: clock.monotonic() };
    this.#claim = renewed(this.#claim, report, times, this.#options);
  }

  #write(known: Lease | undefined, report: ReplicaReport, signal: AbortSignal): Promise<Lease> {
    const now = formatMicroTime(this.#ports.clock.now());
    const labels = { [wellKnown.MANAGER_REPLICA]: "true" };
    const annotations = { [wellKnown.REPLICA_REPORT]: formatReport(report) };
    const spec = {
      holderIdentity: this.#identity,
      leaseDurationSeconds: Math.max(1, Math.ceil(this.#options.leaseDurationMs / 1000)),
      acquireTime: known?.spec?.acquireTime ?? now,
      renewTime: now,
    };
    if (known !== undefined) {
      const metadata = { ...known.metadata, labels, annotations };
      return this.#plane.update(leases, { ...known, metadata, spec }, { signal });
    }
    const metadata = { ...this.#key, labels, annotations };
    const fresh = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
    return this.#plane.create(leases, fresh, { signal });
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const sentAt = clock.monotonic();
    const { namespace } = this.#key;
    const labelSelector = wellKnown.MANAGER_REPLICA;
    const { items } = await this.#plane.list(leases, { namespace, labelSelector, signal });
    const times = { sentAt, at: clock.monotonic() };
    this.#claim = listed(this.#claim, items.map(listedReplica), times, this.#options);
    this.#readQuestions();
    await this.#deleteForgotten(items, signal);
  }

  #readQuestions(): void {
    const replicas = replicasOf(this.#claim, this.#report);
    const asked = new Set(this.#claim.others.flatMap(({ report }) => [...report.questions.keys()]));
    for (const cluster of new Set([...asked, ...this.#questions.keys()])) {
      const question = questionFor(this.#key.name, replicas, cluster);
      if (question === undefined) this.#questions.delete(cluster);
      else if (this.#questions.get(cluster)?.question !== question)
        this.#questions.set(cluster, { question, since: this.#ports.clock.monotonic() });
    }
  }

  async #deleteForgotten(items: readonly Lease[], signal: AbortSignal): Promise<void> {
    const now = this.#ports.clock.monotonic();
    const isFirst = this.#claim.others.every(({ name }) => this.#key.name < name);
    for (const { metadata } of items) {
      const { name, uid, resourceVersion } = metadata;
      const idle = this.#idle.get(name);
      if (idle?.version !== resourceVersion)
        this.#idle.set(name, { version: resourceVersion, since: now });
      else if (isFirst && now - idle.since > FORGOTTEN_MS && name !== this.#key.name) {
        const preconditions = { uid, resourceVersion };
        const key = { ...this.#key, name };
        await orNothing(this.#plane.delete(leases, key, { preconditions, signal }));
        this.#idle.delete(name);
      }
    }
  }

  /** Decides by what probes report whether this replica sees, and which members it cedes; both hold at once. */
  #decide(): void {
    if (!this.#isSynced) return;
    const { log } = this.#ports;
    const { failureThresholdMs } = this.#options;
    const plan = decideSight({
      isBlind: this.#isBlind,
      hasOthers: this.#claim.others.length > 0,
      members: this.#names().flatMap((name) =>
        wouldOwn(this.#claim, { isBlind: false, ceded: [...this.#ceded] }, name)
          ? [this.#probed(name)]
          : [],
      ),
      failureThresholdMs,
    });
    if (plan.isBlind !== this.#isBlind) {
      this.#isBlind = plan.isBlind;
      const { reason } = plan;
      log.warn(plan.isBlind ? "this replica hands its members on" : "this replica sees again", {
        reason,
        why: sightReasons[reason],
      });
    }
    for (const [name, { streak }] of this.#observed) {
      if (streak.observation.status === "True") this.#ceded.delete(name);
      else if (
        streak.last - streak.since >= failureThresholdMs &&
        !this.#ceded.has(name) &&
        this.opinionOf(name) === "disagrees"
      ) {
        this.#ceded.add(name);
        log.warn("this replica hands a member on that another replica reaches", { cluster: name });
      }
    }
    for (const name of this.#terms.keys()) if (!this.#mayAct(name)) this.#end(name);
  }

  #probed(name: string): ProbedMember {
    const seen = this.#observed.get(name);
    if (seen === undefined) return { failedForMs: undefined, isKnownDown: false };
    const { streak, isKnownDown } = seen;
    const isFailing = streak.observation.status === "False";
    return { failedForMs: isFailing ? streak.last - streak.since : undefined, isKnownDown };
  }

  /** Calls for every member about which something is different now. */
  #show(): void {
    const { metrics } = this.#ports;
    const names = this.#names();
    let own = 0;
    for (const name of new Set([...names, ...this.#shown.keys()])) {
      const former = this.#terms.get(name);
      const term = this.termOf(name);
      if (term !== undefined) own++;
      const isNewTerm = term !== undefined && term !== former;
      const now = [term !== undefined, this.probes(name), this.opinionOf(name)].join(" ");
      const isKnown = this.#shown.get(name) === now && !isNewTerm;
      if (now === NOTHING) this.#shown.delete(name);
      else this.#shown.set(name, now);
      if (!isKnown) for (const handler of this.#handlers) handler(name);
    }
    metrics.gauge(ownMembers).set(own, {});
    metrics.gauge(blindReplica).set(this.#isBlind ? 1 : 0, {});
  }

  #names(): readonly string[] {
    return this.#clusters
      .list()
      .filter(({ spec }) => spec.syncMode === "Push")
      .map(({ metadata }) => metadata.name);
  }

  #mayAct(cluster: string): boolean {
    const claims = { isBlind: this.#isBlind, ceded: [...this.#ceded] };
    return mayAct(this.#claim, claims, cluster, this.#ports.clock.monotonic(), this.#options);
  }

  #end(cluster: string): void {
    this.#terms.get(cluster)?.end();
    this.#terms.delete(cluster);
  }

  /** What this replica would write on its Lease now. */
  get #report(): ReplicaReport {
    const questions = new Map<string, string>();
    const answers = new Map<string, SecondAnswer>();
    for (const cluster of this.#terms.keys()) {
      const question = this.#questionOf(cluster);
      if (question !== undefined) questions.set(cluster, question);
    }
    for (const [cluster, { question, since }] of this.#questions) {
      const streak = this.#observed.get(cluster)?.streak;
      if (streak !== undefined && streak.last >= since)
        answers.set(cluster, { question, isReached: streak.observation.status === "True" });
    }
    return {
      ...EMPTY_REPORT,
      isBlind: this.#isBlind,
      ceded: [...this.#ceded],
      questions,
      answers,
      members: this.#terms.size,
    };
  }

  /** The question about a member that has stopped answering: another one for each time that it stops. */
  #questionOf(cluster: string): string | undefined {
    const seen = this.#observed.get(cluster);
    if (seen === undefined || seen.isKnownDown || seen.streak.observation.status === "True")
      return undefined;
    return `${this.#key.name}/${Math.round(seen.streak.since)}`;
  }

  /** Others would find out anyway: a failure only delays them. */
  async #release(): Promise<void> {
    const lease = this.#lease;
    this.#lease = undefined;
    if (lease === undefined) return;
    const { uid } = lease.metadata;
    try {
      await this.#plane.delete(leases, this.#key, { preconditions: { uid } });
    } catch (error) {
      if (!isRefused(error, "NotFound"))
        this.#ports.log.debug("a replica's Lease was not deleted", { error });
    }
  }
}

const NOTHING = "false false ";

/** The right to act for one member, from when it came to this replica until it first was not this replica's. */
class ShareTerm implements Term {
  readonly #mayAct: () => boolean;
  readonly #over = new AbortController();
  #isOver = false;

  constructor(mayAct: () => boolean) {
    this.#mayAct = mayAct;
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  isHeld(): boolean {
    if (!this.#isOver && !this.#mayAct()) this.#isOver = true;
    return !this.#isOver;
  }

  end(): void {
    this.#isOver = true;
    this.#over.abort();
  }
}

function listedReplica({ metadata, spec }: Lease): ListedReplica {
  return {
    name: metadata.name,
    version: metadata.resourceVersion,
    leaseDurationMs: (spec?.leaseDurationSeconds ?? 0) * 1000,
    report: parseReport(metadata.annotations?.[wellKnown.REPLICA_REPORT]),
  };
}
