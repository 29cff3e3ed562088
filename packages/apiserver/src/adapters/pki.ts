/**
 * The certificates of one control plane, in one directory: an authority, the server's certificate, clients' certificates.
 * All keys are elliptic curve P-256. Everything is made on first use, loaded afterwards, and made again when it no longer
 * fits: near its end, not by this authority, other hosts, another key.
 *
 * 1. Files are readable by their owner only (0600, directory 0700) and replaced whole, never in part.
 * 2. A broken authority is never replaced silently: all clients trust it. Leaf certificates are, because they can be.
 * 3. An authority is replaced in steps, so that no client is left behind: the next one is made and trusted beside the current
 *    one (`prepareAuthority`), signs from then on while the old one is still trusted (`commitAuthority`), and the old one goes
 *    (`finishAuthority`). At most two are trusted at a time. A step that was cut off is finished by the next one that opens.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  X509Certificate,
} from "node:crypto";
import { chmod, mkdir, readFile, rm } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import type { Clock } from "@lifeboat/base";
import type { DistinguishedName } from "@lifeboat/base/adapters";
import { writePrivateFile } from "@lifeboat/kit/adapters";
import { type Issuer, makeCertificate, PURPOSES } from "./pki-certificate.ts";

export interface CertifiedKey {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

export interface Pki {
  /** The certificate of the authority that signs now, PEM. */
  readonly ca: string;
  /** The certificates of all authorities that are trusted now, PEM: the one that signs first. */
  readonly bundle: string;
  /** How far the authority's replacement is. */
  readonly rotation: "none" | "prepared" | "committed";
  /** The authority that signs now, with its key. */
  authority(): CertifiedKey;
  /** Reads what another process may have written; answers whether the authorities changed. */
  reload(): Promise<boolean>;
  /** The server's certificate for localhost, the loopback addresses and these hosts (names or addresses). */
  server(hosts: readonly string[]): Promise<CertifiedKey>;
  /** A certificate that names this user and these groups. */
  client(user: string, groups: readonly string[]): Promise<CertifiedKey>;
}

/** Opens the directory; makes it and the authority when they do not exist. */
export async function openPki(clock: Clock, directory: string): Promise<Pki> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  let trusted = await openAuthorities(clock, directory);
  return {
    get ca() {
      return trusted.current.certificate;
    },
    get bundle() {
      return bundleOf(trusted);
    },
    get rotation() {
      if (trusted.next !== undefined) return "prepared";
      return trusted.old === undefined ? "none" : "committed";
    },
    authority: () => trusted.current,
    reload: async () => {
      const before = bundleOf(trusted);
      trusted = await openAuthorities(clock, directory);
      return bundleOf(trusted) !== before;
    },
    server: (hosts) =>
      leaf(clock, directory, trusted.current, {
        file: "server",
        use: "server",
        subject: [["CN", "lifeboat"]],
        hosts: [...new Set([...LOOPBACK_HOSTS, ...hosts])],
      }),
    client: (user, groups) =>
      leaf(clock, directory, trusted.current, {
        file: `client-${encodeURIComponent(user)}`,
        use: "client",
        subject: [...groups.map((group) => ["O", group] as const), ["CN", user]],
        hosts: [],
      }),
  };
}

/** Makes the next authority, which is trusted from now on and signs nothing yet. One that is there stays. */
export async function prepareAuthority(clock: Clock, directory: string): Promise<void> {
  const { next } = await openAuthorities(clock, directory);
  if (next !== undefined) return;
  await removePair(directory, OLD);
  await writeAuthority(clock, directory, NEXT);
}

/** Lets the next authority sign; the old one stays trusted. Answers false when none was prepared. */
export async function commitAuthority(clock: Clock, directory: string): Promise<boolean> {
  const { current, next } = await openAuthorities(clock, directory);
  if (next === undefined) return false;
  await commit(directory, current, next);
  return true;
}

/** Ends the trust in the old authority, and in all certificates that it signed. Answers false when there is none. */
export async function finishAuthority(clock: Clock, directory: string): Promise<boolean> {
  const { old } = await openAuthorities(clock, directory);
  await removePair(directory, OLD);
  return old !== undefined;
}

