export { createRemedies } from "./actions/create-remedy.ts";
export { createDetectorMonitor } from "./detector-monitor/create-detector-monitor.ts";
export { createMultiClusterIngress } from "./ingress/create-multi-cluster-ingress.ts";
