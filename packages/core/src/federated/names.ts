/**
 * The names of a federated StatefulSet: `store` in cluster `c1` is the StatefulSet `store-c1` with pods `store-c1-0`, `store-c1-1`, …
 *
 * 1. A name holds its cluster and its ordinal, so no two pods of one set share one, whatever happens to the set.
 * 2. Two sets of a namespace may still meet: `a-b` in `c` and `a` in `b-c` are both `a-b-c`. Such names are refused (D15).
 * 3. Names are labels of DNS, because a pod and its Service are: at most 63 characters, of which a StatefulSet leaves 52 for
 *    its own name (its controller adds a revision to it in labels).
 */
import { compareText } from "../fields.ts";
import type { FederatedRecord } from "./record.ts";

export const MOST_COPY_NAME = 52;
/** How many replicas a set has at most: the room between two clusters' unique integers. */
export const MOST_REPLICAS = 10_000;
const DNS_LABEL = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;

/** The StatefulSet of a set in a cluster. */
export function copyName(set: string, cluster: string): string {
  return `${set}-${cluster}`;
}

/** The pod of an ordinal. */
export function podName(set: string, cluster: string, ordinal: number): string {
  return `${copyName(set, cluster)}-${ordinal}`;
}

/** The ConfigMap with the list of a set's pods. */
export function peersName(set: string): string {
  return `${set}-peers`;
}

/** Why a set cannot be federated under its name in this cluster; undefined: it can. */
export function nameProblem(set: string, cluster: string): string | undefined {
  const name = copyName(set, cluster);
  if (!DNS_LABEL.test(name))
    return `the StatefulSet of cluster ${cluster} would be ${name}, which is no DNS label (lower case letters, digits and '-', a letter first), as its pods and their Services need`;
  if (name.length > MOST_COPY_NAME)
    return `the StatefulSet of cluster ${cluster} would be ${name}: ${name.length} characters, of which a StatefulSet may have ${MOST_COPY_NAME}`;
  return undefined;
}

export interface SetAndCluster {
  readonly set: string;
  readonly cluster: string;
}

/** Two sets of one namespace whose pods would have the same names; undefined: there are none. */
export function nameCollision(
  sets: Iterable<string>,
  clusters: readonly string[],
): readonly [SetAndCluster, SetAndCluster] | undefined {
  const taken = new Map<string, SetAndCluster>();
  for (const set of new Set(sets))
    for (const cluster of clusters) {
      const name = copyName(set, cluster);
      const other = taken.get(name);
      if (other !== undefined) return [other, { set, cluster }];
      taken.set(name, { set, cluster });
    }
  return undefined;
}

export interface FederatedPod extends SetAndCluster {
  readonly name: string;
  readonly ordinal: number;
}

/** All pods that the shares assign, also those of dead clusters, by cluster and ordinal. */
export function podsOf(
  set: string,
  { shares }: Pick<FederatedRecord, "shares">,
): readonly FederatedPod[] {
  return [...shares]
    .toSorted(([a], [b]) => compareText(a, b))
    .flatMap(([cluster, share]) =>
      Array.from({ length: share }, (_none, ordinal) => ({
        set,
        cluster,
        ordinal,
        name: podName(set, cluster, ordinal),
      })),
    );
}

/** The pods as the headless Service lists them. */
export function replicaList(pods: readonly FederatedPod[]): string {
  return pods.map(({ name }) => name).join(", ");
}

/** The number that a cluster's unique integers begin with; undefined: it has none. */
export function idBase(
  { numbers }: Pick<FederatedRecord, "numbers">,
  cluster: string,
): number | undefined {
  const number = numbers.get(cluster);
  return number === undefined ? undefined : number * MOST_REPLICAS;
}
