/**
 * The DNS server of the world: the product's own keeper of the zone and its own answers, without sockets.
 *
 * 1. It reaches the plane as the user that `lifeboat up` serves names as.
 * 2. What it answers by is its last published zone; `witness` knows it, and can ask it as anyone could.
 */
import {
  type Answering,
  createDnsMetrics,
  createRateLimit,
  createReceive,
  createZoneKeeper,
  DEFAULT_UDP_BYTES,
  type ZoneKeeper,
} from "@lifeboat/dns";
import { createManager } from "@lifeboat/kit";
import { CONTROLLERS_USER } from "@lifeboat/plane";
import type { Witness } from "./oracles/witness.ts";
import { type BesidePorts, type Life, ProcessBeside } from "./process-beside.ts";

/** The names that it answers for are below `fed.svc.example.com`. */
export const ZONE = Object.freeze({ zone: "example.com", federation: "fed" });
/** Answers per second and network. */
export const RATE_LIMIT = 100;

export interface NameServerPorts extends BesidePorts {
  readonly witness: Witness;
}

export class NameServerProcess extends ProcessBeside<NameServerPorts> {
  constructor(ports: NameServerPorts) {
    super(ports, "dns", CONTROLLERS_USER);
  }

  /** It answers nothing before it has listed. */
  protected run({ kit, client }: Life): void {
    const ports = { ...kit, dnsMetrics: createDnsMetrics(kit.metrics) };
    const keeper = createZoneKeeper(ports, client, { ...ZONE, ttl: 5, nameServers: [] });
    this.#show(keeper);
    void createManager(ports, keeper.services).run(new AbortController().signal);
  }

  protected override ended(): void {
    this.ports.witness.namesServed(undefined);
  }

  /** Whoever asks is answered by the zone that is served when it asks. */
  #show(keeper: ZoneKeeper): void {
    const { clock, witness, log } = this.ports;
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
