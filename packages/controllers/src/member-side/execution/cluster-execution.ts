/**
 * The Works of one cluster, brought to its member: one look at a Work applies its objects, reads what they report, and
 * writes the Work's status once, if anything changed.
 *
 *   Work, member object, script, Ready ──▶ look ──▶ applied or failed ──▶ status, events, when to look again
 *   Work being deleted                 ──▶ look ──▶ object gone       ──▶ finalizer off
 *
 * It needs a plane and a member as Clients and nothing else, so it runs in the control plane (push) and beside the
 * member (pull) alike.
 *
 * 1. Each cluster has a queue and workers of its own: a member that hangs holds up nobody else.
 * 2. Whether a member can be reached is found out by reaching for it, not by its Ready condition. After a failure a Work
 *    is looked at after a growing pause, up to a minute, and at once when somebody says that the member is back
 *    (`lookAgain`).
 * 3. The finalizer goes only when the object is gone, released, or never was ours, and no request of ours may bring it back
 *    (late-creates.ts).
 * 4. What is remembered between looks is lost at a restart and only saves calls and waiting: the member and the Work's
 *    status hold all that matters.
 * 5. Nothing is applied for the first time before the binding was asked whether it is still wanted, and nothing is made
 *    again, or put back to what it was, before the Work was asked whether it is still there (still-wanted.ts).
 * 6. Drift is undone at once, but not without end against somebody who strikes back (core's undo-pace.ts).
 */
import {
  equalJson,
  findCondition,
  isRefused,
  type ObjectKey,
  orNothing,
  pathSegmentProblems,
  type Work,
  works as workResource,
} from "@lifeboat/api";
import { addMs, type Instant } from "@lifeboat/base";
import { type Fields, wellKnown } from "@lifeboat/core";
import {
  applyReasons,
  describeObject,
  uidIn,
  undoFrom,
  type Undone,
  undoneOnceMore,
} from "@lifeboat/core/propagation/applying";
import {
  appliedVersions,
  type ApplyOutcome,
  decideWorkStatus,
  type ManifestReport,
  type ReportedStatus,
  type WorkStatusEvent,
} from "@lifeboat/core/propagation/observing";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import {
  checkAgainAt,
  type Client,
  type CollectionLimits,
  compareVersions,
  type Controller,
  type ControllerWatch,
  createController,
  done,
  type EventRecorder,
  type KitPorts,
  type Outcome,
  type Service,
} from "@lifeboat/kit";
import type { Interpretation } from "../../context/interpretation.ts";
import {
  type AnsweredRecord,
  keepManifest,
  type Kept,
  type ManifestPorts,
  type NotYet,
  unknownOutcome,
} from "./keep-manifest.ts";
import { LateCreates, SETTLED_MS } from "./late-creates.ts";
import { MemberApis } from "./member-apis.ts";
import { MemberObjects, type ObjectReference } from "./member-objects.ts";
import { MemberWrites, waitsForDependents } from "./member-writes.ts";
import { declareExecutionMetrics, type ExecutionMetrics } from "./metrics.ts";
import { removeManifest } from "./remove-manifest.ts";
import { askBinding, isSameWork, isStillThere, wasTried } from "./still-wanted.ts";
import { removeStray } from "./stray-copies.ts";

/** The Works of one cluster, from a cache. */
export interface ClusterWorks extends ControllerWatch {
  get(key: ObjectKey): Work | undefined;
}

export interface ClusterExecutionParts {
  readonly cluster: string;
  readonly plane: Client;
  readonly member: Client;
  readonly works: ClusterWorks;
  readonly events: EventRecorder;
  readonly interpretation: Interpretation;
  /** How much the member may put into an informer's copy; absent: it is trusted. */
  readonly limits?: CollectionLimits;
}

export interface ClusterExecution extends Service {
  /** The member may be back: looks at everything that failed, now. */
  lookAgain(): void;
  /** Another script answers for this kind. */
  lookAtKind(apiVersion: string, kind: string): void;
}

const CONCURRENCY = 8;
const PAUSE_BASE_MS = 100;
const PAUSE_CAP_MS = 60_000;
/** How often a member is asked whether an object came after all. */
const LATE_AGAIN_MS = 10_000;

