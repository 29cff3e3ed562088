/** Which users write the published backends of an ingress: a thin shell of `core/traffic/protection.ts`. */
import { type AnyObject, forbiddenBecause, multiClusterIngresses } from "@lifeboat/api";
import type { AdmissionPlugin, AdmissionRequest } from "@lifeboat/apiserver";
import { backendsRefusal, keepBackends, publishesBackends } from "@lifeboat/core/traffic";

export const trafficAdmission: AdmissionPlugin = Object.freeze({
  name: "PublishedBackends",
  handles: ({ operation, resource, user }: AdmissionRequest): boolean =>
    operation !== "DELETE" &&
    resource.group === multiClusterIngresses.group &&
    resource.plural === multiClusterIngresses.plural &&
    !publishesBackends(user),
  mutate: (request: AdmissionRequest): AnyObject => {
    const kept = keepBackends(request.old, request.object as AnyObject);
    if (kept.warning !== undefined) request.warn(kept.warning);
    return kept.object;
  },
  validate: ({ resource, name, old, object }: AdmissionRequest): void => {
    const why = backendsRefusal(old, object as AnyObject);
    if (why !== undefined) throw forbiddenBecause(resource, name, why);
  },
});
