/** The port by which a member is reached. It is asked for each request, so that a change of the Cluster counts at once. */
import type { HeaderLines } from "./headers.ts";

/** A member that the control plane dials: its registered endpoint, and the credential that may impersonate there. */
export interface PushAccess {
  /** `https://host:port`, perhaps with a path, without a slash at the end. */
  readonly endpoint: string;
  /** The token of the member's impersonator; never another one. */
  readonly token: string;
  /** PEM; absent: the system's authorities. */
  readonly caBundle?: string;
  readonly insecureSkipTlsVerification: boolean;
  readonly proxyUrl?: string;
  readonly proxyHeaders?: Readonly<Record<string, readonly string[]>>;
}

export type Route =
  /** The same object until the access changes: connections are kept by it. */
  | { readonly kind: "push"; readonly access: PushAccess }
  /** The member's agent has to have opened a tunnel. */
  | { readonly kind: "tunnel" }
  /** There is a Cluster, and no way in; the message is a sentence. */
  | { readonly kind: "closed"; readonly message: string }
  | { readonly kind: "absent" };

export interface MemberRoutes {
  of(cluster: string): Route;
}

/** One request as it leaves for a member, whichever way it takes. */
export interface Outgoing {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  readonly headers: HeaderLines;
  readonly body: AsyncIterable<Uint8Array> | undefined;
  /** Whether it asks for another protocol. */
  readonly isUpgrade: boolean;
  readonly signal: AbortSignal;
}

/** Another replica of the control plane, which has the tunnel of a cluster. */
export interface PeerAccess {
  /** `https://host:port`. */
  readonly endpoint: string;
  /** The authority of what it serves with; PEM. */
  readonly caBundle: string;
  /** What its certificate is for. */
  readonly serverName: string;
  /** The client certificate that this replica presents to the other one; PEM. */
  readonly certificate: string;
  readonly key: string;
}

/** The port by which it is known which other replica has the tunnel of a cluster; undefined: none that is known. */
export type PeerOf = (cluster: string) => PeerAccess | undefined;
