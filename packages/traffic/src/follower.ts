/**
 * Drives one load balancer from the API of a control plane: ingresses in, a routing table out, confirmations back.
 *
 * 1. Nothing is applied before ingresses and certificates were listed once (D20).
 * 2. Without the control plane the last table stays as it is.
 * 3. While one table is carried out, changes gather: the next table holds all of them.
 * 4. A generation is confirmed when no new request goes to draining backends and those under way have ended, or
 *    `drainLimitMs` have passed since a backend of the pool last ceased to serve, whatever else changed meanwhile; and never for a Service
 *    whose blocked backends serve because nothing else is there, or nothing else takes connections. What was seen under one table confirms no other.
 * 5. Published backends that vanish from an ingress stay as they were: only the control plane takes backends away, by name.
 */
import {
  type AnyObject,
  formatKey,
  keyOf,
  type MultiClusterIngress,
  multiClusterIngresses,
  type ObjectKey,
  secrets,
} from "@lifeboat/api";
import { textsAt, wellKnown } from "@lifeboat/core";
import {
  assembleTable,
  compileIngress,
  type CompiledIngress,
  EMPTY_TABLE,
  formatApplied,
  type RoutingTable,
} from "@lifeboat/core/traffic";
import {
  Backoff,
  type Client,
  createManager,
  Informer,
  judgeBackend,
  type KitPorts,
  type Service,
} from "@lifeboat/kit";
import { DrainTimes } from "./drain-times.ts";
import { createTrafficMetrics, type TrafficMetrics } from "./metrics.ts";
import type { Leaving, ServedCertificate, TrafficProvider } from "./provider.ts";
import { ProviderLease } from "./provider-lease.ts";
import { Sleeper } from "./sleeper.ts";

export interface FollowerOptions {
  /** The name of this instance's Lease. */
  readonly instance: string;
  /** Ingresses of this class, and those without one, are served. */
  readonly ingressClass: string;
  /** How long requests under way may delay the confirmation of a drain. */
  readonly drainLimitMs: number;
}

export const DEFAULT_FOLLOWER = Object.freeze({ ingressClass: "lifeboat", drainLimitMs: 30_000 });

export interface TrafficFollower extends Service {
  /** Why requests are not served as they should be; undefined: they are. */
  problem(): string | undefined;
  table(): RoutingTable;
}

const BACKOFF = { baseMs: 200, capMs: 10_000 };
/** How often is looked whether requests under way have ended. */
const DRAIN_LOOK_MS = 100;
/** How many tables may come while the load balancer is asked; then none of its pools counts as left, so that the Lease is renewed in time. */
const MAX_LOOKS = 3;
/** How often is looked whether the load balancer still serves. */
const HEALTH_LOOK_MS = 500;

/** Builds the follower; `run` starts it. */
export function createTrafficFollower(
  ports: KitPorts,
  client: Client,
  provider: TrafficProvider,
  options: FollowerOptions,
): TrafficFollower {
  return new Follower(ports, client, provider, options);
}

class Follower implements TrafficFollower {
  readonly name = "traffic";
  readonly #ports: KitPorts;
  readonly #provider: TrafficProvider;
  readonly #options: FollowerOptions;
  readonly #metrics: TrafficMetrics;
  readonly #ingresses: Informer<MultiClusterIngress>;
  readonly #secrets: Informer<AnyObject>;
  readonly #lease: ProviderLease;
  readonly #compiled = new Map<string, CompiledIngress>();
  readonly #applier = new Sleeper();
  readonly #confirmer = new Sleeper();
  readonly #published = new Map<string, { readonly uid: string; readonly text: string }>();
  #isDirty = true;
  #table: RoutingTable = EMPTY_TABLE;
  #appliedAt: number | undefined;
  #failure: string | undefined;
  /** The pools that are not left yet. */
  #leaving: ReadonlySet<string> = new Set();
  readonly #drains = new DrainTimes();

