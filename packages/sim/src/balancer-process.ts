/**
 * A load balancer of the world: the product's own follower, with tables in memory in the place of connections.
 *
 * 1. It reaches the plane as the user of the gateway.
 * 2. What it serves is what its last table says; `witness` knows it, as clients would find out.
 * 3. Requests under way at a backend that begins to drain end after `REQUEST_MS`.
 */
import type { RoutingTable } from "@lifeboat/core/traffic";
import { sleep } from "@lifeboat/base";
import { GATEWAY_USER } from "@lifeboat/plane";
import { createTrafficFollower, DEFAULT_FOLLOWER, type TrafficProvider } from "@lifeboat/traffic";
import { backendName, type Witness } from "./oracles/witness.ts";
import { type BesidePorts, type Life, ProcessBeside } from "./process-beside.ts";
import type { Process } from "./process.ts";

/** What it takes to carry out a table. */
const APPLY_MS = 5;
const REQUEST_MS = 2000;

export interface BalancerProcessPorts extends BesidePorts {
  readonly name: string;
  readonly witness: Witness;
}

export class BalancerProcess extends ProcessBeside<BalancerProcessPorts> {
  constructor(ports: BalancerProcessPorts) {
    super(ports, ports.name, GATEWAY_USER);
  }

  /** It serves nothing before it has listed. */
  protected run({ process, kit, client }: Life): void {
    const options = { ...DEFAULT_FOLLOWER, instance: this.ports.name };
    const follower = createTrafficFollower(kit, client, this.#provider(process), options);
    void follower.run(new AbortController().signal);
  }

  protected override ended(): void {
    this.ports.witness.serves(this.ports.name, undefined);
  }

  #provider(process: Process): TrafficProvider {
    const { name, witness } = this.ports;
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
        return Promise.resolve(
          new Map(waiting.map(([backend]) => [backend.split(" ")[0] ?? "", "ends"] as const)),
        );
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
