/**
 * The tutorial, with the windows that a user has: nothing is set to be sooner. Its commands take less than ten minutes together, which
 * is about what the product waits for, and not about how fast this machine is.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { pageSuite } from "./pages.suite.ts";

const TEN_MINUTES_MS = 600_000;
let began = 0;
beforeAll(() => {
  began = performance.now();
});

describe("docs/tutorial.md", () => {
  pageSuite("tutorial.md");

  it("takes less than ten minutes", () => {
    const took = performance.now() - began;
    process.stdout.write(`the tutorial took ${Math.round(took / 1000)} s\n`);
    expect(took).toBeLessThan(TEN_MINUTES_MS);
  });
});
