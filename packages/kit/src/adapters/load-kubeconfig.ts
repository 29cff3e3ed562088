/** From files and environment to what an HTTP client needs. */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { createRealClock } from "@lifeboat/base/adapters";
import {
  type Access,
  inClusterAccess,
  KubeconfigError,
  mergeKubeconfigs,
  parseKubeconfig,
  resolveAccess,
} from "../kubeconfig.ts";
import { createCredentialSource, type CredentialPorts, readText } from "./credentials.ts";
import { createHttpClient, type HttpClient, type HttpClientConfig } from "./http-client.ts";
import { httpProxyOf } from "./http-proxy.ts";

export interface KubeconfigSource {
  /** Paths in order of precedence. */
  readonly paths: readonly string[];
  readonly context?: string;
}

/** Where kubectl would look: `$KUBECONFIG` (several, by colon), else `~/.kube/config`. */
export function defaultKubeconfigPaths(
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const named = (environment["KUBECONFIG"] ?? "").split(":").filter((path) => path !== "");
  return named.length > 0 ? named : [join(environment["HOME"] ?? "", ".kube", "config")];
}

/** Reads the files and answers what the chosen context holds. */
export async function loadKubeconfig(source: KubeconfigSource): Promise<Access> {
  const texts = await Promise.all(source.paths.map(readIfThere));
  const configs = texts.flatMap((text, i) => {
    const path = source.paths[i] as string;
    return text === undefined ? [] : [parseKubeconfig(text, dirname(path), path)];
  });
  if (configs.length === 0)
    throw new KubeconfigError(`there is no kubeconfig at ${source.paths.join(" or ")}`);
  return resolveAccess(mergeKubeconfigs(configs), source.context);
}

/** The access of the pod this runs in. */
export function loadInCluster(environment: Readonly<Record<string, string | undefined>>): Access {
  const access = inClusterAccess(environment);
  if (access === undefined)
    throw new KubeconfigError(
      "this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set",
    );
  return access;
}

/** What an access comes to for `createHttpClient`; certificates and tokens are followed as they rotate. */
export async function httpConfigOf(
  ports: CredentialPorts,
  access: Access,
  userAgent: string,
): Promise<HttpClientConfig> {
  const { cluster } = access;
  const authority = await readText(cluster.certificateAuthority);
  return {
    server: cluster.server,
    credentials: createCredentialSource(ports, cluster, access.user),
    userAgent,
    ...(authority === undefined ? {} : { certificateAuthority: authority }),
    ...(cluster.insecureSkipTlsVerify ? { insecureSkipTlsVerify: true } : {}),
    ...(cluster.tlsServerName === undefined ? {} : { tlsServerName: cluster.tlsServerName }),
    ...(cluster.proxyUrl === undefined ? {} : { proxy: httpProxyOf(cluster.proxyUrl) }),
  };
}

/** Throws KubeconfigError when the certificates and the key are of no use: what each is, and OpenSSL's error about it. */
export async function checkCertificates(config: HttpClientConfig): Promise<void> {
  const { certificate, key } = await config.credentials.current();
  const { certificateAuthority: ca } = config;
  const check = (what: string, context: SecureContextOptions): void => {
    try {
      createSecureContext(context);
    } catch (error) {
      throw new KubeconfigError(`${what} cannot be used: ${(error as Error).message}`);
    }
  };
  if (ca !== undefined) check("certificate-authority of the kubeconfig", { ca });
  if (certificate !== undefined)
    check("client-certificate of the kubeconfig", { cert: certificate });
  if (key !== undefined) check("client-key of the kubeconfig", { key });
  if (certificate !== undefined && key !== undefined)
    check("client-certificate with client-key of the kubeconfig", { cert: certificate, key });
}

/** A client for what the kubeconfig's context names, on the machine's clock and environment. */
export async function connectByKubeconfig(
  source: KubeconfigSource,
  userAgent = "lifeboat",
): Promise<HttpClient> {
  const ports = { clock: createRealClock(), environment: process.env };
  return createHttpClient(await httpConfigOf(ports, await loadKubeconfig(source), userAgent));
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new KubeconfigError(`cannot read ${path}: ${(error as Error).message}`);
  }
}
