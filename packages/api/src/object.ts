/**
 * The Kubernetes object model. Objects are plain, frozen JSON with wire names; timestamps and quantities stay
 * strings; a change means building a new object.
 *
 * Two views of one object: what the server answered (`KubeObject`: identity and version are present) and what a
 * client may send to create one (`New<T>`).
 */

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Metadata as a client may send it. */
export interface NewMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

/** Metadata as the server answers it. */
export interface ObjectMeta extends NewMeta {
  readonly name: string;
  readonly uid: string;
  /** Opaque everywhere but in the store. */
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  /** Absent on kinds that do not count generations (ConfigMap, Secret, …). */
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
}

/** What every stored object has. Kinds extend it with their spec and status. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** An object whose kind is not known at compile time. */
export interface AnyObject extends KubeObject {
  readonly [field: string]: unknown;
}

/** What may be sent to create a T. */
export type New<T extends KubeObject> = Omit<T, "metadata" | "status"> & {
  readonly metadata: NewMeta;
  readonly status?: unknown;
};

export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface KubeList<T extends KubeObject = AnyObject> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ListMeta;
  readonly items: readonly T[];
}

/** Namespace and name; the namespace of a cluster-scoped object is "". */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

export function keyOf(object: {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
}): ObjectKey {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
}

/** The canonical text of a key: `namespace/name`, or `name` at cluster scope. A name holds no slash. */
export function formatKey(key: ObjectKey): string {
  return key.namespace === "" ? key.name : `${key.namespace}/${key.name}`;
}

export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf("/");
  return slash < 0
    ? { namespace: "", name: text }
    : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

export type WatchEvent<T extends KubeObject = AnyObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  /** All events up to this version were delivered; `initialEventsEnd` closes the initial part of a streaming list. */
  | {
      readonly type: "BOOKMARK";
      readonly resourceVersion: string;
      readonly initialEventsEnd: boolean;
    };
