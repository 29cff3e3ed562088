/**
 * Bringing one object of a Work to its member, and reading what it reports.
 *
 * A reconcile begins with the cache. It is not believed
 *
 *   when it is behind the member's answer to our own write (that answer is used instead, for five seconds),
 *   when the member refuses what was decided on it (Conflict, AlreadyExists, NotFound),
 *   when it shows that a new generation of the Work needs no write: what was cached before a link broke proves nothing;
 *
 * then the member is asked.
 *
 * 1. `applied` is answered only for an object that the member showed, in this reconcile or in the one that applied the same
 *    generation of the Work.
 * 2. A read that fails is "unknown"; a write that fails, refused or unanswered, is "failed", because the object was seen to
 *    be another than the Work asks for. Nothing is thrown for either.
 */
import { type AnyObject, isRefused, Refused } from "@lifeboat/api";
import { addMs, anew, type Clock, type Instant } from "@lifeboat/base";
import type { Fields } from "@lifeboat/core";
import {
  type AppliedRecord,
  type ApplyPlan,
  decideApply,
  isOurs,
  versionOf,
} from "@lifeboat/core/propagation/applying";
import type {
  ApplyOutcome,
  ManifestReport,
  Reflection,
} from "@lifeboat/core/propagation/observing";
import { compareVersions, NotSent, OutcomeUnknown } from "@lifeboat/kit";
import { type Interpretation, InterpretationFailed } from "../../context/interpretation.ts";
import type { MemberObjects, ObjectReference } from "./member-objects.ts";
import { isSameObject, type MemberWrites, SOMETHING_ELSE } from "./member-writes.ts";

export interface ManifestPorts {
  readonly cluster: string;
  readonly clock: Clock;
  readonly objects: MemberObjects;
  readonly writes: MemberWrites;
  readonly interpretation: Interpretation;
}

export interface ManifestLook {
  readonly manifest: Fields;
  readonly reference: ObjectReference;
  readonly suspended: boolean;
  /** Whether the member has shown that this generation of the Work is applied. */
  readonly proven: boolean;
  readonly applied?: AnsweredRecord | undefined;
  /** From when on, by the monotonic clock, what others did to the object may be undone; absent: at once. */
  readonly undoFrom?: number | undefined;
  /**
   * Asks whether the Work is still what it was seen to be, before an object is made, or put back to what it was; false: not
   * now, and the Work's next change enqueues it.
   */
  readonly isStillMeant: (signal: AbortSignal) => Promise<boolean>;
}

export interface AnsweredRecord extends AppliedRecord {
  /** The whole object that the member answered, until the cache has caught up with it. */
  readonly object?: AnyObject | undefined;
  /** By the monotonic clock. */
  readonly answeredAt: number;
}

export interface Kept {
  readonly report: ManifestReport;
  readonly applied?: AnsweredRecord | undefined;
  /** Whether the member was asked to change something. */
  readonly wrote: boolean;
  /** The member found no place for the object: no namespace, or no such kind any more. */
  readonly placeMissing: boolean;
  readonly checkAgainAt?: Instant;
}

/** How long a first list may take before single objects are read, and a watch may lag behind our own write. */
const PATIENCE_MS = 5000;
const ATTEMPTS = 3;

/**
 * Nothing is known yet: the first list of its kind is under way, the Work is not what it was taken for, or another writer
 * changes the object again and again.
 */
export interface NotYet {
  /** What is waited for enqueues the Work itself; this is for the case that it does not. */
  readonly waitUntil: Instant;
}

/** Reconciles one object of a Work. */
export async function keepManifest(
  ports: ManifestPorts,
  look: ManifestLook,
  signal: AbortSignal,
): Promise<Kept | NotYet> {
  const begin = beginningOf(ports, look);
  if ("waitUntil" in begin) return begin;
  const tries = new Tries(ports, look, signal);
  const kept = await tries.run(begin);
  if ("waitUntil" in kept) return kept;
  return begin.checkAgainAt === undefined ? kept : { ...kept, checkAgainAt: begin.checkAgainAt };
}

/** The outcome for a member that could not be read. Throws what is no fault of the member. */
export function unknownOutcome(error: unknown): ApplyOutcome {
  return { kind: "unknown", problem: problemOf(error) };
}