/** What is remembered of a Work between looks. */
interface Memory {
  readonly uid: string;
  /** The newest state that our own writes answered: the cache may be behind. */
  written?: Work;
  writtenAt?: Instant;
  /** The status that was last sent, and of which generation: to see it come back is no news. */
  reported?: { readonly generation: number; readonly status: ReportedStatus };
  /** The generation of which the member has shown that it is applied. */
  proven?: number;
  readonly applied: Map<number, AnsweredRecord>;
  /** How often in a row somebody changed its objects and was undone. */
  undone?: Undone;
  readonly late: LateCreates;
  readonly ports: ManifestPorts;
  /** Its binding asked for it here after it was seen, see still-wanted.ts. */
  wanted: boolean;
  /** Something was sent to the member for it, whether its status says so or not. */
  wrote: boolean;
  failures: number;
}

/** Builds the execution of one cluster's Works; `run` starts it. */
export function createClusterExecution(
  ports: KitPorts,
  parts: ClusterExecutionParts,
): ClusterExecution {
  return new WorksOfCluster(ports, parts);
}

class WorksOfCluster implements ClusterExecution {
  readonly name: string;
  readonly #ports: KitPorts;
  readonly #parts: ClusterExecutionParts;
  readonly #controller: Controller;
  readonly #apis: MemberApis;
  readonly #objects: MemberObjects;
  readonly #metrics: ExecutionMetrics;
  readonly #memories = new Map<string, Memory>();
  /** Works that were there when this began: an earlier process may have requests for them under way. */
  readonly #inherited = new Set<string>();
  #begunAt = 0;

  constructor(ports: KitPorts, parts: ClusterExecutionParts) {
    const { cluster, member, works, limits } = parts;
    this.name = `execution ${cluster}`;
    this.#ports = { ...ports, log: ports.log.child({ cluster }) };
    this.#parts = parts;
    this.#metrics = declareExecutionMetrics(ports.metrics);
    this.#apis = new MemberApis(ports.clock, member);
    const namespace = executionNamespace(cluster);
    const source = { member, namespace, ...(limits && { limits }) };
    this.#objects = new MemberObjects(ports, source, (work) => this.#enqueue(work));
    this.#controller = createController(this.#ports, {
      name: "execution",
      concurrency: CONCURRENCY,
      watches: [
        {
          whenSynced: (signal) => works.whenSynced(signal),
          subscribe: (add) => {
            let isFirst = true;
            const unsubscribe = works.subscribe((key) => {
              if (isFirst) this.#inherited.add(key.name);
              if (!this.#isOwnReport(key)) add(key);
            });
            isFirst = false;
            return unsubscribe;
          },
        },
      ],
      reconcile: (key, signal) => this.#look(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#begunAt = this.#ports.clock.monotonic();
    try {
      await this.#controller.run(signal);
    } finally {
      this.#memories.clear();
      this.#inherited.clear();
      await this.#objects.stop();
    }
  }

  lookAgain(): void {
    this.#apis.tryAgain();
    for (const [work, memory] of this.#memories) {
      if (memory.failures === 0) continue;
      memory.failures = 0;
      this.#enqueue(work);
    }
  }

  lookAtKind(apiVersion: string, kind: string): void {
    for (const work of this.#objects.worksOf(apiVersion, kind)) this.#enqueue(work);
  }

  #enqueue(name: string): void {
    this.#controller.enqueue({ namespace: executionNamespace(this.#parts.cluster), name });
  }

  async #look(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const cached = this.#parts.works.get(key);
    if (cached === undefined) {
      this.#memories.delete(key.name);
      this.#objects.forget(key.name);
      return this.#lookForStray(key, signal);
    }
    const memory = this.#memoryOf(cached);
    const work = newest(cached, memory.written);
    return work.metadata.deletionTimestamp === undefined
      ? this.#keep(work, memory, signal)
      : this.#remove(work, memory, signal);
  }

