/**
 * Makes the two taint policies that a control plane starts with (D2): `default-not-ready` and `default-unreachable`. They
 * keep new work away from a cluster that is not Ready, and are ordinary policies that anybody may read, edit and delete.
 *
 * 1. They are made once in the life of a control plane: a ConfigMap says that it was done, so that deleting them is
 *    respected for ever. It is written after the policies: a death in between makes them again, never leaves them out.
 * 2. A policy of the same name that is already there is left as it is.
 */
import {
  type AnyObject,
  type ClusterTaintPolicy,
  clusterTaintPolicies,
  isRefused,
  type New,
  type Resource,
} from "@lifeboat/api";
import { sleep } from "@lifeboat/base";
import type { Client, Service } from "@lifeboat/kit";
import type { PlaneContext } from "../context.ts";

const NAMESPACE = "lifeboat-system";
const MARKER = { namespace: NAMESPACE, name: "default-policies" };
const RETRY_MS = 1000;

const NAMESPACES: Resource = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};
const CONFIG_MAPS: Resource = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

/** Builds the service that makes the default policies; it has nothing to do from then on. */
export function createDefaultPolicies(
  context: Pick<PlaneContext, "plane" | "clock" | "log">,
): Service {
  const { plane, clock, log } = context;
  return {
    name: "default-policies",
    async run(signal) {
      for (;;) {
        try {
          await ensureDefaultPolicies(plane);
          break;
        } catch (error) {
          if (signal.aborted) return;
          log.warn("the default taint policies could not be made, trying again", { error });
          if (!(await sleep(clock, RETRY_MS, signal))) return;
        }
      }
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    },
  };
}

async function ensureDefaultPolicies(plane: Client): Promise<void> {
  if (await exists(plane)) return;
  await createUnlessThere(plane, clusterTaintPolicies, policy("not-ready", "False"));
  await createUnlessThere(plane, clusterTaintPolicies, policy("unreachable", "Unknown"));
  await createUnlessThere(plane, NAMESPACES, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: NAMESPACE },
  });
  await createUnlessThere(plane, CONFIG_MAPS, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: MARKER,
    data: { created: "default-not-ready,default-unreachable" },
  });
}

async function exists(plane: Client): Promise<boolean> {
  try {
    await plane.get(CONFIG_MAPS, MARKER);
    return true;
  } catch (error) {
    if (isRefused(error, "NotFound")) return false;
    throw error;
  }
}

async function createUnlessThere<T extends AnyObject | ClusterTaintPolicy>(
  plane: Client,
  resource: Resource<T>,
  object: New<T>,
): Promise<void> {
  try {
    await plane.create(resource, object);
  } catch (error) {
    if (!isRefused(error, "AlreadyExists")) throw error;
  }
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
