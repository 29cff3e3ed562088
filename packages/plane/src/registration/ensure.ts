/**
 * Making sure that an object is as it should be, or is gone, however often and from wherever it is asked for.
 *
 * 1. Fields and labels that are not named are left as they are.
 * 2. An object that already is as it should be is not written.
 */
import {
  type AnyObject,
  equalJson,
  isJsonObject,
  isRefused,
  type Json,
  keyOf,
  type KubeObject,
  type New,
  type ObjectKey,
  orNothing,
  type Resource,
} from "@lifeboat/api";
import type { Client, DeleteOptions } from "@lifeboat/kit";

/** Creates the object, or brings what is there in line with it; answers it as stored. */
export async function ensure(
  client: Client,
  resource: Resource,
  wanted: New<AnyObject>,
): Promise<AnyObject> {
  const key = keyOf(wanted);
  for (;;) {
    try {
      return await client.create(resource, wanted);
    } catch (error) {
      if (!isRefused(error, "AlreadyExists")) throw error;
    }
    const found = await findObject(client, resource, key);
    if (found === undefined) continue;
    if (covers(found, wanted)) return found;
    const body = wanted as unknown as Json;
    try {
      return await client.patch(resource, key, { type: "merge", body });
    } catch (error) {
      // It went between the two calls: make it again.
      if (!isRefused(error, "NotFound")) throw error;
    }
  }
}

/** Whether `found` has everything that `wanted` has. */
function covers(found: unknown, wanted: unknown): boolean {
  if (!isJsonObject(wanted) || !isJsonObject(found)) return equalJson(found, wanted);
  return Object.entries(wanted).every(([field, value]) => covers(found[field], value));
}

/** The object, or undefined where there is none. */
export function findObject<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  key: ObjectKey,
): Promise<T | undefined> {
  return orNothing(client.get(resource, key));
}

/** Deletes the object where it is there; answers whether it was. */
export async function ensureGone<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  key: ObjectKey,
  options: DeleteOptions = {},
): Promise<boolean> {
  try {
    await client.delete(resource, key, options);
    return true;
  } catch (error) {
    if (isRefused(error, "NotFound")) return false;
    throw error;
  }
}
