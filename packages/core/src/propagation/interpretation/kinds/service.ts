/** Service (v1): members give addresses and ports; only load balancers have a status worth reporting. */
import { type Fields, fieldsAt, textAt, valueAt, withValue } from "../../../fields.ts";
import type { KindHooks } from "../interpreter.ts";
import { aggregateAddresses, hasAddress } from "../load-balancers.ts";

export const service: KindHooks = {
  retain,
  reflectStatus: (object) =>
    isLoadBalancer(object)
      ? { loadBalancer: fieldsAt(object, "status", "loadBalancer") }
      : undefined,
  health: (object) => (!isLoadBalancer(object) || hasAddress(object) ? "Healthy" : "Unhealthy"),
  aggregateStatus: (template, items) =>
    isLoadBalancer(template) ? aggregateAddresses(items) : undefined,
};

function isLoadBalancer(object: Fields): boolean {
  return valueAt(object, "spec", "type") === "LoadBalancer";
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