  async #lookForStray(work: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const stray = this.#objects.strayOf(work.name);
    if (stray === undefined) return done;
    const { writes } = this.#portsWith(new LateCreates(this.#ports.clock, () => false));
    return removeStray({ ...this.#parts, clock: this.#ports.clock, writes }, work, stray, signal);
  }

  /** Whether a Work is as the last report of it was sent: then only the member can have something to say. */
  #isOwnReport(key: ObjectKey): boolean {
    const work = this.#parts.works.get(key);
    const memory = this.#memories.get(key.name);
    if (work === undefined || memory?.reported === undefined) return false;
    const { reported, uid } = memory;
    return (
      work.metadata.uid === uid &&
      work.metadata.deletionTimestamp === undefined &&
      generationOf(work) === reported.generation &&
      equalJson(work.status, reported.status)
    );
  }

  #memoryOf(work: Work): Memory {
    const { name, uid } = work.metadata;
    const known = this.#memories.get(name);
    if (known?.uid === uid) return known;
    const late = this.#lateCreatesOf(work);
    const ports = this.#portsWith(late);
    const unknown = { wanted: false, wrote: false, failures: 0 };
    const memory: Memory = { uid, applied: new Map(), late, ports, ...unknown };
    this.#memories.set(name, memory);
    return memory;
  }

  #lateCreatesOf(work: Work): LateCreates {
    const { name } = work.metadata;
    const late = new LateCreates(this.#ports.clock, () => this.#isInherited(name));
    if (recordedUid(work, 0) === undefined && this.#isInherited(name)) late.lost();
    return late;
  }

  #isInherited(name: string): boolean {
    if (this.#inherited.size === 0) return false;
    if (this.#ports.clock.monotonic() - this.#begunAt >= SETTLED_MS) this.#inherited.clear();
    return this.#inherited.has(name);
  }

  #portsWith(late: LateCreates): ManifestPorts {
    const { cluster, member, interpretation } = this.#parts;
    return {
      cluster,
      clock: this.#ports.clock,
      objects: this.#objects,
      writes: new MemberWrites(cluster, member, this.#metrics, late),
      interpretation,
    };
  }

  async #keep(work: Work, memory: Memory, signal: AbortSignal): Promise<Outcome> {
    if (!(await this.#isWanted(work, memory, signal)))
      return checkAgainAt(this.#pause(work, memory, "its binding does not ask for it here"));
    const started = this.#ports.clock.monotonic();
    const manifests = manifestsOf(work);
    const references = await this.#referencesOf(manifests);
    this.#objects.follow(work.metadata.name, references.filter(isReference));
    const reports: ManifestReport[] = [];
    const times: Instant[] = [];
    let wrote = false;
    for (const [ordinal, manifest] of manifests.entries()) {
      const kept = await this.#keepOne(
        work,
        memory,
        manifest,
        ordinal,
        references[ordinal],
        signal,
      );
      if ("waitUntil" in kept) return checkAgainAt(kept.waitUntil);
      reports.push(kept.report);
      if (kept.applied !== undefined) memory.applied.set(ordinal, kept.applied);
      if (kept.checkAgainAt !== undefined) times.push(kept.checkAgainAt);
      wrote ||= kept.wrote;
    }
    const problem = reports.find(({ outcome }) => "problem" in outcome)?.outcome;
    if (wrote || problem !== undefined) this.#measure(started, problem);
    if (reports.every(({ outcome }) => outcome.kind === "applied"))
      memory.proven = generationOf(work);
    const again = await this.#report(work, memory, reports, signal);
    if (again !== undefined) times.push(again);
    times.push(...this.#pauseAfter(work, memory, problem));
    return times.length === 0 ? done : checkAgainAt(earliest(times));
  }

  async #isWanted(work: Work, memory: Memory, signal: AbortSignal): Promise<boolean> {
    if (memory.wanted || wasTried(work)) return true;
    const { cluster, plane } = this.#parts;
    const answer = await askBinding(plane, cluster, work, signal);
    if (answer === "nobodys") await this.#discard(work, signal);
    memory.wanted = answer === "wanted";
    return memory.wanted;
  }

  /** Deletes a Work that was never tried. */
  async #discard({ metadata }: Work, signal: AbortSignal): Promise<void> {
    const { namespace = "", name, uid, resourceVersion } = metadata;
    const preconditions = { uid, resourceVersion };
    await orNothing(
      this.#parts.plane.delete(workResource, { namespace, name }, { preconditions, signal }),
    );
  }

  async #keepOne(
    work: Work,
    memory: Memory,
    manifest: Fields,
    ordinal: number,
    reference: ObjectReference | ApplyOutcome | undefined,
    signal: AbortSignal,
  ): Promise<Kept | NotYet> {
    const suspended = work.spec.suspendDispatching === true;
    if (reference === undefined || !isReference(reference)) {
      const outcome: ApplyOutcome = suspended ? { kind: "suspended" } : (reference ?? NO_OBJECT);
      return { report: { manifest, outcome }, wrote: false, placeMissing: false };
    }
    const proven = isProven(work, memory);
    const kept = await keepManifest(
      memory.ports,
      {
        manifest,
        reference,
        suspended,
        proven,
        undoFrom: undoFrom(memory.undone),
        applied: memory.applied.get(ordinal) ?? recordedIn(work, manifest, ordinal),
        isStillMeant: (until) => this.#isStillMeant(work, memory, until),
      },
      signal,
    );
    if ("waitUntil" in kept) return kept;
    memory.wrote ||= kept.wrote;
    if (kept.placeMissing)
      this.#apis.doubt(String(manifest["apiVersion"]), String(manifest["kind"]));
    if (proven && kept.wrote)
      memory.undone = undoneOnceMore(memory.undone, this.#ports.clock.monotonic());
    return kept;
  }

  /** The first time the binding was asked instead, see still-wanted.ts. */
  async #isStillMeant(work: Work, memory: Memory, signal: AbortSignal): Promise<boolean> {
    const isFirst = !wasTried(work) && !memory.wrote;
    return isFirst || isStillThere(this.#parts.plane, work, signal);
  }

  /** Where each manifest's object is, or why that cannot be said. */
  #referencesOf(manifests: readonly Fields[]): Promise<(ObjectReference | ApplyOutcome)[]> {
    return Promise.all(
      manifests.map(async (manifest) => {
        if (!isNamed(manifest)) return NO_NAME;
        try {
          return (await this.#referenceOf(manifest)) ?? this.#notServed(manifest);
        } catch (error) {
          return unknownOutcome(error);
        }
      }),
    );
  }

  /** Undefined: the member does not serve the kind. */
  async #referenceOf(manifest: Fields): Promise<ObjectReference | undefined> {
    const { apiVersion, kind, metadata } = manifest as Partial<Work>;
    const resource = await this.#apis.resourceOf(String(apiVersion), String(kind));
    if (resource === undefined) return undefined;
    const namespace = resource.namespaced ? (metadata?.namespace ?? "") : "";
    return { resource, key: { namespace, name: metadata?.name ?? "" } };
  }

  #notServed(manifest: Fields): ApplyOutcome {
    const { cluster } = this.#parts;
    const kind = `${String(manifest["kind"])} of ${String(manifest["apiVersion"])}`;
    return {
      kind: "failed",
      problem: `${describeObject(manifest)}: the cluster ${cluster} serves no kind ${kind}`,
    };
  }

  /** Writes the status if anything changed; answers when time alone makes another look due. */
  async #report(
    work: Work,
    memory: Memory,
    reports: readonly ManifestReport[],
    signal: AbortSignal,
  ): Promise<Instant | undefined> {
    const { cluster, plane } = this.#parts;
    const now = this.#ports.clock.now();
    const plan = decideWorkStatus(
      {
        cluster,
        generation: generationOf(work),
        status: statusOf(work),
        suspended: work.spec.suspendDispatching === true,
        reports,
        writtenAt: memory.writtenAt,
        reported: memory.written?.status,
      },
      now,
    );
    for (const { status } of plan.commands) {
      signal.throwIfAborted();
      const changed = { ...work, status: status as Work["status"] } as Work;
      memory.reported = { generation: generationOf(work), status };
      memory.written = await plane.update(workResource, changed, { subresource: "status", signal });
      memory.writtenAt = now;
    }
    for (const event of plan.events) this.#record(work, event, reports);
    return plan.checkAgainAt;
  }

  #record(work: Work, event: WorkStatusEvent, reports: readonly ManifestReport[]): void {
    const { type, reason, message } = event;
    this.#parts.events.record(work, { type, reason, message });
    if (!event.concernsTemplates) return;
    for (const { manifest } of reports) {
      const template = templateOf(manifest);
      if (template !== undefined) this.#parts.events.record(template, { type, reason, message });
    }
  }

  #pauseAfter(work: Work, memory: Memory, problem: ApplyOutcome | undefined): readonly Instant[] {
    if (problem === undefined) {
      memory.failures = 0;
      return [];
    }
    return [this.#pause(work, memory, "problem" in problem ? problem.problem : "")];
  }

  #pause(work: Work, memory: Memory, problem: string): Instant {
    const pauseMs = Math.min(PAUSE_BASE_MS * 2 ** memory.failures, PAUSE_CAP_MS);
    if (memory.failures === 0)
      this.#ports.log.warn("a Work cannot be carried out, trying again", {
        work: work.metadata.name,
        problem,
      });
    memory.failures += 1;
    return addMs(this.#ports.clock.now(), pauseMs);
  }

  #measure(started: number, problem: ApplyOutcome | undefined): void {
    const seconds = (this.#ports.clock.monotonic() - started) / 1000;
    this.#metrics.duration.observe(seconds, {
      result: problem === undefined ? "success" : "error",
    });
  }

  async #remove(work: Work, memory: Memory, signal: AbortSignal): Promise<Outcome> {
    const finalizers = work.metadata.finalizers ?? [];
    if (!finalizers.includes(wellKnown.EXECUTION_FINALIZER)) return done;
    const manifests = manifestsOf(work);
    const references = await this.#referencesOf(manifests);
    this.#objects.follow(work.metadata.name, references.filter(isReference));
    const times: Instant[] = [];
    for (const [ordinal, manifest] of manifests.entries()) {
      const reference = references[ordinal] ?? NO_OBJECT;
      const again = await this.#removeOne(work, memory, manifest, ordinal, reference, signal);
      if (again !== undefined) times.push(again);
    }
    if (times.length > 0) return checkAgainAt(earliest(times));
    memory.failures = 0;
    signal.throwIfAborted();
    await this.#release(work, finalizers, signal);
    return done;
  }

  /** Answers when to look again; undefined when the object is out of the way. */
  async #removeOne(
    work: Work,
    memory: Memory,
    manifest: Fields,
    ordinal: number,
    reference: ObjectReference | ApplyOutcome,
    signal: AbortSignal,
  ): Promise<Instant | undefined> {
    const { spec, metadata } = work;
    if (!isReference(reference))
      // A kind that is not served has no objects; a member that does not answer may have them.
      return reference.kind === "unknown"
        ? this.#removalFailed(work, memory, reference.problem)
        : undefined;
    try {
      const removal = {
        manifest,
        reference,
        preserve: spec.preserveResourcesOnDeletion === true,
        waitForDependents: waitsForDependents(metadata.annotations),
        isStillGoing: (until: AbortSignal) => isSameWork(this.#parts.plane, work, until),
        onSeen: (uid: string) => {
          if (uid === recordedUid(work, ordinal)) memory.late.know(ordinal);
        },
      };
      const removed = await removeManifest(memory.ports, removal, signal);
      if (removed.kind === "failed") return this.#removalFailed(work, memory, removed.problem);
      if (removed.kind === "leaving") return removed.checkAgainAt;
      if (memory.late.isAbsenceProof(ordinal)) return undefined;
      return addMs(this.#ports.clock.now(), LATE_AGAIN_MS);
    } catch (error) {
      if (signal.aborted) throw error;
      if (isRefused(error, "Conflict") || isRefused(error, "NotFound"))
        return this.#pause(work, memory, error.message);
      const outcome = unknownOutcome(error);
      // seed: no-answer
      return this.#removalFailed(work, memory, "problem" in outcome ? outcome.problem : "");
    }
  }

  #removalFailed(work: Work, memory: Memory, problem: string): Instant {
    if (memory.failures === 0)
      this.#parts.events.record(work, {
        type: "Warning",
        reason: "SyncFailed",
        message: `Failed to remove the objects from cluster ${this.#parts.cluster}: ${problem}`,
      });
    return this.#pause(work, memory, problem);
  }

  async #release(work: Work, finalizers: readonly string[], signal: AbortSignal): Promise<void> {
    const { namespace = "", name, resourceVersion } = work.metadata;
    const rest = finalizers.filter((finalizer) => finalizer !== wellKnown.EXECUTION_FINALIZER);
    const body = { metadata: { resourceVersion, finalizers: rest } };
    try {
      await this.#parts.plane.patch(
        workResource,
        { namespace, name },
        { type: "merge", body },
        { signal },
      );
    } catch (error) {
      if (!isRefused(error, "NotFound")) throw error;
    }
  }
}

