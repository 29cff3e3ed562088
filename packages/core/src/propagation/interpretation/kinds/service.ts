/**
 * Service (v1): members give addresses and ports. Reported are the addresses of a load balancer, and the node ports that a member
 * chose: ingresses reach the Service there. With the policy Local only some nodes answer: `nodes` states that, and the member's side puts
 * them there (core/traffic/endpoints.ts). Of the Service of a
 * federated StatefulSet's pod without a load balancer the member's own addresses are reported (D28), whatever the template was given.
 */
import {
  type Fields,
  fieldsAt,
  integerAt,
  listAt,
  NO_FIELDS,
  textAt,
  valueAt,
  withValue,
} from "../../../fields.ts";
import { FEDERATED_POD } from "../../../well-known.ts";
import type { KindHooks } from "../interpreter.ts";
import { aggregateAddresses, hasAddress } from "../load-balancers.ts";

export const service: KindHooks = {
  retain,
  reflectStatus,
  health: (object) => (!isLoadBalancer(object) || hasAddress(object) ? "Healthy" : "Unhealthy"),
  aggregateStatus: (template, items) =>
    isLoadBalancer(template) ? aggregateAddresses(items) : undefined,
};

function reflectStatus(object: Fields): Fields | undefined {
  if (isLoadBalancer(object)) return { loadBalancer: fieldsAt(object, "status", "loadBalancer") };
  if (textAt(object, "spec", "selector", FEDERATED_POD) !== "")
    return { clusterIPs: listAt(object, "spec", "clusterIPs") };
  if (valueAt(object, "spec", "type") !== "NodePort") return undefined;
  const nodePorts = listAt(object, "spec", "ports").flatMap((one) => {
    const port = integerAt(one, "port");
    const nodePort = integerAt(one, "nodePort") ?? 0;
    const isTcp = ["", "TCP"].includes(textAt(one, "protocol"));
    return port === undefined || nodePort === 0 || !isTcp ? [] : [{ port, nodePort }];
  });
  if (nodePorts.length === 0) return undefined;
  return isLocal(object) ? { nodePorts, nodes: NO_FIELDS } : { nodePorts };
}

function isLocal(object: Fields): boolean {
  return valueAt(object, "spec", "externalTrafficPolicy") === "Local";
}

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
  return isLoadBalancer(object) && isLocal(object);
}

function keep(desired: Fields, observed: Fields, name: string): Fields {
  const value = valueAt(observed, "spec", name);
  return value === undefined ? desired : withValue(desired, ["spec", name], value);
}
