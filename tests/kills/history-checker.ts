/**
 * Decides whether what clients saw of a plane, through any number of its deaths, is what it promises. It knows nothing of
 * how writes are sent: whoever drives a plane tells it what was begun, answered, watched and listed.
 *
 * 1. Ordered and unique: the events of a watcher that resumes come in strictly rising revisions.
 * 2. Durable: a put that was acknowledged is in the events, at the revision it was answered with.
 * 3. Real: every event comes from a write that somebody began and that was not refused, and from no write twice.
 * 4. Complete: the events replayed up to the revision of a list are that list.
 * 5. Rising: a write begun after another was answered has a higher revision.
 * 6. True to type: ADDED only on what is absent, MODIFIED and DELETED only on what is there.
 *
 * Values of puts must be unique over the whole run. A deletion has no value of its own, so deletions are counted.
 */

export interface SeenEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly key: string;
  readonly revision: number;
  readonly value: string;
}

export interface ListedItem {
  readonly key: string;
  readonly revision: number;
  readonly value: string;
}

interface Write {
  readonly kind: "put" | "remove";
  readonly key: string;
  readonly value: string;
  /** The highest revision answered to anybody before this write began. */
  readonly floor: number;
  outcome: "in doubt" | "acknowledged" | "refused";
  revision?: number;
}

interface List {
  readonly revision: number;
  readonly items: readonly ListedItem[];
  readonly prefix: string;
}

export class HistoryChecker {
  readonly #writes: Write[] = [];
  readonly #watchers = new Map<string, { readonly prefix: string; readonly events: SeenEvent[] }>();
  readonly #lists: List[] = [];
  #highestAnswered = 0;

  /** A write is about to be sent. Until its outcome is told it may have happened or not. */
  begin(write: { kind: "put"; key: string; value: string } | { kind: "remove"; key: string }): {
    /** Revision: where the plane tells it, for puts always. */
    acknowledged(revision?: number): void;
    refused(): void;
  } {
    const begun: Write = {
      kind: write.kind,
      key: write.key,
      value: write.kind === "put" ? write.value : "",
      floor: this.#highestAnswered,
      outcome: "in doubt",
    };
    this.#writes.push(begun);
    return {
      acknowledged: (revision) => {
        begun.outcome = "acknowledged";
        if (revision === undefined) return;
        begun.revision = revision;
        this.#highestAnswered = Math.max(this.#highestAnswered, revision);
      },
      refused: () => {
        begun.outcome = "refused";
      },
    };
  }

  /** A watcher of all keys that begin with `prefix`, from the beginning, under a name that it keeps over restarts. */
  addWatcher(name: string, prefix: string): void {
    this.#watchers.set(name, { prefix, events: [] });
  }

  saw(watcher: string, event: SeenEvent): void {
    this.#watchers.get(watcher)?.events.push(event);
  }

  /** A consistent list; call it only when every watcher has caught up with `revision`. */
  listed(revision: number, prefix: string, items: readonly ListedItem[]): void {
    this.#lists.push({ revision, prefix, items });
    this.#highestAnswered = Math.max(this.#highestAnswered, revision);
  }

  get acknowledged(): number {
    return this.#writes.filter((write) => write.outcome === "acknowledged").length;
  }

  /** Everything that is wrong, in sentences; empty when all promises were kept. */
  violations(): string[] {
    const wrong: string[] = [];
    for (const [name, { prefix, events }] of this.#watchers) {
      const say = (sentence: string): void => void wrong.push(`watcher ${name}: ${sentence}`);
      checkOrder(events, say);
      checkTypes(events, say);
      this.#checkWrites(prefix, events, say);
      this.#checkDeletions(prefix, events, say);
      this.#checkLists(prefix, events, say);
    }
    this.#checkRising((sentence) => void wrong.push(sentence));
    return wrong;
  }

