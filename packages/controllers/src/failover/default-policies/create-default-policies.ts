/**
 * Makes the two taint policies that a control plane starts with (D2): `default-not-ready` and `default-unreachable`. They
 * keep new work away from a cluster that is not Ready, and are ordinary policies that users may read, edit and delete.
 *
 * 1. They are made once in the life of a control plane: a ConfigMap records that it was done, so that deleting them is
 *    respected for ever. It is written after the policies: a death in between makes them again, never leaves them out.
 * 2. A policy of the same name that is already there is left as it is.
 */
import { clusterTaintPolicies, type ClusterTaintPolicy, configMaps, type New } from "@lifeboat/api";
import type { Client, Service } from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";
import {
  createUnlessThere,
  ensureOwnNamespace,
  findConfigMap,
  OWN_NAMESPACE,
  startOnce,
} from "../../context/start-once.ts";

const MARKER = { namespace: OWN_NAMESPACE, name: "default-policies" };

/** Builds the service that makes the default policies; it has nothing to do from then on. */
export function createDefaultPolicies(
  context: Pick<PlaneContext, "plane" | "clock" | "log">,
): Service {
  return startOnce(context, "default-policies", () => ensureDefaultPolicies(context.plane));
}

async function ensureDefaultPolicies(plane: Client): Promise<void> {
  if ((await findConfigMap(plane, MARKER)) !== undefined) return;
  await createUnlessThere(plane, clusterTaintPolicies, policy("not-ready", "False"));
  await createUnlessThere(plane, clusterTaintPolicies, policy("unreachable", "Unknown"));
  await ensureOwnNamespace(plane);
  await createUnlessThere(plane, configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: MARKER,
    data: { created: "default-not-ready,default-unreachable" },
  });
}

function policy(what: string, status: "False" | "Unknown"): New<ClusterTaintPolicy> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: { name: `default-${what}` },
    spec: {
      matchConditions: [{ conditionType: "Ready", operator: "In", statusValues: [status] }],
      taintsToAdd: [
        {
          key: `cluster.karmada.io/${what}`,
          effect: "NoSchedule",
          addOnMatchSeconds: 1,
          removeOnMismatchSeconds: 1,
        },
      ],
    },
  };
}
