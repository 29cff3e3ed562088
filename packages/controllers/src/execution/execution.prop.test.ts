import { it } from "vitest";
import { checkHistories } from "./execution-model.suite.ts";

it("ends as the Works say after any history, and then is quiet", () => checkHistories(20), 30_000);
