/**
 * How members are reached: a Cluster and its Secret, turned into a Client.
 *
 * 1. A connection is replaced when, and only when, the endpoint or the credentials changed; nothing needs a restart.
 * 2. A credential is sent only to the endpoint that it was given for (connections/access.ts).
 * 3. Asking never waits. A cluster whose Secret is missing or broken is `unusable` with the reason, and only it.
 */
import type { Excess } from "@lifeboat/core/failover/health";
import type { Client, CollectionLimits, ExcessiveResponse, Service } from "@lifeboat/kit";

/** How a Cluster and its Secret describe the way to a member. */
export interface MemberAccess {
  readonly cluster: string;
  /** `https://host:port`, without a slash at the end. */
  readonly endpoint: string;
  readonly token: string;
  /** PEM; absent: the system's authorities. */
  readonly caBundle?: string;
  readonly insecureSkipTlsVerification: boolean;
  readonly proxyUrl?: string;
  readonly proxyHeaders?: Readonly<Record<string, readonly string[]>>;
}

/**
 * The port: opens a connection. Nothing is sent before the first call. Throws an Error with a sentence when it cannot.
 * `onExcess` is called when the member sends more than it may; members in the same process need no such limits.
 */
export interface ConnectMember {
  (access: MemberAccess, onExcess: (excess: ExcessiveResponse) => void): MemberClient;
}

export interface MemberClient {
  readonly client: Client;
  /** Ends what is under way and frees what it holds. */
  close(): void;
}

export type MemberConnection =
  | {
      readonly kind: "connected";
      readonly client: Client;
      readonly access: MemberAccess;
      /** How much the member may put into an informer's copy. */
      readonly limits: CollectionLimits;
    }
  /** Push, but it cannot be reached with what is written down. */
  | { readonly kind: "unusable"; readonly message: string }
  /** No Cluster of this name, or one that comes to us by itself (Pull). */
  | { readonly kind: "none" };

export type ImpersonatorAccess =
  | { readonly kind: "usable"; readonly access: MemberAccess }
  /** Push, but there is no way for the proxy. */
  | { readonly kind: "unusable"; readonly message: string }
  /** It comes to us by itself. */
  | { readonly kind: "pull" }
  /** No Cluster of this name. */
  | { readonly kind: "none" };

export interface MemberConnections extends Service {
  whenSynced(signal: AbortSignal): Promise<boolean>;
  /** The same object until the connection changes, so that it can be compared by identity. */
  of(cluster: string): MemberConnection;
  /** How the proxy reaches it: with the token of its impersonator. Asked for each request. */
  impersonatorOf(cluster: string): ImpersonatorAccess;
  /** Called with the cluster's name after its connection changed. The answer ends it. */
  onChange(handler: (cluster: string) => void): () => void;
  /** What the member sent beyond its limits; undefined: nothing that this process saw. */
  excessOf(cluster: string): Excess | undefined;
  /** Called with the cluster's name when its member begins to exceed its limits. The answer ends it. */
  onExcess(handler: (cluster: string) => void): () => void;
}
