/** Real clusters: kube-apiserver, etcd and kube-controller-manager, joined by `lifeboat join`. */
import { FAILOVER_FLAGS, failoverSuite } from "../failover/failover.suite.ts";
import { propagationSuite } from "../propagation/propagation.suite.ts";
import { shared } from "../support/shared.ts";
import { startRealFleet } from "./real-fleet.ts";

const start = shared(() => startRealFleet(FAILOVER_FLAGS));

propagationSuite("real clusters", start);
failoverSuite("real clusters", start);
