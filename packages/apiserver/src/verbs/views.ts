/**
 * Stored objects as a served version shows them.
 *
 * Where the served version is the stored one, the entry itself is the view: same frozen object, same bytes. Otherwise
 * (events.k8s.io, autoscaling/v1, a second version of a CRD) the object is converted once and remembered as long as
 * the entry lives. Custom resources get the defaults their schema has gained since they were written, and lose what it
 * no longer knows; what was written through the same schema a moment ago is not looked through again.
 */
import { deepFreeze } from "@lifeboat/base";
import type { AnyObject, JsonObject } from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";
import type { Entry } from "../store/store.ts";
import type { Found } from "./verbs.ts";

export class Views {
  readonly #byResource = new WeakMap<ServedResource, WeakMap<Entry, Found>>();

  of(resource: ServedResource, entry: Entry): Found {
    if (resource.fromStorage === undefined && !resource.custom) return entry;
    if (entry.viewedAsIs === resource) return entry;
    let views = this.#byResource.get(resource);
    if (views === undefined) {
      views = new WeakMap();
      this.#byResource.set(resource, views);
    }
    let view = views.get(entry);
    if (view === undefined) {
      view = convert(resource, entry);
      if (view === entry) entry.viewedAsIs = resource;
      else views.set(entry, view);
    }
    return view;
  }
}

/** A stored object in the served version, without its bytes. */
export function fromStorage(resource: ServedResource, stored: AnyObject): AnyObject {
  const converted = resource.fromStorage === undefined ? stored : resource.fromStorage(stored);
  if (!resource.custom) return converted;
  return resource.schema.applyDefaults(converted as unknown as JsonObject) as unknown as AnyObject;
}

/** The resource, when it shows what is written through its schema just as it is stored. */
export function shownAsStored(resource: ServedResource): ServedResource | undefined {
  return resource.toStorage === undefined ? resource : undefined;
}

/** An object of the served version as it is stored. */
export function toStorage(resource: ServedResource, object: AnyObject): AnyObject {
  return resource.toStorage === undefined ? object : resource.toStorage(object);
}

function convert(resource: ServedResource, entry: Entry): Found {
  const object = fromStorage(resource, entry.object);
  return object === entry.object ? entry : { object: deepFreeze(object) };
}
