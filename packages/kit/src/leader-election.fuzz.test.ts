import { test } from "vitest";
import { checkLeaderElection } from "./leader-election-model.suite.ts";

test("two never lead at once, and after healing one leads", () => checkLeaderElection(4_000));