const NO_NAME: ApplyOutcome = { kind: "failed", problem: applyReasons.ManifestInvalid };
const NO_OBJECT: ApplyOutcome = { kind: "failed", problem: "the Work holds no such manifest" };

/** Names become parts of paths: one that is empty or climbs would reach a collection, or another object. */
function isNamed(manifest: Fields): boolean {
  const { metadata } = manifest as { readonly metadata?: { name?: unknown; namespace?: unknown } };
  const { name, namespace = "" } = metadata ?? {};
  return name !== "" && [name, namespace].every(isPathSegment);
}

function isPathSegment(part: unknown): boolean {
  return typeof part === "string" && pathSegmentProblems(part).length === 0;
}

function isReference(found: ObjectReference | ApplyOutcome): found is ObjectReference {
  return "resource" in found;
}

function manifestsOf({ spec }: Work): readonly Fields[] {
  return spec.workload?.manifests ?? [];
}

function generationOf({ metadata }: Work): number {
  return metadata.generation ?? 0;
}

function statusOf({ status }: Work): ReportedStatus {
  return status ?? {};
}

function newest(cached: Work, written: Work | undefined): Work {
  if (written === undefined) return cached;
  const { resourceVersion } = written.metadata;
  return compareVersions(cached.metadata.resourceVersion, resourceVersion) < 0 ? written : cached;
}

