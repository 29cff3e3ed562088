/**
 * Keeps the Works of every binding as the binding, its template, overrides and clusters ask for.
 *
 *   observe (caches) ──▶ decideWorks ──▶ gate and second look (removals only) ──▶ writes, clusters side by side
 *
 * 1. Removals pass the deletion gate (D19). Removals and endorsements (D26) happen only while the server still holds the
 *    binding that they were decided on. Removals carry the uid and the version of the Work.
 * 2. A cluster whose write fails holds up no other cluster; the look fails after all were tried.
 * 3. A binding is let go only when no Work of it is left, also none that was made a moment ago and is not in the cache.
 * 4. A write of a Work that another writer undid a moment ago waits before it is repeated (../../context/recent-writes.ts).
 * 5. At rest nothing is written, and Events are recorded only for changes.
 */
import {
  formatKey,
  isRefused,
  keyOf,
  type New,
  type ObjectKey,
  parseKey,
  Refused,
  type Work,
  works,
} from "@lifeboat/api";
import { addMs, type Instant } from "@lifeboat/base";
import {
  bindingFinalizer,
  decideWorks,
  type WorksCommand,
  type WorksPlan,
  type WorksView,
} from "@lifeboat/core/propagation/works";
import {
  checkAgainAt,
  createController,
  done,
  type Histogram,
  type Outcome,
  type Service,
} from "@lifeboat/kit";
import { type Binding, bindingOf, bindingResource } from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import type { DeletionGate } from "../../context/deletion-gate.ts";
import { createWorkEvents, type WorkEvents } from "./events.ts";
import { syncWorkDuration } from "./metrics.ts";
import { observeWorks } from "../../context/observe-works.ts";
import { RecentWrites } from "../../context/recent-writes.ts";
import { bindingWatches } from "./watches.ts";

const CONCURRENCY = 8;
/** How many Works of one binding are written side by side. */
const WRITES_AT_A_TIME = 16;
/** When the cache is behind the server, its next change brings the next reconcile; this is for when none comes. */
const CACHE_BEHIND_MS = 1000;

/** Builds the controller. */
export function createBindingController(
  context: PlaneContext,
  gate: DeletionGate,
): readonly Service[] {
  return new BindingController(context, gate).services;
}

type Removal = Extract<WorksCommand, { kind: "delete" }>;

class BindingController {
  readonly services: readonly Service[];
  readonly #context: PlaneContext;
  readonly #gate: DeletionGate;
  readonly #events: WorkEvents;
  readonly #duration: Histogram<"result">;
  /** Bindings that keep a Work until another copy is healthy. */
  readonly #spared = new Set<string>();
  /** Bindings with a cluster that waits for its turn to be updated. */
  readonly #rolling = new Set<string>();
  /** Bindings with removals that the brake stopped. */
  readonly #braked = new Set<string>();
  /** By binding: Works that were sent to be made and may not be in the cache yet. */
  readonly #making = new Map<string, Map<string, ObjectKey>>();
  readonly #recentWrites = new RecentWrites();

