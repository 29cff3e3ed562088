/** Keeps the records of this replica's tunnels, and finds the tunnels of the others (tunnel-record.ts decides). */
import { isRefused, type ObjectKey } from "@lifeboat/api";
import {
  type Client,
  type Controller,
  createController,
  done,
  Informer,
  type KitPorts,
  type Lease,
  leases,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import { SYSTEM_NAMESPACE } from "../webhook/resources.ts";
import {
  clusterOfRecord,
  decideRecord,
  holderEndpoint,
  type OpenTunnel,
  recordKey,
  type ReplicaPlace,
  TUNNEL_LABEL,
} from "./tunnel-record.ts";

export interface TunnelRecords {
  readonly services: readonly Service[];
  /** A tunnel into this replica has opened, or there is none any more. */
  changed(cluster: string, isOpen: boolean): void;
  /** Where another replica has the tunnel; undefined: none does, as far as this one knows. */
  endpointOf(cluster: string): string | undefined;
}

/** `place` is asked when it is needed: the port is known once it is open. */
export function createTunnelRecords(
  ports: KitPorts,
  client: Client,
  identity: string,
  place: () => ReplicaPlace | undefined,
): TunnelRecords {
  const tunnels = new Map<string, OpenTunnel>();
  const records = new Informer<Lease>(ports, client, leases, {
    namespace: SYSTEM_NAMESPACE,
    labelSelector: `${TUNNEL_LABEL}=true`,
  });
  const controller: Controller = createController(ports, {
    name: "tunnel-records",
    concurrency: 4,
    watches: [watching(records, ownKey)],
    reconcile: (key, signal) => reconcile(key, signal),
  });

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const cluster = clusterOfRecord(key.name);
    const replica = place();
    if (cluster === undefined || replica === undefined) return done;
    const tunnel = tunnels.get(cluster);
    const plan = decideRecord({ cluster, record: records.get(key), replica, tunnel });
    try {
      switch (plan.kind) {
        case "leave":
          break;
        case "create":
          await client.create(leases, plan.record, { signal });
          noteRecorded(cluster, tunnel);
          break;
        case "update":
          await client.update(leases, plan.record, { signal });
          noteRecorded(cluster, tunnel);
          break;
        case "delete": {
          const { uid, resourceVersion } = plan.record.metadata;
          await client.delete(leases, key, { signal, preconditions: { uid, resourceVersion } });
        }
      }
    } catch (error) {
      // Removed, or made, by another replica: its change brings the next reconcile.
      if (!isRefused(error, "NotFound") && !isRefused(error, "AlreadyExists")) throw error;
    }
    return done;
  }

  /** Unless another tunnel has opened meanwhile. */
  function noteRecorded(cluster: string, tunnel: OpenTunnel | undefined): void {
    if (tunnel !== undefined && tunnels.get(cluster) === tunnel)
      tunnels.set(cluster, { ...tunnel, isRecorded: true });
  }

  return {
    services: [records, controller],
    changed: (cluster, isOpen) => {
      if (isOpen) tunnels.set(cluster, { openedAt: ports.clock.now(), isRecorded: false });
      else tunnels.delete(cluster);
      controller.enqueue(recordKey(cluster));
    },
    endpointOf: (cluster) => holderEndpoint(records.get(recordKey(cluster)), identity),
  };
}
