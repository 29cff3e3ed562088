/** Propagation to real clusters: kube-apiserver, etcd and kube-controller-manager, joined by `lifeboat join`. */
import { propagationSuite } from "../propagation/propagation.suite.ts";
import { startRealFleet } from "./real-fleet.ts";

propagationSuite("real clusters", startRealFleet);