  #checkWrites(prefix: string, events: readonly SeenEvent[], say: Say): void {
    const puts = new Map<string, Write>();
    for (const write of this.#writes)
      if (write.kind === "put" && write.key.startsWith(prefix)) puts.set(write.value, write);
    const happened = new Set<string>();
    for (const event of events) {
      if (event.type === "DELETED") continue;
      const write = puts.get(event.value);
      if (write === undefined || write.key !== event.key) say(`${show(event)} was never written`);
      else if (write.outcome === "refused") say(`${show(event)} was refused, and happened`);
      else if (write.revision !== undefined && write.revision !== event.revision)
        say(`${show(event)} was acknowledged at revision ${write.revision}`);
      if (happened.has(event.value)) say(`${show(event)} happened twice`);
      happened.add(event.value);
    }
    for (const write of puts.values())
      if (write.outcome === "acknowledged" && !happened.has(write.value))
        say(`${write.key}=${write.value}, acknowledged at ${write.revision}, is lost`);
  }

  #checkDeletions(prefix: string, events: readonly SeenEvent[], say: Say): void {
    const counts = new Map<string, { seen: number; certain: number; possible: number }>();
    const of = (key: string): { seen: number; certain: number; possible: number } => {
      const count = counts.get(key) ?? { seen: 0, certain: 0, possible: 0 };
      counts.set(key, count);
      return count;
    };
    for (const event of events) if (event.type === "DELETED") of(event.key).seen += 1;
    for (const write of this.#writes) {
      if (write.kind !== "remove" || !write.key.startsWith(prefix)) continue;
      if (write.outcome === "acknowledged") of(write.key).certain += 1;
      if (write.outcome === "in doubt") of(write.key).possible += 1;
    }
    for (const [key, { seen, certain, possible }] of counts)
      if (seen < certain || seen > certain + possible)
        say(`${key} was deleted ${seen} times, not ${certain} to ${certain + possible} times`);
  }

  #checkLists(prefix: string, events: readonly SeenEvent[], say: Say): void {
    for (const list of this.#lists) {
      if (list.prefix !== prefix) continue;
      const wanted = replay(events, list.revision);
      const found = list.items.map(showItem).sort();
      if (found.join("\n") === wanted.join("\n")) continue;
      const missing = wanted.filter((item) => !found.includes(item));
      const extra = found.filter((item) => !wanted.includes(item));
      say(
        `the list at ${list.revision} lacks [${missing.join(", ")}] and adds [${extra.join(", ")}]`,
      );
    }
  }

  #checkRising(say: Say): void {
    const owners = new Set<number>();
    for (const { revision, floor, key } of this.#writes) {
      if (revision === undefined) continue;
      if (revision <= floor) say(`${key} got revision ${revision} after ${floor} was answered`);
      if (owners.has(revision)) say(`revision ${revision} was given to two writes`);
      owners.add(revision);
    }
  }
}

type Say = (sentence: string) => void;

function checkOrder(events: readonly SeenEvent[], say: Say): void {
  let last = 0;
  for (const event of events) {
    if (event.revision === last) say(`${show(event)} came twice`);
    if (event.revision < last) say(`${show(event)} came after revision ${last}`);
    last = event.revision;
  }
}

function checkTypes(events: readonly SeenEvent[], say: Say): void {
  const present = new Map<string, string>();
  for (const event of events) {
    const before = present.get(event.key);
    if ((event.type === "ADDED") !== (before === undefined))
      say(`${show(event)} came when the key was ${before === undefined ? "absent" : "there"}`);
    if (event.type !== "DELETED") present.set(event.key, event.value);
    else {
      if (before !== undefined && before !== event.value)
        say(`${show(event)} does not carry the last state ${before}`);
      present.delete(event.key);
    }
  }
}

function replay(events: readonly SeenEvent[], until: number): string[] {
  const state = new Map<string, string>();
  for (const event of events) {
    if (event.revision > until) break;
    if (event.type === "DELETED") state.delete(event.key);
    else state.set(event.key, showItem(event));
  }
  return [...state.values()].sort();
}

const show = (event: SeenEvent): string =>
  `${event.type} ${event.key}=${event.value} at ${event.revision}`;
const showItem = (item: ListedItem): string => `${item.key}=${item.value}@${item.revision}`;
