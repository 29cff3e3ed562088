/**
 * The Lease of a Pull cluster, `karmada-cluster/<cluster>`: the agent's sign of life.
 *
 * 1. It is made after the first status of the Cluster, belongs to the Cluster, and is renewed from then on whatever becomes of
 *    the member: only a request to the plane is made here, and each ends in time.
 * 2. With each renewal it shows that the agent that made it knows endorsements (`lifeboat.dev/endorsement`), and carries the stray copies that the plane is to
 *    judge, so that neither costs a write of its own.
 * 3. A renewal that fails is tried again at the next beat. Two agents of one cluster renew the same Lease; neither minds.
 */
import { type Cluster, isRefused, keyOf, orNothing, Refused } from "@lifeboat/api";
import { formatMicroTime, sleep } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { endorsementOf } from "@lifeboat/core/clusters/agents";
import {
  type Client,
  type KitPorts,
  type Lease,
  leases,
  NotSent,
  OutcomeUnknown,
  type Service,
} from "@lifeboat/kit";
import { withDeadline } from "../status/deadline.ts";

export interface ClusterLeaseOptions {
  readonly leaseDurationMs: number;
  /** From one renewal to the next. */
  readonly renewMs: number;
}

export interface ClusterLeaseParts {
  readonly cluster: string;
  readonly plane: Client;
  /** The own Cluster as the plane has it; undefined: not known yet. */
  own(): Cluster | undefined;
  /** What the Lease reports beside the sign of life. */
  annotations(): Readonly<Record<string, string>>;
}

/** Builds the service that renews the Lease. */
export function createClusterLease(
  ports: KitPorts,
  parts: ClusterLeaseParts,
  options: ClusterLeaseOptions,
): Service {
  return { name: "cluster-lease", run: (signal) => new Beat(ports, parts, options).run(signal) };
}

/** How often is looked for the first status. */
const FIRST_MS = 1000;

class Beat {
  readonly #ports: KitPorts;
  readonly #parts: ClusterLeaseParts;
  readonly #options: ClusterLeaseOptions;
  /** As the plane answered it last; undefined: to be read first. */
  #lease: Lease | undefined;
  #hasFailed = false;

  constructor(ports: KitPorts, parts: ClusterLeaseParts, options: ClusterLeaseOptions) {
    this.#ports = ports;
    this.#parts = parts;
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    while (!signal.aborted) {
      const began = clock.monotonic();
      const own = this.#parts.own();
      const hasStatus = own?.status?.conditions !== undefined;
      if (hasStatus) await this.#renew(own, signal);
      const everyMs = hasStatus ? this.#options.renewMs : FIRST_MS;
      await sleep(clock, Math.max(0, everyMs - (clock.monotonic() - began)), signal);
    }
  }

  async #renew(own: Cluster, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#ports;
    const { renewMs } = this.#options;
    try {
      await withDeadline(clock, renewMs, signal, (until) => this.#write(own, until));
      if (this.#hasFailed) log.info("the lease is renewed again");
      this.#hasFailed = false;
    } catch (error) {
      this.#lease = undefined;
      if (signal.aborted) return;
      const isTheirs =
        error instanceof Refused || error instanceof NotSent || error instanceof OutcomeUnknown;
      if (!isTheirs) throw error;
      if (!this.#hasFailed && !isRefused(error, "Conflict"))
        log.warn("the lease cannot be renewed, trying again", { problem: error.message });
      this.#hasFailed = true;
    }
  }

  async #write(own: Cluster, signal: AbortSignal): Promise<void> {
    const { plane } = this.#parts;
    const wanted = this.#wanted(own);
    const key = keyOf(wanted);
    const found = this.#lease ?? (await orNothing(plane.get(leases, key, { signal })));
    this.#lease =
      found === undefined
        ? await plane.create(leases, wanted, { signal })
        : await plane.update(
            leases,
            { ...found, metadata: { ...found.metadata, ...wanted.metadata }, spec: wanted.spec },
            { signal },
          );
  }

  #wanted({ apiVersion, kind, metadata: { name, uid } }: Cluster) {
    const { cluster } = this.#parts;
    const renewTime = formatMicroTime(this.#ports.clock.now());
    return {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        namespace: wellKnown.CLUSTER_NAMESPACE,
        name: cluster,
        annotations: {
          [wellKnown.ENDORSEMENT]: endorsementOf(renewTime),
          ...this.#parts.annotations(),
        },
        ownerReferences: [{ apiVersion, kind, name, uid }],
      },
      spec: {
        holderIdentity: cluster,
        leaseDurationSeconds: Math.ceil(this.#options.leaseDurationMs / 1000),
        renewTime,
      },
    };
  }
}
