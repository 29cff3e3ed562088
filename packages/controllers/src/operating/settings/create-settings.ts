/**
 * Publishes the settings that the control plane runs with, so that every user who may read its API sees them: the ConfigMap
 * `lifeboat-system/settings`, one key per flag. The gates in it outlive a restart (D29, `plane/src/gates.ts`); the rest is for reading.
 *
 * It is written when this process starts to run controllers, and only when its content differs. While the server does
 * not take it, it is tried again.
 */
import type { Client, Service } from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import { findConfigMap, OWN_NAMESPACE, putConfigMap, startOnce } from "../../context/start-once.ts";

/** Where the settings are published. */
export const SETTINGS_KEY = Object.freeze({ namespace: OWN_NAMESPACE, name: "settings" });

/** By the name of the flag, as it would be written on the command line. */
export type PublishedSettings = Readonly<Record<string, string>>;

/** Builds the service that publishes the settings; it has nothing to do from then on. */
export function createSettings(
  context: Pick<PlaneContext, "plane" | "clock" | "log">,
  settings: PublishedSettings,
): Service {
  return startOnce(context, "settings", () => putConfigMap(context.plane, SETTINGS_KEY, settings));
}

/** What a control plane published last; undefined: it has never run controllers. */
export async function readSettings(plane: Client): Promise<PublishedSettings | undefined> {
  const found = await findConfigMap(plane, SETTINGS_KEY);
  return found === undefined ? undefined : ((found["data"] ?? {}) as PublishedSettings);
}