function problemOf(error: unknown): string {
  if (error instanceof Refused) return error.message;
  if (error instanceof NotSent || error instanceof OutcomeUnknown)
    return `the cluster does not answer: ${error.message}`;
  throw error;
}

interface Beginning {
  /** Absent: ask the member. */
  readonly known?: { readonly object: AnyObject | undefined };
  readonly checkAgainAt?: Instant;
}

function beginningOf(
  { clock, objects }: ManifestPorts,
  { reference, applied }: ManifestLook,
): Beginning | NotYet {
  const cached = objects.get(reference);
  const now = clock.monotonic();
  // Whole milliseconds: a tiny rest of one would be lost in the wall clock's numbers, and the reconcile come again at once, for ever.
  if (cached.kind === "unsynced") {
    const leftMs = Math.ceil(cached.since + PATIENCE_MS - now);
    return leftMs > 0 ? { waitUntil: addMs(clock.now(), leftMs) } : {};
  }
  const answer = applied?.object;
  const seen = cached.object?.metadata.resourceVersion ?? cached.version;
  if (answer === undefined || compareVersions(seen, answer.metadata.resourceVersion) >= 0)
    return { known: { object: cached.object } };
  const leftMs = Math.ceil((applied?.answeredAt ?? 0) + PATIENCE_MS - now);
  return leftMs > 0
    ? { known: { object: answer }, checkAgainAt: addMs(clock.now(), leftMs) }
    : { checkAgainAt: addMs(clock.now(), 6 * PATIENCE_MS) };
}

class Tries {
  readonly #ports: ManifestPorts;
  readonly #look: ManifestLook;
  readonly #signal: AbortSignal;
  #observed: AnyObject | undefined;
  /** Whether `#observed` is what the member answered in this reconcile. */
  #asked = false;
  #wrote = false;
  #placeMissing = false;

  constructor(ports: ManifestPorts, look: ManifestLook, signal: AbortSignal) {
    this.#ports = ports;
    this.#look = look;
    this.#signal = signal;
  }

  async run({ known }: Beginning): Promise<Kept | NotYet> {
    try {
      if (known === undefined) await this.#ask();
      else this.#observed = known.object;
      if (this.#look.suspended) return await this.#reported({ kind: "suspended" });
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const kept = await this.#try();
        if (kept !== undefined) return kept;
        await this.#ask();
      }
    } catch (error) {
      if (error instanceof InterpretationFailed)
        return this.#reported({ kind: "failed", problem: error.message });
      return this.#reported(unknownOutcome(error));
    }
    const problem = "the object is changed faster than it can be written";
    return this.#reported({ kind: "failed", problem });
  }

  /** Undefined: the member has to be asked first. */
  async #try(): Promise<Kept | NotYet | undefined> {
    const { applied, proven } = this.#look;
    const desired = await this.#desired();
    const plan = decideApply({
      cluster: this.#ports.cluster,
      desired,
      observed: this.#observed,
      applied,
    });
    if (plan.problem !== undefined && !this.#asked) return undefined;
    if (plan.problem !== undefined)
      return this.#reported({ kind: "failed", problem: plan.problem });
    const [command] = plan.commands;
    if (command !== undefined)
      return this.#pauseBeforeUndo() ?? this.#write(desired, plan, command);
    if (!proven && !this.#asked) return undefined;
    return this.#succeeded(desired, plan, this.#observed);
  }

  /** Of a generation that was applied before, a write undoes what another writer did. */
  #pauseBeforeUndo(): NotYet | undefined {
    const { proven, undoFrom = 0 } = this.#look;
    const { clock } = this.#ports;
    const leftMs = Math.ceil(undoFrom - clock.monotonic());
    return proven && leftMs > 0 ? { waitUntil: addMs(clock.now(), leftMs) } : undefined;
  }

