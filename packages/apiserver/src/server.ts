/** The API server as its users see it: composed from store, catalog, verbs, HTTP handling and housekeeping. */
import type { Clock, Ids, Random } from "@lifeboat/base";
import type { Client, Log, Metrics } from "@lifeboat/kit";
import type { AdmissionPlugin } from "./admission/admission.ts";
import type { Authorizer } from "./authorization/authorizer.ts";
import type { Catalog } from "./catalog/served-resource.ts";
import type { Handle } from "./http/exchange.ts";
import type { Storage } from "./store/storage.ts";
import type { User } from "./verbs/verbs.ts";

export interface ApiServerPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly storage: Storage;
}

export interface ApiServerOptions {
  /** What `/version` answers as gitVersion, such as `v1.36.4+lifeboat.0.1.0`. */
  readonly gitVersion: string;
  /** Static bearer tokens. */
  readonly tokens: ReadonlyMap<string, User>;
  readonly authorizer: Authorizer;
  /** After the built-in plugins. */
  readonly admissionPlugins: readonly AdmissionPlugin[];
  /** At most this much history for watches to resume from. */
  readonly historyMaxEvents: number;
  readonly historyMaxBytes: number;
}

export interface ApiServer {
  readonly catalog: Catalog;
  readonly handle: Handle;
  /** A client that skips bytes and authentication, and nothing else. */
  client(user: User): Client;
  /** Housekeeping (garbage collection, namespaces, CRDs, expiry) until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Ends watches in order, waits for writes under way, closes the storage. */
  close(): Promise<void>;
}
