/**
 * One informer for each collection the server holds, following the catalog as CRDs come and go.
 *
 * 1. A table has one informer, whatever the number of versions it is served in: the one of its storage version.
 * 2. When a collection is no longer served, what its informer held is reported as gone.
 * 3. Events (the kind) have no informer here: there are many, and nothing owns them.
 * 4. Handlers get each change once; `dependents` answers from an index, not by search.
 */
import {
  type AnyObject,
  type KubeObject,
  type ObjectKey,
  type OwnerReference,
  qualifiedName,
} from "@lifeboat/api";
import {
  type Client,
  type ControllerWatch,
  Informer,
  type KitPorts,
  type Service,
} from "@lifeboat/kit";
import type { Catalog, ServedResource } from "../catalog/served-resource.ts";

/** A change in any collection. */
export type AnyChange = (
  resource: ServedResource,
  old: AnyObject | undefined,
  now: AnyObject | undefined,
) => void;

/** An object and the collection it is in. */
export interface Located {
  readonly resource: ServedResource;
  readonly object: AnyObject;
}

/** A collection and its informer. */
export interface Member {
  readonly resource: ServedResource;
  readonly informer: Informer<AnyObject>;
}

const OWNER_INDEX = "owner";

export class InformerSet implements Service {
  readonly name = "informers of every kind";
  readonly #ports: KitPorts;
  readonly #client: Client;
  readonly #catalog: Catalog;
  /** By table. */
  readonly #members = new Map<string, Member>();
  /** The same, by qualified name. */
  readonly #byName = new Map<string, Member>();
  /** The informers that run now. */
  readonly #running = new Map<
    Member,
    { readonly stop: AbortController; readonly run: Promise<void> }
  >();
  readonly #handlers = new Set<AnyChange>();
  /** Set while running: brings the members in step with the catalog. */
  #followCatalog: (() => void) | undefined;

  constructor(ports: KitPorts, client: Client, catalog: Catalog) {
    this.#ports = ports;
    this.#client = client;
    this.#catalog = catalog;
    catalog.onChange(() => this.#followCatalog?.());
    this.#addMissing();
  }

  /** The informer of a collection, by its table or by any of its served versions; undefined when it has none. */
  of(resource: { readonly table: string }): Informer<AnyObject> | undefined {
    return this.#members.get(resource.table)?.informer;
  }

  /** The collection with this qualified name (`deployments.apps`). */
  byName(name: string): Member | undefined {
    return this.#byName.get(name);
  }

  /** Every object that names this uid among its owners. */
  dependents(uid: string): readonly Located[] {
    const found: Located[] = [];
    for (const { resource, informer } of this.#members.values())
      for (const object of informer.byIndex(OWNER_INDEX, uid)) found.push({ resource, object });
    return found;
  }

  /** Reports every object of every collection, then every change; the answer ends it. */
  onChange(handler: AnyChange): () => void {
    for (const { resource, informer } of this.#members.values())
      for (const object of informer.list()) handler(resource, undefined, object);
    this.#handlers.add(handler);
    return () => {
      this.#handlers.delete(handler);
    };
  }

  /** The changes of all collections as a controller's source of keys. */
  watching(
    keys: (
      resource: ServedResource,
      old: AnyObject | undefined,
      now: AnyObject | undefined,
    ) => readonly ObjectKey[],
  ): ControllerWatch {
    return {
      whenSynced: (signal) => this.whenSynced(signal),
      subscribe: (add) =>
        this.onChange((resource, old, now) => {
          for (const key of keys(resource, old, now)) add(key);
        }),
    };
  }

  /** Resolves true when every collection that is served now was read once, false when the signal aborts first. */
  async whenSynced(signal: AbortSignal): Promise<boolean> {
    for (const { informer } of this.#members.values())
      if (!(await informer.whenSynced(signal))) return false;
    return true;
  }

  async run(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
        this.#followCatalog = () => {
          this.#removeUnserved();
          this.#addMissing();
          for (const member of this.#members.values()) this.#start(member, reject);
        };
        this.#followCatalog();
      });
    } finally {
      this.#followCatalog = undefined;
      const running = [...this.#running.values()];
      this.#running.clear();
      for (const { stop } of running) stop.abort();
      await Promise.allSettled(running.map(({ run }) => run));
    }
  }

  #start(member: Member, failed: (error: unknown) => void): void {
    if (this.#running.has(member)) return;
    const stop = new AbortController();
    const run = member.informer.run(stop.signal);
    run.catch(failed);
    this.#running.set(member, { stop, run });
  }

  #addMissing(): void {
    for (const resource of this.#catalog.all()) {
      if (!isFollowed(resource, this.#catalog) || this.#members.has(resource.table)) continue;
      const informer = new Informer<AnyObject>(this.#ports, this.#client, resource, {
        indexes: { [OWNER_INDEX]: ownerUids },
      });
      informer.onChange((old, now) => this.#tell(resource, old, now));
      const member = { resource, informer };
      this.#members.set(resource.table, member);
      this.#byName.set(qualifiedName(resource), member);
    }
  }

  #removeUnserved(): void {
    const served = new Set(this.#catalog.all().map((resource) => resource.table));
    for (const [table, member] of this.#members) {
      if (served.has(table)) continue;
      this.#members.delete(table);
      this.#byName.delete(qualifiedName(member.resource));
      this.#running.get(member)?.stop.abort();
      this.#running.delete(member);
      for (const object of member.informer.list()) this.#tell(member.resource, object, undefined);
    }
  }

  #tell(resource: ServedResource, old: AnyObject | undefined, now: AnyObject | undefined): void {
    for (const handler of this.#handlers) handler(resource, old, now);
  }
}

const NOT_FOLLOWED: ReadonlySet<string> = new Set(["events"]);

/** Whether this is the version in which a table is followed. */
function isFollowed(resource: ServedResource, catalog: Catalog): boolean {
  if (resource.virtual === true || NOT_FOLLOWED.has(resource.plural)) return false;
  if (!resource.verbs.includes("list") || !resource.verbs.includes("watch")) return false;
  if (resource.version === resource.storageVersion) return true;
  // A CRD need not serve its storage version: then the first version that is served stands for it.
  return !catalog
    .all()
    .some((other) => other.table === resource.table && other.version === other.storageVersion);
}

function ownerUids(object: KubeObject): readonly string[] {
  const owners = object.metadata.ownerReferences;
  return owners === undefined ? NONE : owners.map((owner: OwnerReference) => owner.uid);
}

const NONE: readonly string[] = Object.freeze([]);
