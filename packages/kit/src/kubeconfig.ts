/**
 * Kubeconfig files: reading, merging and choosing what one context holds. Pure: files are named here and read by the
 * adapter (adapters/load-kubeconfig.ts), because credentials in files are rotated while we run.
 *
 * 1. What cannot be understood is an error that states where and what to do, never a silent fallback to no credentials.
 * 2. Of several files the first that names a thing wins, as with kubectl.
 * 3. Relative paths are relative to the file they stand in.
 */
import { isJsonObject, type JsonObject } from "@lifeboat/api";
import { parse as parseYaml } from "yaml";

/** A user error: the text states what is wrong, where, and what to do. */
export class KubeconfigError extends Error {
  override readonly name = "KubeconfigError";
}

/** Bytes that are given directly or by the name of a file. */
export type Material =
  | { readonly kind: "data"; readonly base64: string }
  | { readonly kind: "file"; readonly path: string };

export interface ClusterEntry {
  readonly server: string;
  readonly certificateAuthority?: Material;
  readonly insecureSkipTlsVerify: boolean;
  readonly tlsServerName?: string;
  /** An http or https proxy through which the server is reached. */
  readonly proxyUrl?: string;
}

/** How to run a credential plugin (client.authentication.k8s.io). */
export interface ExecPlugin {
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string;
  readonly provideClusterInfo: boolean;
}

/** How a user authenticates. Certificates may come with any of the others. */
export interface UserEntry {
  readonly clientCertificate?: Material;
  readonly clientKey?: Material;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly exec?: ExecPlugin;
  readonly impersonate?: {
    readonly user: string;
    readonly uid?: string;
    readonly groups: readonly string[];
    readonly extra: Readonly<Record<string, readonly string[]>>;
  };
}

export interface ContextEntry {
  readonly cluster: string;
  readonly user: string;
  readonly namespace: string;
}

export interface Kubeconfig {
  readonly currentContext: string;
  readonly clusters: ReadonlyMap<string, ClusterEntry>;
  readonly users: ReadonlyMap<string, UserEntry>;
  readonly contexts: ReadonlyMap<string, ContextEntry>;
}

/** What one context comes to. */
export interface Access {
  readonly cluster: ClusterEntry;
  readonly user: UserEntry;
  /** "" when the context names none. */
  readonly namespace: string;
  /** The name of the context; absent where no kubeconfig names one, as in a pod. */
  readonly context?: string;
}

/** Reads one file's text. `directory` is where the file is; `where` names it in errors. */
export function parseKubeconfig(text: string, directory: string, where: string): Kubeconfig {
  let document: unknown;
  try {
    document = parseYaml(text, { maxAliasCount: 100 });
  } catch (error) {
    throw new KubeconfigError(`${where} is not YAML: ${(error as Error).message}`);
  }
  const root = new Section(document ?? {}, where);
  const inDirectory = (path: string): string => resolvePath(directory, path);
  return {
    currentContext: root.text("current-context"),
    clusters: named(root, "clusters", "cluster", (section) => clusterOf(section, inDirectory)),
    users: named(root, "users", "user", (section) => userOf(section, inDirectory)),
    contexts: named(root, "contexts", "context", contextOf),
  };
}

/**
 * The cluster that the text of a cluster-info names: a kubeconfig without users, whose one cluster may be without a name, too.
 */
export function parseClusterInfo(text: string): ClusterEntry {
  const where = "the kubeconfig of cluster-info";
  let document: unknown;
  try {
    document = parseYaml(text, { maxAliasCount: 100 });
  } catch (error) {
    throw new KubeconfigError(`${where} is not YAML: ${(error as Error).message}`);
  }
  const [first] = new Section(document ?? {}, where).sections("clusters");
  if (first === undefined) throw new KubeconfigError(`${where} names no cluster`);
  return clusterOf(first.section("cluster"), (path) => path);
}

