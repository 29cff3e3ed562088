/**
 * An object as it is made on another API server, so that everything that is decided from it is decided as before. Pure.
 *
 * 1. Content of Works is not touched: it is what members hold.
 * 2. A template bears the uid and the generation that it had (core/src/origin.ts), so that its Works are rendered as before.
 * 3. Where objects name each other by uid, the new uids take the place of the old ones, whatever the field.
 * 4. Generations begin again with one. What a status reports about the present generation it reports about the new one; what it
 *    reports about a former one, about none.
 */
import {
  type AnyObject,
  equalJson,
  isJsonObject,
  keyOf,
  type New,
  type OwnerReference,
} from "@lifeboat/api";
import {
  type Fields,
  formatOrigin,
  originOf,
  renderedIdentity,
  textAt,
  wellKnown,
} from "@lifeboat/core";
import { prune } from "@lifeboat/core/propagation/rendering";
import { isOwnKind, type MovedObject } from "./inventory.ts";

/** New uids by old ones. */
export type Uids = ReadonlyMap<string, string>;

/** What is sent to make the object. Owners that are not in `uids` are left out. */
export function carriedObject(moved: MovedObject, uids: Uids): New<AnyObject> {
  const { resource, object } = moved;
  const { name, namespace, labels, annotations, finalizers } = object.metadata;
  const isOwn = isOwnKind(resource);
  const {
    apiVersion: _apiVersion,
    kind: _kind,
    metadata: pruned,
    ...content
  } = withoutServers(object) as Fields & { readonly metadata: Fields };
  const owners = ownersOf(object, uids);
  const texts = { ...annotations, ...originAnnotation(moved) };
  const metadata = {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(labels !== undefined && { labels: pruned["labels"] }),
    ...(Object.keys(texts).length > 0 && { annotations: texts }),
    ...(finalizers !== undefined && { finalizers }),
    ...(owners.length > 0 && { ownerReferences: owners }),
  };
  const carried = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata,
    ...content,
  } as New<AnyObject>;
  return isOwn ? withNewUids(carried, uids) : withNewUidsInMarks(carried, uids);
}

/** The annotations with the new uids, of an object that is there already; undefined: there is nothing to change. */
export function correctedObject(
  moved: MovedObject,
  found: AnyObject,
  uids: Uids,
): AnyObject | undefined {
  const corrected = isOwnKind(moved.resource)
    ? withNewUids(found, uids)
    : withNewUidsInMarks(found, uids);
  return equalJson(corrected, found) ? undefined : corrected;
}

/** The status to write on the object as it was made; undefined: there is none. */
export function carriedStatus(moved: MovedObject, made: AnyObject, uids: Uids): unknown {
  const { resource, object } = moved;
  const status = object["status"];
  if (!isJsonObject(status) || resource.kind === "Namespace") return undefined;
  const renumbered = renumber(
    status,
    object.metadata.generation ?? 0,
    made.metadata.generation ?? 0,
  );
  return isOwnKind(resource) ? replaceUids(renumbered, uids) : renumbered;
}

/**
 * Without what the API server gave the object. What rendering takes out of copies beyond that is put back: here it is the
 * template itself that is carried.
 */
function withoutServers(object: AnyObject): Fields {
  const pruned = prune(object);
  const spec = object["spec"] as Fields | undefined;
  const ttl = spec?.["ttlSecondsAfterFinished"];
  if (object.kind !== "Job" || ttl === undefined) return pruned;
  return { ...pruned, spec: { ...(pruned["spec"] as Fields), ttlSecondsAfterFinished: ttl } };
}

function ownersOf({ metadata }: AnyObject, uids: Uids): readonly OwnerReference[] {
  return (metadata.ownerReferences ?? []).flatMap((owner) => {
    const uid = uids.get(owner.uid);
    return uid === undefined ? [] : [{ ...owner, uid }];
  });
}

/** Namespaces whose objects are no templates. */
function isApart(namespace: string): boolean {
  return (
    namespace === wellKnown.CLUSTER_NAMESPACE ||
    wellKnown.SYSTEM_NAMESPACES.includes(namespace) ||
    namespace.startsWith(wellKnown.EXECUTION_NAMESPACE_PREFIX)
  );
}

/** The mark by which a template, and its binding, keep what they were called before. */
export function originAnnotation({
  resource,
  object,
}: MovedObject): Readonly<Record<string, string>> {
  if (!isOwnKind(resource)) {
    const { namespace, name } = keyOf(object);
    if (isApart(resource.kind === "Namespace" ? name : namespace)) return {};
    return { [wellKnown.ORIGIN]: formatOrigin(renderedIdentity(object)) };
  }
  const uid = originOf(object)?.uid ?? textAt(object, "spec", "resource", "uid");
  const isBinding = resource.kind.endsWith("ResourceBinding");
  return isBinding && uid !== ""
    ? { [wellKnown.ORIGIN]: formatOrigin({ uid, generation: 0 }) }
    : {};
}

/** In an object of another kind only our own marks name uids that we understand. */
function withNewUidsInMarks<T extends New<AnyObject> | AnyObject>(object: T, uids: Uids): T {
  const annotations = Object.entries(object.metadata.annotations ?? {});
  if (annotations.length === 0) return object;
  const changed = annotations.map(([key, value]) => [
    key,
    key.startsWith("lifeboat.dev/") && key !== wellKnown.ORIGIN ? replaceUids(value, uids) : value,
  ]);
  return {
    ...object,
    metadata: { ...object.metadata, annotations: Object.fromEntries(changed) },
  };
}

function withNewUids<T extends New<AnyObject> | AnyObject>(object: T, uids: Uids): T {
  const { metadata, spec, status, ...rest } = object;
  const { [wellKnown.ORIGIN]: origin, ...annotations } = metadata.annotations ?? {};
  const isWork = object.kind === "Work";
  const hasAnnotations = metadata.annotations !== undefined;
  const texts = replaceUids(annotations, uids) as Readonly<Record<string, string>>;
  return {
    ...rest,
    metadata: {
      ...metadata,
      ...(hasAnnotations && {
        annotations: { ...texts, ...(origin !== undefined && { [wellKnown.ORIGIN]: origin }) },
      }),
    },
    ...(spec !== undefined && { spec: isWork ? spec : replaceUids(spec, uids) }),
    ...(status !== undefined && { status }),
  } as unknown as T;
}

/** Every uid that is known, in every text and every key. */
export function replaceUids(value: unknown, uids: Uids): unknown {
  if (typeof value === "string") return value.replaceAll(UID, (uid) => uids.get(uid) ?? uid);
  if (Array.isArray(value)) return value.map((item) => replaceUids(item, uids));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as object).map(([key, item]) => [
      replaceUids(key, uids) as string,
      replaceUids(item, uids),
    ]),
  );
}

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const GENERATIONS: ReadonlySet<string> = new Set([
  "observedGeneration",
  "schedulerObservedGeneration",
]);

/** Generations at the top of a status and in its conditions; those inside of what members report are the members' own. */
function renumber(status: unknown, before: number, after: number): unknown {
  const fields = status as Readonly<Record<string, unknown>>;
  const own = (entry: readonly [string, unknown]): readonly [string, unknown] => {
    const [key, value] = entry;
    if (!GENERATIONS.has(key) || typeof value !== "number") return entry;
    return [key, value === before ? after : 0];
  };
  const conditions = fields["conditions"];
  return {
    ...Object.fromEntries(Object.entries(fields).map(own)),
    ...(Array.isArray(conditions) && {
      conditions: conditions.map((one) =>
        Object.fromEntries(Object.entries(one as object).map(own)),
      ),
    }),
  };
}
