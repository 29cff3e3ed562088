/**
 * The DNS server of the world: the product's own keeper of the zone and its own answers, without sockets.
 *
 * 1. It reaches the plane over a link of its own, as the user that `lifeboat up` serves names as.
 * 2. What it answers by is its last published zone; `witness` knows it, and can ask it as anyone could.
 */
import type { User } from "@lifeboat/apiserver";
import { assert, type Random, type VirtualClock } from "@lifeboat/base";
import {
  type Answering,
  createDnsMetrics,
  createRateLimit,
  createReceive,
  createZoneKeeper,
  DEFAULT_UDP_BYTES,
  type ZoneKeeper,
} from "@lifeboat/dns";
import { type Client, createManager, type Log, silentMetrics } from "@lifeboat/kit";
import { CONTROLLERS_USER } from "@lifeboat/plane";
import type { Link } from "./network/link.ts";
import { SimClient, type WriteWatcher } from "./network/sim-client.ts";
import type { Witness } from "./oracles/witness.ts";
import { Process } from "./process.ts";

/** The names that it answers for are below `fed.svc.example.com`. */
export const ZONE = Object.freeze({ zone: "example.com", federation: "fed" });
/** Answers per second and network. */
export const RATE_LIMIT = 100;

export interface NameServerPorts {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly log: Log;
  /** To the plane. */
  readonly link: Link;
  readonly plane: {
    readonly clientOf: (user: User) => Client | undefined;
    readonly standsStillFor: () => number;
  };
  readonly writes: WriteWatcher;
  readonly witness: Witness;
}

export class NameServerProcess {
  readonly link: Link;
  readonly #ports: NameServerPorts;
  #life: Process | undefined;
  #lives = 0;

  constructor(ports: NameServerPorts) {
    this.#ports = ports;
    this.link = ports.link;
  }

  get running(): boolean {
    return this.#life !== undefined;
  }

  /** Begins the next life: it answers nothing before it has listed. */
  start(): void {
    assert(this.#life === undefined, "a name server is started when it is dead");
    const { clock, log, link, plane, writes } = this.#ports;
    this.#lives += 1;
    const process = new Process(`dns#${this.#lives}`, clock);
    this.#life = process;
    const random = this.#ports.random.fork(process.name);
    const dnsMetrics = createDnsMetrics(silentMetrics);
    const ports = { clock: process.clock, random, log, metrics: silentMetrics, dnsMetrics };
    const target = (): Client | undefined => plane.clientOf(CONTROLLERS_USER);
    const standsStill = plane.standsStillFor;
    const client = new SimClient({ caller: process, link, target, writes, standsStill });
    const keeper = createZoneKeeper(ports, client, { ...ZONE, ttl: 5, nameServers: [] });
    this.#show(keeper);
    void createManager(ports, keeper.services).run(new AbortController().signal);
  }

  crash(): void {
    this.#life?.die();
    this.#life = undefined;
    this.#ports.witness.namesServed(undefined);
  }

  /** Whoever asks is answered by the zone that is served when it asks. */
  #show(keeper: ZoneKeeper): void {
    const { clock, witness, log } = this.#ports;
    const answering: Answering = {
      get zone() {
        return keeper.state().zone;
      },
      maxUdpBytes: DEFAULT_UDP_BYTES,
      keys: [],
      hmac: () => new Uint8Array(32),
      now: () => Math.floor(clock.now() / 1000),
    };
    let failures = 0;
    const metrics = {
      limited: () => undefined,
      answered: () => undefined,
      failed: () => void (failures += 1),
    };
    const rateLimit = createRateLimit(RATE_LIMIT);
    const receive = createReceive({ answering, rateLimit, metrics, log });
    const ask = (message: Uint8Array, address: string): Uint8Array | undefined =>
      receive(message, address, clock.monotonic());
    keeper.onState(() => {
      const { content, held } = keeper.state();
      if (content === undefined) return;
      const isHeld = held !== undefined;
      witness.namesServed({ names: content.names, isHeld, ask, failures: () => failures });
    });
  }
}