/** One configuration out of several files; what an earlier one names, a later one does not change. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merged = <T>(
    pick: (config: Kubeconfig) => ReadonlyMap<string, T>,
  ): ReadonlyMap<string, T> => new Map(configs.toReversed().flatMap((config) => [...pick(config)]));
  return {
    currentContext:
      configs.map((config) => config.currentContext).find((name) => name !== "") ?? "",
    clusters: merged((config) => config.clusters),
    users: merged((config) => config.users),
    contexts: merged((config) => config.contexts),
  };
}

/** What the named context holds, or the current one. */
export function resolveAccess(config: Kubeconfig, contextName?: string): Access {
  const name = contextName ?? config.currentContext;
  if (name === "")
    throw new KubeconfigError("the kubeconfig has no current-context: name one with --context");
  const context = config.contexts.get(name);
  if (context === undefined)
    throw new KubeconfigError(`the kubeconfig has no context "${name}"${choices(config.contexts)}`);
  const cluster = config.clusters.get(context.cluster);
  if (cluster === undefined)
    throw new KubeconfigError(
      `context "${name}" names the cluster "${context.cluster}", which the kubeconfig does not have${choices(config.clusters)}`,
    );
  const user = context.user === "" ? {} : config.users.get(context.user);
  if (user === undefined)
    throw new KubeconfigError(
      `context "${name}" names the user "${context.user}", which the kubeconfig does not have${choices(config.users)}`,
    );
  return { cluster, user, namespace: context.namespace, context: name };
}

/** Where a pod finds its service account. */
export const SERVICE_ACCOUNT_DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The access of a pod, from the environment that Kubernetes gives it; undefined outside of one. */
export function inClusterAccess(
  environment: Readonly<Record<string, string | undefined>>,
): Access | undefined {
  const host = environment["KUBERNETES_SERVICE_HOST"] ?? "";
  const port = environment["KUBERNETES_SERVICE_PORT"] ?? "";
  if (host === "" || port === "") return undefined;
  return {
    cluster: {
      server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
      certificateAuthority: { kind: "file", path: `${SERVICE_ACCOUNT_DIRECTORY}/ca.crt` },
      insecureSkipTlsVerify: false,
    },
    user: { tokenFile: `${SERVICE_ACCOUNT_DIRECTORY}/token` },
    namespace: "",
  };
}

/** What a credential plugin answered. */
export interface ExecCredential {
  readonly token?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  /** RFC 3339; absent: good until the server refuses it. */
  readonly expirationTimestamp?: string;
}

/** Reads the answer of a credential plugin. */
export function parseExecCredential(text: string, plugin: ExecPlugin): ExecCredential {
  const where = `the answer of the credential plugin ${plugin.command}`;
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new KubeconfigError(`${where} is not JSON`);
  }
  const root = new Section(document, where);
  if (root.text("kind") !== "ExecCredential")
    throw new KubeconfigError(`${where} is not an ExecCredential`);
  if (root.text("apiVersion") !== plugin.apiVersion)
    throw new KubeconfigError(
      `${where} is of version "${root.text("apiVersion")}", but the kubeconfig names ${plugin.apiVersion}`,
    );
  const status = root.section("status");
  const credential = {
    ...optional("token", status.text("token")),
    ...optional("clientCertificate", status.text("clientCertificateData")),
    ...optional("clientKey", status.text("clientKeyData")),
    ...optional("expirationTimestamp", status.text("expirationTimestamp")),
  };
  const halfPair = "clientCertificate" in credential !== "clientKey" in credential;
  if (halfPair) throw new KubeconfigError(`${where} has a certificate without key or the reverse`);
  if (!("token" in credential) && !("clientCertificate" in credential))
    throw new KubeconfigError(`${where} has neither a token nor a certificate`);
  return credential;
}

