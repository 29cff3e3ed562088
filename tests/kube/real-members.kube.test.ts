/** Real clusters: kube-apiserver, etcd and kube-controller-manager, joined by `lifeboat join`. */
import { FAILOVER_FLAGS, failoverSuite } from "../failover/failover.suite.ts";
import { federatedFlags, federatedSuite } from "../federated/federated.suite.ts";
import { propagationSuite } from "../propagation/propagation.suite.ts";
import { freePort } from "../support/processes.ts";
import { shared } from "../support/shared.ts";
import { startRealFleet } from "./real-fleet.ts";

const port = await freePort();
const start = shared(() => startRealFleet([...FAILOVER_FLAGS, ...federatedFlags(port)]));

propagationSuite("real clusters", start);
failoverSuite("real clusters", start);
federatedSuite("real clusters", port, start);
