/**
 * Publishes the settings that the control plane runs with, so that every user who may read its API sees them: the ConfigMap
 * `lifeboat-system/settings`, one key per flag. The gates in it outlive a restart (D29, `plane/src/gates.ts`); the rest is for reading.
 *
 * It is written when this process starts to run controllers, and only when its content differs. While the server does
 * not take it, it is tried again.
 */
import { configMaps, equalJson } from "@lifeboat/api";
import type { Client, Service } from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import {
  ensureOwnNamespace,
  findConfigMap,
  OWN_NAMESPACE,
  startOnce,
} from "../../context/start-once.ts";

/** Where the settings are published. */
export const SETTINGS_KEY = Object.freeze({ namespace: OWN_NAMESPACE, name: "settings" });

/** By the name of the flag, as it would be written on the command line. */
export type PublishedSettings = Readonly<Record<string, string>>;

/** Builds the service that publishes the settings; it has nothing to do from then on. */
export function createSettings(
  context: Pick<PlaneContext, "plane" | "clock" | "log">,
  settings: PublishedSettings,
): Service {
  return startOnce(context, "settings", () => publish(context.plane, settings));
}

/** What a control plane published last; undefined: it has never run controllers. */
export async function readSettings(plane: Client): Promise<PublishedSettings | undefined> {
  const found = await findConfigMap(plane, SETTINGS_KEY);
  return found === undefined ? undefined : ((found["data"] ?? {}) as PublishedSettings);
}

async function publish(plane: Client, settings: PublishedSettings): Promise<void> {
  const found = await findConfigMap(plane, SETTINGS_KEY);
  if (found !== undefined) {
    if (equalJson(found["data"] ?? {}, settings)) return;
    await plane.update(configMaps, { ...found, data: settings });
    return;
  }
  await ensureOwnNamespace(plane);
  await plane.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: SETTINGS_KEY,
    data: settings,
  });
}