/** The document a plugin gets in KUBERNETES_EXEC_INFO. */
export function execInfo(
  plugin: ExecPlugin,
  cluster: ClusterEntry,
  authorityBase64: string,
): string {
  const description = {
    server: cluster.server,
    ...optional("tls-server-name", cluster.tlsServerName ?? ""),
    ...(cluster.insecureSkipTlsVerify ? { "insecure-skip-tls-verify": true } : {}),
    ...optional("certificate-authority-data", authorityBase64),
  };
  return JSON.stringify({
    kind: "ExecCredential",
    apiVersion: plugin.apiVersion,
    spec: { interactive: false, ...(plugin.provideClusterInfo ? { cluster: description } : {}) },
  });
}

/** A mapping of the file, with readers that report where something of a wrong type stands. */
class Section {
  readonly where: string;
  readonly #fields: JsonObject;

  constructor(value: unknown, where: string) {
    if (!isJsonObject(value)) throw new KubeconfigError(`${where} is not a mapping`);
    this.where = where;
    this.#fields = value;
  }

  text(field: string): string {
    const value = this.#fields[field] ?? "";
    // A name or token of digits alone is read by YAML as a number; kubectl takes it as text too.
    if (typeof value === "number") return String(value);
    if (typeof value !== "string")
      throw new KubeconfigError(`${this.where}.${field} is not a text`);
    return value;
  }

  flag(field: string): boolean {
    const value = this.#fields[field] ?? false;
    if (typeof value !== "boolean")
      throw new KubeconfigError(`${this.where}.${field} is neither true nor false`);
    return value;
  }

  has(field: string): boolean {
    return this.#fields[field] !== undefined && this.#fields[field] !== null;
  }

