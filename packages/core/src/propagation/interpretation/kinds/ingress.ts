/** Ingress (networking.k8s.io/v1). */
import { fieldsAt, listAt, textAt } from "../../../fields.ts";
import type { KindHooks } from "../interpreter.ts";
import { aggregateAddresses, hasAddress } from "../load-balancers.ts";
import { secretDependencies } from "../pod-dependencies.ts";

export const ingress: KindHooks = {
  health: (object) => (hasAddress(object) ? "Healthy" : "Unhealthy"),
  aggregateStatus: (_template, items) => aggregateAddresses(items),
  dependencies: (object) =>
    secretDependencies(
      object,
      listAt(fieldsAt(object, "spec"), "tls").map((entry) => textAt(entry, "secretName")),
    ),
};
