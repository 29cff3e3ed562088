/**
 * Keeps the zone that a server answers from, as the control plane's objects make it.
 *
 * 1. Nothing is served before everything was read once; from then on the last confirmed zone stays, whether the control plane
 *    answers or not. Its age is the time since the control plane was last reached.
 * 2. A change is served within 100 ms of its arrival: at once, or one unit of serials after the change before it.
 * 3. A change that removes most names is held (core/names/change.ts) until a person confirms it: the ConfigMap
 *    `lifeboat-system/dns` gets another value of `confirmed`.
 * 4. With a store the confirmed zone outlives the process: a restart neither loses a hold nor needs the control plane.
 */
import {
  type AnyObject,
  type Cluster,
  clusters,
  configMaps,
  equalJson,
  formatKey,
  type ResourceBinding,
  resourceBindings,
  services,
  statefulSets,
} from "@lifeboat/api";
import { sleep } from "@lifeboat/base";
import {
  decideZoneChange,
  type GlobalSet,
  namesIn,
  readGlobalSets,
  REMOVAL_WINDOW_MS,
  type ZoneChange,
  type ZoneContent,
  zoneNames,
  type ZoneSettings,
} from "@lifeboat/core/names";
import { type Client, Informer, type KitPorts, type Service } from "@lifeboat/kit";
import type { DnsMetrics } from "./metrics.ts";
import { CONFIRMATION } from "./report.ts";
import { type NameServer, zoneFrom } from "./zone/from-names.ts";
import { nextSerial, SERIAL_UNIT_MS } from "./zone/serial.ts";
import type { Zone } from "./zone/zone.ts";

/** What a store keeps. */
export interface ConfirmedZone {
  readonly serial: number;
  readonly sets: readonly GlobalSet[];
  /** When it was published, in milliseconds since 1970. */
  readonly at: number;
}

/** Where the confirmed zone is kept over restarts. */
export interface ZoneStore {
  load(): Promise<ConfirmedZone | undefined>;
  save(zone: ConfirmedZone): Promise<void>;
}

export interface KeeperOptions extends ZoneSettings {
  readonly ttl: number;
  readonly nameServers: readonly NameServer[];
  readonly store?: ZoneStore;
}

export interface KeeperState {
  readonly zone: Zone | undefined;
  readonly content: ZoneContent | undefined;
  /** The change that waits for a confirmation. */
  readonly held: (ZoneChange & { readonly kind: "hold" }) | undefined;
  /** Milliseconds since the control plane was last reached; undefined: never since the start. */
  readonly ageMs: number | undefined;
}

export interface ZoneKeeper {
  readonly services: readonly Service[];
  state(): KeeperState;
  /** Calls with every zone that is published from now on. */
  onPublished(handler: (zone: Zone) => void): void;
  /** Calls after anything of the state but its age changed. */
  onState(handler: () => void): void;
}

const CONTACT_MS = 5000;

/** Builds a keeper; constructing starts nothing. */
export function createZoneKeeper(
  ports: KitPorts & { readonly dnsMetrics: DnsMetrics },
  plane: Client,
  options: KeeperOptions,
): ZoneKeeper {
  const keeper = new Keeper(ports, plane, options);
  return {
    services: [...keeper.informers, keeper, contactService(ports, plane, keeper)],
    state: () => keeper.state(),
    onPublished: (handler) => keeper.published.add(handler),
    onState: (handler) => keeper.changed.add(handler),
  };
}

class Keeper implements Service {
  readonly name = "dns zone";
  readonly published = new Set<(zone: Zone) => void>();
  readonly changed = new Set<() => void>();
  readonly #ports: KitPorts & { readonly dnsMetrics: DnsMetrics };
  readonly #options: KeeperOptions;
  readonly #sets: Informer<AnyObject>;
  readonly #services: Informer<AnyObject>;
  readonly #bindings: Informer<ResourceBinding>;
  readonly #clusters: Informer<Cluster>;
  readonly #confirmations: Informer<AnyObject>;
  #zone: Zone | undefined;
  #content: ZoneContent | undefined;
  /** What was served when the present minute of counting began. */
  #earlier: { readonly content: ZoneContent; readonly at: number } | undefined;
  #held: KeeperState["held"];
  /** The confirmation that was there when the hold began. */
  #heldAt = "";
  #lastContact: number | undefined;
  #publishedAt = Number.NEGATIVE_INFINITY;
  #wake: (() => void) | undefined;
  #isDirty = false;

