/** A federated StatefulSet on simulated members, each an API server in a process of its own beside the control plane's. */
import { startSimulatedFleet } from "../propagation/propagation-fleet.ts";
import { freePort } from "../support/processes.ts";
import { federatedFlags, federatedSuite } from "./federated.suite.ts";

const port = await freePort();

federatedSuite("simulated members", port, () => startSimulatedFleet(federatedFlags(port)));
