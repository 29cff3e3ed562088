/**
 * Keeps a connection to each Push cluster by its Cluster object and its Secret; see member-connections.ts.
 *
 * 1. What is compared is the access, not the objects: a label or a heartbeat on the Cluster changes no connection.
 * 2. A new connection is in place before the old one is closed, and calls under way on the old one may finish: a rotated
 *    credential is no failure of the member.
 * 3. `whenSynced` answers only once every connection is built: no caller takes "not read yet" for "none".
 * 4. What goes wrong with one cluster's access makes that cluster unusable, and nothing else.
 * 5. A Secret that is bound to no endpoint is bound to that of its first use, in a write before that (access.ts): by the one process
 *    whose turn it is to write. For the others it is unusable until then.
 */
import { type AnyObject, type Cluster, equalJson, formatKey, secrets } from "@lifeboat/api";
import { type Cancel, unreachable } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { type Excess, extendExcess } from "@lifeboat/core/failover/health";
import {
  type Client,
  type CollectionLimits,
  type ExcessiveResponse,
  type ExcessKind,
  Informer,
  type KitPorts,
} from "@lifeboat/kit";
import type { Reading } from "../informers.ts";
import type {
  ConnectMember,
  ImpersonatorAccess,
  MemberAccess,
  MemberClient,
  MemberConnection,
  MemberConnections,
} from "../member-connections.ts";
import { accessOf, impersonatorAccess } from "./access.ts";

const NONE = Object.freeze({ kind: "none" } as const);

/** How long calls on a replaced connection may go on: as long as a call can take, and a little. */
const RETIREMENT_MS = 35_000;

/** How long to wait after a Secret could not be bound. */
const BIND_AGAIN_MS = 5000;

/** Kubernetes supports clusters of up to 150,000 pods; what is kept of one is small. */
const MAX_OBJECTS = 150_000;
const PAGE_SIZE = 250;

export interface ConnectionsOptions {
  /** Whether Secrets are bound here; absent: yes. Not where several replicas keep connections beside the leader. */
  readonly bindsSecrets?: boolean;
}

interface Kept {
  readonly connection: MemberConnection;
  readonly member?: MemberClient;
}

/** Builds the connections; they follow Clusters and Secrets while they run. */
export function createMemberConnections(
  ports: KitPorts,
  plane: Client,
  clusters: Informer<Cluster>,
  connect: ConnectMember,
  reading: Reading = {},
  options: ConnectionsOptions = {},
): MemberConnections {
  return new FollowedConnections(ports, plane, clusters, connect, reading, options);
}

class FollowedConnections implements MemberConnections {
  readonly name = "member-connections";
  readonly #ports: KitPorts;
  readonly #secrets: Informer<AnyObject>;
  readonly #clusters: Informer<Cluster>;
  readonly #connect: ConnectMember;
  readonly #kept = new Map<string, Kept>();
  /** The clusters that name a Secret, by the Secret's key, and the other way round. */
  readonly #users = new Map<string, Set<string>>();
  readonly #secretOf = new Map<string, string>();
  /** Connections that were replaced and are about to be closed. */
  readonly #retired = new Map<MemberClient, Cancel>();
  readonly #handlers = new Set<(cluster: string) => void>();
  readonly #waiting = new Set<() => void>();
  readonly #excesses = new Map<string, Excess>();
  /** Which of them were logged: each kind once until the member has kept to its limits. */
  readonly #loggedExcesses = new Map<string, Set<ExcessKind>>();
  readonly #excessHandlers = new Set<(cluster: string) => void>();
  /** Secrets that are being bound, or wait to be tried again, by key. */
  readonly #binding = new Map<string, Cancel>();
  readonly #plane: Client;
  readonly #bindsSecrets: boolean;
  #ready = false;

