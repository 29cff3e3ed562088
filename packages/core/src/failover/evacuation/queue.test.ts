/** Turns, lanes, times, and that no entry is lost or served twice. */
import { type Instant, instantOf } from "@lifeboat/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EvictionQueue, type Queued } from "./queue.ts";

const at = (ms: number): Instant => instantOf(ms);
const item = (cluster: string, id: string, dueAt = 0, order = 0, priority = 0): Queued => ({
  cluster,
  id,
  lane: "Workload",
  dueAt: at(dueAt),
  order,
  priority,
});
const drain = (queue: EvictionQueue<Queued>, now = 0): readonly string[] => {
  const taken: string[] = [];
  for (
    let one = queue.take("Workload", at(now));
    one !== undefined;
    one = queue.take("Workload", at(now))
  )
    taken.push(`${one.cluster}/${one.id}`);
  return taken;
};

describe("the queue", () => {
  it("lets clusters take turns, however long their lines are", () => {
    const queue = new EvictionQueue<Queued>();
    for (const id of ["1", "2", "3"]) queue.put(item("a", id, 0, Number(id)));
    queue.put(item("c", "1"));
    queue.put(item("b", "1"));
    expect(drain(queue)).toEqual(["a/1", "b/1", "c/1", "a/2", "a/3"]);
  });

  it("goes on with the next cluster when one came or went", () => {
    const queue = new EvictionQueue<Queued>();
    queue.put(item("b", "1"));
    queue.put(item("b", "2", 0, 1));
    expect(queue.take("Workload", at(0))?.id).toBe("1");
    queue.put(item("a", "1"));
    queue.put(item("c", "1"));
    expect(drain(queue)).toEqual(["c/1", "a/1", "b/2"]);
  });

  it("keeps the turn of a cluster of which no entry was released", () => {
    const queue = new EvictionQueue<Queued>();
    for (const id of ["held", "1", "2"])
      queue.put(item("a", id, 0, id === "held" ? 0 : Number(id)));
    for (const id of ["1", "2"]) queue.put(item("b", id, 0, Number(id)));
    const held = queue.take("Workload", at(0));
    expect(held?.id).toBe("held");
    if (held !== undefined) queue.giveTurnBack(held);
    expect(drain(queue)).toEqual(["a/1", "b/1", "a/2", "b/2"]);
  });

  it("gives the turn back to the first of several that were put back", () => {
    const queue = new EvictionQueue<Queued>();
    for (const cluster of ["a", "b", "c"]) queue.put(item(cluster, "1"));
    const taken = [queue.take("Workload", at(0)), queue.take("Workload", at(0))];
    for (const one of taken.toReversed()) {
      if (one === undefined) continue;
      queue.put(one);
      queue.giveTurnBack(one);
    }
    expect(drain(queue)).toEqual(["a/1", "b/1", "c/1"]);
  });

  it("goes on with the next cluster when the one whose turn it is went", () => {
    const queue = new EvictionQueue<Queued>();
    for (const cluster of ["a", "c"]) queue.put(item(cluster, "1"));
    queue.giveTurnBack(item("b", "1"));
    expect(drain(queue)).toEqual(["c/1", "a/1"]);
  });

  it("serves no entry before its time, and reports when it will be", () => {
    const queue = new EvictionQueue<Queued>();
    queue.put(item("a", "late", 100));
    queue.put(item("b", "later", 200));
    expect(queue.take("Workload", at(99))).toBeUndefined();
    expect(queue.nextDueAt("Workload")).toBe(100);
    expect(queue.take("Workload", at(100))?.id).toBe("late");
    expect(queue.nextDueAt("Workload")).toBe(200);
  });

  it("gives an entry that is put in again its new place, and forgets one that is removed", () => {
    const queue = new EvictionQueue<Queued>();
    queue.put(item("a", "1", 0, 1));
    queue.put(item("a", "2", 0, 2));
    queue.put(item("a", "1", 0, 3));
    queue.put(item("a", "3", 0, 0));
    queue.remove(item("a", "3"));
    expect(queue.sizeOf("Workload", "a")).toBe(2);
    expect(drain(queue)).toEqual(["a/2", "a/1"]);
    expect(queue.nextDueAt("Workload")).toBeUndefined();
  });

  it("keeps the lanes apart", () => {
    const queue = new EvictionQueue<Queued>();
    queue.put({ ...item("a", "1"), lane: "Passive" });
    expect(queue.take("Workload", at(0))).toBeUndefined();
    expect(queue.sizeOf("Passive")).toBe(1);
    expect(queue.take("Passive", at(0))?.id).toBe("1");
  });

  it("holds exactly what was put in and not taken or removed, whatever happens (C8)", () => {
    const step = fc.record({
      what: fc.constantFrom("put", "put", "remove", "take"),
      cluster: fc.constantFrom("a", "b", "c"),
      id: fc.constantFrom("1", "2", "3", "4"),
      dueAt: fc.integer({ min: 0, max: 20 }),
      now: fc.integer({ min: 0, max: 20 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const queue = new EvictionQueue<Queued>();
        const model = new Map<string, number>();
        for (const { what, cluster, id, dueAt, now } of steps) {
          const name = `${cluster}/${id}`;
          if (what === "put") {
            queue.put(item(cluster, id, dueAt));
            model.set(name, dueAt);
          } else if (what === "remove") {
            queue.remove(item(cluster, id));
            model.delete(name);
          } else {
            const taken = queue.take("Workload", at(now));
            const isDue = [...model.values()].some((due) => due <= now);
            expect(taken !== undefined).toBe(isDue);
            if (taken === undefined) continue;
            const due = model.get(`${taken.cluster}/${taken.id}`);
            expect(due).toBeLessThanOrEqual(now);
            model.delete(`${taken.cluster}/${taken.id}`);
          }
          expect(queue.sizeOf("Workload")).toBe(model.size);
        }
        expect(new Set(drain(queue, 100))).toEqual(new Set(model.keys()));
      }),
      { numRuns: 200 },
    );
  });
});

describe("priority", () => {
  it("goes before time and order, within a cluster only", () => {
    const queue = new EvictionQueue<Queued>();
    queue.put(item("a", "low", 0, 0));
    queue.put(item("a", "high", 5, 9, 10));
    queue.put(item("a", "higher", 5, 9, 1000));
    queue.put(item("b", "low", 0, 0, -1));
    expect(drain(queue, 5)).toEqual(["a/higher", "b/low", "a/high", "a/low"]);
  });

  it("delays none by an entry that may not leave yet", () => {
    const queue = new EvictionQueue<Queued>();
    queue.put(item("a", "later", 100, 0, 1000));
    queue.put(item("a", "now", 0, 1));
    expect(queue.nextDueAt("Workload")).toBe(at(0));
    expect(drain(queue)).toEqual(["a/now"]);
    expect(queue.nextDueAt("Workload")).toBe(at(100));
    expect(drain(queue, 100)).toEqual(["a/later"]);
  });

  it("survives a clock that is set back: what may not leave now stays", () => {
    const queue = new EvictionQueue<Queued>();
    queue.put(item("a", "first", 10, 0, 5));
    queue.put(item("a", "second", 10, 1, 5));
    expect(queue.take("Workload", at(10))?.id).toBe("first");
    expect(queue.take("Workload", at(5))).toBeUndefined();
    expect(queue.nextDueAt("Workload")).toBe(at(10));
    expect(queue.take("Workload", at(10))?.id).toBe("second");
  });

  it("of all that may leave, none of a lower priority is taken before one of a higher", () => {
    const entry = fc.record({
      cluster: fc.constantFrom("a", "b"),
      dueAt: fc.integer({ min: 0, max: 20 }),
      priority: fc.integer({ min: -2, max: 2 }),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 30 }), fc.array(fc.nat(25)), (entries, times) => {
        const queue = new EvictionQueue<Queued>();
        const left = new Map<string, Queued>();
        for (const [i, { cluster, dueAt, priority }] of entries.entries()) {
          const one = item(cluster, String(i), dueAt, i, priority);
          left.set(`${cluster}/${i}`, one);
          queue.put(one);
        }
        for (const now of [...times, ...entries.map(() => 20)]) {
          const mayLeave = [...left.values()].filter(({ dueAt }) => dueAt <= now);
          const taken = queue.take("Workload", at(now));
          expect(taken === undefined).toBe(mayLeave.length === 0);
          if (taken === undefined) continue;
          const rivals = mayLeave.filter(({ cluster }) => cluster === taken.cluster);
          expect(taken.priority).toBe(Math.max(...rivals.map(({ priority }) => priority)));
          left.delete(`${taken.cluster}/${taken.id}`);
        }
        expect(left.size).toBe(0);
      }),
    );
  });
});
