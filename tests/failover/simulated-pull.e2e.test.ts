/**
 * Failover on simulated pull members: each has an agent that connects to the control plane, and dies by a line that is cut.
 * LIFEBOAT_STORIES=all runs every story of the suite, as .ci/weekly does.
 */
import { PULL_FLAGS, startSimulatedFleet } from "../propagation/propagation-fleet.ts";
import { FAILOVER_FLAGS, failoverSuite } from "./failover.suite.ts";

failoverSuite(
  "simulated pull members",
  () => startSimulatedFleet([...FAILOVER_FLAGS, ...PULL_FLAGS]),
  process.env["LIFEBOAT_STORIES"] === "all" ? "all" : "of connections",
);