  constructor(
    ports: KitPorts & { readonly dnsMetrics: DnsMetrics },
    plane: Client,
    options: KeeperOptions,
  ) {
    this.#ports = ports;
    this.#options = options;
    this.#sets = new Informer(ports, plane, statefulSets);
    this.#services = new Informer(ports, plane, services);
    this.#bindings = new Informer(ports, plane, resourceBindings, {
      indexes: {
        resource: ({ spec: { resource } }) => [
          `${resource.kind} ${formatKey({ namespace: resource.namespace ?? "", name: resource.name })}`,
        ],
      },
    });
    this.#clusters = new Informer(ports, plane, clusters);
    this.#confirmations = new Informer(ports, plane, configMaps, {
      namespace: CONFIRMATION.namespace,
      fieldSelector: `metadata.name=${CONFIRMATION.name}`,
    });
  }

  get informers(): readonly (Service & { whenSynced(signal: AbortSignal): Promise<boolean> })[] {
    return [this.#sets, this.#services, this.#bindings, this.#clusters, this.#confirmations];
  }

  state(): KeeperState {
    const now = this.#ports.clock.monotonic();
    const ageMs = this.#lastContact === undefined ? undefined : now - this.#lastContact;
    return { zone: this.#zone, content: this.#content, held: this.#held, ageMs };
  }

  /** The control plane answered just now. */
  reached(): void {
    this.#lastContact = this.#ports.clock.monotonic();
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#restore();
    for (const informer of this.informers) if (!(await informer.whenSynced(signal))) return;
    this.reached();
    const dirty = (): void => {
      this.#isDirty = true;
      this.#wake?.();
    };
    const follow = (informer: unknown, kind: Parameters<typeof namesIn>[0]): (() => void) =>
      (informer as Informer<AnyObject>).onChange((old, now) => {
        this.reached();
        // Most changes are of a status that no name is made of; making the zone again costs far more than this.
        if (!equalJson(namesIn(kind, old), namesIn(kind, now))) dirty();
      });
    const ends = [
      follow(this.#sets, "StatefulSet"),
      follow(this.#services, "Service"),
      follow(this.#bindings, "Binding"),
      follow(this.#clusters, "Cluster"),
      this.#confirmations.onChange(dirty),
    ];
    const stop = (): void => this.#wake?.();
    signal.addEventListener("abort", stop, { once: true });
    this.#isDirty = true;
    try {
      while (!signal.aborted) await this.#step(signal);
    } finally {
      signal.removeEventListener("abort", stop);
      for (const end of ends) end();
    }
  }

  /** Waits for a change, then for its turn, and decides. */
  async #step(signal: AbortSignal): Promise<void> {
    if (!this.#isDirty) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
      if (signal.aborted) return;
    }
    const { clock } = this.#ports;
    const wait = this.#publishedAt + SERIAL_UNIT_MS - clock.monotonic();
    if (!(await sleep(clock, Math.max(0, wait), signal))) return;
    this.#isDirty = false;
    this.reached();
    await this.#decide();
  }

  async #decide(): Promise<void> {
    const sets = readGlobalSets({
      statefulSets: this.#sets.list(),
      service: (namespace, name) => this.#services.get({ namespace, name }),
      binding: (kind, namespace, name) =>
        this.#bindings.byIndex("resource", `${kind} ${formatKey({ namespace, name })}`)[0],
      cluster: (name) => this.#clusters.get({ namespace: "", name }),
    });
    const next = { sets, names: zoneNames(sets, this.#options) };
    const confirmed = this.#confirmation();
    const hasClusters = this.#clusters.size > 0;
    const served = this.#content;
    const change = decideZoneChange({ served, earlier: this.#servedEarlier(), next, hasClusters });
    if (change.kind === "hold" && (this.#held === undefined || this.#heldAt === confirmed)) {
      this.#hold(change, confirmed);
      return;
    }
    const wasHeld = this.#held !== undefined;
    // A person agreed to all that has gone.
    if (change.kind === "hold") this.#earlier = undefined;
    this.#held = undefined;
    this.#ports.dnsMetrics.held(false);
    const isOld = this.#content?.names !== undefined && equalJson(this.#content.names, next.names);
    if (this.#zone === undefined || !isOld) await this.#publish(next);
    else if (wasHeld) this.#tell();
    this.#content = next;
  }

  #servedEarlier(): ZoneContent | undefined {
    const now = this.#ports.clock.monotonic();
    const isOld = this.#earlier === undefined || now - this.#earlier.at > REMOVAL_WINDOW_MS;
    if (isOld) this.#earlier = this.#content && { content: this.#content, at: now };
    return this.#earlier?.content;
  }

  #hold(change: ZoneChange & { readonly kind: "hold" }, confirmed: string): void {
    const isNew = this.#held === undefined;
    const differs = this.#held?.removed !== change.removed || this.#held.of !== change.of;
    this.#held = change;
    if (isNew) {
      this.#heldAt = confirmed;
      this.#ports.log.warn(change.message);
      this.#ports.dnsMetrics.held(true);
    }
    if (differs) this.#tell();
  }

  #confirmation(): string {
    const value = this.#confirmations.get(CONFIRMATION)?.["data"];
    return JSON.stringify(
      (value as Readonly<Record<string, string>> | undefined)?.["confirmed"] ?? "",
    );
  }

  async #publish(content: ZoneContent): Promise<void> {
    const { clock } = this.#ports;
    this.#serve(content, nextSerial(this.#zone?.serial, clock.now()));
    this.#publishedAt = clock.monotonic();
    const { serial } = this.#zone as Zone;
    try {
      await this.#options.store?.save({ serial, sets: content.sets, at: clock.now() });
    } catch (error) {
      this.#ports.log.error("the zone could not be kept for a restart", { error });
    }
  }

  #serve(content: ZoneContent, serial: number): void {
    const { ttl, nameServers } = this.#options;
    const zone = zoneFrom(content.names, { serial, ttl, nameServers });
    this.#zone = zone;
    this.#content = content;
    this.#ports.dnsMetrics.published(zone.size, serial);
    for (const handler of this.published) handler(zone);
    this.#tell();
  }

  #tell(): void {
    for (const handler of this.changed) handler();
  }

  /** Begins with the zone that was confirmed before a restart. */
  async #restore(): Promise<void> {
    if (this.#zone !== undefined) return;
    try {
      const kept = await this.#options.store?.load();
      if (kept === undefined) return;
      const content = { sets: kept.sets, names: zoneNames(kept.sets, this.#options) };
      const { clock } = this.#ports;
      this.#lastContact = clock.monotonic() - Math.max(0, clock.now() - kept.at);
      this.#serve(content, kept.serial);
    } catch (error) {
      this.#ports.log.error("the zone that was kept over the restart cannot be read", { error });
    }
  }
}

/** Asks the control plane now and then whether it is there: a watch at rest does not show it. */
function contactService(
  { clock, dnsMetrics }: KitPorts & { readonly dnsMetrics: DnsMetrics },
  plane: Client,
  keeper: Keeper,
): Service {
  return {
    name: "dns contact",
    async run(signal) {
      do {
        try {
          await plane.read("/version", { signal });
          keeper.reached();
        } catch {
          // Its age shows that it does not answer.
        }
        const { ageMs } = keeper.state();
        if (ageMs !== undefined) dnsMetrics.age(ageMs / 1000);
        dnsMetrics.flush();
      } while (await sleep(clock, CONTACT_MS, signal));
    },
  };
}
