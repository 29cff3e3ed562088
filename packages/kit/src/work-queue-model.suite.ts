/** The queue against its promises, under random interleavings of adds, delays, takes, dones and time. */
import { instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import fc from "fast-check";
import { expect } from "vitest";
import { WorkQueue } from "./work-queue.ts";

type Step =
  | { readonly do: "add" | "fail" | "cancel"; readonly key: string }
  | { readonly do: "addAfter"; readonly key: string; readonly delayMs: number }
  | { readonly do: "take" | "done" }
  | { readonly do: "advance"; readonly ms: number };

const key = fc.constantFrom("a", "b", "c");
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom("add", "fail", "cancel"), key }),
  fc.record({
    do: fc.constant("addAfter" as const),
    key,
    delayMs: fc.integer({ min: 0, max: 30 }),
  }),
  fc.record({ do: fc.constantFrom("take", "done") }),
  fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 0, max: 40 }) }),
);

class Model {
  readonly clock = new VirtualClock(instantOf(0), drainPromises);
  readonly queue = new WorkQueue(this.clock);
  readonly held: string[] = [];
  /** When each key was last asked for, counted in steps; and when it was last handed out. */
  readonly asked = new Map<string, number>();
  readonly handed = new Map<string, number>();
  takers = 0;
  now = 0;

  async apply(step: Step): Promise<void> {
    this.now += 1;
    switch (step.do) {
      case "add":
        this.asked.set(step.key, this.now);
        this.queue.add(step.key);
        break;
      case "fail":
        this.asked.set(step.key, this.now);
        this.queue.addAfterFailure(step.key);
        break;
      case "addAfter":
        this.asked.set(step.key, this.now);
        this.queue.addAfter(step.key, step.delayMs);
        break;
      case "cancel":
        this.queue.cancelDelay(step.key);
        this.queue.add(step.key);
        this.asked.set(step.key, this.now);
        break;
      case "take":
        this.takers += 1;
        void this.queue.take().then((taken) => this.#received(taken));
        break;
      case "done": {
        const done = this.held.shift();
        if (done !== undefined) this.queue.done(done);
        break;
      }
      case "advance":
        await this.clock.advance(step.ms);
        break;
    }
    await this.clock.settle();
  }

  #received(taken: string | undefined): void {
    this.takers -= 1;
    if (taken === undefined) return;
    expect(this.held, "a key is handed to one taker at a time").not.toContain(taken);
    expect(this.asked.has(taken), "only what was asked for is handed out").toBe(true);
    this.held.push(taken);
    this.handed.set(taken, this.now);
  }
}

/** Runs the model `numRuns` times: random adds, takes, dones and time. */
export async function checkWorkQueue(numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const model = new Model();
      for (const each of steps) await model.apply(each);
      // Finish everything: as many takers as keys, dones and time until nothing moves.
      for (let round = 0; round < 12; round++) {
        while (model.takers < 3) await model.apply({ do: "take" });
        await model.apply({ do: "advance", ms: 10_000_000 });
        await model.apply({ do: "done" });
      }
      for (const [asked, at] of model.asked)
        expect(model.handed.get(asked), `${asked} was forgotten`).toBeGreaterThanOrEqual(at);
      expect(model.queue.depth).toBe(0);
      expect(model.queue.delayed).toBe(0);
    }),
    { numRuns },
  );
}
