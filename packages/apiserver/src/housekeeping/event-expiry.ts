/**
 * Deletes Events (the kind) an hour after they were last written, and the oldest ones when there are too many.
 *
 * 1. The hour counts from when the write was seen here, not from what an Event claims about itself.
 * 2. At most `maxEvents` are kept; beyond that the one that was written longest ago goes.
 * 3. A deletion names the version that was old: an Event written meanwhile stays.
 */
import {
  type AnyObject,
  formatKey,
  isRefused,
  keyOf,
  type ObjectKey,
  type Resource,
} from "@lifeboat/api";
import { addMs, type Instant } from "@lifeboat/base";
import {
  checkAgainAt,
  type Client,
  type Controller,
  type ControllerWatch,
  createController,
  done,
  Informer,
  type KitPorts,
  type Outcome,
  type Service,
} from "@lifeboat/kit";

export interface EventExpiryOptions {
  readonly timeToLiveMs: number;
  readonly maxEvents: number;
}

export const EVENT_EXPIRY: EventExpiryOptions = { timeToLiveMs: 3_600_000, maxEvents: 20_000 };

const EVENTS: Resource = {
  group: "",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
};

/** The informer of Events, and the controller that ends them. */
export function createEventExpiry(
  ports: KitPorts,
  client: Client,
  options: EventExpiryOptions,
): readonly Service[] {
  const informer = new Informer(ports, client, EVENTS);
  const ages = new Ages(ports, informer, options.maxEvents);
  const controller: Controller = createController(ports, {
    name: "event-expiry",
    concurrency: 4,
    watches: [ages],
    reconcile: async (key: ObjectKey): Promise<Outcome> => {
      const event = informer.get(key);
      const written = ages.writtenAt(key);
      if (event === undefined) return done;
      if (written !== undefined) {
        const expires = addMs(written, options.timeToLiveMs);
        if (ports.clock.now() < expires) return checkAgainAt(expires);
      }
      const { uid, resourceVersion } = event.metadata;
      try {
        await client.delete(EVENTS, key, { preconditions: { uid, resourceVersion } });
      } catch (error) {
        if (!isRefused(error, "NotFound")) throw error;
      }
      return done;
    },
  });
  return [informer, controller];
}

/** When each Event was last written, oldest first; those beyond the limit are forgotten, which makes them expire. */
class Ages implements ControllerWatch {
  readonly #clock: KitPorts["clock"];
  readonly #informer: Informer<AnyObject>;
  readonly #maxEvents: number;
  readonly #written = new Map<string, { readonly key: ObjectKey; readonly at: Instant }>();

  constructor(ports: KitPorts, informer: Informer<AnyObject>, maxEvents: number) {
    this.#clock = ports.clock;
    this.#informer = informer;
    this.#maxEvents = maxEvents;
  }

  writtenAt(key: ObjectKey): Instant | undefined {
    return this.#written.get(formatKey(key))?.at;
  }

  whenSynced(signal: AbortSignal): Promise<boolean> {
    return this.#informer.whenSynced(signal);
  }

  subscribe(add: (key: ObjectKey) => void): () => void {
    this.#written.clear();
    return this.#informer.onChange((old, now) => {
      const object = now ?? old;
      if (object === undefined) return;
      const key = keyOf(object);
      const text = formatKey(key);
      // Taking it out first moves a rewritten Event to the end, which keeps the order by age.
      this.#written.delete(text);
      if (now === undefined) return;
      this.#written.set(text, { key, at: this.#clock.now() });
      add(key);
      this.#expireBeyondLimit(add);
    });
  }

  #expireBeyondLimit(add: (key: ObjectKey) => void): void {
    for (const [text, { key }] of this.#written) {
      if (this.#written.size <= this.#maxEvents) return;
      this.#written.delete(text);
      add(key);
    }
  }
}
