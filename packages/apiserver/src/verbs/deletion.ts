/** What a deletion does to one object, decided from the object and the options alone. */
import { addMs, formatTime, type Instant } from "@lifeboat/base";
import type { AnyObject } from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";
import { strategyOf } from "./kind-strategies.ts";
import type { DeleteOptionsBody } from "./verbs.ts";

export type Deletion =
  /** Nothing keeps it: it goes now. */
  | { readonly kind: "remove" }
  /** Finalizers or grace keep it, and this is what is written. */
  | { readonly kind: "mark"; readonly object: AnyObject }
  /** It was marked before, and nothing changes. */
  | { readonly kind: "keep" };

const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";

export function decideDeletion(
  resource: ServedResource,
  object: AnyObject,
  options: DeleteOptionsBody,
  now: Instant,
): Deletion {
  const strategy = strategyOf(resource.table);
  const finalizers = finalizersAfter(object, options, strategy.orphansByDefault === true);
  const grace = strategy.graceSeconds?.(object, options) ?? 0;
  const held = finalizers.length > 0 || strategy.isHeld?.(object) === true;
  const deleting = object.metadata.deletionTimestamp !== undefined;
  if (!held && grace === 0) return { kind: "remove" };
  const kept = withFinalizers(object, finalizers);
  if (!deleting) {
    const marked = mark(kept, grace, now);
    return { kind: "mark", object: strategy.markDeleted?.(marked) ?? marked };
  }
  if (grace < (object.metadata.deletionGracePeriodSeconds ?? 0))
    return { kind: "mark", object: shorten(kept, grace) };
  return kept === object ? { kind: "keep" } : { kind: "mark", object: kept };
}

/** Which finalizers stand after the request: the two that ask for garbage collection follow its options. */
function finalizersAfter(
  object: AnyObject,
  options: DeleteOptionsBody,
  orphansByDefault: boolean,
): readonly string[] {
  const present = object.metadata.finalizers ?? [];
  const wanted = collectionFinalizer(present, options, orphansByDefault);
  const others = present.filter((name) => name !== ORPHAN && name !== FOREGROUND);
  return wanted === undefined ? others : [...others, wanted];
}

function collectionFinalizer(
  present: readonly string[],
  options: DeleteOptionsBody,
  orphansByDefault: boolean,
): string | undefined {
  if (options.orphanDependents !== undefined) return options.orphanDependents ? ORPHAN : undefined;
  const { propagationPolicy: policy } = options;
  if (policy === "Orphan") return ORPHAN;
  if (policy === "Foreground") return FOREGROUND;
  if (policy === "Background") return undefined;
  if (present.includes(ORPHAN)) return ORPHAN;
  if (present.includes(FOREGROUND)) return FOREGROUND;
  return orphansByDefault ? ORPHAN : undefined;
}

function withFinalizers(object: AnyObject, finalizers: readonly string[]): AnyObject {
  const present = object.metadata.finalizers ?? [];
  const same =
    present.length === finalizers.length && present.every((name, i) => name === finalizers[i]);
  if (same) return object;
  const { finalizers: _, ...metadata } = object.metadata;
  return {
    ...object,
    metadata: finalizers.length === 0 ? metadata : { ...metadata, finalizers },
  };
}

function mark(object: AnyObject, graceSeconds: number, now: Instant): AnyObject {
  const { generation } = object.metadata;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      ...(generation !== undefined && generation > 0 && { generation: generation + 1 }),
      deletionTimestamp: formatTime(addMs(now, graceSeconds * 1000)),
      deletionGracePeriodSeconds: graceSeconds,
    },
  };
}

/** A second request may shorten the wait, never lengthen it. The timestamp moves by the difference. */
function shorten(object: AnyObject, graceSeconds: number): AnyObject {
  const { deletionTimestamp = "", deletionGracePeriodSeconds = 0 } = object.metadata;
  const earlierMs = (deletionGracePeriodSeconds - graceSeconds) * 1000;
  const before = Date.parse(deletionTimestamp) as Instant;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      deletionTimestamp: formatTime(addMs(before, -earlierMs)),
      deletionGracePeriodSeconds: graceSeconds,
    },
  };
}
