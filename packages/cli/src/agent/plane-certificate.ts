/**
 * The agent's connection to the control plane, whose certificate is renewed while it runs. A new pair is kept where the
 * kubeconfig came from: in the file, or, in a pod, in the Secret that the file is mounted from.
 *
 * A kubeconfig without an embedded or named client certificate (a token, a plugin) is used as it is and renewed by others.
 */
import { createRealClock } from "@lifeboat/base/adapters";
import { type AgentPair, createCertificateRenewal } from "@lifeboat/controllers/member-side";
import type { Resource } from "@lifeboat/api";
import type { Client, KitPorts, Service } from "@lifeboat/kit";
import {
  connectByKubeconfig,
  createHttpClient,
  type HttpClient,
  type HttpClientConfig,
  httpConfigOf,
  kubeconfigText,
  loadKubeconfig,
  makeCertificateRequest,
  readCertificate,
  replaceableCredential,
  writePrivateFile,
} from "@lifeboat/kit/adapters";

const SECRETS: Resource = {
  group: "",
  version: "v1",
  plural: "secrets",
  kind: "Secret",
  namespaced: true,
};
const USER_AGENT = "lifeboat-agent";

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
  readonly keep: KubeconfigKeeper;
  /** By the bootstrap token, for a certificate that has ended. */
  readonly bootstrap?: Client;
}

/** Connects by a kubeconfig; throws KubeconfigError when it is of no use. */
export async function connectPlane(path: string): Promise<PlaneConnection> {
  const access = await loadKubeconfig({ paths: [path] });
  const ports = { clock: createRealClock(), environment: process.env };
  const config = await httpConfigOf(ports, access, USER_AGENT);
  const first = await config.credentials.current();
  const { certificate, key } = first;
  const bundle = config.certificateAuthority;
  if (certificate === undefined || key === undefined || bundle === undefined)
    return { client: createHttpClient(config), end: config, renewal: () => undefined };
  const credentials = replaceableCredential({ ...first, certificateAuthority: bundle });
  const pair: AgentPair = { certificate, key, bundle };
  const { server } = config;
  const end = { ...config, credentials };
  const client = createHttpClient(end);
  return {
    client,
    end,
    renewal: (kit, { cluster, keep, bootstrap }) =>
      createCertificateRenewal(
        {
          ...kit,
          plane: client,
          ...(bootstrap === undefined ? {} : { bootstrap }),
          makeRequest: makeCertificateRequest,
          readLife: readCertificate,
          save: (next) =>
            keep(kubeconfigText({ name: "lifeboat", server, ca: next.bundle, client: next })),
          use: (next) =>
            credentials.replace({
              headers: first.headers,
              certificate: next.certificate,
              key: next.key,
              certificateAuthority: next.bundle,
            }),
        },
        { cluster, pair },
      ),
  };
}

/** Keeps the kubeconfig in its file. */
export function keptInFile(path: string): KubeconfigKeeper {
  return (text) => writePrivateFile(path, text);
}

/** Keeps the kubeconfig in the Secret of the member that it is mounted from. */
export function keptInSecret(member: Client, namespace: string, name: string): KubeconfigKeeper {
  return async (text) => {
    const body = { data: { kubeconfig: Buffer.from(text).toString("base64") } };
    await member.patch(SECRETS, { namespace, name }, { type: "merge", body });
  };
}

/** A client by the bootstrap token of another kubeconfig. */
export function connectByToken(path: string): Promise<HttpClient> {
  return connectByKubeconfig({ paths: [path] }, USER_AGENT);
}
