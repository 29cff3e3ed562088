/** The control plane itself on a real kube-apiserver: the controllers cannot tell the difference. */
import { propagationSuite } from "../propagation/propagation.suite.ts";
import { startFleetOnRealPlane } from "./real-plane.ts";

propagationSuite("real clusters, from a real kube-apiserver", startFleetOnRealPlane);
