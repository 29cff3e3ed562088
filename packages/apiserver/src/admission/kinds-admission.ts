/**
 * The rules of the control plane's own kinds, run inside the API server: what they fill in beyond their schemas' defaults,
 * what they refuse beyond their schemas, and of what they warn. Behind a kube-apiserver the webhook of
 * `lifeboat manager` runs the same plugin.
 */
import {
  type AnyObject,
  defaultKind,
  invalidObject,
  type JsonObject,
  kindDeclaration,
  type KindSettings,
  kindWarnings,
  validateKind,
} from "@lifeboat/api";
import { type Clock, formatTime, type Ids } from "@lifeboat/base";
import type { AdmissionPlugin, AdmissionRequest } from "./admission.ts";

export interface KindsAdmissionPorts {
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Built once per server; it answers at once, so writes stay synchronous up to their commit. */
export function createKindsAdmission(
  { clock, ids }: KindsAdmissionPorts,
  settings: KindSettings = {},
): AdmissionPlugin {
  const newId = (): string => ids.uid();
  return {
    name: "ControlPlaneKinds",
    handles: isWriteOfOurs,
    mutate: ({ object, old }) => {
      const given = object as AnyObject;
      const now = formatTime(clock.now());
      return defaultKind(
        given,
        old === undefined ? { now, newId } : { now, newId, old: old as unknown as JsonObject },
      );
    },
    validate: (request) => {
      const { old, resource, name } = request;
      const object = request.object as AnyObject;
      const errors = validateKind(object, old);
      if (errors.length > 0) throw invalidObject(resource, name, errors);
      for (const warning of kindWarnings(object, settings)) request.warn(warning);
    },
  };
}

/** A status is written by controllers and by other clients as they see fit; only its schema is asked. */
function isWriteOfOurs({ operation, subresource, object }: AdmissionRequest): boolean {
  if (operation === "DELETE" || subresource !== "" || object === undefined) return false;
  return kindDeclaration(object.apiVersion, object.kind) !== undefined;
}
