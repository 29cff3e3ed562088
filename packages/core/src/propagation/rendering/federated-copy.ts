/**
 * The copy of a federated StatefulSet in one member: its own name, and labels by which its pods are known (D15).
 *
 * The labels of the pod template never change for a cluster: another value would replace every pod. So region and zone, which
 * a person may edit on a Cluster, are not among them; they are put on pods in the member. That a pod joins a quorum is among
 * them in clusters where every pod joins. Where some form it, the number of those is an annotation of the copy, which may
 * change, and the member puts the label on each pod.
 */
import { copyName, idBase } from "../../federated/names.ts";
import { readFederated } from "../../federated/record.ts";
import { localPartition } from "../../federated/rollout.ts";
import { countAt, type Fields, fieldsAt, textAt, withValue } from "../../fields.ts";
import {
  FEDERATED_CLUSTER,
  FEDERATED_FOUNDERS,
  FEDERATED_ID_BASE,
  FEDERATED_SET,
  FEDERATED_SHARES,
  FEDERATED_STATE,
} from "../../well-known.ts";

/** In the template it counts through all clusters, in a copy through its own pods. */
const PARTITION = ["spec", "updateStrategy", "rollingUpdate", "partition"];

/** The copy as this cluster has it; the same object when the binding is not federated; undefined: the record is unreadable. */
export function federatedCopy(copy: Fields, binding: object, cluster: string): Fields | undefined {
  if (textAt(binding, "metadata", "annotations", FEDERATED_SHARES) === "") return copy;
  const record = readFederated(binding);
  if (record === undefined) return undefined;
  const set = textAt(copy, "metadata", "name");
  const base = idBase(record, cluster);
  const labels = {
    ...fieldsAt(copy, "spec", "template", "metadata", "labels"),
    [FEDERATED_SET]: set,
    [FEDERATED_CLUSTER]: cluster,
    ...(base !== undefined && { [FEDERATED_ID_BASE]: String(base) }),
    ...(record.founders?.has(cluster) === false && { [FEDERATED_STATE]: "existing" }),
  };
  const founders = record.founders?.get(cluster);
  const renamed = withValue(copy, ["metadata", "name"], copyName(set, cluster));
  const named =
    founders === undefined
      ? renamed
      : withValue(renamed, ["metadata", "annotations", FEDERATED_FOUNDERS], String(founders));
  const partition = countAt(copy, ...PARTITION);
  const parted =
    partition === 0
      ? named
      : withValue(named, PARTITION, localPartition(record, cluster, partition));
  return withValue(parted, ["spec", "template", "metadata", "labels"], labels);
}
