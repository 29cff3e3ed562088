/**
 * The port of a certificate authority: it reads requests and signs certificates, at once. Keys never pass it.
 *
 * What it reads has been checked against the signature of the request itself; whether it may be granted is decided elsewhere.
 */
import type { Instant } from "@lifeboat/base";

/** What a request (PKCS #10) asks for. */
export interface ReadCertificateRequest {
  /** Attributes of the subject by their OID, in order; those of one set together. */
  readonly subject: readonly (readonly { readonly type: string; readonly value: string }[])[];
  /** OIDs of the extensions that are asked for, alternative names among them. */
  readonly extensions: readonly string[];
  /** OIDs of attributes other than the list of extensions. */
  readonly attributes: readonly string[];
  /** `ec-prime256v1`, `ed25519`, `rsa-2048`. */
  readonly keyType: string;
  /** Of the whole request, in bytes. */
  readonly size: number;
  /** The public key, PEM. */
  readonly publicKey: string;
}

/** The certificate of a client to be made. */
export interface ClientCertificate {
  readonly user: string;
  readonly groups: readonly string[];
  readonly publicKey: string;
  readonly notBefore: Instant;
  readonly notAfter: Instant;
}

/** Reads requests that another process signs once they are approved: kube-controller-manager, beside a kube-apiserver. */
export interface RequestReader {
  /** Reads a request (PEM), or answers in one sentence what is wrong with it. Never throws. */
  read(request: string): ReadCertificateRequest | { readonly refusal: string };
}

export interface Signer extends RequestReader {
  /** The certificate, PEM. Throws when there is no authority to sign with. */
  sign(certificate: ClientCertificate): string;
}