  constructor(
    ports: KitPorts,
    client: Client,
    provider: TrafficProvider,
    options: FollowerOptions,
  ) {
    this.#ports = ports;
    this.#provider = provider;
    this.#options = options;
    this.#metrics = createTrafficMetrics(ports.metrics);
    this.#ingresses = new Informer(ports, client, multiClusterIngresses);
    this.#secrets = new Informer(ports, client, secrets, {
      fieldSelector: "type=kubernetes.io/tls",
    });
    this.#lease = new ProviderLease(ports.clock, client, {
      instance: options.instance,
      ingressClass: options.ingressClass,
      provider: provider.name,
    });
    this.#ingresses.onChange((old, now) => this.#sawIngress(old, now));
    this.#secrets.onChange(() => this.#changed());
  }

  problem(): string | undefined {
    if (this.#appliedAt === undefined) return this.#failure ?? "no routing table yet";
    return this.#provider.problem();
  }

  table(): RoutingTable {
    return this.#table;
  }

  run(signal: AbortSignal): Promise<void> {
    const apply = { name: this.name, run: (stop: AbortSignal) => this.#apply(stop) };
    // Beside it: a slow control plane delays no table.
    const confirm = { name: "traffic-lease", run: (stop: AbortSignal) => this.#confirm(stop) };
    const services = [this.#ingresses, this.#secrets, apply, confirm];
    return createManager(this.#ports, services).run(signal);
  }

  async #apply(signal: AbortSignal): Promise<void> {
    if (!(await this.#ingresses.whenSynced(signal))) return;
    if (!(await this.#secrets.whenSynced(signal))) return;
    const backoff = new Backoff(this.#ports.random.fork("traffic"), BACKOFF);
    while (!signal.aborted) {
      // A load balancer that ended gets its table again.
      if (this.#appliedAt !== undefined && this.#provider.problem() !== undefined)
        this.#isDirty = true;
      const pauseMs = await this.#applyIfDirty(backoff);
      this.#confirmer.wake();
      if (!this.#isDirty || pauseMs > 0)
        await this.#applier.rest(this.#ports.clock, pauseMs || HEALTH_LOOK_MS, signal);
    }
  }

  /** Keeps the Lease: renewed in time, and written at once when there is something to confirm. */
  async #confirm(signal: AbortSignal): Promise<void> {
    const { clock, log, random } = this.#ports;
    const backoff = new Backoff(random.fork("traffic lease"), BACKOFF);
    while (!signal.aborted) {
      let pauseMs = HEALTH_LOOK_MS;
      if (this.problem() === undefined) {
        await this.#lookAtDrains();
        const applied = this.#confirmed();
        try {
          if (this.#lease.isDue(applied)) await this.#lease.write(applied, signal);
          backoff.reset();
          pauseMs = this.#leaving.size > 0 ? DRAIN_LOOK_MS : this.#lease.msUntilDue();
        } catch (error) {
          if (signal.aborted) return;
          pauseMs = backoff.next();
          log.warn("the Lease of the load balancer cannot be written", { error, pauseMs });
        }
      }
      await this.#confirmer.rest(clock, Math.max(pauseMs, 1), signal);
    }
  }

  /** Gives the newest table to the load balancer; answers after how long to try again, 0 when it is carried out. */
  async #applyIfDirty(backoff: Backoff): Promise<number> {
    if (!this.#isDirty) return 0;
    this.#isDirty = false;
    const { clock, log } = this.#ports;
    const table = assembleTable([...this.#compiled.values()]);
    const began = clock.monotonic();
    try {
      await this.#provider.apply(table, this.#certificates(table));
    } catch (error) {
      this.#isDirty = true;
      this.#failure = error instanceof Error ? error.message : String(error);
      this.#metrics.tables.add(1, { outcome: "failed" });
      log.error("a routing table cannot be carried out", { error });
      return backoff.next();
    }
    backoff.reset();
    this.#failure = undefined;
    this.#table = table;
    this.#appliedAt = clock.monotonic();
    this.#drains.saw(table, this.#appliedAt);
    this.#metrics.tables.add(1, { outcome: "applied" });
    this.#metrics.applied.observe((this.#appliedAt - began) / 1000, {});
    this.#count(table);
    return 0;
  }

  async #lookAtDrains(): Promise<void> {
    if (this.#appliedAt === undefined) return;
    const leaving = await this.#lookedAtLeaving();
    const latest = this.#ports.clock.monotonic() - this.#options.drainLimitMs;
    const isLeft = (pool: string, why: Leaving): boolean =>
      why === "ends" && this.#drains.since(pool) <= latest;
    this.#leaving = new Set([...leaving].flatMap(([pool, why]) => (isLeft(pool, why) ? [] : pool)));
  }

  /** What the load balancer reports of the table that is carried out. One that came meanwhile is not confirmed by what was seen before. */
  async #lookedAtLeaving(): Promise<ReadonlyMap<string, Leaving>> {
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const seen = this.#table;
      try {
        const leaving = await this.#provider.leaving();
        const isCurrent = seen === this.#table;
        if (isCurrent) return leaving;
      } catch (error) {
        this.#ports.log.warn("requests under way cannot be counted", { error });
        break;
      }
    }
    return new Map(this.#table.pools.map(({ id }) => [id, "ends"]));
  }

  /** What the Lease confirms: the generations without requests under way at backends that drain. */
  #confirmed(): string {
    if (this.#isDirty || this.#appliedAt === undefined) return "{}";
    const waiting = new Set([...this.#leaving].map(ingressOfPool));
    const quiet = [...this.#table.draining].filter((key) => !waiting.has(ingressOfPool(key)));
    return formatApplied(this.#table.generations, new Set(quiet));
  }

  #changed(): void {
    this.#isDirty = true;
    this.#applier.wake();
  }

  #sawIngress(old: MultiClusterIngress | undefined, now: MultiClusterIngress | undefined): void {
    const seen = now ?? old;
    if (seen === undefined) return;
    const key = formatKey(keyOf(seen));
    const { ingressClassName = "" } = now?.spec ?? {};
    if (now === undefined || !["", this.#options.ingressClass].includes(ingressClassName)) {
      this.#compiled.delete(key);
      this.#published.delete(key);
    } else this.#compiled.set(key, compileIngress(this.#withPublished(key, now), judgeBackend));
    this.#changed();
  }

  #withPublished(key: string, ingress: MultiClusterIngress): MultiClusterIngress {
    const { uid, annotations } = ingress.metadata;
    const text = annotations?.[wellKnown.BACKENDS];
    if (text !== undefined) {
      this.#published.set(key, { uid, text });
      return ingress;
    }
    const before = this.#published.get(key);
    if (before === undefined || before.uid !== uid) return ingress;
    const kept = { ...annotations, [wellKnown.BACKENDS]: before.text };
    return { ...ingress, metadata: { ...ingress.metadata, annotations: kept } };
  }

  #certificates(table: RoutingTable): readonly ServedCertificate[] {
    return table.certificates.flatMap(({ secret, hosts }) => {
      const found = pairIn(this.#secrets.get(secret));
      if (found === undefined) this.#ports.log.warn("a certificate is missing", nameOf(secret));
      return found === undefined ? [] : [{ ...found, hosts }];
    });
  }

  #count(table: RoutingTable): void {
    const backends = table.pools.flatMap((pool) => pool.backends);
    for (const state of ["serving", "draining"] as const)
      this.#metrics.backends.set(backends.filter((one) => one.state === state).length, { state });
    this.#metrics.problems.set(table.problems.length, {});
    for (const problem of table.problems)
      this.#ports.log.warn("a part of an ingress is not served", { ...problem });
  }
}

function nameOf({ namespace, name }: ObjectKey): { readonly secret: string } {
  return { secret: `${namespace}/${name}` };
}

/** A pool is named `namespace/ingress/service/port`, a Service of an ingress `namespace/ingress/service`. */
function ingressOfPool(id: string): string {
  return id.split("/").slice(0, 2).join("/");
}

function pairIn(
  secret: AnyObject | undefined,
): Pick<ServedCertificate, "certificate" | "key"> | undefined {
  const data = textsAt(secret, "data");
  const certificate = decoded(data["tls.crt"]);
  const key = decoded(data["tls.key"]);
  return certificate === "" || key === "" ? undefined : { certificate, key };
}

/** PEM is ASCII: each byte of the decoded text is a character. */
function decoded(text = ""): string {
  try {
    return atob(text);
  } catch {
    // What is no base64 is no certificate.
    return "";
  }
}
