export { type BackendsView, type Copies, decideBackends, serviceNames } from "./backends.ts";
export {
  bindingsBehind,
  formatApplied,
  providerOn,
  type ProviderView,
  readApplied,
  type TrafficState,
  trafficTo,
} from "./confirmation.ts";
export {
  completeReport,
  type EndpointSlice,
  needsOf,
  readSlice,
  SLICE_SELECTOR,
} from "./endpoints.ts";
export { indexRoutes, type RouteIndex } from "./match.ts";
export { isNumericAddress, leadsUpwards } from "./names.ts";
export { localNodeAddressOf, nodeAddressOf, NodeAddresses } from "./node-addresses.ts";
export { backendsRefusal, keepBackends, publishesBackends } from "./protection.ts";
export {
  type BackendState,
  type DrainCause,
  formatBackends,
  publishedBackends,
  type PublishedBackends,
  type PublishedCluster,
  type PublishedService,
  readyClusters,
} from "./published.ts";
export {
  assembleTable,
  type Backend,
  compileIngress,
  type CompiledIngress,
  EMPTY_TABLE,
  type Pool,
  type Route,
  type RoutingTable,
  type TableCertificate,
  type TableProblem,
} from "./table.ts";
