/**
 * The load-balancer port: what a provider has to do with a routing table. Every provider is held to provider.suite.ts.
 *
 * 1. `apply` is level-based: the table is everything that shall be. When it resolves, no new request goes to a backend that
 *    drains or is not in the table; requests under way there go on to their end.
 *    Only where no serving backend of a pool takes connections do those that drain, and take them, get its requests.
 * 2. When it rejects, the table before is still carried out as far as possible, and nothing is confirmed.
 * 3. Before the first `apply` nothing is served: a provider trusts no table of an earlier run.
 */
import type { RoutingTable } from "@lifeboat/core/traffic";

/** A certificate and its key, as PEM, for these hosts. */
export interface ServedCertificate {
  readonly hosts: readonly string[];
  readonly certificate: string;
  readonly key: string;
}

/**
 * Why a pool is not left yet: requests are under way at backends that drain or were taken out (`ends`), or backends that drain get
 * new ones, as no serving one takes connections (`serves`).
 */
export type Leaving = "ends" | "serves";

export interface TrafficProvider {
  /** `embedded` or `haproxy`: the value of the label of its Lease. */
  readonly name: string;
  apply(table: RoutingTable, certificates: readonly ServedCertificate[]): Promise<void>;
  /** The pools, by id, of which backends that drain or were taken out are still used. */
  leaving(): Promise<ReadonlyMap<string, Leaving>>;
  /** Why it does not serve; undefined: it does. */
  problem(): string | undefined;
}

/** A provider that listens on this machine. */
export interface LocalProvider extends TrafficProvider {
  /** Listens; answers the ports. */
  open(): Promise<{ readonly port: number; readonly tlsPort?: number }>;
  /** No new connections; requests under way get so long. */
  close(closeMs: number): Promise<void>;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}
