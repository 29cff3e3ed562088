/** Half of the exhaustive tier, in a file of its own so that two of them run at the same time. */
import { describe, it } from "vitest";
import { everyWriteOf, expectSameEnd, pairsOf } from "./every-write.suite.ts";
import { goldenScenarios } from "./golden.ts";

describe("a control plane that dies or loses an answer at every odd write", () => {
  it.each(goldenScenarios.map(({ name }) => name))("ends as if nothing had happened: %s", (name) =>
    everyWriteOf(name, 1),
  );

  it("ends as if nothing had happened, here and there in a failover of twenty workloads", () =>
    expectSameEnd("failover-of-20", { step: 157, first: 71, lostAnswerStep: 2 }));
});

/** A sample: `npm run sim -- --golden-pairs all` goes on for as long as one likes. */
const SOME = goldenScenarios.filter((_, i) => i % 3 === 0);

describe("a control plane that dies again while it recovers", () => {
  it.each(SOME.map(({ name }) => name))("ends as if nothing had happened: %s", (name) =>
    pairsOf(name, { seed: 1, pairs: 2 }),
  );
});
