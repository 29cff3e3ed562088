/**
 * What makes a kube-apiserver pass requests for `proxy.lifeboat.dev` on to the replicas of the manager: an APIService, and the
 * Service that it names. Pure.
 *
 * While no replica answers, the API server counts the group as unavailable: it answers clients so, and namespaces that are deleted
 * wait, because the API server does not know what they hold.
 */
import type { JsonObject, Resource } from "@lifeboat/api";
import { PROXY_GROUP, PROXY_VERSION } from "@lifeboat/apiserver";
import { apiServices, SYSTEM_NAMESPACE, WEBHOOK_SERVICE } from "../webhook/resources.ts";
import type { WebhookPlace } from "./webhooks.ts";

const HTTPS_PORT = 443;

/** Below Kubernetes' own groups; nothing else serves this one. */
const GROUP_PRIORITY = 1000;
const VERSION_PRIORITY = 15;

export const apiServiceResource = apiServices as unknown as Resource;

/** Without a bundle: the manager writes it. */
export function apiServiceSpec({ url }: WebhookPlace): JsonObject {
  const port = url === undefined ? HTTPS_PORT : portOf(new URL(url));
  return {
    group: PROXY_GROUP,
    version: PROXY_VERSION,
    groupPriorityMinimum: GROUP_PRIORITY,
    versionPriority: VERSION_PRIORITY,
    service: { namespace: SYSTEM_NAMESPACE, name: WEBHOOK_SERVICE, port },
  };
}

/** An APIService names a Service, never a URL: where the managers are elsewhere, the Service is another name of that host. */
export function externalServiceSpec(url: string): JsonObject {
  return { type: "ExternalName", externalName: new URL(url).hostname };
}

/** Why an APIService cannot lead to the managers; undefined: it can. */
export function aggregationProblem({ url }: WebhookPlace): string | undefined {
  if (url === undefined) return undefined;
  const { hostname, pathname } = new URL(url);
  if (hostname.startsWith("["))
    return "a Service cannot name an IPv6 address: give --webhook-url a host name";
  return pathname === "/" ? undefined : "an APIService has no path: give --webhook-url none";
}

function portOf({ port }: URL): number {
  return port === "" ? HTTPS_PORT : Number(port);
}
