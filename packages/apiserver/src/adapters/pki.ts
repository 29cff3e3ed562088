/**
 * The certificates of one control plane, in one directory: an authority, the server's certificate, clients' certificates.
 * All keys are elliptic curve P-256. Everything is made on first use, loaded afterwards, and made anew when it no longer
 * fits: near its end, not by this authority, other hosts, another key.
 *
 * 1. Files are readable by their owner only (0600, directory 0700) and replaced whole, never in part.
 * 2. A broken authority is never replaced silently: all clients trust it. Leaf certificates are, because they can be.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  X509Certificate,
} from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import type { Clock } from "@lifeboat/base";
import type { DistinguishedName } from "@lifeboat/base/adapters";
import { type Issuer, makeCertificate, PURPOSES } from "./pki-certificate.ts";

export interface CertifiedKey {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

export interface Pki {
  /** The authority's certificate, PEM. */
  readonly ca: string;
  /** The authority that signs now, with its key. */
  authority(): CertifiedKey;
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
    authority: () => authority,
    server: (hosts) =>
      leaf(clock, directory, authority, {
        file: "server",
        use: "server",
        subject: [["CN", "lifeboat"]],
        hosts: [...new Set([...LOOPBACK_HOSTS, ...hosts])],
      }),
    client: (user, groups) =>
      leaf(clock, directory, authority, {
        file: `client-${encodeURIComponent(user)}`,
        use: "client",
        subject: [...groups.map((group) => ["O", group] as const), ["CN", user]],
        hosts: [],
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
export const AUTHORITY_NAME: DistinguishedName = [["CN", "lifeboat-ca"]];
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
  readonly use: "server" | "client";
  readonly subject: DistinguishedName;
  readonly hosts: readonly string[];
}

async function openAuthority(clock: Clock, directory: string): Promise<Authority> {
  const found = await readPair(directory, "ca");
  if (found === undefined) return writeAuthority(clock, directory);
  const parsed = parseCertificate(found.certificate);
  if (
    parsed === undefined ||
    !parsed.ca ||
    !keyFits(parsed, found.key) ||
    !isNamed(parsed, AUTHORITY_NAME)
  )
    throw new Error(
      `the certificate authority in ${directory} cannot be used: ca.crt and ca.key are damaged or do not belong together; restore them, or remove both to begin with a new authority that clients do not know yet`,
    );
  if (isNearItsEnd(clock, parsed)) return writeAuthority(clock, directory);
  return { ...found, parsed };
}

async function writeAuthority(clock: Clock, directory: string): Promise<Authority> {
  const { publicKey, privateKey } = generateKeys();
  const certificate = makeCertificate(
    {
      subject: AUTHORITY_NAME,
      publicKey,
      ...validity(clock, AUTHORITY_DAYS),
      use: "authority",
      hosts: [],
    },
    { name: AUTHORITY_NAME, publicKey, privateKey },
  );
  const pair = { certificate, key: keyToPem(privateKey) };
  await writePair(directory, "ca", pair);
  return { ...pair, parsed: new X509Certificate(certificate) };
}

async function leaf(
  clock: Clock,
  directory: string,
  authority: Authority,
  request: LeafRequest,
): Promise<CertifiedKey> {
  const found = await readPair(directory, request.file);
  if (found !== undefined && isStillGood(clock, authority, request, found)) return found;
  const made = makeLeaf(clock, authority, request);
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
  const purposes: readonly string[] = certificate.keyUsage ?? [];
  if (!purposes.includes(PURPOSES[request.use])) return false;
  if (!isNamed(certificate, request.subject)) return false;
  return request.hosts.every((host) =>
    isIP(host) > 0
      ? certificate.checkIP(host) !== undefined
      : certificate.checkHost(host) !== undefined,
  );
}

function makeLeaf(clock: Clock, authority: Authority, request: LeafRequest): CertifiedKey {
  const { publicKey, privateKey } = generateKeys();
  const issuer: Issuer = {
    name: AUTHORITY_NAME,
    publicKey: createPublicKey(authority.certificate),
    privateKey: createPrivateKey(authority.key),
  };
  const { subject, use, hosts } = request;
  const certificate = makeCertificate(
    { subject, publicKey, ...validity(clock, LEAF_DAYS), use, hosts },
    issuer,
  );
  return { certificate, key: keyToPem(privateKey) };
}

function generateKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function validity(clock: Clock, days: number): { notBefore: Date; notAfter: Date } {
  const now = clock.now();
  return { notBefore: new Date(now - SKEW_MS), notAfter: new Date(now + days * DAY_MS) };
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

function keyToPem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

/** Whether the subject is this name, attribute by attribute. */
function isNamed(certificate: X509Certificate, wanted: DistinguishedName): boolean {
  const subject = certificate.toLegacyObject().subject as unknown as Record<string, unknown>;
  return (["CN", "O"] as const).every((type) => {
    const found = [subject[type] ?? []].flat();
    const values = wanted.filter((attribute) => attribute[0] === type).map(([, value]) => value);
    return found.length === values.length && values.every((value, i) => value === found[i]);
  });
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

export async function readIfThere(path: string): Promise<string | undefined> {
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

export async function writePrivateFile(path: string, text: string): Promise<void> {
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
