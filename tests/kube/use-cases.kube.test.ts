/**
 * Large federated StatefulSets on real clusters. `LIFEBOAT_REAL_CLUSTERS` sets how many; ten once a week: thirty replicas in ten clusters,
 * a hundred in five of them.
 */
import { federatedFlags } from "../federated/federated.suite.ts";
import { memberNames, useCasesSuite } from "../federated/use-cases.suite.ts";
import { freePort } from "../support/processes.ts";
import { startRealFleet } from "./real-fleet.ts";

const port = await freePort();
const names = memberNames(Number(process.env["LIFEBOAT_REAL_CLUSTERS"] ?? 2));

useCasesSuite("real clusters", port, names, () => startRealFleet(federatedFlags(port), names));
