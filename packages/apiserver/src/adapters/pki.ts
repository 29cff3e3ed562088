/**
 * The certificates of one control plane, in one directory: an authority, the server's certificate, clients' certificates.
 * All keys are elliptic curve P-256. Everything is made on first use, loaded afterwards, and made anew when it no longer
 * fits: near its end, not by this authority, other hosts, another key.
 *
 * 1. Files are readable by their owner only (0600, directory 0700) and replaced whole, never in part.
 * 2. A broken authority is never replaced silently: all clients trust it. Leaf certificates are, because they can be.
 */
import { createPrivateKey, randomBytes, webcrypto, X509Certificate } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";
import type { Clock } from "@lifeboat/base";

export interface CertifiedKey {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

export interface Pki {
  /** The authority's certificate, PEM. */
  readonly ca: string;
  /** The server's certificate for localhost, the loopback addresses and these hosts (names or addresses). */
  server(hosts: readonly string[]): Promise<CertifiedKey>;
  /** A certificate that names this user and these groups. */
  client(user: string, groups: readonly string[]): Promise<CertifiedKey>;
}

/** Opens the directory; makes it and the authority when they do not exist. */
export async function openPki(clock: Clock, directory: string): Promise<Pki> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  const authority = await openAuthority(clock, directory);
  return {
    ca: authority.certificate,
    server: (hosts) =>
      leaf(clock, directory, authority, {
        file: "server",
        subject: [{ CN: ["lifeboat"] }],
        hosts: [...new Set([...LOOPBACK_HOSTS, ...hosts])],
        usage: x509.ExtendedKeyUsage.serverAuth,
      }),
    client: (user, groups) =>
      leaf(clock, directory, authority, {
        file: `client-${encodeURIComponent(user)}`,
        subject: [...groups.map((group) => ({ O: [group] })), { CN: [user] }],
        hosts: [],
        usage: x509.ExtendedKeyUsage.clientAuth,
      }),
  };
}

export interface KubeconfigEntry {
  /** The name of the cluster, the user and the context. */
  readonly name: string;
  /** `https://127.0.0.1:6443`. */
  readonly server: string;
  readonly ca: string;
  readonly client: CertifiedKey;
}

/** The text of a kubeconfig with one context, everything embedded. */
export function kubeconfigText(entry: KubeconfigEntry): string {
  const name = JSON.stringify(entry.name);
  return `apiVersion: v1
kind: Config
clusters:
- name: ${name}
  cluster:
    server: ${JSON.stringify(entry.server)}
    certificate-authority-data: ${base64(entry.ca)}
users:
- name: ${name}
  user:
    client-certificate-data: ${base64(entry.client.certificate)}
    client-key-data: ${base64(entry.client.key)}
contexts:
- name: ${name}
  context:
    cluster: ${name}
    user: ${name}
current-context: ${name}
preferences: {}
`;
}

/** Writes a kubeconfig that only its owner can read. */
export function writeKubeconfig(path: string, entry: KubeconfigEntry): Promise<void> {
  return writePrivateFile(path, kubeconfigText(entry));
}

const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "::1"];
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DAY_MS = 24 * 60 * 60 * 1000;
const AUTHORITY_DAYS = 3650;
const LEAF_DAYS = 365;
/** Made anew when less than this is left. */
const RENEW_DAYS = 90;
/** Clocks of clients may be behind ours. */
const SKEW_MS = 5 * 60 * 1000;

interface Authority extends CertifiedKey {
  readonly parsed: X509Certificate;
}

interface LeafRequest {
  readonly file: string;
  readonly subject: x509.JsonName;
  readonly hosts: readonly string[];
  readonly usage: string;
}

