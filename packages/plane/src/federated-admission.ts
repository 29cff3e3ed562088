/** What is refused for the sake of federated StatefulSets: a thin shell of `core/federated/objects/admission.ts` (D15). */
import {
  clusters,
  type FieldError,
  invalidObject,
  orNothing,
  resourceBindings,
  statefulSets,
} from "@lifeboat/api";
import type { AdmissionPlugin, AdmissionRequest } from "@lifeboat/apiserver";
import { asksForFederation } from "@lifeboat/core/federated";
import {
  bindingProblems,
  clusterProblems,
  concernsFederation,
  setProblems,
} from "@lifeboat/core/federated/objects";
import { bindingName } from "@lifeboat/core/propagation/rendering";
import type { Client } from "@lifeboat/kit";

/** `plane` reads what is there; it is asked for when a write needs it. */
export function createFederatedAdmission(plane: () => Client): AdmissionPlugin {
  return {
    name: "FederatedStatefulSet",
    handles: ({ operation, subresource, resource }) =>
      subresource === "" &&
      ((operation !== "DELETE" && isOf(resource, statefulSets)) ||
        (operation === "CREATE" && isOf(resource, clusters)) ||
        (operation === "UPDATE" && isOf(resource, resourceBindings))),
    validate: (request) => {
      if (isOf(request.resource, resourceBindings))
        return refuse(request, bindingProblems(request.object ?? {}, request.old ?? {}));
      if (isOf(request.resource, clusters)) return validateCluster(request, plane());
      if (!concernsFederation(request.object ?? {}, request.old)) return;
      return validateSet(request, plane());
    },
  };
}

async function validateSet(request: AdmissionRequest, plane: Client): Promise<void> {
  const { object = {}, old, namespace, name } = request;
  const [is, was] = [asksForFederation(object), asksForFederation(old ?? {})];
  const isNew = is && !was;
  const key = { namespace, name: bindingName("StatefulSet", name) };
  refuse(
    request,
    setProblems({
      object,
      old,
      binding:
        is !== was && old !== undefined
          ? await orNothing(plane.get(resourceBindings, key))
          : undefined,
      clusters: isNew ? await clusterNames(plane) : [],
      sets: isNew ? ((await federatedSets(plane, namespace)).get(namespace) ?? []) : [],
    }),
  );
}

async function validateCluster(request: AdmissionRequest, plane: Client): Promise<void> {
  const sets = await federatedSets(plane);
  if (sets.size === 0) return;
  refuse(request, clusterProblems(request.name, await clusterNames(plane), sets));
}

function refuse({ resource, name }: AdmissionRequest, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject(resource, name, errors);
}

async function clusterNames(plane: Client): Promise<readonly string[]> {
  return (await plane.list(clusters)).items.map(({ metadata }) => metadata.name);
}

async function federatedSets(
  plane: Client,
  namespace = "",
): Promise<ReadonlyMap<string, readonly string[]>> {
  const sets = new Map<string, string[]>();
  for (const set of (await plane.list(statefulSets, { namespace })).items) {
    if (!asksForFederation({ ...set, apiVersion: "apps/v1", kind: "StatefulSet" })) continue;
    const { namespace: where = "", name } = set.metadata;
    sets.set(where, [...(sets.get(where) ?? []), name]);
  }
  return sets;
}

function isOf(a: { group: string; plural: string }, b: { group: string; plural: string }): boolean {
  return a.group === b.group && a.plural === b.plural;
}
