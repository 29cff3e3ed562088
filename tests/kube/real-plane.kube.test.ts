/** The control plane itself on a real kube-apiserver: the controllers cannot tell the difference. */
import { FAILOVER_FLAGS, failoverSuite } from "../failover/failover.suite.ts";
import { federatedFlags, federatedSuite } from "../federated/federated.suite.ts";
import { propagationSuite } from "../propagation/propagation.suite.ts";
import { freePort } from "../support/processes.ts";
import { shared } from "../support/shared.ts";
import { startFleetOnRealPlane } from "./real-plane.ts";

const port = await freePort();
const start = shared(() => startFleetOnRealPlane([...FAILOVER_FLAGS, ...federatedFlags(port)]));

propagationSuite("real clusters, from a real kube-apiserver", start);
failoverSuite("real clusters, from a real kube-apiserver", start);
federatedSuite("real clusters, from a real kube-apiserver", port, start);
