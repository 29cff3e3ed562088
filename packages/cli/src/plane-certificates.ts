/**
 * The certificates of a running `lifeboat up`, between the files in its data directory and what serves with them. Another
 * process (`lifeboat certs`) may write the files at any time.
 */
import { X509Certificate } from "node:crypto";
import type { Pki, TlsServer } from "@lifeboat/apiserver/adapters";
import { type Instant, instantOf } from "@lifeboat/base";
import { writeKubeconfig } from "@lifeboat/kit/adapters";
import type { OwnCertificate, PlaneMaterial } from "@lifeboat/plane";

export interface ServedCertificates {
  readonly pki: Pki;
  readonly tls: Pick<TlsServer, "renew">;
  readonly hosts: readonly string[];
  readonly server: string;
  /** The file of the administrator. */
  readonly kubeconfig: string;
}

export const ADMIN = "admin";
export const ADMIN_GROUPS: readonly string[] = ["system:masters"];

/** Renews what is due and lets the server use it; nothing is done twice. */
export function refreshing(served: ServedCertificates): () => Promise<PlaneMaterial> {
  const { pki, tls, hosts, server, kubeconfig } = served;
  let serving = "";
  let written = "";
  return async () => {
    await pki.reload();
    const { bundle } = pki;
    const own = await pki.server(hosts);
    if (serving !== own.certificate + bundle) {
      tls.renew({ ...own, clientCa: bundle });
      serving = own.certificate + bundle;
    }
    const client = await pki.client(ADMIN, ADMIN_GROUPS);
    if (written !== client.certificate + bundle) {
      await writeKubeconfig(kubeconfig, { name: "lifeboat", server, ca: bundle, client });
      written = client.certificate + bundle;
    }
    return {
      server,
      bundle,
      certificates: [
        ownCertificate("authority", pki.ca, "replace it (lifeboat certs rotate-ca)"),
        ownCertificate("server", own.certificate, "see the log of lifeboat up"),
        ownCertificate(`client ${ADMIN}`, client.certificate, "see the log of lifeboat up"),
      ],
    };
  };
}

function ownCertificate(name: string, pem: string, remedy: string): OwnCertificate {
  return { name, remedy, ...lifeOf(new X509Certificate(pem)) };
}

/** When a certificate begins and ends. */
export function lifeOf({ validFrom, validTo }: X509Certificate): {
  readonly notBefore: Instant;
  readonly notAfter: Instant;
} {
  return { notBefore: instantOf(Date.parse(validFrom)), notAfter: instantOf(Date.parse(validTo)) };
}
