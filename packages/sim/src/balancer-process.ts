/**
 * A load balancer of the world: the product's own follower, with tables in memory in the place of connections, life after life.
 *
 * 1. It reaches the plane over a link of its own, as the user of the gateway: RBAC answers it.
 * 2. What it serves is what its last table says; `witness` knows it, as clients would find out.
 * 3. Requests under way at a backend that begins to drain end after `REQUEST_MS`.
 */
import type { RoutingTable } from "@lifeboat/core/traffic";
import type { User } from "@lifeboat/apiserver";
import { assert, type Random, sleep, type VirtualClock } from "@lifeboat/base";
import { type Client, type Log, silentMetrics } from "@lifeboat/kit";
import { GATEWAY_USER } from "@lifeboat/plane";
import { createTrafficFollower, DEFAULT_FOLLOWER, type TrafficProvider } from "@lifeboat/traffic";
import type { Link } from "./network/link.ts";
import { SimClient, type WriteWatcher } from "./network/sim-client.ts";
import { backendName, type Witness } from "./oracles/witness.ts";
import { Process } from "./process.ts";

/** What it takes to carry out a table. */
const APPLY_MS = 5;
const REQUEST_MS = 2000;

export interface BalancerProcessPorts {
  readonly name: string;
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

export class BalancerProcess {
  readonly link: Link;
  readonly #ports: BalancerProcessPorts;
  #life: Process | undefined;
  #lives = 0;

  constructor(ports: BalancerProcessPorts) {
    this.#ports = ports;
    this.link = ports.link;
  }

  get running(): boolean {
    return this.#life !== undefined;
  }

  /** Begins the next life: it serves nothing before it has listed. */
  start(): void {
    assert(this.#life === undefined, "a load balancer is started when it is dead");
    const { name, clock, log, link, plane, writes } = this.#ports;
    this.#lives += 1;
    const process = new Process(`${name}#${this.#lives}`, clock);
    this.#life = process;
    const random = this.#ports.random.fork(process.name);
    const ports = { clock: process.clock, random, log, metrics: silentMetrics };
    const target = (): Client | undefined => plane.clientOf(GATEWAY_USER);
    const standsStill = plane.standsStillFor;
    const client = new SimClient({ caller: process, link, target, writes, standsStill });
    const options = { ...DEFAULT_FOLLOWER, instance: name };
    const follower = createTrafficFollower(ports, client, this.#provider(process), options);
    void follower.run(new AbortController().signal);
  }

  crash(): void {
    this.#life?.die();
    this.#life = undefined;
    this.#ports.witness.serves(this.#ports.name, undefined);
  }

  #provider(process: Process): TrafficProvider {
    const { name, witness } = this.#ports;
    /** By backend that drains: until when requests are under way there. */
    let busy: ReadonlyMap<string, number> = new Map();
    return {
      name: "embedded",
      apply: async (table) => {
        await sleep(process.clock, APPLY_MS);
        const until = process.clock.monotonic() + REQUEST_MS;
        busy = new Map(drainingIn(table).map((backend) => [backend, busy.get(backend) ?? until]));
        witness.serves(name, { table, busy });
      },
      leaving: () => {
        const now = process.clock.monotonic();
        const waiting = [...busy].filter(([, until]) => until > now);
        return Promise.resolve(new Set(waiting.map(([backend]) => backend.split(" ")[0] ?? "")));
      },
      problem: () => undefined,
    };
  }
}

function drainingIn({ pools }: RoutingTable): readonly string[] {
  return pools.flatMap(({ id, backends }) =>
    backends
      .filter(({ state }) => state === "draining")
      .map(({ address }) => backendName(id, address)),
  );
}
