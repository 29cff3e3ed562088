/**
 * A load balancer and what drives it, as processes start them: `lifeboat gateway`, and beside a control plane (`--gateway-listen`
 * of `lifeboat up` and `lifeboat manager`).
 */
import { hostname } from "node:os";
import type { Client, KitPorts, Service } from "@lifeboat/kit";
import {
  createTrafficFollower,
  DEFAULT_FOLLOWER,
  type ListenAddress,
  type LocalProvider,
} from "@lifeboat/traffic";
import { createGateway } from "@lifeboat/traffic/adapters";
import { CommandFailed } from "../failure.ts";
import { parseListen, urlHost } from "../listen.ts";
import type { OptionDefinition } from "../options.ts";
import type { Settings } from "../settings.ts";

/** The gateway inside `up` and `manager`. */
export const besideGatewayOptions: readonly OptionDefinition[] = [
  {
    name: "gateway-listen",
    type: "text",
    value: "HOST:PORT",
    help: "Serve MultiClusterIngresses there over HTTP; absent: this process serves none; port 0 takes a free one",
  },
  {
    name: "gateway-tls-listen",
    type: "text",
    value: "HOST:PORT",
    help: "The same over TLS, with the certificates that ingresses name",
  },
];

export interface OpenTraffic {
  readonly service: Service;
  /** For people: where it listens. */
  readonly announcement: string;
  /** Why it does not serve; undefined: it does. */
  problem(): string | undefined;
  close(): Promise<void>;
}

export interface TrafficSettings {
  readonly provider: LocalProvider;
  readonly listen: ListenAddress;
  /** The name of the Lease; absent: made of host and port. */
  readonly instance?: string;
  readonly ingressClass?: string;
  readonly drainLimitMs?: number;
}

/** How long requests under way may take when the process is told to stop. */
const CLOSE_MS = 5000;

/** Listens, and builds what drives the load balancer over the API of a control plane. */
export async function openTraffic(
  ports: KitPorts,
  client: Client,
  { provider, listen, ...given }: TrafficSettings,
): Promise<OpenTraffic> {
  const { port, tlsPort } = await opened(provider, listen);
  const follower = createTrafficFollower(ports, client, provider, {
    ...DEFAULT_FOLLOWER,
    ...given,
    instance: given.instance ?? instanceName(provider.name, port),
  });
  const url = `http://${urlHost(listen.host)}:${port}`;
  const tls = tlsPort === undefined ? "" : `, and TLS on port ${tlsPort}`;
  return {
    service: follower,
    announcement: `The gateway (${provider.name}) serves MultiClusterIngresses at ${url}${tls}`,
    problem: () => follower.problem(),
    close: () => provider.close(CLOSE_MS),
  };
}

/** What opens the gateway that the flags ask for; undefined: none. Throws UsageError on a value that is not valid. */
export function gatewayBeside(
  settings: Settings,
): ((ports: KitPorts, client: Client) => Promise<OpenTraffic>) | undefined {
  const text = settings.text("gateway-listen");
  if (text === undefined) return undefined;
  const listen = parseListen(text, "gateway-listen");
  const tlsText = settings.text("gateway-tls-listen");
  const tlsListen = tlsText === undefined ? undefined : parseListen(tlsText, "gateway-tls-listen");
  return (ports, client) => {
    const provider = createGateway(ports, {
      listen,
      ...(tlsListen === undefined ? {} : { tlsListen }),
    });
    return openTraffic(ports, client, { provider, listen });
  };
}

/** The same again after a restart on the same port: a Lease is taken over, not left behind. */
function instanceName(provider: string, port: number): string {
  const host = hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-");
  return `traffic-${provider}-${host}-${port}`.replaceAll(/-+/g, "-").slice(0, 63);
}

async function opened(
  provider: LocalProvider,
  { host, port }: ListenAddress,
): Promise<{ readonly port: number; readonly tlsPort?: number }> {
  try {
    return await provider.open();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailed(`cannot serve ingresses on ${host}:${port}: ${why}`);
  }
}
