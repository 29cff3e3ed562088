/**
 * Service (v1): members give addresses and ports; only load balancers have a status worth reporting, and the Service of a federated
 * StatefulSet's pod that has none (D28): its addresses are the member's, whatever the template was given in the plane.
 */
import { type Fields, fieldsAt, listAt, textAt, valueAt, withValue } from "../../../fields.ts";
import { FEDERATED_POD } from "../../../well-known.ts";
import type { KindHooks } from "../interpreter.ts";
import { aggregateAddresses, hasAddress } from "../load-balancers.ts";

export const service: KindHooks = {
  retain,
  reflectStatus: (object) => {
    if (isLoadBalancer(object)) return { loadBalancer: fieldsAt(object, "status", "loadBalancer") };
    return isOfFederatedPod(object)
      ? { clusterIPs: listAt(object, "spec", "clusterIPs") }
      : undefined;
  },
  health: (object) => (!isLoadBalancer(object) || hasAddress(object) ? "Healthy" : "Unhealthy"),
  aggregateStatus: (template, items) =>
    isLoadBalancer(template) ? aggregateAddresses(items) : undefined,
};

function isLoadBalancer(object: Fields): boolean {
  return valueAt(object, "spec", "type") === "LoadBalancer";
}

function isOfFederatedPod(object: Fields): boolean {
  return textAt(object, "spec", "selector", FEDERATED_POD) !== "";
}

/** A health check port cannot change while it is in use, whatever port the template was given. */
function retain(desired: Fields, observed: Fields): Fields {
  let retained = desired;
  if (
    valueAt(desired, "spec", "type") !== "ExternalName" &&
    textAt(desired, "spec", "clusterIP") === ""
  )
    for (const name of ["clusterIP", "clusterIPs"]) retained = keep(retained, observed, name);
  if (usesHealthCheckPort(desired) && usesHealthCheckPort(observed))
    retained = keep(retained, observed, "healthCheckNodePort");
  return retained;
}

function usesHealthCheckPort(object: Fields): boolean {
  return isLoadBalancer(object) && valueAt(object, "spec", "externalTrafficPolicy") === "Local";
}

function keep(desired: Fields, observed: Fields, name: string): Fields {
  const value = valueAt(observed, "spec", name);
  return value === undefined ? desired : withValue(desired, ["spec", name], value);
}