/** Whether this generation was applied and observed, as the status says, or as this process saw. */
function isProven(work: Work, memory: Memory): boolean {
  const generation = generationOf(work);
  if (memory.proven === generation) return true;
  const { conditions } = statusOf(work);
  return ["Applied", "StatusObserved"].every((type) => {
    const condition = findCondition(conditions, type);
    return condition?.status === "True" && condition.observedGeneration === generation;
  });
}

/** What the status tells of the last write, when this process does not remember it. */
function recordedIn(work: Work, manifest: Fields, ordinal: number): AnsweredRecord | undefined {
  const version = appliedVersions(generationOf(work), statusOf(work))?.[ordinal];
  return version === undefined ? undefined : { desired: manifest, version, answeredAt: 0 };
}

/** The uid of the object that the status tells of, whichever generation of the Work made it. */
function recordedUid(work: Work, ordinal: number): string | undefined {
  const status = statusOf(work);
  const generation = findCondition(status.conditions, "StatusObserved")?.observedGeneration;
  if (generation === undefined) return undefined;
  const version = appliedVersions(generation, status)?.[ordinal];
  return version === undefined ? undefined : uidIn(version);
}

/** The template as the manifest names it; undefined when it does not. */
function templateOf(manifest: Fields) {
  const { apiVersion, kind, metadata } = manifest as Partial<Work>;
  const uid = metadata?.annotations?.[wellKnown.TEMPLATE_UID];
  if (apiVersion === undefined || kind === undefined || metadata === undefined) return undefined;
  if (uid === undefined) return undefined;
  const { name, namespace } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, uid, ...(namespace !== undefined && { namespace }) },
  };
}

function earliest(times: readonly Instant[]): Instant {
  return times.reduce((a, b) => (b < a ? b : a));
}
