/** A DNS server over a keeper's zone: datagrams and connections on one port, and messages to secondaries. */
import type { Clock } from "@lifeboat/base";
import type { Log } from "@lifeboat/kit";
import { DEFAULT_UDP_BYTES } from "../answer.ts";
import type { ZoneKeeper } from "../keeper.ts";
import type { DnsMetrics } from "../metrics.ts";
import { createRateLimit } from "../rate-limit.ts";
import type { TsigKey } from "../wire/tsig.ts";
import { nodeHmac } from "./hmac.ts";
import { createNotifier, type Secondary } from "./notify.ts";
import { serveTcp, type TcpLimits } from "./tcp.ts";
import { serveUdp } from "./udp.ts";

export interface DnsServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly keys: readonly TsigKey[];
  readonly secondaries: readonly Secondary[];
  /** Answers per second and network by datagrams; 0: no limit. */
  readonly rateLimit: number;
  readonly limits?: TcpLimits;
}

export interface DnsServer {
  readonly port: number;
  close(): Promise<void>;
}

export async function createDnsServer(
  ports: { readonly clock: Clock; readonly log: Log; readonly dnsMetrics: DnsMetrics },
  keeper: Pick<ZoneKeeper, "state" | "onPublished">,
  options: DnsServerOptions,
): Promise<DnsServer> {
  const { clock, log, dnsMetrics: metrics } = ports;
  const { host, keys, secondaries } = options;
  let zone = keeper.state().zone;
  const answering = {
    get zone() {
      return zone;
    },
    maxUdpBytes: DEFAULT_UDP_BYTES,
    keys,
    hmac: nodeHmac,
    now: () => Math.floor(clock.now() / 1000),
  };
  const notifier = createNotifier({ secondaries, key: keys[0], hmac: nodeHmac, clock, log });
  keeper.onPublished((published) => {
    zone = published;
    notifier.tell(published);
  });
  const shared = { host, answering, metrics, log };
  const { limits } = options;
  const tcp = await serveTcp({ ...shared, port: options.port, ...(limits && { limits }) });
  try {
    const rateLimit = createRateLimit(options.rateLimit);
    const udp = await serveUdp({ ...shared, port: tcp.port, rateLimit });
    return {
      port: tcp.port,
      close: async () => {
        notifier.close();
        await Promise.all([udp.close(), tcp.close()]);
      },
    };
  } catch (error) {
    await tcp.close();
    throw error;
  }
}
