export {
  createTrafficFollower,
  DEFAULT_FOLLOWER,
  type FollowerOptions,
  type TrafficFollower,
} from "./follower.ts";
export { createTrafficMetrics, type TrafficMetrics } from "./metrics.ts";
export type {
  Leaving,
  ListenAddress,
  LocalProvider,
  ServedCertificate,
  TrafficProvider,
} from "./provider.ts";
