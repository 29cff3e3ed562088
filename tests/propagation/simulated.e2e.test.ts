/** Propagation to the simulated members of `lifeboat up --members 3`. */
import { startSimulatedFleet } from "./propagation-fleet.ts";
import { propagationSuite } from "./propagation.suite.ts";

propagationSuite("simulated members", () => startSimulatedFleet());
