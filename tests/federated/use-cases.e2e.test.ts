/** Thirty replicas in ten simulated clusters, and a hundred in five of them. */
import { startSimulatedFleet } from "../propagation/propagation-fleet.ts";
import { freePort } from "../support/processes.ts";
import { federatedFlags } from "./federated.suite.ts";
import { memberNames, useCasesSuite } from "./use-cases.suite.ts";

const port = await freePort();
const names = memberNames(10);

useCasesSuite("simulated clusters", port, names, () =>
  startSimulatedFleet(["--member-start-delay=0s", ...federatedFlags(port)], names),
);
