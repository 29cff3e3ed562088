/** Service (v1): members give addresses and ports; only load balancers have a status worth reporting. */
import { countAt, type Fields, fieldsAt, textAt, valueAt, withValue } from "../../fields.ts";
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

function retain(desired: Fields, observed: Fields): Fields {
  let retained = desired;
  const type = valueAt(desired, "spec", "type");
  if (type !== "ExternalName" && textAt(desired, "spec", "clusterIP") === "")
    for (const name of ["clusterIP", "clusterIPs"]) retained = keep(retained, observed, name);
  if (type === "LoadBalancer" && countAt(desired, "spec", "healthCheckNodePort") === 0)
    retained = keep(retained, observed, "healthCheckNodePort");
  return retained;
}

function keep(desired: Fields, observed: Fields, name: string): Fields {
  const value = valueAt(observed, "spec", name);
  return value === undefined ? desired : withValue(desired, ["spec", name], value);
}
