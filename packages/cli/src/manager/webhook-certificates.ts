/** Makes and reads the certificates of the webhook with node:crypto: elliptic curve P-256, as all of ours. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  X509Certificate,
} from "node:crypto";
import { isIP } from "node:net";
import { makeCertificate } from "@lifeboat/apiserver/adapters";
import { type Instant, instantOf } from "@lifeboat/base";
import type { CertificateMaker, CertifiedPair } from "@lifeboat/plane";

/** Clocks of others may be behind ours. */
const SKEW_MS = 5 * 60 * 1000;
const AUTHORITY_NAME = [["CN", "lifeboat-webhook-ca"]] as const;
const SERVING_NAME = [["CN", "lifeboat-webhook"]] as const;

export const webhookCertificates: CertificateMaker = {
  authority: (from, lifeMs) => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const subject = AUTHORITY_NAME;
    const certificate = makeCertificate(
      { subject, publicKey, ...validity(from, lifeMs), use: "authority", hosts: [] },
      { name: subject, publicKey, privateKey },
    );
    return { certificate, key: pemOf(privateKey) };
  },
  serving: (by, hosts, from, lifeMs) =>
    signed(by, { subject: SERVING_NAME, ...validity(from, lifeMs), use: "server", hosts }),
  client: (by, name, from, lifeMs) =>
    signed(by, { subject: [["CN", name]], ...validity(from, lifeMs), use: "client", hosts: [] }),
  fingerprint: (pem) => read(pem)?.fingerprint256.replaceAll(":", "").toLowerCase(),
  notAfter: (pem) => {
    const end = Date.parse(read(pem)?.validTo ?? "");
    return Number.isNaN(end) ? undefined : instantOf(end);
  },
  keyFits,
  isSignedBy: (certificate, authority) => {
    const [leaf, issuer] = [read(certificate), read(authority)];
    return leaf !== undefined && issuer !== undefined && leaf.verify(issuer.publicKey);
  },
  covers: (pem, host) => {
    const certificate = read(pem);
    return isIP(host) > 0
      ? certificate?.checkIP(host) !== undefined
      : certificate?.checkHost(host) !== undefined;
  },
  split: (bundle) =>
    bundle.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [],
};

type Asked = Omit<Parameters<typeof makeCertificate>[0], "publicKey">;

function signed(by: CertifiedPair, asked: Asked): CertifiedPair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const certificate = makeCertificate(
    { ...asked, publicKey },
    {
      name: AUTHORITY_NAME,
      publicKey: createPublicKey(by.certificate),
      privateKey: createPrivateKey(by.key),
    },
  );
  return { certificate, key: pemOf(privateKey) };
}

function keyFits({ certificate, key }: CertifiedPair): boolean {
  try {
    return read(certificate)?.checkPrivateKey(createPrivateKey(key)) === true;
  } catch {
    return false;
  }
}

function read(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function validity(from: Instant, lifeMs: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(from - SKEW_MS), notAfter: new Date(from + lifeMs) };
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}
