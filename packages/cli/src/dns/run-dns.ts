/** The DNS server as a part of a process: opened at once, answering as soon as everything was read. */
import { join } from "node:path";
import { createDnsMetrics, createReporter, createZoneKeeper } from "@lifeboat/dns";
import { createDnsServer, zoneFile } from "@lifeboat/dns/adapters";
import type { Client, KitPorts, Service } from "@lifeboat/kit";
import { CommandFailed } from "../failure.ts";
import type { DnsSettings } from "./dns-options.ts";

export interface RunningDns {
  /** `HOST:PORT`, with the port that was taken. */
  readonly address: string;
  readonly services: readonly Service[];
  /** Resolves with true once names are served, with false when the signal aborts before. */
  whenServed(signal: AbortSignal): Promise<boolean>;
  /** Why names are not served yet; undefined: they are. */
  readiness(): string | undefined;
  close(): Promise<void>;
}

/** Opens the sockets; the services have to run. `directory`: where the zone is kept over restarts. */
export async function openDns(
  ports: KitPorts,
  plane: Client,
  settings: DnsSettings,
  { instance, directory }: { readonly instance: string; readonly directory: string | undefined },
): Promise<RunningDns> {
  const { zone, federation, ttl, nameServers, listen } = settings;
  const own = { ...ports, dnsMetrics: createDnsMetrics(ports.metrics) };
  const keeper = createZoneKeeper(own, plane, {
    zone,
    federation,
    ttl,
    nameServers,
    ...(directory !== undefined && { store: zoneFile(join(directory, "dns-zone.json")) }),
  });
  const server = await opened(settings, () =>
    createDnsServer(own, keeper, { ...listen, ...settings }),
  );
  const host = listen.host.includes(":") ? `[${listen.host}]` : listen.host;
  const address = `${host}:${server.port}`;
  const reporter = createReporter(ports, plane, keeper, {
    // A host may run several servers.
    instance: `${instance}-${server.port}`,
    zone,
    federation,
    ttl,
    listen: () => address,
  });
  return {
    address,
    services: [...keeper.services, reporter],
    readiness: () =>
      keeper.state().zone === undefined
        ? "the names were not read from the control plane yet"
        : undefined,
    whenServed: (signal) =>
      new Promise((resolve) => {
        if (keeper.state().zone !== undefined) resolve(true);
        keeper.onPublished(() => resolve(true));
        signal.addEventListener("abort", () => resolve(false), { once: true });
      }),
    close: () => server.close(),
  };
}

async function opened<T>({ listen }: DnsSettings, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailed(`cannot serve DNS on ${listen.host}:${listen.port}: ${why}`);
  }
}
