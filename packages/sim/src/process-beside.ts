/**
 * A process of the world that runs beside the plane, life after life: an agent, a load balancer, a detector, a DNS server.
 *
 * 1. It reaches the plane over a link of its own, as a user of the product: RBAC and admission answer it.
 * 2. It has no disk: a life begins with nothing but what it reads, and with chance of its own.
 * 3. Its wall clock may be off, and may jump.
 */
import type { User } from "@lifeboat/apiserver";
import { assert, type Clock, type Random, type VirtualClock } from "@lifeboat/base";
import { type Client, type Log, type Metrics, silentMetrics } from "@lifeboat/kit";
import type { Link } from "./network/link.ts";
import { SimClient, type WriteWatcher } from "./network/sim-client.ts";
import { Process } from "./process.ts";

export interface BesidePorts {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly log: Log;
  /** To the plane. */
  readonly link: Link;
  readonly plane: {
    /** Whom a call of this user reaches; undefined while the plane does not serve. */
    readonly clientOf: (user: User) => Client | undefined;
    readonly standsStillFor: () => number;
  };
  readonly writes: WriteWatcher;
}

/** One life: what the product's part is given. */
export interface Life {
  readonly process: Process;
  readonly kit: {
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
    readonly metrics: Metrics;
  };
  /** Of the plane. */
  readonly client: Client;
}

export abstract class ProcessBeside<Ports extends BesidePorts = BesidePorts> {
  readonly link: Link;
  readonly user: User;
  protected readonly ports: Ports;
  /** Its lives are named after it. */
  readonly #name: string;
  #process: Process | undefined;
  #lives = 0;
  #skewMs = 0;

  constructor(ports: Ports, name: string, user: User) {
    this.ports = ports;
    this.link = ports.link;
    this.user = user;
    this.#name = name;
  }

  /** What runs in a life; it ends when the life does. */
  protected abstract run(life: Life): void;

  /** A life has ended. */
  protected ended(): void {}

  get running(): boolean {
    return this.#process !== undefined;
  }

  /** Begins the next life. */
  start(): void {
    assert(this.#process === undefined, "a process is started when it is dead", {
      name: this.#name,
    });
    this.#lives += 1;
    const { clock, log } = this.ports;
    const process = new Process(`${this.#name}#${this.#lives}`, clock, this.#skewMs);
    this.#process = process;
    const random = this.ports.random.fork(process.name);
    const kit = { clock: process.clock, random, log, metrics: silentMetrics };
    this.run({ process, kit, client: this.clientOf(process) });
  }

  crash(): void {
    this.#process?.die();
    this.#process = undefined;
    this.ended();
  }

  /** Stands still for so long. */
  pause(milliseconds: number): void {
    this.#process?.pause(milliseconds);
  }

  /** Its wall clock jumps, in this life and in later ones. */
  stepClock(milliseconds: number): void {
    this.#skewMs += milliseconds;
    this.#process?.step(milliseconds);
  }

  /** A client of the plane with its identity, over its link. */
  clientOf(caller: Process): SimClient {
    const { link, plane, writes } = this.ports;
    const target = (): Client | undefined => plane.clientOf(this.user);
    return new SimClient({ caller, link, target, writes, standsStill: plane.standsStillFor });
  }
}
