/** Many random histories of failover. A failure names its seed and what was done. */
import { it } from "vitest";
import { playHistory } from "./histories.suite.ts";

const SEEDS = Array.from({ length: 20 }, (_, i) => 100 + i);

it.each(SEEDS)("history %i keeps what is promised", (seed) => playHistory(seed, 40));
