/**
 * The watchers of one table, and the delivery of changes to them.
 *
 * Watchers of the whole table, of one namespace (`prefix` is `namespace/`) and of one key are found by a lookup, so a
 * change costs only those that want it; watchers with any other prefix are compared one by one.
 *
 * 1. A watcher gets a change only when its revision is above `seen`: nothing twice, also when watchers come and go while
 *    changes are being delivered.
 * 2. After `end` a watcher gets nothing more. A sink that throws or is slow ends only itself.
 */
import type { Log } from "@lifeboat/kit";
import type { Change, ChangeSink, WatchRange } from "./store.ts";

export class Watcher {
  readonly prefix: string;
  /** Undefined: every key below the prefix. */
  readonly key: string | undefined;
  readonly #sink: ChangeSink;
  readonly #log: Log;
  #seen: number;
  #open = true;

  constructor(range: WatchRange, sink: ChangeSink, log: Log) {
    this.prefix = range.prefix ?? "";
    this.key = range.key;
    this.#seen = range.from;
    this.#sink = sink;
    this.#log = log;
  }

  get open(): boolean {
    return this.#open;
  }

  wants(key: string): boolean {
    return this.key === undefined ? key.startsWith(this.prefix) : key === this.key;
  }

  deliver(change: Change): void {
    // seed: already-seen
    if (!this.#open || change.revision <= this.#seen) return;
    this.#seen = change.revision;
    try {
      if (!this.#sink.change(change)) this.end("slow");
    } catch (error) {
      this.#log.error("a watcher failed and was ended", { error });
      this.end("stopped");
    }
  }

  end(why: "slow" | "stopped" | "closing"): void {
    if (!this.#open) return;
    this.#open = false;
    try {
      this.#sink.end(why);
    } catch (error) {
      this.#log.error("a watcher failed at its end", { error });
    }
  }
}

export class WatcherSet {
  readonly #whole = new Set<Watcher>();
  readonly #byNamespace = new Map<string, Set<Watcher>>();
  readonly #byKey = new Map<string, Set<Watcher>>();
  readonly #others = new Set<Watcher>();

  add(watcher: Watcher): void {
    const { prefix, key } = watcher;
    if (key !== undefined) addTo(this.#byKey, key, watcher);
    else if (prefix === "") this.#whole.add(watcher);
    else if (isNamespace(prefix)) addTo(this.#byNamespace, prefix, watcher);
    else this.#others.add(watcher);
  }

  remove(watcher: Watcher): void {
    if (watcher.key !== undefined) {
      removeFrom(this.#byKey, watcher.key, watcher);
      return;
    }
    this.#whole.delete(watcher);
    this.#others.delete(watcher);
    removeFrom(this.#byNamespace, watcher.prefix, watcher);
  }

  deliver(change: Change): void {
    const { key } = change.entry;
    if (this.#whole.size > 0) this.#deliverTo(this.#whole, change);
    if (this.#byNamespace.size > 0) {
      const some = this.#byNamespace.get(key.slice(0, key.indexOf("/") + 1));
      if (some !== undefined) this.#deliverTo(some, change);
    }
    if (this.#byKey.size > 0) {
      const some = this.#byKey.get(key);
      if (some !== undefined) this.#deliverTo(some, change);
    }
    for (const watcher of this.#others) {
      if (!watcher.wants(key)) continue;
      watcher.deliver(change);
      if (!watcher.open) this.remove(watcher);
    }
  }

  endAll(why: "closing"): void {
    const all = [...this.#whole, ...this.#others];
    for (const some of this.#byNamespace.values()) all.push(...some);
    for (const some of this.#byKey.values()) all.push(...some);
    for (const watcher of all) {
      watcher.end(why);
      this.remove(watcher);
    }
  }

  /** A Set may be changed while it is walked: a watcher that leaves is skipped, one that joins is met and has `seen` it already. */
  #deliverTo(watchers: Set<Watcher>, change: Change): void {
    for (const watcher of watchers) {
      watcher.deliver(change);
      if (!watcher.open) this.remove(watcher);
    }
  }
}

function isNamespace(prefix: string): boolean {
  return prefix.indexOf("/") === prefix.length - 1;
}

function addTo(sets: Map<string, Set<Watcher>>, name: string, watcher: Watcher): void {
  const some = sets.get(name);
  if (some === undefined) sets.set(name, new Set([watcher]));
  else some.add(watcher);
}

function removeFrom(sets: Map<string, Set<Watcher>>, name: string, watcher: Watcher): void {
  const some = sets.get(name);
  some?.delete(watcher);
  if (some?.size === 0) sets.delete(name);
}
