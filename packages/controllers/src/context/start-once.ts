/**
 * Work that a control plane does once when it starts, and the objects of its own namespace that such work writes.
 *
 * While the server does not take it, it is tried again; from then on there is nothing to do.
 */
import {
  type AnyObject,
  configMaps,
  equalJson,
  isRefused,
  type KubeObject,
  namespaces,
  type New,
  type ObjectKey,
  orNothing,
  type Resource,
} from "@lifeboat/api";
import { sleep } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import type { Client, Service } from "@lifeboat/kit";
import type { PlaneContext } from "./context.ts";

/** The namespace of what the control plane keeps for itself. */
export const { OWN_NAMESPACE } = wellKnown;

const RETRY_MS = 1000;

/** A service that does something once; `name` identifies it in the log. */
export function startOnce(
  { clock, log }: Pick<PlaneContext, "clock" | "log">,
  name: string,
  work: () => Promise<void>,
): Service {
  return {
    name,
    async run(signal) {
      for (;;) {
        try {
          await work();
          break;
        } catch (error) {
          if (signal.aborted) return;
          log.warn("what is done at the start failed, trying again", { service: name, error });
          if (!(await sleep(clock, RETRY_MS, signal))) return;
        }
      }
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    },
  };
}

/** The ConfigMap of this key; undefined when there is none. */
export function findConfigMap(plane: Client, key: ObjectKey): Promise<AnyObject | undefined> {
  return orNothing(plane.get(configMaps, key));
}

/** Makes the data of a ConfigMap of the control plane's own namespace these, and writes only what differs. */
export async function putConfigMap(
  plane: Client,
  key: ObjectKey,
  data: Readonly<Record<string, string>>,
): Promise<void> {
  const found = await findConfigMap(plane, key);
  if (found !== undefined) {
    if (equalJson(found["data"] ?? {}, data)) return;
    await plane.update(configMaps, { ...found, data });
    return;
  }
  await ensureOwnNamespace(plane);
  await plane.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: key, data });
}

/** Creates an object, unless one of its name is there. */
export async function createUnlessThere<T extends KubeObject>(
  plane: Client,
  resource: Resource<T>,
  object: New<T>,
): Promise<void> {
  try {
    await plane.create(resource, object);
  } catch (error) {
    if (!isRefused(error, "AlreadyExists")) throw error;
  }
}

/** Makes the control plane's own namespace. */
export function ensureOwnNamespace(plane: Client): Promise<void> {
  const metadata = { name: OWN_NAMESPACE };
  return createUnlessThere(plane, namespaces, { apiVersion: "v1", kind: "Namespace", metadata });
}
