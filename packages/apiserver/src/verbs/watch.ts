/**
 * Watches.
 *
 * A watch without selectors over the stored version hands each change on as it is: no allocation but the event, no
 * comparison. Selectors are matched with the state before and after: entering the selection is ADDED, leaving it is DELETED
 * with the last matching content under the version of the change.
 *
 * 1. Events come in order of version, each once. Initial ones come first, in key order.
 * 2. A bookmark means that everything up to its version was delivered. One comes every minute and one about two seconds
 *    before the end.
 * 3. `end` is called exactly once, and nothing after it.
 * 4. A watch ends within seconds after the right to it is taken away, with the 403 that asking again would get.
 */
import type { Cancel } from "@lifeboat/base";
import { type AnyObject, failure, type FieldError, forbidden, type Status } from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";
import {
  type Change,
  type ChangeSink,
  type Entry,
  HistoryGone,
  type StoreWatch,
} from "../store/store.ts";
import { authorize as ask, forbiddenAction } from "../authorization/authorize.ts";
import type { ResourceAttributes } from "../authorization/authorizer.ts";
import { attributesOf, authorize } from "./authorize.ts";
import type { VerbDeps } from "./deps.ts";
import { invalidOptions, methodNotAllowed } from "./refusals.ts";
import { waitForVersion, plainVersion } from "./resource-version.ts";
import { type Selection, selectionOf } from "./selection.ts";
import { storeKey } from "./write-object.ts";
import type {
  RequestContext,
  ServerWatch,
  ServerWatchEvent,
  ServerWatchSink,
  Target,
  WatchParameters,
} from "./verbs.ts";

const LAST_BOOKMARK_BEFORE_END_MS = 2000;
const SHORTEST_DEFAULT_TIMEOUT_S = 1800;

export async function watch(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  parameters: WatchParameters,
  sink: ServerWatchSink,
): Promise<ServerWatch> {
  const { fieldSelector } = parameters;
  authorize(deps, context, "watch", target, fieldSelector);
  if (!target.resource.verbs.includes("watch"))
    throw methodNotAllowed("the server does not allow this method on the requested resource");
  checkParameters(parameters);
  const asked = plainVersion(parameters.resourceVersion);
  const selection = withName(selectionOf(target.resource, parameters), target.name);
  const initial = parameters.sendInitialEvents ?? asked === 0;
  const attributes = attributesOf(context, "watch", target, fieldSelector);
  if (initial && asked > deps.store.revision) {
    await waitForVersion(deps, asked, context.signal);
    // The right may have gone meanwhile.
    ask(deps.authorizer, attributes);
  }
  const running = new RunningWatch(deps, target, selection, parameters.allowWatchBookmarks, sink);
  if (initial) running.startWithState();
  else running.startAfter(asked === 0 ? deps.store.revision : asked);
  running.startTimers(timeoutMs(deps, parameters));
  running.endWithoutRight(attributes);
  return running;
}

/** The old form of watching one object, by its URL. */
function withName(selection: Selection, name: string): Selection {
  if (name === "") return selection;
  const { matches } = selection;
  return {
    ...selection,
    name,
    matches: (object) => object.metadata.name === name && matches?.(object) !== false,
  };
}

function timeoutMs(deps: VerbDeps, { timeoutSeconds }: WatchParameters): number {
  const seconds =
    timeoutSeconds > 0 ? timeoutSeconds : SHORTEST_DEFAULT_TIMEOUT_S * (1 + deps.random.next());
  return Math.floor(seconds * 1000);
}

class RunningWatch implements ServerWatch, ChangeSink {
  readonly #deps: VerbDeps;
  readonly #target: Target;
  readonly #selection: Selection;
  readonly #bookmarks: boolean;
  readonly #sink: ServerWatchSink;
  #source: StoreWatch | undefined;
  #timers: Cancel[] = [];
  /** The version the watch began after; no bookmark names a version below it. */
  #started = 0;
  #open = true;

  constructor(
    deps: VerbDeps,
    target: Target,
    selection: Selection,
    bookmarks: boolean,
    sink: ServerWatchSink,
  ) {
    this.#deps = deps;
    this.#target = target;
    this.#selection = selection;
    this.#bookmarks = bookmarks;
    this.#sink = sink;
  }

