/** Half of the exhaustive tier, in a file of its own so that two of them run at the same time. */
import { describe, it } from "vitest";
import { everyWriteOf } from "./every-write.suite.ts";
import { goldenScenarios } from "./golden.ts";

describe("a control plane that dies or loses an answer at every even write", () => {
  it.each(goldenScenarios.map(({ name }) => name))("ends as if nothing had happened: %s", (name) =>
    everyWriteOf(name, 2),
  );
});
