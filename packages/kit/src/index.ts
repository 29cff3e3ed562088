export {
  type CallOptions,
  type Client,
  type DeleteOptions,
  type GetOptions,
  type ListOptions,
  NotSent,
  OutcomeUnknown,
  type Patch,
  type Selection,
  type UpdateOptions,
  type Watch,
  type WatchEnd,
  type WatchOptions,
  type WatchSink,
  type WriteOptions,
} from "./client.ts";
export { type Log, type LogFields, silentLog } from "./log.ts";
export {
  type Counter,
  type Gauge,
  type Histogram,
  type Labels,
  type MetricDefinition,
  type Metrics,
  silentMetrics,
} from "./metrics.ts";
