import { it } from "vitest";
import { expectSameWorks } from "./binding-crash.suite.ts";

it("comes to the same Works whatever happens to any write", async () => {
  await expectSameWorks(() => ["before", "after", "lost"]);
}, 300_000);
