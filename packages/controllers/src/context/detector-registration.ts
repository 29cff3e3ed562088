/**
 * What a registered detector has in the control plane beside its rights: its ClusterRole bears the uid of the Cluster that it was
 * registered for, and when its newest certificate was issued and ends.
 *
 * A Cluster of the same name that joined later has another uid: the detector of before is not renewed for it.
 */
import { type AnyObject, clusterRoles, clusters, keyOf, orNothing } from "@lifeboat/api";
import { formatTime, type Instant } from "@lifeboat/base";
import {
  CLUSTER_UID,
  detectorRoleName,
  REGISTERED_SINCE,
  REGISTERED_UNTIL,
} from "@lifeboat/core/clusters/rights";
import type { Client } from "@lifeboat/kit";

function detectorClusterRole(plane: Client, cluster: string): Promise<AnyObject | undefined> {
  return orNothing(plane.get(clusterRoles, { namespace: "", name: detectorRoleName(cluster) }));
}

/** Whether a detector is registered for the Cluster that there is today, as the server has it. */
export async function isDetectorOfToday(plane: Client, cluster: string): Promise<boolean> {
  const [found, role] = await Promise.all([
    orNothing(plane.get(clusters, { namespace: "", name: cluster })),
    detectorClusterRole(plane, cluster),
  ]);
  const uid = found?.metadata.uid;
  return uid !== undefined && role?.metadata.annotations?.[CLUSTER_UID] === uid;
}

/** Notes the certificate that a detector gets now, for `lifeboat certs`. */
export async function noteDetectorCertificate(
  plane: Client,
  cluster: string,
  { since, until }: { readonly since: Instant; readonly until: Instant },
): Promise<void> {
  const role = await detectorClusterRole(plane, cluster);
  if (role === undefined) return;
  const { resourceVersion } = role.metadata;
  const annotations = {
    [REGISTERED_SINCE]: formatTime(since),
    [REGISTERED_UNTIL]: formatTime(until),
  };
  const body = { metadata: { resourceVersion, annotations } };
  await plane.patch(clusterRoles, keyOf(role), { type: "merge", body });
}
