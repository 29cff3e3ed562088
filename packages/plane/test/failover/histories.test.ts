/** Short random histories with every test run; many more with the fuzz tests. */
import { it } from "vitest";
import { playHistory } from "./histories.suite.ts";

it.each([1, 2])("history %i keeps what is promised", (seed) => playHistory(seed, 5));
