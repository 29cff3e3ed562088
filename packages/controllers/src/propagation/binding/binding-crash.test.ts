import { it } from "vitest";
import { expectSameWorks, type Fault } from "./binding-crash.suite.ts";

const FAULTS: readonly Fault[] = ["before", "after", "lost"];

it("comes to the same Works whichever write is the last one before a crash", async () => {
  await expectSameWorks((write) => FAULTS.filter((_, i) => i === write % FAULTS.length));
}, 60_000);
