/** A sample of the exhaustive tier; the whole of it is in every-write-1.fuzz.test.ts and its twin. */
import { describe, it } from "vitest";
import { expectSameEnd } from "./every-write.suite.ts";
import { goldenScenarios } from "./golden.ts";

describe("a control plane that dies or loses an answer at one of its writes", () => {
  it.each(goldenScenarios.map(({ name }) => name))(
    "ends as if nothing had happened: %s",
    async (name) => expectSameEnd(name, { step: 29, first: 7 }),
    60_000,
  );
});
