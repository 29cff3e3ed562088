/**
 * The group `proxy.lifeboat.dev` beside a kube-apiserver: the same proxy as in `lifeboat up`, behind another front.
 *
 * 1. Every replica serves it, whether it leads or not: a tunnel ends at one of them, and the others pass requests on to that one.
 * 2. Two kinds of senders may name users: the API server, by the authority of fronts, and another replica, by a certificate that
 *    the webhook's own authority has signed. That authority never vouches for a front, nor the other way round.
 */
import { clusters } from "@lifeboat/api";
import {
  createAggregatedHandle,
  type Handle,
  type HttpRequest,
  isFront,
  type MemberProxy,
  type PassedOn,
  userOfHeaders,
} from "@lifeboat/apiserver";
import type { Ids, Instant } from "@lifeboat/base";
import { createMemberConnections } from "@lifeboat/controllers/context";
import { type Client, Informer, type KitPorts, type Service } from "@lifeboat/kit";
import {
  type MemberRoutes,
  PEER_HEADER_RULES,
  type PeerAccess,
  type PeerOf,
} from "@lifeboat/proxy";
import { memberRoutes } from "../member-routes.ts";
import type { PlaneWork } from "../plane-work.ts";
import {
  type CertificateMaker,
  type CertifiedPair,
  ownAuthority,
  type WebhookObjects,
} from "../webhook/certificates.ts";
import { CERTIFICATE_SECRET, SERVICE_HOST } from "../webhook/resources.ts";
import { followFront } from "./follow-front.ts";
import { reviewRight } from "./review-right.ts";
import { createTunnelRecords } from "./tunnel-records.ts";

export interface AggregatedProxy {
  /** Builds the way into members. */
  readonly build: (
    routes: MemberRoutes,
    options: {
      readonly peerOf: PeerOf;
      readonly onTunnel: (cluster: string, isOpen: boolean) => void;
    },
  ) => MemberProxy;
  /** Where other replicas reach this one, `https://host:port`; undefined: it does not listen yet. */
  readonly endpoint: () => string | undefined;
}

export interface Aggregated {
  readonly handle: Handle;
  readonly services: readonly Service[];
  /** The CA certificates of front proxies, which may name the user of a request; PEM. */
  clientCa(): string;
  /** Calls back after each change of `clientCa`. */
  onClientCa(changed: () => void): void;
}

/** The common name of a replica to another one. */
const REPLICA = "lifeboat-replica";
const DAY_MS = 24 * 60 * 60 * 1000;
const REPLICA_LIFE_MS = 30 * DAY_MS;

export interface AggregatedPorts extends KitPorts {
  readonly ids: Ids;
  readonly certificates: CertificateMaker;
}

export function createAggregated(
  ports: AggregatedPorts,
  client: Client,
  objects: WebhookObjects,
  { connect, reading }: Pick<PlaneWork, "connect" | "reading">,
  proxy: AggregatedProxy,
): Aggregated {
  const { clock, log, certificates } = ports;
  const identity = ports.ids.uid();
  const front = followFront(ports, client);
  const informer = new Informer(ports, client, clusters, reading);
  // Every replica has these, also while it does not lead and before a migration is over: they write nothing.
  const binding = { bindsSecrets: false };
  const connections = createMemberConnections(ports, client, informer, connect, reading, binding);
  const records = createTunnelRecords(ports, client, identity, () => {
    const endpoint = proxy.endpoint();
    return endpoint === undefined ? undefined : { identity, endpoint };
  });
  const credential = replicaCredential(ports, objects);
  const peers = new Map<string, PeerAccess>();

  /** The same object until something of it changes. */
  const peerOf: PeerOf = (cluster) => {
    const endpoint = records.endpointOf(cluster);
    const own = credential();
    if (endpoint === undefined || own === undefined) return undefined;
    const known = peers.get(endpoint);
    if (known?.certificate === own.certificate && known.caBundle === own.bundle) return known;
    const { certificate, key, bundle } = own;
    const peer = { endpoint, caBundle: bundle, serverName: SERVICE_HOST, certificate, key };
    peers.set(endpoint, peer);
    return peer;
  };

  const userOf = (request: HttpRequest): PassedOn | undefined => {
    const name = request.certificateUser?.name;
    const rules = front.rules();
    if (name === undefined) return undefined;
    const raw = request.rawHeaders ?? [];
    if (isOwnAuthority(request.certificateIssuer ?? "")) {
      const nobody = { clientCa: "", allowedNames: [REPLICA], ...PEER_HEADER_RULES };
      const user = isFront(nobody, name) ? userOfHeaders(nobody, raw) : undefined;
      return user === undefined ? undefined : { user, byReplica: true };
    }
    if (rules === undefined || !isFront(rules, name)) return undefined;
    const user = userOfHeaders(rules, raw);
    return user === undefined ? undefined : { user, byReplica: false };
  };

  function isOwnAuthority(fingerprint: string): boolean {
    const { bundle = "" } =
      ownAuthority(objects.secret.get(CERTIFICATE_SECRET), certificates) ?? {};
    return certificates.split(bundle).some((pem) => certificates.fingerprint(pem) === fingerprint);
  }

  const members = proxy.build(
    memberRoutes(() => connections),
    { peerOf, onTunnel: (cluster, isOpen) => records.changed(cluster, isOpen) },
  );
  return {
    handle: createAggregatedHandle({ clock, log, userOf, review: reviewRight(client), members }),
    services: [front.informer, informer, connections, ...records.services],
    clientCa: () => {
      const { bundle = "" } =
        ownAuthority(objects.secret.get(CERTIFICATE_SECRET), certificates) ?? {};
      return `${bundle}\n${front.rules()?.clientCa ?? ""}`;
    },
    onClientCa: (changed) => {
      front.informer.onChange(changed);
    },
  };
}

/** The client certificate that this replica presents to other replicas. It is renewed when the CA changes, and at half of its life. */
function replicaCredential(
  { clock, certificates }: AggregatedPorts,
  objects: WebhookObjects,
): () => (CertifiedPair & { readonly bundle: string }) | undefined {
  let made: (CertifiedPair & { readonly by: string; readonly until: Instant }) | undefined;
  return () => {
    const authority = ownAuthority(objects.secret.get(CERTIFICATE_SECRET), certificates);
    if (authority === undefined) return undefined;
    const now = clock.now();
    if (made?.by !== authority.certificate || made.until - now < REPLICA_LIFE_MS / 2) {
      const pair = certificates.client(authority, REPLICA, now, REPLICA_LIFE_MS);
      made = { ...pair, by: authority.certificate, until: (now + REPLICA_LIFE_MS) as Instant };
    }
    return { certificate: made.certificate, key: made.key, bundle: authority.bundle };
  };
}
