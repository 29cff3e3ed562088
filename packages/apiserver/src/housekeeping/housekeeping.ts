/**
 * What an API server does by itself: garbage collection, emptying of namespaces, care of CRDs, aggregated roles, expiry of
 * Events and of certificate requests.
 *
 * These are controllers over a Client like any other and would run unchanged against any API server. They share one
 * informer per collection; in process those hold the store's own objects.
 */
import { type Client, createManager, type KitPorts, type Service } from "@lifeboat/kit";
import type { Catalog } from "../catalog/served-resource.ts";
import { createCrdLifecycle } from "./crd-lifecycle.ts";
import { createEventExpiry, EVENT_EXPIRY, type EventExpiryOptions } from "./event-expiry.ts";
import { createGarbageCollector } from "./garbage-collector.ts";
import { InformerSet } from "./informer-set.ts";
import { createNamespaceDeletion } from "./namespace-deletion.ts";
import { createRequestExpiry } from "./request-expiry.ts";
import { createRoleAggregation } from "./role-aggregation.ts";

export interface HousekeepingOptions {
  readonly events: EventExpiryOptions;
}

/** Builds the housekeeping; `run` keeps it going until the signal aborts. The client must be allowed everything. */
export function createHousekeeping(
  ports: KitPorts,
  client: Client,
  catalog: Catalog,
  options: HousekeepingOptions = { events: EVENT_EXPIRY },
): Service {
  const objects = new InformerSet(ports, client, catalog);
  const manager = createManager(ports, [
    objects,
    createCrdLifecycle(ports, client, catalog, objects),
    createNamespaceDeletion(ports, client, catalog, objects),
    createGarbageCollector(ports, client, catalog, objects),
    createRoleAggregation(ports, client, objects),
    ...createEventExpiry(ports, client, options.events),
    ...createRequestExpiry(ports, client),
  ]);
  return { name: "housekeeping", run: (signal) => manager.run(signal) };
}
