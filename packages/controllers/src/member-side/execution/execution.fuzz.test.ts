import { it } from "vitest";
import { checkHistories } from "./execution-model.suite.ts";

it("ends as the Works ask after any of many histories", () => checkHistories(80), 600_000);
