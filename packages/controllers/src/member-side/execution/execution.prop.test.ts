import { it } from "vitest";
import { checkHistories } from "./execution-model.suite.ts";

it("ends as the Works ask after any history, and then is quiet", () => checkHistories(10), 60_000);
