/**
 * The connection of an agent or a detector to the control plane, whose certificate is renewed while it runs. A new pair is kept where the
 * kubeconfig came from: in the file, or, in a pod, in the Secret that the file is mounted from.
 *
 * A kubeconfig without an embedded or named client certificate (a token, a plugin) is used as it is and renewed by others.
 */
import { createRealClock } from "@lifeboat/base/adapters";
import { type AgentPair, createCertificateRenewal } from "@lifeboat/controllers/member-side";
import { secrets } from "@lifeboat/api";
import {
  type Client,
  type Environment,
  type KitPorts,
  KubeconfigError,
  proxyFromEnvironment,
  type Service,
} from "@lifeboat/kit";
import {
  createHttpClient,
  type HttpClient,
  type HttpClientConfig,
  httpConfigOf,
  httpProxyOf,
  isCertificateOf,
  kubeconfigText,
  loadKubeconfig,
  makeCertificateRequest,
  readCertificate,
  replaceableCredential,
  writePrivateFile,
} from "@lifeboat/kit/adapters";

const USER_AGENT = "lifeboat-agent";
/** How often each of the many instances of a detector looks for a newer certificate and bundle. */
const DETECTOR_LOOKS_MS = 600_000;

/** Where a new kubeconfig is kept. */
export type KubeconfigKeeper = (text: string) => Promise<void>;

export interface PlaneConnection {
  readonly client: HttpClient;
  /** Where the client connects, and with which credential; it follows renewals. */
  readonly end: HttpClientConfig;
  /** The service that renews the certificate; undefined where there is none of ours to renew. */
  renewal(ports: KitPorts, options: RenewalOptions): Service | undefined;
}

export interface RenewalOptions {
  readonly cluster: string;
  /** Whose certificate it is; an agent's when absent. */
  readonly of?: "agent" | "detector";
  readonly keep: KubeconfigKeeper;
  /** By the bootstrap token, for a certificate that has ended. */
  readonly bootstrap?: Client;
}

export interface ConnectOptions {
  /** The context of the kubeconfig; its current one when absent. */
  readonly context?: string | undefined;
  readonly userAgent?: string;
}

/** Connects by a kubeconfig; throws KubeconfigError when it is of no use. */
export async function connectPlane(
  path: string,
  options: ConnectOptions = {},
): Promise<PlaneConnection> {
  const { access, config, first, pair } = await readKubeconfig(path, options);
  if (pair === undefined)
    return { client: createHttpClient(config), end: config, renewal: () => undefined };
  const credentials = replaceableCredential({ ...first, certificateAuthority: pair.bundle });
  const { server } = config;
  const end = { ...config, credentials };
  const client = createHttpClient(end);
  return {
    client,
    end,
    renewal: (kit, { cluster, of = "agent", keep, bootstrap }) =>
      createCertificateRenewal(
        {
          ...kit,
          plane: client,
          ...(bootstrap === undefined ? {} : { bootstrap }),
          makeRequest: makeCertificateRequest,
          readCertificate,
          isPair: ({ certificate, key }) => isCertificateOf(certificate, key),
          save: (next) =>
            keep(
              kubeconfigText({
                name: "lifeboat",
                server,
                ca: next.bundle,
                client: next,
                proxyUrl: access.cluster.proxyUrl,
              }),
            ),
          kept: () => keptPair(path, options),
          use: (next) =>
            credentials.replace({
              headers: first.headers,
              certificate: next.certificate,
              key: next.key,
              certificateAuthority: next.bundle,
            }),
        },
        { cluster, of, pair, ...(of === "detector" && { lookEveryMs: DETECTOR_LOOKS_MS }) },
      ),
  };
}

/** What a kubeconfig holds; without a pair where its credential is not a certificate of ours. */
async function readKubeconfig(path: string, { context, userAgent = USER_AGENT }: ConnectOptions) {
  const access = await loadKubeconfig({ paths: [path], ...(context && { context }) });
  const ports = { clock: createRealClock(), environment: process.env };
  const config = throughProxy(await httpConfigOf(ports, access, userAgent), process.env);
  const first = await config.credentials.current();
  const { certificate, key } = first;
  const bundle = config.certificateAuthority;
  const isOurs = certificate !== undefined && key !== undefined && bundle !== undefined;
  const pair: AgentPair | undefined = isOurs ? { certificate, key, bundle } : undefined;
  return { access, config, first, pair };
}

/** The pair that the kubeconfig holds by now. */
async function keptPair(path: string, options: ConnectOptions): Promise<AgentPair | undefined> {
  try {
    return (await readKubeconfig(path, options)).pair;
  } catch (error) {
    // The file is being replaced: the next look finds it.
    if (error instanceof KubeconfigError) return undefined;
    throw error;
  }
}

/** The connection through the proxy of the kubeconfig, else through that of the environment, where either names one. */
export function throughProxy(config: HttpClientConfig, environment: Environment): HttpClientConfig {
  if (config.proxy !== undefined) return config;
  const url = proxyFromEnvironment(config.server, environment);
  if (url === undefined) return config;
  try {
    return { ...config, proxy: httpProxyOf(url) };
  } catch {
    throw new KubeconfigError(
      "the proxy of the environment (HTTPS_PROXY) is not an http or https URL",
    );
  }
}

/** Keeps the kubeconfig in its file. */
export function keptInFile(path: string): KubeconfigKeeper {
  return (text) => writePrivateFile(path, text);
}

/** Keeps the kubeconfig in the Secret of the member that it is mounted from. */
export function keptInSecret(member: Client, namespace: string, name: string): KubeconfigKeeper {
  return async (text) => {
    const body = { data: { kubeconfig: Buffer.from(text).toString("base64") } };
    await member.patch(secrets, { namespace, name }, { type: "merge", body });
  };
}

/** A client by the bootstrap token of another kubeconfig. */
export async function connectByToken(path: string): Promise<HttpClient> {
  const ports = { clock: createRealClock(), environment: process.env };
  const config = await httpConfigOf(ports, await loadKubeconfig({ paths: [path] }), USER_AGENT);
  return createHttpClient(throughProxy(config, process.env));
}
