/**
 * The history is append-only and bounded, and a process that dies at any moment neither loses what objects still show nor records it
 * twice.
 */
import type { KubeObject, LedgerEntry, LedgerSlice } from "@lifeboat/api";
import { addMs, type Instant, parseTime } from "@lifeboat/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entriesBetween, foldEntries, missingEntries } from "./entries.ts";
import { binding, cluster, NOW, stored } from "./makers.suite.ts";
import { decideSlices, MAX_SLICES, readLedger } from "./slices.ts";

const place = fc.record({
  on: fc.subarray(["eu-1", "eu-2", "eu-3"]),
  leaving: fc.subarray(["eu-1", "eu-2"]),
});
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("binding" as const), place }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("cluster" as const),
      ready: fc.constantFrom("True", "False", "Unknown"),
      taints: fc.subarray(["a", "b"]),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: "write" as const }) },
  // After how many writes of the plan it dies.
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("crash" as const), after: fc.nat(4) }) },
);

/** One process after another over one API server. */
class Model {
  readonly slices = new Map<string, LedgerSlice>();
  readonly objects = new Map<string, KubeObject>();
  /** As it was read by the first reader that saw it. */
  readonly seen = new Map<number, string>();
  pending: LedgerEntry[] = [];
  now: Instant = NOW;

  change(object: KubeObject): void {
    this.now = addMs(this.now, 1000);
    const { uid } = object.metadata;
    this.pending.push(...entriesBetween(this.objects.get(uid), object, this.now));
    this.objects.set(uid, object);
  }

  /** The writes of one plan; a crash leaves the later ones out. */
  write(limit = Number.POSITIVE_INFINITY): void {
    const { create, remove } = decideSlices([...this.slices.values()], this.pending);
    let count = 0;
    for (const slice of create) if (count++ < limit) this.#create(stored(slice));
    for (const name of remove) if (count++ < limit) this.slices.delete(name);
    this.pending = [];
    this.check();
  }

  #create(slice: LedgerSlice): void {
    expect(this.slices.has(slice.metadata.name)).toBe(false);
    expect(slice.spec.entries.length).toBeLessThanOrEqual(500);
    this.slices.set(slice.metadata.name, slice);
  }

  crash(after: number): void {
    this.write(after);
    const entries = readLedger(this.slices.values());
    const horizon = parseTime(entries.reduce((max, { at }) => (at > max ? at : max), ""));
    const view = { known: foldEntries(entries), horizon, objects: this.objects.values() };
    this.pending = [...missingEntries(view, this.now)];
    const facts = this.pending.map((one) => `${one.fact} ${one.action} ${one.cluster ?? ""}`);
    expect(new Set(facts).size).toBe(facts.length);
  }

  check(): void {
    expect(this.slices.size).toBeLessThanOrEqual(MAX_SLICES + 2);
    for (const { number, ...entry } of readLedger(this.slices.values())) {
      const text = JSON.stringify(entry);
      expect(this.seen.get(number) ?? text).toBe(text);
      this.seen.set(number, text);
    }
  }

  /** What readers learn is what the objects are. */
  end(): void {
    this.write();
    const entries = readLedger(this.slices.values());
    if (entries.length === 0) return;
    const numbers = entries.map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_, i) => (numbers[0] ?? 0) + i));
    const horizon = parseTime(entries.at(-1)?.at ?? "");
    const view = { known: foldEntries(entries), horizon, objects: this.objects.values() };
    expect(missingEntries(view, this.now)).toEqual([]);
  }
}

describe("the history", () => {
  it("is append-only, without gaps, and complete after crashes at any write", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const model = new Model();
        // The history begins with something, so that it knows from when on it is complete.
        model.change(cluster("True"));
        model.change(binding([["eu-1", 1]]));
        model.write();
        for (const one of steps) {
          if (one.kind === "binding") {
            const { on, leaving } = one.place;
            model.change(
              binding(
                on.map((name) => [name, 1] as const),
                leaving,
              ),
            );
          } else if (one.kind === "cluster") model.change(cluster(one.ready, one.taints));
          else if (one.kind === "write") model.write();
          else model.crash(one.after);
        }
        model.end();
      }),
      { numRuns: 100 },
    );
  });

  it("merges small slices, and keeps the newest 200", () => {
    let slices: readonly LedgerSlice[] = [];
    const write = (entries: readonly LedgerEntry[]): void => {
      const { create, remove } = decideSlices(slices, entries);
      const gone = new Set(remove);
      slices = [
        ...slices.filter(({ metadata }) => !gone.has(metadata.name)),
        ...create.map(stored),
      ];
    };
    const [entry] = entriesBetween(undefined, cluster("False"), NOW);
    if (entry === undefined) throw new Error("a failure is told");
    for (let i = 0; i < 600; i++) write([entry]);
    expect(slices.length).toBeLessThan(30);
    expect(readLedger(slices)).toHaveLength(600);
    const full = Array.from({ length: 500 }, () => entry);
    for (let i = 0; i < 210; i++) write(full);
    expect(slices).toHaveLength(MAX_SLICES);
    const last = Math.max(...slices.map(({ spec }) => spec.last));
    expect(last).toBe(600 + 210 * 500);
    expect(Math.min(...slices.map(({ spec }) => spec.first))).toBe(last - MAX_SLICES * 500 + 1);
  });

  it("keeps a slice below what an API server stores", () => {
    const entries = entriesBetween(undefined, cluster("False"), NOW).map((entry) => ({
      ...entry,
      message: "x".repeat(5000),
    }));
    const many = Array.from({ length: 500 }, () => entries).flat();
    for (const slice of decideSlices([], many).create)
      expect(JSON.stringify(slice).length).toBeLessThan(500_000);
  });
});
