/**
 * X.509 certificates in DER, signed with node:crypto: as much of ASN.1 as three kinds of certificates need (authority,
 * server, client), all with ECDSA on P-256 and SHA-256.
 */
import { createHash, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import { domainToASCII } from "node:url";
import { der, type DistinguishedName } from "@lifeboat/base/adapters";

export interface CertificateRequest {
  readonly subject: DistinguishedName;
  readonly publicKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly use: "authority" | "server" | "client";
  /** Names and addresses the certificate is for. */
  readonly hosts: readonly string[];
}

export interface Issuer {
  readonly name: DistinguishedName;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** Makes a certificate and signs it; PEM. */
export function makeCertificate(request: CertificateRequest, issuer: Issuer): string {
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(serialNumber()),
    ECDSA_SHA256,
    name(issuer.name),
    sequence(time(request.notBefore), time(request.notAfter)),
    name(request.subject),
    request.publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions(request, issuer))),
  );
  const signature = sign("sha256", body, issuer.privateKey);
  return pem("CERTIFICATE", sequence(body, ECDSA_SHA256, bitString(signature, 0)));
}

/** The purposes of certificates, as `X509Certificate.keyUsage` shows them. */
export const PURPOSES = {
  authority: undefined,
  server: "1.3.6.1.5.5.7.3.1",
  client: "1.3.6.1.5.5.7.3.2",
} as const;

/** The uncompressed point at the end of a P-256 public key. */
const POINT_BYTES = 65;
/** digitalSignature; keyCertSign and cRLSign. As bits, with how many at the end are unused. */
const SIGNING_USAGE = { bits: 0x80, unused: 7 };
const AUTHORITY_USAGE = { bits: 0x06, unused: 1 };
const { TRUE, ECDSA_SHA256, tagged, sequence, integer, bitString, oid, time, name, pem } = der;

function extensions(request: CertificateRequest, issuer: Issuer): readonly Buffer[] {
  const isAuthority = request.use === "authority";
  const purpose = PURPOSES[request.use];
  const usage = isAuthority ? AUTHORITY_USAGE : SIGNING_USAGE;
  const constraints = isAuthority ? sequence(TRUE, integer(Buffer.from([0]))) : sequence();
  const issuerKey = tagged(0x80, keyIdentifier(issuer.publicKey));
  const result = [
    extension("2.5.29.19", constraints, true),
    extension("2.5.29.15", bitString(Buffer.from([usage.bits]), usage.unused), true),
    extension("2.5.29.14", tagged(0x04, keyIdentifier(request.publicKey))),
    extension("2.5.29.35", sequence(issuerKey)),
  ];
  if (purpose !== undefined) result.push(extension("2.5.29.37", sequence(oid(purpose))));
  if (request.hosts.length > 0)
    result.push(extension("2.5.29.17", sequence(...request.hosts.map(generalName))));
  return result;
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  const content = tagged(0x04, value);
  return critical ? sequence(oid(id), TRUE, content) : sequence(oid(id), content);
}

function keyIdentifier(key: KeyObject): Buffer {
  const point = key.export({ type: "spki", format: "der" }).subarray(-POINT_BYTES);
  return createHash("sha1").update(point).digest();
}

function generalName(host: string): Buffer {
  if (isIPv4(host)) return tagged(0x87, Buffer.from(host.split(".").map(Number)));
  if (isIPv6(host)) return tagged(0x87, addressV6(host));
  return tagged(0x82, Buffer.from(domainToASCII(host) || host, "latin1"));
}

/** The sixteen bytes of a valid IPv6 address. */
function addressV6(text: string): Buffer {
  const plain = text.replace(/%.*$/, "").replace(/\d+\.\d+\.\d+\.\d+$/, (v4) => {
    const [a = 0, b = 0, c = 0, d = 0] = v4.split(".").map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [before = "", after = ""] = plain.split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after === "" ? [] : after.split(":");
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  const bytes = Buffer.alloc(16);
  [...head, ...zeros, ...tail].forEach((group, i) =>
    bytes.writeUInt16BE(parseInt(group, 16), 2 * i),
  );
  return bytes;
}

/** Positive and not to be guessed. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}
