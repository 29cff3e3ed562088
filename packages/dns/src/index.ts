export {
  createZoneKeeper,
  type KeeperOptions,
  type KeeperState,
  type ZoneKeeper,
  type ZoneStore,
} from "./keeper.ts";
export { type Answering, DEFAULT_UDP_BYTES } from "./answer.ts";
export { createReceive, type Receive } from "./datagrams.ts";
export { createRateLimit } from "./rate-limit.ts";
export { createDnsMetrics, type DnsMetrics } from "./metrics.ts";
export {
  CONFIRMATION,
  createReporter,
  readServers,
  type ReportedServer,
  type ReporterOptions,
  type ServerState,
} from "./report.ts";
export { parseKey, type TsigKey } from "./wire/tsig.ts";
export { type NameServer, zoneFrom } from "./zone/from-names.ts";
export { zoneLines } from "./zone/zone-text.ts";
