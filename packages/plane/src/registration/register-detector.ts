/**
 * Makes the identity of a cluster's detector, with the rights of an administrator: its roles, and its certificate. It can be repeated:
 * each time the detector gets another certificate, and the roles stay.
 */
import { clusterRoles, clusters, namespaces, orNothing, type Resource } from "@lifeboat/api";
import type { Clock } from "@lifeboat/base";
import { CLUSTER_UID, detectorRoleObjects } from "@lifeboat/core/clusters/rights";
import { executionNamespace } from "@lifeboat/core/propagation/rendering";
import type { Client } from "@lifeboat/kit";
import { ensure } from "./ensure.ts";
import { RegistrationRefused } from "./refusal.ts";
import { type CertificateOrder, issueCertificate } from "./users.ts";

export interface DetectorRequest extends CertificateOrder {
  readonly cluster: string;
}

/** Makes the roles and has the certificate signed; answers it, PEM. */
export async function registerDetector(
  ports: { readonly clock: Clock },
  plane: Client,
  { cluster, ...asked }: DetectorRequest,
): Promise<string> {
  const found = await orNothing(plane.get(clusters, { namespace: "", name: cluster }));
  if (found === undefined)
    throw new RegistrationRefused(`there is no cluster "${cluster}": join or register it first`);
  const home = { namespace: "", name: executionNamespace(cluster) };
  if ((await orNothing(plane.get(namespaces, home))) === undefined)
    throw new RegistrationRefused(
      `the cluster "${cluster}" has no namespace ${home.name} yet: do the controllers of the control plane run?`,
    );
  // Of another Cluster of this name the detector is not renewed.
  const annotations = { [CLUSTER_UID]: found.metadata.uid ?? "" };
  for (const object of detectorRoleObjects(cluster))
    await ensure(plane, roleResource(String(object["kind"])), {
      ...object,
      metadata: { ...object.metadata, annotations },
    });
  return issueCertificate(ports.clock, plane, asked);
}

function roleResource(kind: string): Resource {
  const plural = `${kind.toLowerCase()}s`;
  return { ...clusterRoles, kind, plural, namespaced: !kind.startsWith("Cluster") };
}