  async #write(
    desired: Fields,
    plan: ApplyPlan,
    command: ApplyPlan["commands"][number],
  ): Promise<Kept | NotYet | undefined> {
    const { reference, isStillMeant, proven } = this.#look;
    // What was applied and is another now may have been changed by a control plane that has seen a newer Work.
    if ((command.kind !== "update" || proven) && !(await isStillMeant(this.#signal)))
      return { waitUntil: addMs(this.#ports.clock.now(), PATIENCE_MS) };
    this.#signal.throwIfAborted();
    this.#wrote = true;
    try {
      const recreate = plan.reason === "Recreated";
      const answer = await this.#ports.writes.apply(reference, command, recreate, this.#signal);
      if (!isSameObject(answer, reference))
        return await this.#reported({ kind: "failed", problem: SOMETHING_ELSE });
      this.#observed = answer;
      return this.#succeeded(desired, plan, answer);
    } catch (error) {
      if (isOutdated(error, command.kind)) return undefined;
      this.#placeMissing = isRefused(error, "NotFound");
      return this.#reported({ kind: "failed", problem: problemOf(error) });
    }
  }

  /** The manifest, or what a script retains of it; built-in rules are part of the decision. */
  async #desired(): Promise<Fields> {
    const { manifest } = this.#look;
    const { interpretation } = this.#ports;
    const { apiVersion, kind } = manifest;
    if (this.#observed === undefined) return manifest;
    if (!interpretation.isCustomized(String(apiVersion), String(kind), "retain")) return manifest;
    return interpretation.retain(manifest, this.#observed);
  }

  async #ask(): Promise<void> {
    this.#observed = await this.#ports.writes.read(this.#look.reference, this.#signal);
    this.#asked = true;
  }

  async #succeeded(desired: Fields, plan: ApplyPlan, object: AnyObject | undefined): Promise<Kept> {
    // An object that needs no write exists, and so does the answer to a write.
    if (object === undefined)
      return this.#reported({ kind: "failed", problem: "the object is gone" });
    const wrote = plan.commands.length > 0;
    const { applied } = this.#look;
    const record: AnsweredRecord =
      wrote || this.#asked || applied === undefined
        ? {
            desired,
            version: versionOf(object),
            answer: marksOf(object),
            object,
            answeredAt: this.#ports.clock.monotonic(),
          }
        : applied;
    const recreated = plan.reason === "Recreated";
    const takenOver = plan.reason === "TakenOver";
    const { version } = record;
    const kept = await this.#reported({ kind: "applied", version, recreated, takenOver });
    if (record === applied) return { ...anew, ...kept, applied: this.#slimmed(applied) };
    // What happens to the object before the watch has caught up may never be reported.
    return {
      ...anew,
      ...kept,
      applied: record,
      checkAgainAt: addMs(this.#ports.clock.now(), PATIENCE_MS),
    };
  }

  /** One copy of every object is in the cache; a second one is kept only while it is newer. */
  #slimmed(applied: AnsweredRecord): AnsweredRecord {
    const { object, ...rest } = applied;
    return object === undefined || object === this.#observed ? applied : rest;
  }

  async #reported(outcome: ApplyOutcome): Promise<Kept> {
    this.#signal.throwIfAborted();
    const { manifest, applied } = this.#look;
    const observed = this.#observed;
    const isSeen =
      observed !== undefined && outcome.kind !== "unknown" && isOurs(observed, manifest);
    const reflection = isSeen ? await this.#reflect(observed) : undefined;
    return {
      report: { manifest, outcome, reflection },
      applied,
      wrote: this.#wrote,
      placeMissing: this.#placeMissing,
    };
  }

  async #reflect(observed: AnyObject): Promise<Reflection> {
    const { interpretation } = this.#ports;
    const status = await attempt(() => interpretation.reflectStatus(observed));
    const health = await attempt(() => interpretation.health(observed));
    return {
      ...anew,
      ...("value" in status ? { status: status.value } : { statusProblem: status.problem }),
      ...("value" in health
        ? { health: health.value }
        : { health: "Unknown", healthProblem: health.problem }),
    };
  }
}

async function attempt<T>(
  ask: () => Promise<T>,
): Promise<{ readonly value: T } | { readonly problem: string }> {
  try {
    return { value: await ask() };
  } catch (error) {
    if (error instanceof InterpretationFailed) return { problem: error.message };
    throw error;
  }
}

/** What it takes to see whether another writer changed labels or annotations. */
function marksOf({ metadata: { labels, annotations } }: AnyObject): Fields {
  return { metadata: { labels, annotations } };
}

/** Whether a write was refused because the object is another than was seen. */
function isOutdated(error: unknown, kind: ApplyPlan["commands"][number]["kind"]): boolean {
  if (kind !== "update" && isRefused(error, "AlreadyExists")) return true;
  if (kind === "create") return false;
  return isRefused(error, "Conflict") || isRefused(error, "NotFound");
}
