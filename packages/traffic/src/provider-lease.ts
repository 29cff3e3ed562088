/**
 * The Lease of one load balancer, in `lifeboat-system`: that it serves, and which generations it has carried out (D27).
 *
 * 1. It is renewed only while the load balancer serves. A lapsed Lease counts as not serving.
 * 2. A confirmation is written at once; without one the Lease is written every `RENEW_MS`.
 * 3. Without the control plane nothing is written, and traffic goes on.
 */
import { isRefused, type KubeObject } from "@lifeboat/api";
import { type Clock, formatMicroTime } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { type Client, type Lease, leases } from "@lifeboat/kit";

const LEASE_SECONDS = 15;
const RENEW_MS = 5000;

export interface ProviderLeaseOptions {
  /** The Lease's name: the same again after a restart. */
  readonly instance: string;
  readonly provider: string;
  /** The class of ingresses that it serves beside those without one. */
  readonly ingressClass: string;
}

export class ProviderLease {
  readonly #clock: Clock;
  readonly #client: Client;
  readonly #options: ProviderLeaseOptions;
  #last: Lease | undefined;
  #writtenAt: number | undefined;
  #applied = "";

  constructor(clock: Clock, client: Client, options: ProviderLeaseOptions) {
    this.#clock = clock;
    this.#client = client;
    this.#options = options;
  }

  /** Whether the Lease has to be written to confirm this, or to be renewed. */
  isDue(applied: string): boolean {
    return applied !== this.#applied || this.msUntilDue() <= 0;
  }

  msUntilDue(): number {
    if (this.#writtenAt === undefined) return 0;
    return Math.max(0, this.#writtenAt + RENEW_MS - this.#clock.monotonic());
  }

  async write(applied: string, signal: AbortSignal): Promise<void> {
    const { instance: name, provider, ingressClass } = this.#options;
    const now = formatMicroTime(this.#clock.now());
    const key = { namespace: wellKnown.OWN_NAMESPACE, name };
    const found = this.#last ?? (await this.#read(signal));
    const metadata = {
      ...(found?.metadata ?? key),
      labels: { ...found?.metadata.labels, [wellKnown.TRAFFIC_PROVIDER]: provider },
      annotations: {
        ...found?.metadata.annotations,
        [wellKnown.TRAFFIC_APPLIED]: applied,
        [wellKnown.TRAFFIC_CLASS]: ingressClass,
      },
    };
    const spec = {
      acquireTime: found?.spec?.acquireTime ?? now,
      holderIdentity: name,
      leaseDurationSeconds: LEASE_SECONDS,
      renewTime: now,
    };
    try {
      this.#last =
        found === undefined
          ? await this.#client.create(leases, { ...KIND, metadata, spec }, { signal })
          : await this.#client.update(
              leases,
              { ...found, metadata: metadata as KubeObject["metadata"], spec },
              { signal },
            );
      this.#applied = applied;
      this.#writtenAt = this.#clock.monotonic();
    } catch (error) {
      this.#last = undefined;
      throw error;
    }
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    try {
      return await this.#client.get(
        leases,
        { namespace: wellKnown.OWN_NAMESPACE, name: this.#options.instance },
        { signal },
      );
    } catch (error) {
      if (isRefused(error, "NotFound")) return undefined;
      throw error;
    }
  }
}

const KIND = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" } as const;
