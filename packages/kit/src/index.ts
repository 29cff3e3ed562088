export { Backoff, type BackoffOptions } from "./backoff.ts";
export {
  type CallOptions,
  type Client,
  type DeleteOptions,
  excessIn,
  ExcessiveResponse,
  type ExcessKind,
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
export {
  checkAgainAt,
  type Controller,
  type ControllerOptions,
  type ControllerPorts,
  type ControllerWatch,
  createController,
  done,
  type Outcome,
  ownKey,
  watching,
  whenChanged,
} from "./controller.ts";
export {
  type DialRules,
  isLoopbackHost,
  type JudgeAddress,
  judgeAddressBy,
  judgeBackend,
} from "./dialled-addresses.ts";
export {
  createEventRecorder,
  type EventRecorder,
  type EventRecorderOptions,
  type EventRecorderPorts,
  type Involved,
  type RecordedEvent,
} from "./event-recorder.ts";
export {
  type ChangeHandler,
  type CollectionLimits,
  compareVersions,
  Informer,
  type InformerOptions,
} from "./informer.ts";
export {
  type Access,
  type ClusterEntry,
  inClusterAccess,
  type Kubeconfig,
  KubeconfigError,
  mergeKubeconfigs,
  parseClusterInfo,
  parseKubeconfig,
  resolveAccess,
  type UserEntry,
} from "./kubeconfig.ts";
export { fencedClient } from "./fenced-client.ts";
export type { Term } from "./term.ts";
export {
  createLeaderElection,
  LEADER_ELECTION_TIMES,
  type LeaderElectionOptions,
  type Lease,
  leases,
} from "./leader-election.ts";
export { type Log, type LogFields, silentLog } from "./log.ts";
export { createManager, type ManagerOptions } from "./manager.ts";
export {
  type Counter,
  type Gauge,
  type Histogram,
  type Labels,
  type MetricDefinition,
  type Metrics,
  silentMetrics,
} from "./metrics.ts";
export type { IndexFunction } from "./object-index.ts";
export type { KitPorts, Service } from "./ports.ts";
export { type Environment, proxyFromEnvironment } from "./proxy-from-environment.ts";
export { RecentMap } from "./recent-map.ts";
export { SharedRead } from "./shared-read.ts";
export type { ClientCertificate, ReadCertificateRequest, RequestReader, Signer } from "./signer.ts";
export { WorkQueue } from "./work-queue.ts";
