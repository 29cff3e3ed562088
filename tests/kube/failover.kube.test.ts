/** Failover on real clusters: kube-apiserver, etcd and kube-controller-manager, joined by `lifeboat join`. */
import { FAILOVER_FLAGS, failoverSuite } from "../failover/failover.suite.ts";
import { startRealFleet } from "./real-fleet.ts";

failoverSuite("real clusters", () => startRealFleet(FAILOVER_FLAGS));
