/** Which users write the published backends of an ingress: a thin shell of `core/traffic/protection.ts`. */
import {
  type AnyObject,
  forbiddenBecause,
  type KubeObject,
  multiClusterIngresses,
} from "@lifeboat/api";
import type { AdmissionPlugin, AdmissionRequest } from "@lifeboat/apiserver";
import { backendsRefusal, keepBackends, publishesBackends } from "@lifeboat/core/traffic";

export const trafficAdmission: AdmissionPlugin = Object.freeze({
  name: "PublishedBackends",
  handles: ({ operation, resource, user }: AdmissionRequest): boolean =>
    operation !== "DELETE" &&
    resource.group === multiClusterIngresses.group &&
    resource.plural === multiClusterIngresses.plural &&
    !publishesBackends(user),
  mutate: ({ old, object, warn }: AdmissionRequest): AnyObject => {
    const kept = keepBackends(old as KubeObject | undefined, object as KubeObject);
    if (kept.warning !== undefined) warn(kept.warning);
    return kept.object as AnyObject;
  },
  validate: ({ resource, name, old, object }: AdmissionRequest): void => {
    const why = backendsRefusal(old as KubeObject | undefined, object as KubeObject);
    if (why !== undefined) throw forbiddenBecause(resource, name, why);
  },
});
