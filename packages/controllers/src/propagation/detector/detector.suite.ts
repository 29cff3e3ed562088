/** What the detector's tests share: a fleet with nothing but a detector, policies, and what they select. */
import {
  type AnyObject,
  clusterPropagationPolicies,
  type ClusterPropagationPolicy,
  clusterResourceBindings,
  clusterRoles,
  failure,
  isRefused,
  type New,
  type ObjectKey,
  propagationPolicies,
  type PropagationPolicy,
  Refused,
  type Resource,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import {
  createFleet,
  type Fleet,
  type FleetOptions,
  newObject,
  resources,
  wrapped,
} from "@lifeboat/testkit";
import { type Client, NotSent, OutcomeUnknown } from "@lifeboat/kit";
import { createDetector, type DetectorOptions } from "./create-detector.ts";

export type PolicySpec = Partial<PropagationPolicy["spec"]>;

/** A control plane where nothing runs but the detector. */
export function detectorFleet(
  options: DetectorOptions = {},
  fleet: Partial<FleetOptions> = {},
): Promise<Fleet> {
  return createFleet({ services: (context) => createDetector(context, options), ...fleet });
}

/** What happens to a write of the detector. */
export type Fault = "pass" | "refuse" | "lose request" | "lose answer";

/** A client whose writes can fail, and are counted. */
export interface Disturbed {
  readonly writes: readonly string[];
  /** Decides about each write, given how many came before it. */
  disturb(fault: (count: number) => Fault): void;
  client(client: Client): Client;
}

export function disturbed(): Disturbed {
  const writes: string[] = [];
  let faultOf: (count: number) => Fault = () => "pass";
  const guard = async <T>(what: string, run: () => Promise<T>): Promise<T> => {
    const fault = faultOf(writes.length);
    writes.push(what);
    if (fault === "refuse") throw new Refused(failure(403, "Forbidden", "not today"));
    if (fault === "lose request") throw new NotSent("lost");
    const answer = await run();
    if (fault === "lose answer") throw new OutcomeUnknown("lost");
    return answer;
  };
  return {
    writes,
    disturb: (next) => {
      faultOf = next;
    },
    client: (client) =>
      wrapped(client, {
        create: (...given) => guard(`create ${given[0].plural}`, () => client.create(...given)),
        update: (...given) => guard(`update ${given[0].plural}`, () => client.update(...given)),
        patch: (...given) => guard(`patch ${given[0].plural}`, () => client.patch(...given)),
        delete: (...given) => guard(`delete ${given[0].plural}`, () => client.delete(...given)),
      }),
  };
}

/** A control plane whose detector writes through a disturbed client. */
export function disturbedFleet(disturbance: Disturbed): Promise<Fleet> {
  return createFleet({
    services: (context) => createDetector({ ...context, plane: disturbance.client(context.plane) }),
  });
}

export const DEPLOYMENTS = { apiVersion: "apps/v1", kind: "Deployment" } as const;
export const CONFIG_MAPS = { apiVersion: "v1", kind: "ConfigMap" } as const;

/** A PropagationPolicy of the namespace default; it selects Deployments unless selectors are given. */
export function policy(name: string, spec: PolicySpec = {}): New<PropagationPolicy> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name, namespace: "default" },
    spec: { resourceSelectors: [DEPLOYMENTS], ...spec },
  };
}

/** A ClusterPropagationPolicy; it selects Deployments unless selectors are given. */
export function clusterPolicy(name: string, spec: PolicySpec = {}): New<ClusterPropagationPolicy> {
  return {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name },
    spec: { resourceSelectors: [DEPLOYMENTS], ...spec },
  };
}

/** A placement on one cluster. */
export function on(cluster: string): Pick<PropagationPolicy["spec"], "placement"> {
  return { placement: { clusterAffinity: { clusterNames: [cluster] } } };
}

export const createPolicy = (fleet: Fleet, name: string, spec?: PolicySpec) =>
  fleet.plane.create(propagationPolicies, policy(name, spec));
export const createClusterPolicy = (fleet: Fleet, name: string, spec?: PolicySpec) =>
  fleet.plane.create(clusterPropagationPolicies, clusterPolicy(name, spec));

export function key(name: string): ObjectKey {
  return { namespace: "default", name };
}

/** The ResourceBinding of this name in the namespace default. */
export function bindingNamed(fleet: Fleet, name: string): Promise<ResourceBinding | undefined> {
  return fleet.plane.get(resourceBindings, key(name)).catch(undefinedIfMissing);
}

export function clusterBindingNamed(
  fleet: Fleet,
  name: string,
): Promise<ResourceBinding | undefined> {
  return fleet.plane
    .get(clusterResourceBindings, { namespace: "", name })
    .catch(undefinedIfMissing);
}

/** Merges fields into an object, as `kubectl patch` does. */
export async function patch(
  fleet: Fleet,
  resource: Resource<never>,
  at: ObjectKey,
  body: object,
): Promise<void> {
  await fleet.plane.patch(resource, at, { type: "merge", body: body as never });
}

/** The reasons of the Events about an object, sorted. */
export async function eventsAbout(fleet: Fleet, name: string): Promise<readonly string[]> {
  const { items } = await fleet.plane.list(resources.events);
  return items
    .filter((event) => (event["involvedObject"] as { name?: string }).name === name)
    .map((event) => `${String(event["reason"])}: ${String(event["message"])}`)
    .sort();
}

/** The name of the policy that has claimed an object, by the object's own marks. */
export function claimerName(object: { metadata: { annotations?: object } } | undefined) {
  const annotations = (object?.metadata.annotations ?? {}) as Record<string, string>;
  return (
    annotations["propagationpolicy.karmada.io/name"] ??
    annotations["clusterpropagationpolicy.karmada.io/name"]
  );
}

export function getDeployment(fleet: Fleet, name: string): Promise<AnyObject> {
  return fleet.plane.get(resources.deployments, key(name));
}

export function clusterRole(name: string): New<AnyObject> {
  return newObject(clusterRoles, { name }, { rules: [] });
}

function undefinedIfMissing(error: unknown): undefined {
  if (isRefused(error, "NotFound")) return undefined;
  throw error;
}
