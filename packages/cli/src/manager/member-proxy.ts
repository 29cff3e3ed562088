/** The way into members of one replica of the manager, and where the other replicas find it. */
import { networkInterfaces } from "node:os";
import type { JudgeAddress, KitPorts } from "@lifeboat/kit";
import type { AggregatedProxy } from "@lifeboat/plane";
import { createMemberProxy, type Proxy } from "@lifeboat/proxy/adapters";
import type { Listen } from "../listen.ts";
import type { Settings } from "../settings.ts";

export interface ReplicaProxy extends AggregatedProxy {
  /** From now on it can be reached. */
  listens(port: number): void;
  /** Ends all tunnels and connections to members: their agents go to another replica. */
  close(): void;
}

export function memberProxy(
  ports: Pick<KitPorts, "log" | "metrics">,
  judgeAddress: JudgeAddress,
  host: string,
): ReplicaProxy {
  let proxy: Proxy | undefined;
  let endpoint: string | undefined;
  return {
    build: (routes, options) => {
      proxy = createMemberProxy(ports, routes, { judgeAddress, ...options });
      return proxy;
    },
    endpoint: () => endpoint,
    listens: (port) => {
      endpoint = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
    },
    close: () => proxy?.close(),
  };
}

/** `--advertise-address`, or the address that the replica listens on, or the first one of the machine that others reach. */
export function advertisedHost(settings: Settings, { host }: Listen): string {
  const given = settings.text("advertise-address");
  if (given !== undefined) return given.replace(/^\[(.*)\]$/, "$1");
  if (host !== "0.0.0.0" && host !== "::") return host;
  const outward = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith("fe80:"));
  const first = outward.find(({ family }) => family === "IPv4") ?? outward[0];
  return first?.address ?? "127.0.0.1";
}