  section(field: string): Section {
    return new Section(this.#fields[field] ?? {}, `${this.where}.${field}`);
  }

  sections(field: string): Section[] {
    const value = this.#fields[field] ?? [];
    if (!Array.isArray(value)) throw new KubeconfigError(`${this.where}.${field} is not a list`);
    return value.map((item: unknown, i) => new Section(item, `${this.where}.${field}[${i}]`));
  }

  texts(field: string): string[] {
    const value = this.#fields[field] ?? [];
    if (!Array.isArray(value) || value.some((item) => typeof item !== "string"))
      throw new KubeconfigError(`${this.where}.${field} is not a list of texts`);
    return value as string[];
  }

  fieldNames(): string[] {
    return Object.keys(this.#fields);
  }
}

function named<T>(
  root: Section,
  list: string,
  field: string,
  read: (section: Section) => T,
): ReadonlyMap<string, T> {
  const entries = new Map<string, T>();
  for (const item of root.sections(list)) {
    const name = item.text("name");
    if (name === "") throw new KubeconfigError(`${item.where} has no name`);
    if (!entries.has(name)) entries.set(name, read(item.section(field)));
  }
  return entries;
}

function clusterOf(section: Section, inDirectory: (path: string) => string): ClusterEntry {
  const server = section.text("server");
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol))
    throw new KubeconfigError(`${section.where}.server "${server}" is not an http or https URL`);
  const proxyUrl = section.text("proxy-url");
  if (proxyUrl !== "" && !(/^https?:\/\//i.test(proxyUrl) && URL.canParse(proxyUrl)))
    throw new KubeconfigError(`${section.where}.proxy-url is not an http or https URL`);
  if (proxyUrl !== "" && !/^https:/i.test(server))
    throw new KubeconfigError(
      `${section.where} has a proxy-url, and the proxy could read the credential: use an https server`,
    );
  const authority = materialOf(section, "certificate-authority", inDirectory);
  const insecureSkipTlsVerify = section.flag("insecure-skip-tls-verify");
  if (insecureSkipTlsVerify && authority !== undefined)
    throw new KubeconfigError(
      `${section.where} has both insecure-skip-tls-verify and a certificate authority: remove one`,
    );
  return {
    server,
    insecureSkipTlsVerify,
    ...(authority === undefined ? {} : { certificateAuthority: authority }),
    ...optional("tlsServerName", section.text("tls-server-name")),
    ...optional("proxyUrl", proxyUrl),
  };
}

function userOf(section: Section, inDirectory: (path: string) => string): UserEntry {
  if (section.has("auth-provider"))
    throw new KubeconfigError(
      `${section.where}.auth-provider is no longer supported by Kubernetes: use an exec plugin`,
    );
  const clientCertificate = materialOf(section, "client-certificate", inDirectory);
  const clientKey = materialOf(section, "client-key", inDirectory);
  if ((clientCertificate === undefined) !== (clientKey === undefined))
    throw new KubeconfigError(
      `${section.where} has a client certificate without key or the reverse`,
    );
  const tokenFile = section.text("tokenFile");
  const username = section.text("username");
  const impersonate = impersonationOf(section);
  return {
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    ...(clientKey === undefined ? {} : { clientKey }),
    ...optional("token", section.text("token")),
    ...optional("tokenFile", tokenFile === "" ? "" : inDirectory(tokenFile)),
    ...(username === "" ? {} : { basic: { username, password: section.text("password") } }),
    ...(section.has("exec") ? { exec: execOf(section.section("exec"), inDirectory) } : {}),
    ...(impersonate === undefined ? {} : { impersonate }),
  };
}

function impersonationOf(section: Section): UserEntry["impersonate"] {
  const user = section.text("as");
  if (user === "") return undefined;
  const extras = section.section("as-user-extra");
  return {
    user,
    ...optional("uid", section.text("as-uid")),
    groups: section.texts("as-groups"),
    extra: Object.fromEntries(extras.fieldNames().map((name) => [name, extras.texts(name)])),
  };
}

const EXEC_VERSIONS = [
  "client.authentication.k8s.io/v1",
  "client.authentication.k8s.io/v1beta1",
] as const;

function execOf(section: Section, inDirectory: (path: string) => string): ExecPlugin {
  const version = section.text("apiVersion");
  const apiVersion = EXEC_VERSIONS.find((known) => known === version);
  if (apiVersion === undefined)
    throw new KubeconfigError(
      `${section.where}.apiVersion "${version}" is not supported: use ${EXEC_VERSIONS.join(" or ")}`,
    );
  const command = section.text("command");
  if (command === "") throw new KubeconfigError(`${section.where}.command is missing`);
  if (section.text("interactiveMode") === "Always")
    throw new KubeconfigError(
      `${section.where}.interactiveMode is Always, but this program has no terminal to ask on`,
    );
  const env = section
    .sections("env")
    .map((variable) => [variable.text("name"), variable.text("value")] as const);
  return {
    apiVersion,
    // A bare name is looked up in PATH; a path with a slash is relative to the file.
    command: command.includes("/") ? inDirectory(command) : command,
    args: section.texts("args"),
    env: Object.fromEntries(env),
    ...optional("installHint", section.text("installHint")),
    provideClusterInfo: section.flag("provideClusterInfo"),
  };
}

function contextOf(section: Section): ContextEntry {
  return {
    cluster: section.text("cluster"),
    user: section.text("user"),
    namespace: section.text("namespace"),
  };
}

function materialOf(
  section: Section,
  field: string,
  inDirectory: (path: string) => string,
): Material | undefined {
  const base64 = section.text(`${field}-data`);
  if (base64 !== "") return { kind: "data", base64 };
  const path = section.text(field);
  return path === "" ? undefined : { kind: "file", path: inDirectory(path) };
}

/** Relative to the directory, without touching `..`: the operating system resolves that. */
function resolvePath(directory: string, path: string): string {
  const absolute = path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path);
  return absolute || directory === "" ? path : `${directory}/${path}`;
}

function choices(entries: ReadonlyMap<string, unknown>): string {
  return entries.size === 0 ? "; it has none" : `; it has: ${[...entries.keys()].join(", ")}`;
}

function optional<Name extends string>(name: Name, value: string): { [K in Name]?: string } {
  return (value === "" ? {} : { [name]: value }) as { [K in Name]?: string };
}