const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "::1"];
export const AUTHORITY_NAME: DistinguishedName = [["CN", "lifeboat-ca"]];
const DAY_MS = 24 * 60 * 60 * 1000;
const AUTHORITY_DAYS = 3650;
const LEAF_DAYS = 365;
/** A certificate is replaced when less than this is left: a third of its life, before the first Event about its end. */
const RENEW_DAYS = 122;
/** An authority signs no more when less than this is left: certificates by it end with it. */
const COMMIT_DAYS = 30;
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

const CURRENT = "ca";
const NEXT = "ca-next";
const OLD = "ca-old";

interface Authorities {
  readonly current: Authority;
  /** Trusted, and signs nothing yet. */
  readonly next: Authority | undefined;
  /** Trusted, and signs nothing any more. */
  readonly old: Authority | undefined;
}

function bundleOf({ current, next, old }: Authorities): string {
  return [current, next, old].map((authority) => authority?.certificate ?? "").join("");
}

/** Reads the authorities; makes the first one, and the next one when the current one nears its end. */
async function openAuthorities(clock: Clock, directory: string): Promise<Authorities> {
  await finishCommit(directory);
  const [current, next, old] = await Promise.all([
    openAuthority(directory, CURRENT),
    openAuthority(directory, NEXT),
    openAuthority(directory, OLD),
  ]);
  if (current === undefined)
    return { current: await writeAuthority(clock, directory, CURRENT), next, old };
  if (!isNearItsEnd(clock, current.parsed)) {
    const isTrusted = old !== undefined && next === undefined && leftMs(clock, old.parsed) > 0;
    return { current, next, old: isTrusted ? old : undefined };
  }
  const prepared = next ?? (await writeAuthority(clock, directory, NEXT));
  if (leftMs(clock, current.parsed) > COMMIT_DAYS * DAY_MS)
    return { current, next: prepared, old: undefined };
  // Clients had three months to learn of the next one, and need time to get certificates by it before this one ends.
  await commit(directory, current, prepared);
  const hasEnded = leftMs(clock, current.parsed) <= 0;
  return { current: prepared, next: undefined, old: hasEnded ? undefined : current };
}

async function commit(directory: string, current: Authority, next: Authority): Promise<void> {
  await writePair(directory, OLD, current);
  await writePair(directory, CURRENT, next);
  await removePair(directory, NEXT);
}

/** A commit that was cut off has written the next authority's key, and perhaps not its certificate. */
async function finishCommit(directory: string): Promise<void> {
  const next = await readPair(directory, NEXT);
  const key = await readIfThere(join(directory, `${CURRENT}.key`));
  if (next === undefined || key !== next.key) return;
  await writePair(directory, CURRENT, next);
  await removePair(directory, NEXT);
}

async function openAuthority(directory: string, file: string): Promise<Authority | undefined> {
  const found = await readPair(directory, file);
  if (found === undefined) return undefined;
  const parsed = parseCertificate(found.certificate);
  if (
    parsed === undefined ||
    !parsed.ca ||
    !keyFits(parsed, found.key) ||
    !isNamed(parsed, AUTHORITY_NAME)
  )
    throw new Error(
      `the certificate authority in ${directory} cannot be used: ${file}.crt and ${file}.key are damaged or do not belong together; restore them, or remove both to begin with a new authority that clients do not know yet`,
    );
  return { ...found, parsed };
}

async function writeAuthority(clock: Clock, directory: string, file: string): Promise<Authority> {
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
  await writePair(directory, file, pair);
  return { ...pair, parsed: new X509Certificate(certificate) };
}

async function removePair(directory: string, file: string): Promise<void> {
  await rm(join(directory, `${file}.crt`), { force: true });
  await rm(join(directory, `${file}.key`), { force: true });
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
  return !(leftMs(clock, certificate) >= RENEW_DAYS * DAY_MS);
}

function leftMs(clock: Clock, certificate: X509Certificate): number {
  return Date.parse(certificate.validTo) - clock.now();
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
