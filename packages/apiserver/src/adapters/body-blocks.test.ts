import fc from "fast-check";
import { expect, test } from "vitest";
import { BodyBlocks } from "./body-blocks.ts";

test("whatever the chunks and whatever was announced, the bytes come out as they went in", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 40 }),
      fc.option(fc.nat(100_000), { nil: undefined }),
      (chunks, announced) => {
        const blocks = new BodyBlocks(announced);
        let cost = 0;
        for (const chunk of chunks) {
          cost += blocks.costOf(chunk.length);
          blocks.add(chunk);
        }
        const sent = Buffer.concat(chunks);
        expect(Buffer.from(blocks.take()).equals(sent)).toBe(true);
        expect(cost).toBeGreaterThanOrEqual(sent.length);
        expect(cost).toBeLessThanOrEqual(3 * sent.length + Math.max(announced ?? 0, 1024));
      },
    ),
  );
});

test("single bytes cost what they weigh", () => {
  const blocks = new BodyBlocks(undefined);
  let cost = 0;
  for (let i = 0; i < 100_000; i++) {
    cost += blocks.costOf(1);
    blocks.add(Buffer.of(i & 255));
  }
  expect(cost).toBeLessThan(200_000);
  expect(blocks.take().length).toBe(100_000);
});

test("a body of the announced size takes exactly that", () => {
  const blocks = new BodyBlocks(5000);
  expect(blocks.costOf(3000)).toBe(5000);
  blocks.add(Buffer.alloc(3000));
  expect(blocks.costOf(2000)).toBe(0);
  blocks.add(Buffer.alloc(2000));
  expect(blocks.take().length).toBe(5000);
});

test("an announcement of nothing, of too much, or of no number does no harm", () => {
  for (const announced of [0, -5, Infinity, Number.NaN]) {
    const blocks = new BodyBlocks(announced);
    blocks.add(Buffer.from("ab"));
    expect(Buffer.from(blocks.take()).toString()).toBe("ab");
  }
});
