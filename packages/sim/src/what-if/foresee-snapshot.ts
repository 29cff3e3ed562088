/** What the failure of each cluster would do, decided by core on one view of a snapshot (`createForesight`); nothing is played. */
import {
  clusterPropagationPolicies,
  clusterResourceBindings,
  clusters,
  type ClusterTaintPolicy,
  clusterTaintPolicies,
  evacuationBudgets,
  type KubeObject,
  priorityClasses,
  propagationPolicies,
  type Resource,
  resourceBindings,
  resourceInterpreterCustomizations,
} from "@lifeboat/api";
import { createForesight, type Foresight, policiesById } from "@lifeboat/core/operating";
import {
  type ControllersOptions,
  DEFAULT_CONTROLLERS,
  foresightSettingsOf,
  objectsOf,
} from "@lifeboat/plane";
import type { WorldSnapshot } from "../snapshot/read-snapshot.ts";

/** All that a snapshot needs for it. */
export const FORESIGHT_TABLES: readonly Pick<Resource, "group" | "plural">[] = [
  clusters,
  resourceBindings,
  clusterResourceBindings,
  clusterTaintPolicies,
  propagationPolicies,
  clusterPropagationPolicies,
  priorityClasses,
  resourceInterpreterCustomizations,
  evacuationBudgets,
];

export interface ForesightRequest {
  readonly controllers: Partial<ControllersOptions>;
  /** Rules that are only planned, in the place of those with the same name. */
  readonly taintPolicies?: readonly ClusterTaintPolicy[];
}

export function foresightOf(
  { tables, takenAt }: WorldSnapshot,
  { controllers, taintPolicies: planned = [] }: ForesightRequest,
): Foresight {
  const options: ControllersOptions = { ...DEFAULT_CONTROLLERS, ...controllers };
  const names = new Set(planned.map(({ metadata }) => metadata.name));
  const classes = byName(objectsOf(tables, priorityClasses));
  const scripted = scriptedKinds(tables);
  return createForesight(
    {
      clusters: objectsOf(tables, clusters),
      bindings: [
        ...objectsOf(tables, resourceBindings),
        ...objectsOf(tables, clusterResourceBindings),
      ],
      taintPolicies: [
        ...objectsOf(tables, clusterTaintPolicies).filter(
          ({ metadata }) => !names.has(metadata.name),
        ),
        ...planned,
      ],
      budget: objectsOf(tables, evacuationBudgets)[0]?.spec,
      ...foresightSettingsOf(options),
      policyOf: policiesById([
        ...objectsOf(tables, propagationPolicies),
        ...objectsOf(tables, clusterPropagationPolicies),
      ]),
      priorityClassOf: (name) => classes.get(name),
      isScripted: (apiVersion, kind) => scripted.has(`${apiVersion} ${kind}`),
    },
    takenAt,
  );
}

function byName(objects: readonly KubeObject[]): ReadonlyMap<string, KubeObject> {
  return new Map(objects.map((one) => [one.metadata.name, one]));
}

/** The kinds whose replicas or health a user's script interprets. */
function scriptedKinds(tables: WorldSnapshot["tables"]): ReadonlySet<string> {
  return new Set(
    objectsOf(tables, resourceInterpreterCustomizations)
      .filter(({ spec: { customizations } }) => {
        const { healthInterpretation, replicaResource } = customizations;
        return healthInterpretation !== undefined || replicaResource !== undefined;
      })
      .map(({ spec: { target } }) => `${target.apiVersion} ${target.kind}`),
  );
}
