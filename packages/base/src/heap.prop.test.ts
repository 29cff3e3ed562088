import fc from "fast-check";
import { expect, it } from "vitest";
import { Heap } from "./heap.ts";

it("pops what was pushed, in ascending order, whatever the interleaving", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer(), { nil: undefined })), (steps) => {
      const heap = new Heap<number>((a, b) => a - b);
      const model: number[] = [];
      for (const step of steps) {
        if (step === undefined) {
          model.sort((a, b) => a - b);
          expect(heap.pop()).toBe(model.shift());
        } else {
          heap.push(step);
          model.push(step);
        }
        expect(heap.size).toBe(model.length);
        expect(heap.peek()).toBe(model.length === 0 ? undefined : Math.min(...model));
      }
    }),
  );
});
