/** The control plane itself on a real kube-apiserver: the controllers cannot tell the difference. */
import { failoverSuite } from "../failover/failover.suite.ts";
import { propagationSuite } from "../propagation/propagation.suite.ts";
import { shared } from "../support/shared.ts";
import { startFleetOnRealPlane } from "./real-plane.ts";

const start = shared(startFleetOnRealPlane);

propagationSuite("real clusters, from a real kube-apiserver", start);
failoverSuite("real clusters, from a real kube-apiserver", start);
