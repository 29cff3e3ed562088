/** Certificates for tests of replicas, which need none that a client would trust. */
import { instantOf } from "@lifeboat/base";
import type { CertificateMaker } from "./certificates.ts";

/** Certificates that are texts: `authority 1 until T`, `serving by 1 for hosts until T`. */
export function toyMaker(): CertificateMaker {
  let made = 0;
  const numberOf = (pem: string): string => /(?:authority|by) (\d+)/.exec(pem)?.[1] ?? "";
  return {
    authority: (from, lifeMs) => {
      made++;
      return { certificate: `authority ${made} until ${from + lifeMs}`, key: `key of ${made}` };
    },
    serving: (by, hosts, from, lifeMs) => ({
      certificate: `serving by ${numberOf(by.certificate)} for ${hosts.join()} until ${from + lifeMs}`,
      key: "key",
    }),
    notAfter: (pem) => {
      const end = Number(/until (\d+)/.exec(pem)?.[1] ?? Number.NaN);
      return Number.isNaN(end) ? undefined : instantOf(end);
    },
    keyFits: ({ certificate, key }) =>
      certificate.startsWith("serving") ? key === "key" : key === `key of ${numberOf(certificate)}`,
    isSignedBy: (certificate, authority) => numberOf(certificate) === numberOf(authority),
    covers: (pem, host) => pem.includes(host),
    client: (by, name) => ({
      certificate: `client ${name} by ${numberOf(by.certificate)}`,
      key: "key",
    }),
    fingerprint: (pem) => pem,
    split: (bundle) => bundle.split("\n").filter((line) => line !== ""),
  };
}
