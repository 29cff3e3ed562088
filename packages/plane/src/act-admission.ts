/**
 * Stamps an object with the user that changed it, for the history: a thin shell of `stampAct`. It comes after the plugin that fills in
 * defaults, so that the stamp names the values that are stored.
 */
import type { AnyObject, KubeObject } from "@lifeboat/api";
import type { AdmissionPlugin, AdmissionRequest } from "@lifeboat/apiserver";
import type { Clock } from "@lifeboat/base";
import { isStamped, stampAct } from "@lifeboat/core/history";

export function createActAdmission(clock: Clock): AdmissionPlugin {
  return {
    name: "ActStamp",
    handles: ({ operation, subresource, object, user }: AdmissionRequest) =>
      operation !== "DELETE" &&
      subresource === "" &&
      object !== undefined &&
      isStamped(object.kind, user.name),
    mutate: ({ old, object, user }) =>
      stampAct(
        old as KubeObject | undefined,
        object as KubeObject,
        user.name,
        clock.now(),
      ) as AnyObject,
  };
}
