/** How people write: creating what is not there, changing what is, and never minding what is gone. */
import { type AnyObject, isRefused, type KubeObject, type New, type Resource } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";

/** Creates the object, or changes what it says and leaves the rest. */
export async function merge(
  plane: Client,
  resource: Resource<KubeObject>,
  object: New<AnyObject>,
): Promise<void> {
  const { apiVersion: _version, kind: _kind, metadata, ...body } = object;
  await createOr(plane, resource, object, async () => {
    const key = { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
    await plane.patch(resource, key, { type: "merge", body: body as never });
  });
}

/** Creates the object, or puts what it says in the place of what was said before. */
export async function put(
  plane: Client,
  resource: Resource<KubeObject>,
  object: New<AnyObject>,
): Promise<void> {
  await createOr(plane, resource, object, async () => {
    const { namespace = "", name = "" } = object.metadata;
    const { metadata } = await plane.get(resource, { namespace, name });
    await plane.update(resource, { ...object, metadata } as KubeObject);
  });
}

async function createOr(
  plane: Client,
  resource: Resource<KubeObject>,
  object: New<AnyObject>,
  change: () => Promise<void>,
): Promise<void> {
  try {
    await plane.create(resource, object as New<KubeObject>);
  } catch (error) {
    if (!isRefused(error, "AlreadyExists")) throw error;
    await change();
  }
}

/** What is not there needs nothing done. */
export async function ifThere(act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isRefused(error, "NotFound")) throw error;
  }
}
