/**
 * The record of which replica has the tunnel of a cluster: one Lease per cluster, in the namespace of the control plane, where
 * no agent may write. Pure.
 *
 * 1. It is written when a tunnel opens and removed when it ends; a tunnel at rest writes nothing. A record that a dead replica
 *    left behind names a place that nothing answers at; the agent, whose connection has ended too, opens another tunnel.
 * 2. Of two replicas that have a tunnel of one cluster, the one whose tunnel is newer keeps the record. No times are compared, because
 *    two machines need not agree on them: a replica takes the record when a tunnel into it opens, from whichever holds it, and leaves
 *    it to the holder afterwards.
 */
import type { New, ObjectKey } from "@lifeboat/api";
import { formatMicroTime, type Instant } from "@lifeboat/base";
import type { Lease } from "@lifeboat/kit";
import { SYSTEM_NAMESPACE } from "../webhook/resources.ts";

const PREFIX = "tunnel.";
/** On every such Lease, so that replicas can watch them alone. */
export const TUNNEL_LABEL = "lifeboat.dev/tunnel";
/** Where the other replicas reach the holder. */
const ENDPOINT = "lifeboat.dev/endpoint";

export interface ReplicaPlace {
  /** Of this process; another one on the same host has another. */
  readonly identity: string;
  /** `https://host:port`. */
  readonly endpoint: string;
}

export function recordKey(cluster: string): ObjectKey {
  return { namespace: SYSTEM_NAMESPACE, name: `${PREFIX}${cluster}` };
}

/** The cluster that a record is about; undefined: it is no record. */
export function clusterOfRecord(name: string): string | undefined {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined;
}

/** Where the tunnel is, for a replica that has none; undefined: nowhere, or here. */
export function holderEndpoint(record: Lease | undefined, identity: string): string | undefined {
  const holder = record?.spec?.holderIdentity ?? "";
  if (holder === "" || holder === identity) return undefined;
  const endpoint = record?.metadata.annotations?.[ENDPOINT] ?? "";
  return /^https:\/\/[^/?#@]+$/.test(endpoint) && URL.canParse(endpoint) ? endpoint : undefined;
}

export type RecordPlan =
  | { readonly kind: "leave" }
  | { readonly kind: "create"; readonly record: New<Lease> }
  | { readonly kind: "update"; readonly record: Lease }
  | { readonly kind: "delete"; readonly record: Lease };

export interface RecordView {
  readonly cluster: string;
  readonly record: Lease | undefined;
  readonly replica: ReplicaPlace;
  /** The tunnel into this replica; undefined: there is none. */
  readonly tunnel: OpenTunnel | undefined;
}

export interface OpenTunnel {
  readonly openedAt: Instant;
  /** Whether the record was written for this tunnel: from then on another holder has a newer one. */
  readonly isRecorded: boolean;
}

export function decideRecord({ cluster, record, replica, tunnel }: RecordView): RecordPlan {
  const isOurs = record?.spec?.holderIdentity === replica.identity;
  if (tunnel === undefined)
    return isOurs && record !== undefined ? { kind: "delete", record } : { kind: "leave" };
  const wanted = recordOf(cluster, replica, tunnel.openedAt);
  if (record === undefined) return { kind: "create", record: wanted };
  if (tunnel.isRecorded) return { kind: "leave" };
  const metadata = {
    ...record.metadata,
    labels: { ...record.metadata.labels, ...wanted.metadata.labels },
    annotations: { ...record.metadata.annotations, ...wanted.metadata.annotations },
  };
  return { kind: "update", record: { ...record, metadata, spec: { ...wanted.spec } } };
}

function recordOf(
  cluster: string,
  { identity, endpoint }: ReplicaPlace,
  openedAt: Instant,
): New<Lease> {
  const acquireTime = formatMicroTime(openedAt);
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      ...recordKey(cluster),
      labels: { [TUNNEL_LABEL]: "true" },
      annotations: { [ENDPOINT]: endpoint },
    },
    spec: { holderIdentity: identity, acquireTime, renewTime: acquireTime },
  };
}
