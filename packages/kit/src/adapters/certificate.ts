/** The holder and the life of a certificate (PEM). */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { type Instant, instantOf } from "@lifeboat/base";

export interface ReadCertificate {
  /** Hexadecimal. */
  readonly serial: string;
  /** The common name; "" without one. */
  readonly user: string;
  readonly groups: readonly string[];
  readonly notBefore: Instant;
  readonly notAfter: Instant;
}

/** Reads a certificate; undefined when it is none. */
export function readCertificate(pem: string): ReadCertificate | undefined {
  try {
    const certificate = new X509Certificate(pem);
    const subject = certificate.toLegacyObject().subject as unknown as Record<string, unknown>;
    const [user] = textsOf(subject["CN"]);
    return {
      serial: certificate.serialNumber,
      user: user ?? "",
      groups: textsOf(subject["O"]),
      notBefore: instantOf(Date.parse(certificate.validFrom)),
      notAfter: instantOf(Date.parse(certificate.validTo)),
    };
  } catch {
    return undefined;
  }
}

/** Whether a certificate is of this private key (both PEM); false where either cannot be read. */
export function isCertificateOf(certificate: string, key: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Node gives one value as a text, several as a list. */
function textsOf(value: unknown): readonly string[] {
  return [value].flat().filter((text): text is string => typeof text === "string");
}
