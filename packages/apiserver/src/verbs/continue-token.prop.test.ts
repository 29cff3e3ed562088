import fc from "fast-check";
import { expect, test } from "vitest";
import { isRefused } from "@lifeboat/api";
import { decodeContinue, encodeContinue } from "./continue-token.ts";

const key = fc
  .string({ minLength: 1, unit: "binary" })
  .filter((text) => !text.startsWith("/") && !text.endsWith("\0"));

test("what is encoded is decoded", () => {
  fc.assert(
    fc.property(fc.oneof(fc.constant(-1), fc.integer({ min: 1 })), key, (revision, after) => {
      expect(decodeContinue(encodeContinue({ revision, after }))).toEqual({ revision, after });
    }),
  );
});

test("a token is safe in a URL", () => {
  fc.assert(
    fc.property(key, (after) => {
      expect(encodeContinue({ revision: 5, after })).toMatch(/^[A-Za-z0-9_-]+$/);
    }),
  );
});

test("any other text is refused with 400 and nothing else", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        decodeContinue(text);
      } catch (error) {
        expect(isRefused(error, 400)).toBe(true);
      }
    }),
  );
});

test("the token of a real server is understood", () => {
  const token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTM0MSwic3RhcnQiOiIvZGVmYXVsdC9jMVx1MDAwMCJ9";
  expect(decodeContinue(token)).toEqual({ revision: 1341, after: "default/c1" });
});