  constructor(context: PlaneContext, gate: DeletionGate) {
    this.#context = context;
    this.#gate = gate;
    this.#events = createWorkEvents(context.events);
    this.#duration = context.metrics.histogram(syncWorkDuration);
    const controller = createController(context, {
      name: "binding",
      concurrency: CONCURRENCY,
      watches: [
        ...bindingWatches(context, this.#spared, this.#rolling),
        gate.watching(() => [...this.#braked].map(parseKey)),
      ],
      reconcile: (key, signal) => this.#look(key, signal),
    });
    this.services = [controller];
  }

  async #look(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const id = formatKey(key);
    const binding = bindingOf(this.#context.informers, key);
    if (binding === undefined) {
      this.#forget(id);
      return done;
    }
    this.#forgetMade(id);
    // Before the caches are read: a copy that becomes healthy meanwhile must bring another reconcile.
    this.#spared.add(id);
    this.#rolling.add(id);
    const view = await observeWorks(this.#context, binding, signal);
    const plan = decideWorks(view);
    if (plan.spared.length === 0) this.#spared.delete(id);
    if ((plan.rollout?.held.size ?? 0) === 0) this.#rolling.delete(id);
    return this.#apply(id, view, plan, signal);
  }

  #forget(id: string): void {
    this.#spared.delete(id);
    this.#rolling.delete(id);
    this.#braked.delete(id);
    this.#making.delete(id);
    this.#events.forget(id);
  }

  async #apply(
    id: string,
    view: WorksView,
    plan: WorksPlan,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { clock } = this.#context;
    const started = clock.monotonic();
    const admitted = await this.#allowed(id, view, plan, signal);
    if (admitted === "cacheBehind") return checkAgainAt(addMs(clock.now(), CACHE_BEHIND_MS));
    const { commands: allowed, again } = this.#undisputed(admitted);
    const errors = await this.#carryOut(id, allowed, signal);
    if (signal.aborted) return done;
    this.#events.report(view, { ...plan, commands: allowed }, errors);
    if (allowed.length > 0) {
      const result = errors.length === 0 ? "success" : "error";
      this.#duration.observe((clock.monotonic() - started) / 1000, { result });
    }
    const failed = errors[0] ?? [...view.revised.values()].find((one) => one instanceof Error);
    if (failed !== undefined) throw failed;
    return again === undefined ? done : checkAgainAt(again);
  }

  /** The commands without the writes that were made a moment ago and undone since; and when those are due. */
  #undisputed(commands: readonly WorksCommand[]): {
    readonly commands: readonly WorksCommand[];
    readonly again?: Instant;
  } {
    const moment = this.#context.time.moment();
    const times: Instant[] = [];
    const left = commands.filter((command) => {
      // seed: makes-nothing
      if (command.kind !== "create" && command.kind !== "update") return true;
      const [id, content] = contentOf(command);
      const again = this.#recentWrites.heldUntil(id, content, moment);
      if (again !== undefined) times.push(again);
      return again === undefined;
    });
    return times.length === 0
      ? { commands }
      : { commands: left, again: times.reduce((a, b) => (b < a ? b : a)) };
  }

  /** The commands without the removals that may not happen now. */
  async #allowed(
    id: string,
    { binding }: WorksView,
    { commands }: WorksPlan,
    signal: AbortSignal,
  ): Promise<readonly WorksCommand[] | "cacheBehind"> {
    const removals = commands.filter((command): command is Removal => command.kind === "delete");
    const isChecked = removals.length > 0 || commands.some(isEndorsing);
    if (isChecked && !(await this.#isCurrent(binding, signal))) return "cacheBehind";
    if (removals.length === 0) {
      this.#braked.delete(id);
      return commands;
    }
    const asked = removals.map(({ work, cause }) => ({ uid: work.metadata.uid, cause }));
    // Before the gate answers: a release that comes with a refusal must bring another reconcile.
    this.#braked.add(id);
    const admitted = await this.#gate.admit(asked);
    const isAllowed = (command: WorksCommand): boolean =>
      command.kind !== "delete" || admitted.has(command.work.metadata.uid);
    if (commands.every(isAllowed)) this.#braked.delete(id);
    return commands.filter(isAllowed);
  }

  /** Whether the server holds the binding as the decision saw it. Its status does not matter. */
  async #isCurrent(binding: Binding, signal: AbortSignal): Promise<boolean> {
    const key = keyOf(binding);
    try {
      const { metadata } = await this.#context.plane.get(bindingResource(key), key, { signal });
      return (
        metadata.uid === binding.metadata.uid &&
        metadata.generation === binding.metadata.generation &&
        metadata.deletionTimestamp === binding.metadata.deletionTimestamp
      );
    } catch (error) {
      if (isRefused(error, "NotFound")) return false;
      throw error;
    }
  }

  /** What about the binding itself comes alone, before anything is made; the rest goes side by side. */
  async #carryOut(
    id: string,
    commands: readonly WorksCommand[],
    signal: AbortSignal,
  ): Promise<readonly unknown[]> {
    const errors: unknown[] = [];
    for (const command of commands)
      if (command.kind === "holdBinding") await this.#holdBinding(command.binding, signal);
    const queue = commands.filter(({ kind }) => kind !== "holdBinding");
    const worker = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined && !signal.aborted; next = queue.shift())
        await this.#write(id, next, signal).catch((error: unknown) => errors.push(error));
    };
    await Promise.all(Array.from({ length: WRITES_AT_A_TIME }, worker));
    return errors;
  }

  async #write(id: string, command: WorksCommand, signal: AbortSignal): Promise<void> {
    const { clock, plane } = this.#context;
    switch (command.kind) {
      case "create":
        await this.#create(id, command.work, signal);
        this.#recentWrites.note(...contentOf(command), clock.now());
        return;
      case "update":
        await plane.update(works, command.work, { signal });
        this.#recentWrites.note(...contentOf(command), clock.now());
        return;
      case "delete":
        return this.#delete(command.work, signal);
      case "releaseBinding":
        return this.#releaseBinding(id, command.binding, signal);
      case "holdBinding":
        return;
    }
  }

  async #create(id: string, work: New<Work>, signal: AbortSignal): Promise<void> {
    const { namespace = "", name = "" } = work.metadata;
    const key = { namespace, name };
    const made = this.#making.get(id) ?? new Map<string, ObjectKey>();
    this.#making.set(id, made.set(formatKey(key), key));
    try {
      await this.#context.plane.create(works, work, { signal });
    } catch (error) {
      if (error instanceof Refused) made.delete(formatKey(key));
      throw error;
    }
  }

  async #delete({ metadata }: Work, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion } = metadata;
    const key = { namespace: metadata.namespace ?? "", name: metadata.name };
    const preconditions = { uid, resourceVersion };
    try {
      await this.#context.plane.delete(works, key, { preconditions, signal });
    } catch (error) {
      if (!isRefused(error, "NotFound")) throw error;
    }
  }

  #forgetMade(id: string): void {
    const made = this.#making.get(id);
    if (made === undefined) return;
    for (const [text, key] of made)
      if (this.#context.informers.works.get(key) !== undefined) made.delete(text);
    if (made.size === 0) this.#making.delete(id);
  }

  async #releaseBinding(id: string, binding: Binding, signal: AbortSignal): Promise<void> {
    if (await this.#hasUnseenWork(id, signal)) return;
    const own = bindingFinalizer(binding);
    const finalizers = (binding.metadata.finalizers ?? []).filter((one) => one !== own);
    const released = { ...binding, metadata: { ...binding.metadata, finalizers } };
    await this.#context.plane.update(bindingResource(keyOf(binding)), released, { signal });
  }

  /** A Work that the server has and the cache does not: its arrival there brings the next reconcile. */
  async #hasUnseenWork(id: string, signal: AbortSignal): Promise<boolean> {
    const made = this.#making.get(id) ?? new Map<string, ObjectKey>();
    for (const [text, key] of made) {
      try {
        await this.#context.plane.get(works, key, { signal });
        return true;
      } catch (error) {
        if (!isRefused(error, "NotFound")) throw error;
        made.delete(text);
      }
    }
    return false;
  }

  async #holdBinding(binding: Binding, signal: AbortSignal): Promise<void> {
    const finalizers = [...(binding.metadata.finalizers ?? []), bindingFinalizer(binding)];
    const held = { ...binding, metadata: { ...binding.metadata, finalizers } };
    await this.#context.plane.update(bindingResource(keyOf(binding)), held, { signal });
  }
}

function isEndorsing(command: WorksCommand): boolean {
  return command.kind === "update" && command.endorses === true;
}

/** The object of a command, and what the command writes. A create is known by its name alone: every new Work has ids of its own. */
function contentOf(
  command: Extract<WorksCommand, { kind: "create" | "update" }>,
): readonly [of: string, what: unknown] {
  const { metadata, spec } = command.work;
  const { labels = {}, annotations = {}, finalizers = [], namespace = "", name = "" } = metadata;
  if (command.kind === "create") return [formatKey({ namespace, name }), "made"];
  return [command.work.metadata.uid, [labels, annotations, finalizers, spec]];
}