  constructor(
    ports: KitPorts,
    plane: Client,
    clusters: Informer<Cluster>,
    connect: ConnectMember,
    reading: Reading,
    { bindsSecrets = true }: ConnectionsOptions,
  ) {
    this.#bindsSecrets = bindsSecrets;
    this.#ports = ports;
    this.#plane = plane;
    this.#secrets = new Informer(ports, plane, secrets, reading);
    this.#clusters = clusters;
    this.#connect = connect;
  }

  whenSynced(signal: AbortSignal): Promise<boolean> {
    if (this.#ready) return Promise.resolve(true);
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const finish = (): void => {
        this.#waiting.delete(finish);
        signal.removeEventListener("abort", finish);
        resolve(this.#ready);
      };
      this.#waiting.add(finish);
      signal.addEventListener("abort", finish, { once: true });
    });
  }

  of(cluster: string): MemberConnection {
    return this.#kept.get(cluster)?.connection ?? NONE;
  }

  impersonatorOf(name: string): ImpersonatorAccess {
    const cluster = this.#clusters.get({ namespace: "", name });
    if (cluster === undefined) return NONE;
    if (cluster.spec.syncMode !== "Push") return { kind: "pull" };
    const connection = this.of(name);
    if (connection.kind === "unusable") return connection;
    if (connection.kind === "none")
      return { kind: "unusable", message: "the control plane has not connected to it yet" };
    return impersonatorAccess(cluster, connection.access, (key) => this.#secrets.get(key));
  }

  onChange(handler: (cluster: string) => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  excessOf(cluster: string): Excess | undefined {
    return this.#excesses.get(cluster);
  }

  onExcess(handler: (cluster: string) => void): () => void {
    this.#excessHandlers.add(handler);
    return () => this.#excessHandlers.delete(handler);
  }

  async run(signal: AbortSignal): Promise<void> {
    const following = this.#follow(signal);
    try {
      await this.#secrets.run(signal);
    } finally {
      for (const stop of await following) stop();
      for (const [member, cancel] of this.#retired) {
        cancel();
        member.close();
      }
      this.#retired.clear();
      for (const cancel of this.#binding.values()) cancel();
      this.#binding.clear();
      for (const name of this.#kept.keys()) this.#put(name, { connection: NONE });
    }
  }

  async #follow(signal: AbortSignal): Promise<readonly (() => void)[]> {
    const synced =
      (await this.#clusters.whenSynced(signal)) && (await this.#secrets.whenSynced(signal));
    if (!synced) return [];
    const stops = [
      this.#clusters.onChange((old, now) => this.#look((now ?? old)?.metadata.name ?? "")),
      this.#secrets.onChange((old, now) => {
        const { namespace = "", name = "" } = (now ?? old)?.metadata ?? {};
        const users = this.#users.get(formatKey({ namespace, name })) ?? [];
        for (const cluster of users) this.#look(cluster);
      }),
    ];
    this.#ready = true;
    for (const finish of this.#waiting) finish();
    return stops;
  }

  #look(name: string): void {
    const cluster = this.#clusters.get({ namespace: "", name });
    this.#noteSecret(name, cluster);
    const old = this.of(name);
    if (cluster === undefined || cluster.spec.syncMode !== "Push") {
      if (old !== NONE) this.#put(name, { connection: NONE });
      if (cluster === undefined) {
        this.#excesses.delete(name);
        this.#loggedExcesses.delete(name);
      }
      return;
    }
    const found = accessOf(cluster, (key) => this.#secrets.get(key));
    switch (found.kind) {
      case "unusable":
        this.#putUnusable(name, found.message);
        break;
      case "unbound":
        // A connection to the same endpoint stays: its Secret has only lost the note.
        if (old.kind !== "connected" || old.access.endpoint !== found.endpoint)
          this.#putUnusable(name, "the Secret is about to be bound to the endpoint");
        if (this.#bindsSecrets) this.#bind(name, found.secret, found.endpoint);
        break;
      case "usable":
        if (old.kind !== "connected" || !equalJson(old.access, found.access))
          this.#open(name, found.access);
        break;
      default:
        unreachable(found);
    }
  }

  /** Writes on the Secret for which endpoint it is. The Secret's change brings the next reconcile. */
  #bind(cluster: string, { metadata }: AnyObject, endpoint: string): void {
    const { namespace = "", name, resourceVersion } = metadata;
    const id = formatKey({ namespace, name });
    if (this.#binding.has(id)) return;
    const annotations = { [wellKnown.API_ENDPOINT]: endpoint };
    const body = { metadata: { resourceVersion, annotations } };
    const again = (error: unknown): void => {
      if (!this.#binding.has(id)) return;
      this.#ports.log.warn("a Secret cannot be bound to the endpoint of its Cluster", {
        cluster,
        error: error instanceof Error ? error.message : String(error),
      });
      const retry = (): void => {
        this.#binding.delete(id);
        this.#look(cluster);
      };
      this.#binding.set(id, this.#ports.clock.after(BIND_AGAIN_MS, retry));
    };
    this.#binding.set(id, () => undefined);
    this.#plane
      .patch(secrets, { namespace, name }, { type: "merge", body })
      .then(() => this.#binding.delete(id), again);
  }

  #noteExcess(cluster: string, { kind, message }: ExcessiveResponse): void {
    const former = this.#excesses.get(cluster);
    const now = this.#ports.clock.monotonic();
    const excess = extendExcess(former, { reason: kind, message }, now);
    this.#excesses.set(cluster, excess);
    const isFirst = excess.since !== former?.since;
    const logged = (isFirst ? undefined : this.#loggedExcesses.get(cluster)) ?? new Set();
    if (!logged.has(kind))
      this.#ports.log.warn("a member exceeds its limits", { cluster, reason: kind, message });
    this.#loggedExcesses.set(cluster, logged.add(kind));
    if (isFirst) for (const handler of this.#excessHandlers) handler(cluster);
  }

  #open(name: string, access: MemberAccess): void {
    let member: MemberClient;
    const onExcess = (excess: ExcessiveResponse): void => this.#noteExcess(name, excess);
    const limits: CollectionLimits = {
      maxObjects: MAX_OBJECTS,
      pageSize: PAGE_SIZE,
      tell: onExcess,
    };
    try {
      member = this.#connect(access, onExcess);
    } catch (error) {
      this.#putUnusable(name, error instanceof Error ? error.message : String(error));
      return;
    }
    const { client } = member;
    this.#put(name, {
      connection: Object.freeze({ kind: "connected", client, access, limits }),
      member,
    });
  }

  #putUnusable(name: string, message: string): void {
    const old = this.of(name);
    if (old.kind === "unusable" && old.message === message) return;
    this.#put(name, { connection: Object.freeze({ kind: "unusable", message }) });
  }

  #put(name: string, kept: Kept): void {
    const old = this.#kept.get(name);
    if (kept.connection === NONE) this.#kept.delete(name);
    else this.#kept.set(name, kept);
    if (old?.member !== undefined)
      if (kept.member === undefined) old.member.close();
      else this.#retire(old.member);
    for (const handler of this.#handlers) handler(name);
  }

  #retire(member: MemberClient): void {
    const cancel = this.#ports.clock.after(RETIREMENT_MS, () => {
      this.#retired.delete(member);
      member.close();
    });
    this.#retired.set(member, cancel);
  }

  #noteSecret(name: string, cluster: Cluster | undefined): void {
    const reference = cluster?.spec.secretRef;
    const now = reference === undefined ? undefined : formatKey(reference);
    const before = this.#secretOf.get(name);
    if (now === before) return;
    if (before !== undefined) this.#forgetUser(before, name);
    if (now === undefined) {
      this.#secretOf.delete(name);
      return;
    }
    this.#secretOf.set(name, now);
    const users = this.#users.get(now);
    if (users === undefined) this.#users.set(now, new Set([name]));
    else users.add(name);
  }

  #forgetUser(secret: string, cluster: string): void {
    const users = this.#users.get(secret);
    users?.delete(cluster);
    if (users?.size === 0) this.#users.delete(secret);
  }
}
