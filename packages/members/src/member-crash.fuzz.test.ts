import { it } from "vitest";
import { expectSameEnd } from "./member-crash.suite.ts";

it.each([1, 2])(
  "with seed %i ends in the same state when it dies at any write and another goes on",
  async (seed) => {
    await expectSameEnd(seed, 1);
  },
);
