/** What a binding gives one cluster: its replicas and, for a Job that is divided, its part of the completions. */
import {
  countAt,
  type Fields,
  integerAt,
  isFields,
  listAt,
  textAt,
  valueAt,
  withValue,
} from "../../fields.ts";
import { renderedIdentity } from "../../origin.ts";
import { divideByWeights, type Weight } from "../../placement/division/webster.ts";
import { FEDERATED_SHARES } from "../../well-known.ts";
import { interpreterOf } from "../interpretation/interpretation.ts";

/**
 * Whether replicas mean something for the bound object. Those of a federated StatefulSet do although it asks for none: its shares may
 * stay all the same (D15).
 */
export function isWorkload(binding: object): boolean {
  return (
    countAt(binding, "spec", "replicas") > 0 ||
    textAt(binding, "metadata", "annotations", FEDERATED_SHARES) !== "" ||
    isFields(valueAt(binding, "spec", "replicaRequirements")) ||
    listAt(binding, "spec", "components").length > 0
  );
}

/** The replicas the binding gives a cluster; undefined when the cluster is not in its result. */
export function replicasIn(binding: object, cluster: string): number | undefined {
  const found = listAt(binding, "spec", "clusters").find(
    (entry) => textAt(entry, "name") === cluster,
  );
  return found === undefined ? undefined : countAt(found, "replicas");
}

/** The template with the replicas of a cluster. */
export function withReplicas(template: Fields, binding: object, cluster: string): Fields {
  const replicas = isWorkload(binding) ? replicasIn(binding, cluster) : undefined;
  if (replicas === undefined) return template;
  return interpreterOf(template).reviseReplicas(template, replicas);
}

/** The Job with the completions of a cluster; any other object, or a Job that is not divided, as it is. */
export function withCompletions(
  object: Fields,
  template: Fields,
  binding: object,
  cluster: string,
): Fields {
  const share = completionsByCluster(template, binding)?.get(cluster);
  return share === undefined ? object : withValue(object, ["spec", "completions"], share);
}

/** The completions of every cluster of the result; undefined when the object is not a divided Job. */
export function completionsByCluster(
  template: Fields,
  binding: object,
): ReadonlyMap<string, number> | undefined {
  const isJob = textAt(template, "apiVersion") === "batch/v1" && textAt(template, "kind") === "Job";
  const completions = integerAt(template, "spec", "completions");
  if (!isJob || completions === undefined || !isDivided(binding)) return undefined;
  return divideByWeights(completions, weightsOf(binding), renderedIdentity(template).uid);
}

function isDivided(binding: object): boolean {
  const scheduling = valueAt(binding, "spec", "placement", "replicaScheduling");
  if (!isFields(scheduling) || countAt(binding, "spec", "replicas") === 0) return false;
  return (textAt(scheduling, "replicaSchedulingType") || "Divided") === "Divided";
}

/** A cluster that is listed twice counts once, as it does for replicas. */
function weightsOf(binding: object): Weight[] {
  const weights = new Map<string, number>();
  for (const entry of listAt(binding, "spec", "clusters")) {
    const name = textAt(entry, "name");
    if (!weights.has(name)) weights.set(name, countAt(entry, "replicas"));
  }
  return [...weights].map(([name, weight]) => ({ name, weight }));
}
