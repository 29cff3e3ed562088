/**
 * The signing port with real keys: reads certificate requests, which may come from any client, and signs clients' certificates
 * with the authority of the control plane.
 *
 * 1. Nothing of a request is believed before its signature by its own key is verified, and nothing of it enters a certificate
 *    but its public key: subject and life are the caller's.
 * 2. Whatever is sent, reading ends quickly with facts or with one sentence.
 */
import {
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  verify,
  X509Certificate,
} from "node:crypto";
import { CertificationRequest } from "@peculiar/asn1-csr";
import { AsnConvert } from "@peculiar/asn1-schema";
import { type AttributeValue, Extensions } from "@peculiar/asn1-x509";
import type { ClientCertificate, ReadCertificateRequest, Signer } from "@lifeboat/kit";
import { makeCertificate } from "./pki-certificate.ts";
import { AUTHORITY_NAME, type CertifiedKey } from "./pki.ts";

/** More than any honest request has; hostile ones are not even parsed. */
const MAX_BYTES = 64 * 1024;
const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const LABEL =
  /^\s*-----BEGIN CERTIFICATE REQUEST-----\s([A-Za-z0-9+/=\s]*)-----END CERTIFICATE REQUEST-----\s*$/;
/** The hash of each accepted way to sign; null where the way has its own. */
const HASHES: ReadonlyMap<string, string | null> = new Map([
  ["1.2.840.10045.4.3.2", "sha256"],
  ["1.2.840.10045.4.3.3", "sha384"],
  ["1.2.840.10045.4.3.4", "sha512"],
  ["1.2.840.113549.1.1.11", "sha256"],
  ["1.2.840.113549.1.1.12", "sha384"],
  ["1.2.840.113549.1.1.13", "sha512"],
  ["1.3.101.112", null],
]);

/** A signer whose authority is asked for each time: it may change while the control plane runs. */
export function createSigner(authority: () => CertifiedKey): Signer {
  return {
    read: readRequest,
    sign: (certificate) => signWith(authority(), certificate),
  };
}

/** Reads a request (PEM), or answers what is wrong with it. */
export function readRequest(pem: string): ReadCertificateRequest | { readonly refusal: string } {
  if (pem.length > 2 * MAX_BYTES) return { refusal: "the request is too large to be read" };
  const encoded = LABEL.exec(pem)?.[1];
  if (encoded === undefined) return { refusal: "it is not one PEM block of a CERTIFICATE REQUEST" };
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.length > MAX_BYTES) return { refusal: "the request is too large to be read" };
  try {
    return read(bytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { refusal: `it is no certificate request: ${why.slice(0, 200)}` };
  }
}

function read(bytes: Buffer): ReadCertificateRequest | { readonly refusal: string } {
  if (encodedLength(bytes) !== bytes.length)
    return { refusal: "the request is cut off, or something follows it" };
  const { certificationRequestInfo, certificationRequestInfoRaw, signatureAlgorithm, signature } =
    AsnConvert.parse(bytes, CertificationRequest);
  const key = createPublicKey({
    key: Buffer.from(AsnConvert.serialize(certificationRequestInfo.subjectPKInfo)),
    format: "der",
    type: "spki",
  });
  const hash = HASHES.get(signatureAlgorithm.algorithm);
  if (hash === undefined)
    return {
      refusal: `its signature is of a kind that is not accepted: ${signatureAlgorithm.algorithm}`,
    };
  const signed = Buffer.from(certificationRequestInfoRaw ?? new ArrayBuffer(0));
  if (!verify(hash, signed, key, Buffer.from(signature)))
    return { refusal: "its signature is not by its own key" };
  const attributes = [...(certificationRequestInfo.attributes ?? [])];
  return {
    subject: [...certificationRequestInfo.subject].map((set) =>
      [...set].map(({ type, value }) => ({ type, value: textOf(value) })),
    ),
    extensions: attributes
      .filter(({ type }) => type === EXTENSION_REQUEST)
      .flatMap(({ values }) => values)
      .flatMap((value) => [...AsnConvert.parse(value, Extensions)])
      .map(({ extnID }) => extnID),
    attributes: attributes.map(({ type }) => type).filter((type) => type !== EXTENSION_REQUEST),
    keyType: keyTypeOf(key),
    size: bytes.length,
    publicKey: key.export({ type: "spki", format: "pem" }).toString(),
  };
}

/** A value that is no text reads as its hexadecimal form, which is no user's name. */
function textOf(value: AttributeValue): string {
  if (value.anyValue !== undefined) return `#${Buffer.from(value.anyValue).toString("hex")}`;
  return value.toString();
}

function keyTypeOf(key: KeyObject): string {
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {};
  const type = key.asymmetricKeyType ?? "unknown";
  if (namedCurve !== undefined) return `${type}-${namedCurve}`;
  return modulusLength === undefined ? type : `${type}-${modulusLength}`;
}

/** The length of the outermost element with its head, as its head has it. */
function encodedLength(bytes: Buffer): number {
  const first = bytes[1] ?? 0;
  if (first < 0x80) return 2 + first;
  const digits = bytes.subarray(2, 2 + (first & 0x7f));
  return 2 + digits.length + digits.reduce((length, digit) => length * 0x100 + digit, 0);
}

function signWith(
  { certificate, key }: CertifiedKey,
  { user, groups, publicKey, notBefore, notAfter }: ClientCertificate,
): string {
  const authority = new X509Certificate(certificate);
  return makeCertificate(
    {
      subject: [...groups.map((group) => ["O", group] as const), ["CN", user]],
      publicKey: createPublicKey(publicKey),
      notBefore: new Date(notBefore),
      notAfter: new Date(Math.min(notAfter, Date.parse(authority.validTo))),
      use: "client",
      hosts: [],
    },
    { name: AUTHORITY_NAME, publicKey: authority.publicKey, privateKey: createPrivateKey(key) },
  );
}
