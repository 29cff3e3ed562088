/** The outline of a list finds the items that JSON.parse finds, wherever its steps end; and of nothing else any. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { JsonOutline } from "./json-outline.ts";
import { TRUSTED_LIMITS } from "./response-limits.ts";

function outlined(text: string, step: number): JsonOutline {
  const outline = new JsonOutline(text, TRUSTED_LIMITS);
  while (outline.advance(step)) continue;
  return outline;
}

const object = fc.dictionary(fc.string(), fc.jsonValue());

it("finds the items of any list, in steps of any size", () => {
  fc.assert(
    fc.property(
      fc.array(object),
      object,
      fc.integer({ min: 1, max: 50 }),
      fc.constantFrom(undefined, 1, "\t"),
      (items, rest, step, space) => {
        const { items: _, ...around } = rest;
        const list = { a: 1, ...around, items, "items ": [{}], z: { items: [{}] } };
        const text = JSON.stringify(list, null, space);
        const outline = outlined(text, step);
        expect(outline.size).toBe(items.length);
        expect(items.map((__, i) => JSON.parse(outline.item(i)) as unknown)).toEqual(
          JSON.parse(JSON.stringify(items)),
        );
        expect(JSON.parse(outline.envelope())).toEqual({
          ...(JSON.parse(text) as object),
          items: [],
        });
      },
    ),
  );
});

it("never finds items where JSON.parse would find others, or none", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...'{}[],:"\\ 1a'.split(""), '"items":', "[", "{}"), {
        maxLength: 30,
      }),
      (parts) => {
        const text = `{"items":${parts.join("")}`;
        const outline = outlined(text, 3);
        let parsed: { readonly items?: unknown } | undefined;
        try {
          parsed = JSON.parse(text) as object;
        } catch {
          parsed = undefined;
        }
        if (parsed === undefined || outline.size === undefined) return;
        const found = Array.from(
          { length: outline.size },
          (_, i) => JSON.parse(outline.item(i)) as unknown,
        );
        expect(found).toEqual(parsed.items);
      },
    ),
    { numRuns: 2000 },
  );
});

it.each([
  '{"items":[{},1]}',
  '{"items":[{}{}]}',
  '{"items":[{},]}',
  '{"items":[,{}]}',
  '{"items":[[{}]]}',
  '{"items":["a"]}',
  '{"items":{"a":[{}]}}',
  '{"items":[{}],"items":[{}]}',
  '{"items":[{}',
  '[{"items":[{}]}]',
  '{"other":[{}]}',
  "",
])("%s has no outline of a list", (text) => {
  expect(outlined(text, 4).size).toBeUndefined();
});
