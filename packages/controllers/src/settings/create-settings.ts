/**
 * Publishes the settings that the control plane runs with, so that everybody who may read its API sees them: the ConfigMap
 * `lifeboat-system/settings`, one key per flag. It is for reading; the control plane never obeys it.
 *
 * It is written when this process starts to run controllers, and only when it says something else. While the server does
 * not take it, it is tried again.
 */
import { type AnyObject, equalJson, isRefused, type New, type Resource } from "@lifeboat/api";
import { sleep } from "@lifeboat/base";
import type { Client, Service } from "@lifeboat/kit";
import type { PlaneContext } from "../context.ts";

const NAMESPACE = "lifeboat-system";
/** Where the settings are published. */
export const SETTINGS_KEY = Object.freeze({ namespace: NAMESPACE, name: "settings" });
const RETRY_MS = 1000;

const NAMESPACES: Resource = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};
const CONFIG_MAPS: Resource = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

/** By the name of the flag, as it would be written on the command line. */
export type PublishedSettings = Readonly<Record<string, string>>;

/** Builds the service that publishes the settings; it has nothing to do from then on. */
export function createSettings(
  context: Pick<PlaneContext, "plane" | "clock" | "log">,
  settings: PublishedSettings,
): Service {
  const { plane, clock, log } = context;
  return {
    name: "settings",
    async run(signal) {
      for (;;) {
        try {
          await publish(plane, settings);
          break;
        } catch (error) {
          if (signal.aborted) return;
          log.warn("the settings could not be published, trying again", { error });
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

/** What a control plane published last; undefined: it has never run controllers. */
export async function readSettings(plane: Client): Promise<PublishedSettings | undefined> {
  const found = await existing(plane);
  return found === undefined ? undefined : ((found["data"] ?? {}) as PublishedSettings);
}

async function publish(plane: Client, settings: PublishedSettings): Promise<void> {
  const found = await existing(plane);
  if (found !== undefined) {
    if (equalJson(found["data"] ?? {}, settings)) return;
    await plane.update(CONFIG_MAPS, { ...found, data: settings });
    return;
  }
  await createUnlessThere(plane, NAMESPACES, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: NAMESPACE },
  });
  await plane.create(CONFIG_MAPS, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: SETTINGS_KEY,
    data: settings,
  });
}

async function existing(plane: Client): Promise<AnyObject | undefined> {
  try {
    return await plane.get(CONFIG_MAPS, SETTINGS_KEY);
  } catch (error) {
    if (isRefused(error, "NotFound")) return undefined;
    throw error;
  }
}

async function createUnlessThere(
  plane: Client,
  resource: Resource,
  object: New<AnyObject>,
): Promise<void> {
  try {
    await plane.create(resource, object);
  } catch (error) {
    if (!isRefused(error, "AlreadyExists")) throw error;
  }
}
