/** Policies and templates for the tests of this folder. */
import type { AnyObject } from "@lifeboat/api";
import type { Policy } from "./policy.ts";

type Texts = Readonly<Record<string, string>>;

export const DEPLOYMENT = { apiVersion: "apps/v1", kind: "Deployment" } as const;

/** A policy of the namespace default; `wide` makes it a cluster policy. Its id is its name unless another is given. */
export function policyOf(
  name: string,
  spec: Partial<Policy["spec"]> = {},
  { wide = false, id = `id-${name}`, version = "100", deleting = false } = {},
): Policy {
  const label = wide
    ? "clusterpropagationpolicy.karmada.io/permanent-id"
    : "propagationpolicy.karmada.io/permanent-id";
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: wide ? "ClusterPropagationPolicy" : "PropagationPolicy",
    metadata: {
      name,
      ...(wide ? {} : { namespace: "default" }),
      uid: `uid-${name}`,
      resourceVersion: version,
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { [label]: id },
      ...(deleting ? { deletionTimestamp: "2026-01-02T00:00:00Z" } : {}),
    },
    spec: {
      resourceSelectors: [{ ...DEPLOYMENT, ...(wide ? {} : { namespace: "default" }) }],
      priority: 0,
      preemption: "Never",
      schedulerName: "default-scheduler",
      conflictResolution: "Abort",
      ...spec,
    },
  };
}

/** The Deployment default/web. */
export function templateOf(
  { labels = {}, annotations = {} }: { readonly labels?: Texts; readonly annotations?: Texts } = {},
  version = "50",
): AnyObject {
  return {
    ...DEPLOYMENT,
    metadata: {
      name: "web",
      namespace: "default",
      uid: "uid-web",
      resourceVersion: version,
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { app: "web", ...labels },
      annotations,
    },
    spec: { replicas: 2 },
  };
}

/** The keys of a claim by a policy of the namespace default. */
export function claimKeys(name: string, id = `id-${name}`): { labels: Texts; annotations: Texts } {
  return {
    labels: { "propagationpolicy.karmada.io/permanent-id": id },
    annotations: {
      "propagationpolicy.karmada.io/namespace": "default",
      "propagationpolicy.karmada.io/name": name,
    },
  };
}

/** The keys of a claim by a cluster policy. */
export function wideClaimKeys(
  name: string,
  id = `id-${name}`,
): { labels: Texts; annotations: Texts } {
  return {
    labels: { "clusterpropagationpolicy.karmada.io/permanent-id": id },
    annotations: { "clusterpropagationpolicy.karmada.io/name": name },
  };
}
