/** Failover on simulated members, each an API server over TLS in a process of its own beside the control plane's. */
import { startSimulatedFleet } from "../propagation/propagation-fleet.ts";
import { FAILOVER_FLAGS, failoverSuite } from "./failover.suite.ts";

failoverSuite("simulated members", () => startSimulatedFleet(FAILOVER_FLAGS));
