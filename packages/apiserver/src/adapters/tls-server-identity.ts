/** The user of a TLS client, by its certificate: the common name is the user, the organizations are the groups. */
import type { TLSSocket } from "node:tls";
import type { User } from "../authentication/user.ts";

/** By what a certificate is found to count still. */
export interface ClientCertificateFacts {
  /** Hexadecimal. */
  readonly serial: string;
  readonly user: string;
  /** Milliseconds since the epoch. */
  readonly validFrom: number;
}

/**
 * Why a certificate does not count any more: the cause that its bearer reads in the refusal. undefined: it counts. Asked on each
 * request, so it has to be quick.
 */
export type RefusalOf = (certificate: ClientCertificateFacts) => string | undefined;

export interface ClientIdentity {
  readonly user: User | undefined;
  /** There is a certificate, and it does not count. */
  readonly isRefused: boolean;
  /** Milliseconds since the epoch. */
  readonly validUntil: number;
  /** Why its certificate does not count any more. */
  readonly refusal: () => string | undefined;
  /** SHA-256 of the certificate that signed its own, lower case and hexadecimal; "": not known. */
  readonly issuer: () => string;
}

/** A client without a certificate. */
export const NO_IDENTITY: ClientIdentity = Object.freeze({
  user: undefined,
  isRefused: false,
  validUntil: Infinity,
  refusal: () => undefined,
  issuer: () => "",
});

const REFUSED: ClientIdentity = Object.freeze({ ...NO_IDENTITY, isRefused: true });

/** Reads the certificate of a connection whose handshake is over. TLS itself has checked chain, dates and purpose. */
export function identityOf(socket: TLSSocket, refusalOf: RefusalOf): ClientIdentity {
  const certificate = socket.getPeerCertificate();
  if (certificate === null || Object.keys(certificate).length === 0) return NO_IDENTITY;
  if (!socket.authorized) return REFUSED;
  const name: unknown = certificate.subject.CN;
  if (typeof name !== "string" || name === "") return REFUSED;
  const facts: ClientCertificateFacts = {
    serial: certificate.serialNumber,
    user: name,
    validFrom: Date.parse(certificate.valid_from),
  };
  const fingerprint = hexOf(certificate.fingerprint256);
  return {
    user: {
      name,
      groups: groupsOf(certificate.subject.O),
      extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] },
    },
    isRefused: false,
    validUntil: Date.parse(certificate.valid_to),
    refusal: () => refusalOf(facts),
    issuer: () => issuerOf(socket),
  };
}

function issuerOf(socket: TLSSocket): string {
  const { issuerCertificate } = socket.getPeerCertificate(true);
  return hexOf(issuerCertificate?.fingerprint256 ?? "");
}

function hexOf(fingerprint: string): string {
  return fingerprint.replaceAll(":", "").toLowerCase();
}

/** Node gives one organization as a text, several as a list. */
function groupsOf(organizations: unknown): readonly string[] {
  const all: unknown[] = Array.isArray(organizations) ? organizations : [organizations];
  return all.filter((group): group is string => typeof group === "string" && group !== "");
}
