/**
 * Credentials that change while we run: files that are re-read, plugins that are run again.
 *
 * 1. `current` answers quickly: files are re-read at most once a minute, a plugin runs only when its answer has expired.
 * 2. `refresh` is called after a 401: it re-reads and runs everything again, once, however many callers ask at that time.
 * 3. A file or plugin that fails leaves the last good credential in place, if there is one.
 */
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { type Clock, parseTime } from "@lifeboat/base";
import {
  type ClusterEntry,
  type ExecCredential,
  execInfo,
  type ExecPlugin,
  KubeconfigError,
  type Material,
  parseExecCredential,
  type UserEntry,
} from "../kubeconfig.ts";

/** What a request carries to authenticate its sender. */
export interface Credential {
  /** Authorization and Impersonate-* headers. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly certificate?: string;
  readonly key?: string;
  /** The authorities that the server's certificate may be by, PEM; absent: those of the client's configuration. */
  readonly certificateAuthority?: string;
}

export interface CredentialSource {
  current(): Promise<Credential>;
  /** Gets the credential again; answers whether it differs from the one before. */
  refresh(): Promise<boolean>;
}

export interface CredentialPorts {
  readonly clock: Clock;
  /** The environment that plugins inherit. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** How often files are read again. */
export const REREAD_MS = 60_000;
/** A credential is renewed this long before it expires. */
const EARLY_MS = 10_000;
const PLUGIN_TIMEOUT_MS = 60_000;
const PLUGIN_MAX_BYTES = 1024 * 1024;

/** A credential that never changes. */
export function fixedCredential(credential: Credential): CredentialSource {
  return { current: () => Promise.resolve(credential), refresh: () => Promise.resolve(false) };
}

/** A credential that its owner replaces: new connections take the new one, old ones end with their last call. */
export interface ReplaceableCredential extends CredentialSource {
  replace(credential: Credential): void;
}

export function replaceableCredential(first: Credential): ReplaceableCredential {
  let now = first;
  return {
    current: () => Promise.resolve(now),
    // What was refused is not tried again; a replacement counts from the next call on.
    refresh: () => Promise.resolve(false),
    replace: (credential) => {
      now = credential;
    },
  };
}

/** The credential of a kubeconfig's user. */
export function createCredentialSource(
  ports: CredentialPorts,
  cluster: ClusterEntry,
  user: UserEntry,
): CredentialSource {
  return new UserCredential(ports, cluster, user);
}

class UserCredential implements CredentialSource {
  readonly #ports: CredentialPorts;
  readonly #cluster: ClusterEntry;
  readonly #user: UserEntry;
  #known: { readonly credential: Credential; readonly goodUntil: number } | undefined;
  #loading: Promise<Credential> | undefined;

  constructor(ports: CredentialPorts, cluster: ClusterEntry, user: UserEntry) {
    this.#ports = ports;
    this.#cluster = cluster;
    this.#user = user;
  }

  async current(): Promise<Credential> {
    const known = this.#known;
    if (known !== undefined && this.#ports.clock.now() < known.goodUntil) return known.credential;
    try {
      return await this.#load();
    } catch (error) {
      if (known === undefined) throw error;
      return known.credential;
    }
  }

  async refresh(): Promise<boolean> {
    const before = this.#known?.credential;
    const after = await this.#load();
    return JSON.stringify(before) !== JSON.stringify(after);
  }

  #load(): Promise<Credential> {
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #read(): Promise<Credential> {
    const user = this.#user;
    const exec = user.exec === undefined ? {} : await this.#runPlugin(user.exec);
    const certificate = exec.clientCertificate ?? (await readText(user.clientCertificate));
    const key = exec.clientKey ?? (await readText(user.clientKey));
    const token = exec.token ?? (await readToken(user));
    const credential = {
      headers: { ...authorization(token, user.basic), ...impersonation(user) },
      ...(certificate === undefined ? {} : { certificate }),
      ...(key === undefined ? {} : { key }),
    };
    this.#known = { credential, goodUntil: this.#goodUntil(exec) };
    return credential;
  }

