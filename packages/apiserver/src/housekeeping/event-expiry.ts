/**
 * Deletes Events (the kind) an hour after they were last written, and the oldest ones when there are too many.
 *
 * 1. The hour counts from when the write was seen here, not from what an Event claims about itself.
 * 2. At most `maxEvents` are kept; beyond that the one that was written longest ago goes.
 * 3. A deletion names the version that was old: an Event written meanwhile stays.
 * 4. An Event is reconciled when its time has come, and of each only its identity is kept: there are many.
 */
import { type AnyObject, events, formatKey, isRefused, keyOf, type ObjectKey } from "@lifeboat/api";
import { type Cancel, type Instant } from "@lifeboat/base";
import {
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

/** The informer of Events, and the controller that ends them. */
export function createEventExpiry(
  ports: KitPorts,
  client: Client,
  options: EventExpiryOptions,
): readonly Service[] {
  const informer = new Informer(ports, client, events, { transform: identityOf });
  const ages = new Ages(ports, informer, options);
  const controller: Controller = createController(ports, {
    name: "event-expiry",
    concurrency: 4,
    watches: [ages],
    reconcile: async (key: ObjectKey): Promise<Outcome> => {
      const event = informer.get(key);
      if (event === undefined || ages.isYoung(key)) return done;
      const { uid, resourceVersion } = event.metadata;
      try {
        await client.delete(events, key, { preconditions: { uid, resourceVersion } });
      } catch (error) {
        if (!isRefused(error, "NotFound")) throw error;
      }
      return done;
    },
  });
  return [informer, controller];
}

function identityOf({ apiVersion, kind, metadata }: AnyObject): AnyObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const scope = namespace === undefined ? {} : { namespace };
  return {
    apiVersion,
    kind,
    metadata: { name, ...scope, uid, resourceVersion, creationTimestamp },
  };
}

/** When each Event was last written, oldest first; those that are too old or too many are forgotten and reported. */
class Ages implements ControllerWatch {
  readonly #clock: KitPorts["clock"];
  readonly #informer: Informer<AnyObject>;
  readonly #options: EventExpiryOptions;
  readonly #written = new Map<string, { readonly key: ObjectKey; readonly at: Instant }>();
  /** One timer, for the oldest. */
  #timer: Cancel | undefined;

  constructor(ports: KitPorts, informer: Informer<AnyObject>, options: EventExpiryOptions) {
    this.#clock = ports.clock;
    this.#informer = informer;
    this.#options = options;
  }

  isYoung(key: ObjectKey): boolean {
    return this.#written.has(formatKey(key));
  }

  whenSynced(signal: AbortSignal): Promise<boolean> {
    return this.#informer.whenSynced(signal);
  }

  subscribe(add: (key: ObjectKey) => void): () => void {
    this.#written.clear();
    const unsubscribe = this.#informer.onChange((old, now) => {
      const object = now ?? old;
      if (object === undefined) return;
      const key = keyOf(object);
      const text = formatKey(key);
      // Taking it out first moves a rewritten Event to the end, which keeps the order by age.
      this.#written.delete(text);
      if (now === undefined) return;
      this.#written.set(text, { key, at: this.#clock.now() });
      if (this.#written.size > this.#options.maxEvents || this.#timer === undefined)
        this.#expire(add);
    });
    return () => {
      unsubscribe();
      this.#timer?.();
      this.#timer = undefined;
    };
  }

  /** Reports those whose time has come, and waits for the next one's. */
  #expire(add: (key: ObjectKey) => void): void {
    const { timeToLiveMs, maxEvents } = this.#options;
    const now = this.#clock.now();
    for (const [text, { key, at }] of this.#written) {
      const leftMs = at + timeToLiveMs - now;
      if (leftMs > 0 && this.#written.size <= maxEvents) {
        this.#timer ??= this.#clock.after(leftMs, () => {
          this.#timer = undefined;
          this.#expire(add);
        });
        return;
      }
      this.#written.delete(text);
      add(key);
    }
  }
}
