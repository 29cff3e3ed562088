/**
 * Keeps a connection to each Push cluster as its Cluster object and its Secret say; see member-connections.ts.
 *
 * 1. What is compared is the access, not the objects: a label or a heartbeat on the Cluster changes no connection.
 * 2. An old connection is closed after the new one is in place, so that nobody finds none in between.
 */
import { type AnyObject, type Cluster, equalJson, formatKey, type Resource } from "@lifeboat/api";
import { type Client, Informer, type KitPorts } from "@lifeboat/kit";
import type {
  ConnectMember,
  MemberClient,
  MemberConnection,
  MemberConnections,
} from "../member-connections.ts";
import { accessOf } from "./access.ts";

const SECRETS: Resource = {
  group: "",
  version: "v1",
  plural: "secrets",
  kind: "Secret",
  namespaced: true,
};

const NONE: MemberConnection = Object.freeze({ kind: "none" });

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
): MemberConnections {
  return new FollowedConnections(ports, plane, clusters, connect);
}

class FollowedConnections implements MemberConnections {
  readonly name = "member-connections";
  readonly #secrets: Informer<AnyObject>;
  readonly #clusters: Informer<Cluster>;
  readonly #connect: ConnectMember;
  readonly #kept = new Map<string, Kept>();
  readonly #handlers = new Set<(cluster: string) => void>();

  constructor(ports: KitPorts, plane: Client, clusters: Informer<Cluster>, connect: ConnectMember) {
    this.#secrets = new Informer(ports, plane, SECRETS, {});
    this.#clusters = clusters;
    this.#connect = connect;
  }

  async whenSynced(signal: AbortSignal): Promise<boolean> {
    return (await this.#clusters.whenSynced(signal)) && (await this.#secrets.whenSynced(signal));
  }

  of(cluster: string): MemberConnection {
    return this.#kept.get(cluster)?.connection ?? NONE;
  }

  onChange(handler: (cluster: string) => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  async run(signal: AbortSignal): Promise<void> {
    const following = this.#follow(signal);
    try {
      await this.#secrets.run(signal);
    } finally {
      for (const stop of await following) stop();
      for (const name of this.#kept.keys()) this.#put(name, { connection: NONE });
      this.#kept.clear();
    }
  }

  async #follow(signal: AbortSignal): Promise<readonly (() => void)[]> {
    if (!(await this.whenSynced(signal))) return [];
    return [
      this.#clusters.onChange((old, now) => this.#look((now ?? old)?.metadata.name ?? "")),
      this.#secrets.onChange((old, now) => {
        const secret = now ?? old;
        if (secret !== undefined) this.#secretChanged(formatKey(secretKey(secret)));
      }),
    ];
  }

  #secretChanged(key: string): void {
    for (const { metadata, spec } of this.#clusters.list())
      if (spec.secretRef !== undefined && formatKey(spec.secretRef) === key)
        this.#look(metadata.name);
  }

  #look(name: string): void {
    const cluster = this.#clusters.get({ namespace: "", name });
    const old = this.of(name);
    if (cluster === undefined || cluster.spec.syncMode !== "Push") {
      if (old !== NONE) this.#put(name, { connection: NONE });
      return;
    }
    const found = accessOf(cluster, (key) => this.#secrets.get(key));
    if (typeof found === "string") {
      if (old.kind === "unusable" && old.message === found) return;
      this.#put(name, { connection: { kind: "unusable", message: found } });
      return;
    }
    if (old.kind === "connected" && equalJson(old.access, found)) return;
    const member = this.#connect(found);
    this.#put(name, {
      connection: { kind: "connected", client: member.client, access: found },
      member,
    });
  }

  #put(name: string, kept: Kept): void {
    const old = this.#kept.get(name);
    if (kept.connection === NONE) this.#kept.delete(name);
    else this.#kept.set(name, kept);
    old?.member?.close();
    for (const handler of this.#handlers) handler(name);
  }
}

function secretKey({ metadata }: AnyObject): { readonly namespace: string; readonly name: string } {
  return { namespace: metadata.namespace ?? "", name: metadata.name };
}