  #goodUntil(exec: ExecCredential): number {
    const expires = parseTime(exec.expirationTimestamp ?? "");
    if (expires !== undefined) return expires - EARLY_MS;
    const { clientCertificate, clientKey, tokenFile } = this.#user;
    const inFiles = clientCertificate?.kind === "file" || clientKey?.kind === "file";
    return inFiles || tokenFile !== undefined ? this.#ports.clock.now() + REREAD_MS : Infinity;
  }

  async #runPlugin(plugin: ExecPlugin): Promise<ExecCredential> {
    const authority = await readBase64(this.#cluster.certificateAuthority);
    const env = {
      ...this.#ports.environment,
      ...plugin.env,
      KUBERNETES_EXEC_INFO: execInfo(plugin, this.#cluster, authority),
    };
    return parseExecCredential(await runCommand(plugin, env), plugin);
  }
}

function runCommand(
  plugin: ExecPlugin,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const child = spawn(plugin.command, plugin.args, { env, stdio: ["ignore", "pipe", "inherit"] });
    // What the plugin itself started may live on and hold its output open: nothing here waits for that.
    const fail = (why: string): void => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      child.stdout.destroy();
      reject(new KubeconfigError(`the credential plugin ${plugin.command} ${why}`));
    };
    const timer = setTimeout(() => fail("does not answer"), PLUGIN_TIMEOUT_MS);
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > PLUGIN_MAX_BYTES) fail("writes too much");
    });
    child.on("error", (error: NodeJS.ErrnoException) => {
      const hint = plugin.installHint === undefined ? "" : `\n${plugin.installHint}`;
      const why = error.code === "ENOENT" ? "is not installed" : `cannot run: ${error.message}`;
      fail(`${why}${hint}`);
    });
    child.on("close", (code, signal) => {
      if (code !== 0) {
        fail(`failed: ${code === null ? `ended by ${signal}` : `exit code ${code}`}`);
        return;
      }
      clearTimeout(timer);
      resolve(Buffer.concat(chunks).toString("utf8"));
    });
  });
}

async function readToken(user: UserEntry): Promise<string | undefined> {
  if (user.tokenFile === undefined) return user.token;
  const token = (await readNamedFile(user.tokenFile)).toString("utf8").trim();
  if (token === "") throw new KubeconfigError(`the token file ${user.tokenFile} is empty`);
  return token;
}

/** The bytes of a certificate or key as PEM text. */
export async function readText(material: Material | undefined): Promise<string | undefined> {
  if (material === undefined) return undefined;
  if (material.kind === "data") return Buffer.from(material.base64, "base64").toString("utf8");
  return (await readNamedFile(material.path)).toString("utf8");
}

async function readBase64(material: Material | undefined): Promise<string> {
  if (material === undefined) return "";
  return material.kind === "data"
    ? material.base64
    : (await readNamedFile(material.path)).toString("base64");
}

async function readNamedFile(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new KubeconfigError(`cannot read ${path}: ${(error as Error).message}`);
  }
}

function authorization(
  token: string | undefined,
  basic: UserEntry["basic"],
): Record<string, string> {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  if (basic === undefined) return {};
  const pair = Buffer.from(`${basic.username}:${basic.password}`).toString("base64");
  return { authorization: `Basic ${pair}` };
}

function impersonation(user: UserEntry): Record<string, string | readonly string[]> {
  const as = user.impersonate;
  if (as === undefined) return {};
  const extra = Object.entries(as.extra).map(
    ([name, values]) => [`impersonate-extra-${encodeURIComponent(name)}`, values] as const,
  );
  return {
    "impersonate-user": as.user,
    ...(as.uid === undefined ? {} : { "impersonate-uid": as.uid }),
    ...(as.groups.length === 0 ? {} : { "impersonate-group": as.groups }),
    ...Object.fromEntries(extra),
  };
}