  /** Everything that exists as ADDED, a bookmark that closes this part, then what follows. */
  startWithState(): void {
    const { store, views } = this.#deps;
    const { resource } = this.#target;
    const revision = store.revision;
    for (const entry of this.#present()) {
      const view = views.of(resource, entry);
      if (this.#selection.matches?.(view.object) === false) continue;
      if (!this.#send(eventOf("ADDED", resource, view.object, entry, view.bytes))) return;
    }
    if (this.#bookmarks && !this.#bookmark(revision, true)) return;
    this.startAfter(revision);
  }

  startAfter(revision: number): void {
    const { resource, namespace } = this.#target;
    this.#started = revision;
    const key = this.#onlyKey();
    const options = {
      from: revision,
      ...(namespace !== "" && { prefix: `${namespace}/` }),
      ...(key !== undefined && { key }),
      needsPrevious: !this.#selection.onlyIdentity,
    };
    try {
      const source = this.#deps.store.watch(resource.table, options, this);
      if (this.#open) this.#source = source;
      else source.stop();
    } catch (error) {
      if (!(error instanceof HistoryGone)) throw error;
      this.#sink.event({ type: "ERROR", status: tooOld() });
      this.stop();
    }
  }

  startTimers(timeout: number): void {
    if (!this.#open) return;
    const { clock } = this.#deps;
    this.#timers.push(clock.after(timeout, () => this.stop()));
    if (!this.#bookmarks) return;
    const last = timeout - LAST_BOOKMARK_BEFORE_END_MS;
    if (last > 0) this.#timers.push(clock.after(last, () => this.#bookmark(this.#revision())));
    this.#timers.push(this.#deps.beats.join(() => this.#bookmark(this.#revision())));
  }

  endWithoutRight(attributes: ResourceAttributes): void {
    if (!this.#open) return;
    const { authorizer, rightChecks } = this.#deps;
    const leave = rightChecks.join(attributes, () => {
      this.#send({ type: "ERROR", status: forbiddenAction(authorizer, attributes).status });
      this.stop();
    });
    this.#timers.push(leave);
  }

  stop(): void {
    if (!this.#open) return;
    this.#open = false;
    for (const cancel of this.#timers) cancel();
    this.#timers = [];
    this.#source?.stop();
    this.#sink.end();
  }

  // From the store.

  change(change: Change): boolean {
    if (!this.#open) return false;
    const { type, entry } = change;
    const { resource } = this.#target;
    if (this.#selection.matches === undefined) {
      const view = this.#deps.views.of(resource, entry);
      return this.#send(eventOf(type, resource, view.object, entry, view.bytes));
    }
    const { name, onlyIdentity, matches } = this.#selection;
    // By the key alone first: reading an old object may mean parsing it again.
    if (name !== undefined && !entry.key.endsWith(`/${name}`)) return true;
    if (!onlyIdentity) return this.#selected(change, matches);
    const view = this.#deps.views.of(resource, entry);
    if (!matches(view.object)) return true;
    return this.#send(eventOf(type, resource, view.object, entry, view.bytes));
  }

  end(): void {
    this.stop();
  }

  /** The one key that can match, when selector and URL leave only one. */
  #onlyKey(): string | undefined {
    const { resource, namespace } = this.#target;
    const { name } = this.#selection;
    if (name === undefined || (namespace === "" && resource.namespaced)) return undefined;
    return storeKey({ namespace, name });
  }

  #present(): Iterable<Entry> {
    const { store } = this.#deps;
    const { resource, namespace } = this.#target;
    const key = this.#onlyKey();
    if (key === undefined)
      return store.range(resource.table, namespace === "" ? {} : { prefix: `${namespace}/` });
    const entry = store.get(resource.table, key);
    return entry === undefined ? [] : [entry];
  }

  #selected(change: Change, matches: (object: AnyObject) => boolean): boolean {
    const { views } = this.#deps;
    const { resource } = this.#target;
    const view = views.of(resource, change.entry);
    const now = change.type !== "DELETED" && matches(view.object);
    const before = matchedBefore(change, (entry) => matches(views.of(resource, entry).object));
    if (now) {
      const type = before ? "MODIFIED" : "ADDED";
      return this.#send(eventOf(type, resource, view.object, change.entry, view.bytes));
    }
    if (!before) return true;
    if (change.type === "DELETED")
      return this.#send(eventOf("DELETED", resource, view.object, change.entry, view.bytes));
    const left = views.of(resource, change.previous ?? change.entry).object;
    return this.#send({ type: "DELETED", object: atVersion(left, change.revision) });
  }

  #revision(): number {
    return this.#deps.store.revision;
  }

  /** False when the watch is over. */
  #bookmark(revision: number, initialEventsEnd = false): boolean {
    if (!this.#open) return false;
    // A watch from the future has not delivered anything yet that a bookmark could stand for.
    if (revision < this.#started) return true;
    return this.#send({ type: "BOOKMARK", resourceVersion: String(revision), initialEventsEnd });
  }

  #send(event: ServerWatchEvent): boolean {
    if (!this.#open) return false;
    if (this.#sink.event(event)) return true;
    this.stop();
    return false;
  }
}

/** Deleted objects matched before when their last state did; what is unknown is taken from the change itself. */
function matchedBefore(change: Change, matches: (entry: Entry) => boolean): boolean {
  if (change.type === "ADDED") return false;
  return matches(change.previous ?? change.entry);
}

function eventOf(
  type: "ADDED" | "MODIFIED" | "DELETED",
  resource: ServedResource,
  object: AnyObject,
  entry: Entry,
  bytes: Uint8Array | undefined,
): ServerWatchEvent {
  if (bytes === undefined) return { type, object };
  return { type, object, bytes, entry };
}

function atVersion(object: AnyObject, revision: number): AnyObject {
  const metadata = Object.freeze({ ...object.metadata, resourceVersion: String(revision) });
  return Object.freeze({ ...object, metadata });
}

function tooOld(): Status {
  return failure(410, "Expired", "The resourceVersion for the provided watch is too old.");
}

function checkParameters(parameters: WatchParameters): void {
  const { resourceVersionMatch: match, sendInitialEvents } = parameters;
  const field = "resourceVersionMatch";
  const errors: FieldError[] = [];
  if (sendInitialEvents === undefined && match !== "")
    errors.push(
      forbidden(field, `${field} is forbidden for watch unless sendInitialEvents is provided`),
    );
  if (sendInitialEvents !== undefined && match !== "NotOlderThan")
    errors.push(
      forbidden(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
    );
  if (errors.length > 0) throw invalidOptions("ListOptions", errors);
}
