/** The objects by which a kube-apiserver and the replicas of the manager find and trust each other. */
import { type Json, keptAs, type KubeObject, type Resource, secrets } from "@lifeboat/api";

export const SYSTEM_NAMESPACE = "lifeboat-system";
/** The account of the manager in its own namespace. */
export const MANAGER_ACCOUNT = "lifeboat-manager";
/** The ClusterRole of the manager where clusters register by a token, and its binding. */
export const REGISTRATION_ROLE = `${MANAGER_ACCOUNT}-registration`;
/** Both webhook configurations. */
export const WEBHOOKS_NAME = "lifeboat";
/** The Service through which the API server reaches the webhook, unless it is installed with a URL. */
export const WEBHOOK_SERVICE = "lifeboat-webhook";
/** The Secret that all replicas serve from: `ca.crt` (newest first), `ca.key`, `tls.crt`, `tls.key`. */
export const CERTIFICATE_SECRET = Object.freeze({
  namespace: SYSTEM_NAMESPACE,
  name: "lifeboat-webhook-certificate",
});

export interface SecretObject extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  readonly caBundle?: string;
}

export interface Webhook {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly [field: string]: Json | WebhookClientConfig | undefined;
}

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly Webhook[];
}

export const secretResource = keptAs<SecretObject>(secrets);

const registration = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  namespaced: false,
} as const;

export const mutatingConfigurations: Resource<WebhookConfiguration> = {
  ...registration,
  plural: "mutatingwebhookconfigurations",
  kind: "MutatingWebhookConfiguration",
};
export const validatingConfigurations: Resource<WebhookConfiguration> = {
  ...registration,
  plural: "validatingwebhookconfigurations",
  kind: "ValidatingWebhookConfiguration",
};

export interface ApiService extends KubeObject {
  readonly spec?: {
    readonly caBundle?: string;
    readonly service?: { readonly namespace: string; readonly name: string };
    readonly [field: string]: Json | undefined;
  };
}

export const apiServices: Resource<ApiService> = {
  group: "apiregistration.k8s.io",
  version: "v1",
  plural: "apiservices",
  kind: "APIService",
  namespaced: false,
};

/** By which the API server passes requests for `proxy.lifeboat.dev` on to the replicas. */
export const PROXY_API_SERVICE = "v1alpha1.proxy.lifeboat.dev";

/** What the API server checks the certificate of the Service for, wherever the Service leads. */
export const SERVICE_HOST = `${WEBHOOK_SERVICE}.${SYSTEM_NAMESPACE}.svc`;

/** The names under which the API server and other replicas ask, from the configurations themselves. */
export function webhookHosts(configurations: readonly WebhookConfiguration[]): readonly string[] {
  const hosts = configurations.flatMap(({ webhooks = [] }) =>
    webhooks.flatMap(({ clientConfig: { url, service } }) => {
      if (service !== undefined) return [`${service.name}.${service.namespace}.svc`];
      return url !== undefined && URL.canParse(url) ? [hostOf(new URL(url))] : [];
    }),
  );
  return [...new Set([...hosts, SERVICE_HOST])];
}

/** Without the brackets of an IPv6 address. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