async function openAuthority(clock: Clock, directory: string): Promise<Authority> {
  const found = await readPair(directory, "ca");
  if (found === undefined) return writeAuthority(clock, directory);
  const parsed = parseCertificate(found.certificate);
  if (parsed === undefined || !parsed.ca || !keyFits(parsed, found.key))
    throw new Error(
      `the certificate authority in ${directory} cannot be used: ca.crt and ca.key are damaged or do not belong together; restore them, or remove both to begin with a new authority that clients do not know yet`,
    );
  if (isNearItsEnd(clock, parsed)) return writeAuthority(clock, directory);
  return { ...found, parsed };
}

async function writeAuthority(clock: Clock, directory: string): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const name = [{ CN: ["lifeboat-ca"] }];
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name,
    ...validity(clock, AUTHORITY_DAYS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const pair = { certificate: certificate.toString("pem"), key: await keyToPem(keys.privateKey) };
  await writePair(directory, "ca", pair);
  return { ...pair, parsed: new X509Certificate(pair.certificate) };
}

async function leaf(
  clock: Clock,
  directory: string,
  authority: Authority,
  request: LeafRequest,
): Promise<CertifiedKey> {
  const found = await readPair(directory, request.file);
  if (found !== undefined && isStillGood(clock, authority, request, found)) return found;
  const made = await makeLeaf(clock, authority, request);
  await writePair(directory, request.file, made);
  return made;
}

function isStillGood(
  clock: Clock,
  authority: Authority,
  request: LeafRequest,
  pair: CertifiedKey,
): boolean {
  const certificate = parseCertificate(pair.certificate);
  if (certificate === undefined || !keyFits(certificate, pair.key)) return false;
  if (!certificate.verify(authority.parsed.publicKey)) return false;
  if (isNearItsEnd(clock, certificate)) return false;
  if (certificate.keyUsage?.includes(request.usage) !== true) return false;
  const wanted = new x509.Name(request.subject).toString();
  if (new x509.X509Certificate(pair.certificate).subject !== wanted) return false;
  return request.hosts.every((host) =>
    isIP(host) > 0
      ? certificate.checkIP(host) !== undefined
      : certificate.checkHost(host) !== undefined,
  );
}

async function makeLeaf(
  clock: Clock,
  authority: Authority,
  request: LeafRequest,
): Promise<CertifiedKey> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const issuer = new x509.X509Certificate(authority.certificate);
  const names = request.hosts.map((host): x509.JsonGeneralName => ({
    type: isIP(host) > 0 ? "ip" : "dns",
    value: host,
  }));
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: request.subject,
    issuer: issuer.subject,
    ...validity(clock, LEAF_DAYS),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: await keyFromPem(authority.key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([request.usage]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
    ],
  });
  return { certificate: certificate.toString("pem"), key: await keyToPem(keys.privateKey) };
}

function validity(clock: Clock, days: number): { notBefore: Date; notAfter: Date } {
  const now = clock.now();
  return { notBefore: new Date(now - SKEW_MS), notAfter: new Date(now + days * DAY_MS) };
}

/** Positive and unguessable, as browsers and Go want serial numbers. */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString("hex");
}

function isNearItsEnd(clock: Clock, certificate: X509Certificate): boolean {
  const left = Date.parse(certificate.validTo) - clock.now();
  return Number.isNaN(left) || left < RENEW_DAYS * DAY_MS;
}

function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function keyFits(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

async function keyToPem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key));
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
}

function keyFromPem(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: "pkcs8", format: "der" });
  return webcrypto.subtle.importKey("pkcs8", der, ALGORITHM, false, ["sign"]);
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** Both files, or undefined when one is missing. */
async function readPair(directory: string, file: string): Promise<CertifiedKey | undefined> {
  const [certificate, key] = await Promise.all([
    readIfThere(join(directory, `${file}.crt`)),
    readIfThere(join(directory, `${file}.key`)),
  ]);
  if (certificate === undefined || key === undefined) return undefined;
  return { certificate, key };
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

async function writePair(directory: string, file: string, pair: CertifiedKey): Promise<void> {
  await writePrivateFile(join(directory, `${file}.key`), pair.key);
  await writePrivateFile(join(directory, `${file}.crt`), pair.certificate);
}

async function writePrivateFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}
