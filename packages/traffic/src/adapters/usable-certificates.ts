/**
 * The certificates that a load balancer can serve. One that cannot be used is left out, and the others go on: a broken Secret
 * harms its own hosts alone. A host that two certificates name has the first.
 */
import { createSecureContext, type SecureContext } from "node:tls";
import type { Log } from "@lifeboat/kit";
import type { ServedCertificate } from "../provider.ts";

export interface UsableCertificate extends ServedCertificate {
  readonly context: SecureContext;
}

export function usableCertificates(
  certificates: readonly ServedCertificate[],
  log: Log,
): readonly UsableCertificate[] {
  const taken = new Set<string>();
  return certificates.flatMap(({ hosts: named, certificate, key }) => {
    const hosts = named.filter((host) => !taken.has(host));
    try {
      const context = createSecureContext({ cert: certificate, key, minVersion: "TLSv1.2" });
      for (const host of hosts) taken.add(host);
      return hosts.length === 0 ? [] : [{ hosts, certificate, key, context }];
    } catch (error) {
      log.warn("a certificate cannot be used", { hosts, error });
      return [];
    }
  });
}
