/**
 * What is true of the control plane and its network besides what the disks say: how it was started, what its probes heard,
 * what it shows to people who watch it, what load balancers serve, what the DNS server answers, and what detectors find. Oracles take nothing else from it.
 */
import type { ZoneNames } from "@lifeboat/core/names";
import type { RoutingTable } from "@lifeboat/core/traffic";
import { type Metrics, silentMetrics } from "@lifeboat/kit";
import { type ControllersOptions, DEFAULT_CONTROLLERS } from "@lifeboat/plane";

/** Equal answers to the probes of one member by one process of the plane, in a row. */
export interface ProbeRun {
  readonly caller: string;
  readonly ok: boolean;
  /** When the first and the last of them came; milliseconds since the simulation began. */
  readonly since: number;
  readonly last: number;
  /** When another answer came; Infinity: none yet. */
  readonly until: number;
}

/** What a load balancer serves by, and since when. */
export interface Served {
  readonly table: RoutingTable;
  /** By backend that drains: until when requests are under way there. */
  readonly busy: ReadonlyMap<string, number>;
  readonly since: number;
}

/** What the DNS server answers by, and since when. */
export interface ServedNames {
  readonly names: ZoneNames;
  /** A change of them waits for a person. */
  readonly isHeld: boolean;
  /** Sends it a datagram; undefined: no answer came. */
  readonly ask: (message: Uint8Array, address: string) => Uint8Array | undefined;
  /** How many datagrams it failed at. */
  readonly failures: () => number;
  readonly since: number;
}

/** What one instance of a detector has found: in its present life, or in the last one until it ended. */
export interface DetectorState {
  /** When its last life ended; Infinity: it runs. */
  readonly endedAt: number;
  /** What it found for a whole window without a break, and since when; the last two. */
  readonly verdicts: readonly { readonly ok: boolean; readonly since: number }[];
  /** Equal detections in a row. */
  readonly streak?: { readonly ok: boolean; readonly since: number };
}

/** How long equal detections must last. */
const WINDOW_MS = 30_000;

/** A backend of a pool. */
export function backendName(pool: string, address: string): string {
  return `${pool} ${address}`;
}

/** The gauges that oracles compare with the truth. */
const WATCHED = new Set(["evict_total", "cluster_fault_num", "cluster_fault_rate"]);
/** What members are asked to find out whether they are well. */
const PROBE = "/readyz";

export class Witness {
  readonly #now: () => number;
  /** By member, then by caller: the present run, and the one before. */
  readonly #probes = new Map<string, Map<string, readonly ProbeRun[]>>();
  #gauges = new Map<string, Map<string, number>>();
  /** From when until when the plane ran, each life of it; the last may go on. */
  readonly #lives: { readonly since: number; until: number }[] = [];
  readonly #balancers = new Map<string, Served>();
  #names: ServedNames | undefined;
  readonly #detectors = new Map<string, DetectorState>();
  /** How the plane was started last. */
  controllers: ControllersOptions = DEFAULT_CONTROLLERS;
  /** When that was. */
  startedAt = 0;
  /** How often it was. */
  lives = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** What each process heard of a member last, and before that. */
  probes(member: string): readonly ProbeRun[] {
    return [...(this.#probes.get(member)?.values() ?? [])].flat();
  }

  /** The load balancers that serve. */
  get balancers(): ReadonlyMap<string, Served> {
    return this.#balancers;
  }

  /** A load balancer serves so from now on; undefined: it serves nothing. */
  serves(balancer: string, served: Omit<Served, "since"> | undefined): void {
    if (served === undefined) this.#balancers.delete(balancer);
    else this.#balancers.set(balancer, { ...served, since: this.#now() });
  }

  /** What the DNS server answers by; undefined: there is none, or it does not answer. */
  get names(): ServedNames | undefined {
    return this.#names;
  }

  /** The DNS server answers so from now on; undefined: it does not answer. */
  namesServed(served: Omit<ServedNames, "since"> | undefined): void {
    this.#names = served && { ...served, since: this.#now() };
  }

  /** The instances of detectors, by member and node. */
  get detectors(): ReadonlyMap<string, DetectorState> {
    return this.#detectors;
  }

  /** A life of an instance begins; what it found before it found in another life. */
  detectorBegins(instance: string): void {
    const { verdicts = [] } = this.#detectors.get(instance) ?? {};
    this.#detectors.set(instance, { endedAt: Infinity, verdicts });
  }

  detectorEnds(instance: string): void {
    const state = this.#detectors.get(instance);
    if (state !== undefined) this.#detectors.set(instance, { ...state, endedAt: this.#now() });
  }

  /** An instance found that names resolve, or that they do not. */
  detected(instance: string, ok: boolean): void {
    const { verdicts = [], streak } = this.#detectors.get(instance) ?? {};
    const now = this.#now();
    const since = streak?.ok === ok ? streak.since : now;
    const isVerdict = now - since >= WINDOW_MS && verdicts.at(-1)?.ok !== ok;
    this.#detectors.set(instance, {
      endedAt: Infinity,
      verdicts: isVerdict ? [...verdicts.slice(-1), { ok, since: now }] : verdicts,
      streak: { ok, since },
    });
  }

  /** The series of a gauge in the present life, by the values of their labels. */
  gauge(name: string): ReadonlyMap<string, number> {
    return this.#gauges.get(name) ?? new Map<string, number>();
  }

  /** Whether one life of the plane lasted from before this moment until so much later at least, or goes on. */
  livedThrough(moment: number, forMs: number): boolean {
    return this.#lives.some(({ since, until }) => since < moment && until >= moment + forMs);
  }

  /**
   * How early what its disk shows since this moment may have been written: what a life had written before it ended, and
   * nobody was told of, is first seen when the next one begins.
   */
  writtenSince(moment: number): number {
    const next = this.#lives.findIndex(({ since }) => since === moment);
    return this.#lives[next - 1]?.until ?? moment;
  }

  /** The life of the plane is over. */
  ended(): void {
    const last = this.#lives.at(-1);
    if (last !== undefined) last.until = this.#now();
  }

  /** A life of the plane begins, and shows its metrics here. */
  begins(controllers: ControllersOptions): Metrics {
    this.controllers = controllers;
    this.startedAt = this.#now();
    this.lives += 1;
    this.#lives.push({ since: this.startedAt, until: Infinity });
    this.#gauges = new Map();
    const gauges = this.#gauges;
    return {
      ...silentMetrics,
      gauge: (definition) => {
        if (!WATCHED.has(definition.name)) return silentMetrics.gauge(definition);
        const series = new Map<string, number>();
        gauges.set(definition.name, series);
        const idOf = (labels: object): string => Object.values(labels).join();
        return {
          set: (value, labels) => void series.set(idOf(labels), value),
          remove: (labels) => void series.delete(idOf(labels)),
        };
      },
    };
  }

  /** A process of the plane asked a member, and was answered or not. */
  heard(member: string, caller: string, path: string, ok: boolean): void {
    if (path !== PROBE) return;
    const runs = this.#probes.get(member) ?? new Map<string, readonly ProbeRun[]>();
    this.#probes.set(member, runs);
    const [run, former] = runs.get(caller) ?? [];
    const now = this.#now();
    if (run?.ok === ok) runs.set(caller, [{ ...run, last: now }, ...(former ? [former] : [])]);
    else {
      const ended = run === undefined ? [] : [{ ...run, until: now }];
      runs.set(caller, [{ caller, ok, since: now, last: now, until: Infinity }, ...ended]);
    }
  }
}
