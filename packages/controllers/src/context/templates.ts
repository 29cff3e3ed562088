/**
 * The objects that users bring: every kind that can be listed, watched and deleted, including those that come later.
 *
 * 1. `whenSynced` answers true once discovery was read and each kind it named was listed once. A kind that cannot be
 *    listed does not hold the others up; it is not `served` until it can.
 * 2. A kind whose definition goes away takes its objects with it; that is never reported as their deletion.
 */
import { type AnyObject, keyOf, type ObjectKey, orNothing, type Resource } from "@lifeboat/api";
import type { Client, ControllerWatch, Service } from "@lifeboat/kit";

/** Which object, as bindings and policies name it. */
export interface TemplateReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Called after the copy changed. `old` is absent for an object that is new, `now` for one that is gone. */
export type TemplateHandler = (
  resource: Resource,
  old: AnyObject | undefined,
  now: AnyObject | undefined,
) => void;

export interface Templates extends Service {
  whenSynced(signal: AbortSignal): Promise<boolean>;
  /** The resource of a kind that is served and listed; undefined while it is not. */
  resourceOf(apiVersion: string, kind: string): Resource | undefined;
  get(reference: TemplateReference): AnyObject | undefined;
  /** All objects of a kind, or those of one namespace. */
  list(apiVersion: string, kind: string, namespace?: string): readonly AnyObject[];
  /** The objects of every kind that bear the permanent id of this policy. */
  claimedBy(policyId: string): readonly AnyObject[];
  /** Reports what is there now (as new), then every change. The answer ends it. */
  onChange(handler: TemplateHandler): () => void;
}

/**
 * Asks the server whether it still has an object, before something is made that goes with it: a controller with a cache
 * that still holds the object would make it as often as it is collected. When the object changes, the next reconcile comes
 * by itself.
 */
export async function isOnServer(
  plane: Client,
  resource: Resource,
  object: AnyObject,
  signal?: AbortSignal,
): Promise<boolean> {
  const options = signal === undefined ? {} : { signal };
  const now = await orNothing(plane.get(resource, keyOf(object), options));
  return now?.metadata.uid === object.metadata.uid;
}

/** Maps the changes of templates to the keys they concern. `keys` must be pure and quick, and must not throw. */
export function watchingTemplates(
  templates: Templates,
  keys: (
    resource: Resource,
    old: AnyObject | undefined,
    now: AnyObject | undefined,
  ) => readonly ObjectKey[],
): ControllerWatch {
  return {
    whenSynced: (signal) => templates.whenSynced(signal),
    subscribe: (add) =>
      templates.onChange((resource, old, now) => {
        for (const key of keys(resource, old, now)) add(key);
      }),
  };
}
