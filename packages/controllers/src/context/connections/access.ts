/**
 * How a Cluster and its Secret describe the way to a member. Nothing throws: what is wrong is a sentence.
 *
 * A credential is bound to the endpoint that it was given for: the Secret names it (annotation
 * `lifeboat.dev/api-endpoint`), because the right to edit Clusters need not include the right to read Secrets. A Cluster
 * that names another endpoint, or another Cluster's Secret, does not get the token sent there.
 *
 * A Secret without that annotation was made by hand, or before there was one. It is bound to the endpoint of its first use,
 * before that: when it belongs to the Cluster, or lies in the namespace for such Secrets. Any other Secret may be anything,
 * and is not used.
 */
import type { AnyObject, Cluster, ObjectKey } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import type { MemberAccess } from "../member-connections.ts";

export type FoundAccess =
  | { readonly kind: "usable"; readonly access: MemberAccess }
  | { readonly kind: "unusable"; readonly message: string }
  /** Good, once the Secret is bound to the endpoint. */
  | { readonly kind: "unbound"; readonly secret: AnyObject; readonly endpoint: string };

/** The access, or why there is none. */
export function accessOf(
  cluster: Cluster,
  secretOf: (key: ObjectKey) => AnyObject | undefined,
): FoundAccess {
  const { metadata, spec } = cluster;
  const { apiEndpoint = "", secretRef, proxyURL = "" } = spec;
  if (apiEndpoint === "") return unusable("the Cluster has no apiEndpoint");
  if (secretRef === undefined) return unusable("the Cluster has no secretRef");
  const where = `${secretRef.namespace}/${secretRef.name}`;
  const secret = secretOf(secretRef);
  if (secret === undefined) return unusable(`the Secret ${where} does not exist`);
  const token = decoded(secret, "token");
  if (token?.trim() === "") return unusable(`the Secret ${where} has no token`);
  if (token === undefined) return unusable(`the token of the Secret ${where} is not base64`);
  const caBundle = decoded(secret, "caBundle");
  if (caBundle === undefined) return unusable(`the caBundle of the Secret ${where} is not base64`);
  const endpoint = normalEndpoint(apiEndpoint);
  if (isHttp(endpoint) && secret.metadata.annotations?.[wellKnown.ALLOW_HTTP] !== "true")
    return unusable(
      `the apiEndpoint is plain http, by which the token would travel in clear: use https, or annotate the Secret ${where} with ${wellKnown.ALLOW_HTTP}=true`,
    );
  const bound = secret.metadata.annotations?.[wellKnown.API_ENDPOINT];
  if (bound === undefined)
    return mayBind(cluster, secret)
      ? { kind: "unbound", secret, endpoint }
      : unusable(
          `the Secret ${where} does not name the endpoint that its token is for: annotate it with ${wellKnown.API_ENDPOINT}=${endpoint}`,
        );
  if (!bound.split(/\s+/).some((one) => one !== "" && normalEndpoint(one) === endpoint))
    return unusable(
      `the token of the Secret ${where} was not given for the endpoint ${endpoint}: join the cluster again, or annotate the Secret with ${wellKnown.API_ENDPOINT}=${endpoint}`,
    );
  const access: MemberAccess = Object.freeze({
    cluster: metadata.name,
    endpoint,
    // A token that came from a file often ends in a newline.
    token: token.trim(),
    ...(caBundle === "" ? {} : { caBundle }),
    insecureSkipTlsVerification: spec.insecureSkipTLSVerification ?? false,
    ...(proxyURL === "" ? {} : { proxyUrl: proxyURL }),
    ...(spec.proxyHeader === undefined ? {} : { proxyHeaders: headersOf(spec.proxyHeader) }),
  });
  return { kind: "usable", access };
}

/**
 * The way of the proxy into a member: like `access`, by which the control plane itself reaches it, with the token of the member's
 * impersonator in the place of the control plane's own. Where there is none, the proxy is closed: the control plane's token never
 * takes its place.
 */
export function impersonatorAccess(
  cluster: Cluster,
  access: MemberAccess,
  secretOf: (key: ObjectKey) => AnyObject | undefined,
): Exclude<FoundAccess, { kind: "unbound" }> {
  const { impersonatorSecretRef: reference } = cluster.spec;
  if (reference === undefined)
    return unusable("the Cluster has no impersonatorSecretRef: join the cluster again");
  const where = `${reference.namespace}/${reference.name}`;
  const secret = secretOf(reference);
  if (secret === undefined) return unusable(`the Secret ${where} does not exist`);
  const token = decoded(secret, "token")?.trim() ?? "";
  if (!/^[\u0021-\u007e]+$/.test(token)) return unusable(`the Secret ${where} has no usable token`);
  if (token === access.token)
    return unusable(
      `the token of the Secret ${where} is the control plane's own, by which no user is impersonated: join the cluster again`,
    );
  const bound = secret.metadata.annotations?.[wellKnown.API_ENDPOINT];
  const isBound =
    bound === undefined
      ? isOwnedBy(secret, cluster)
      : bound.split(/\s+/).some((one) => one !== "" && normalEndpoint(one) === access.endpoint);
  if (!isBound)
    return unusable(
      `the token of the Secret ${where} was not given for the endpoint ${access.endpoint}: join the cluster again`,
    );
  return { kind: "usable", access: Object.freeze({ ...access, token }) };
}

function unusable(message: string): Extract<FoundAccess, { kind: "unusable" }> {
  return { kind: "unusable", message };
}

function mayBind(cluster: Cluster, secret: AnyObject): boolean {
  return isOwnedBy(secret, cluster) || secret.metadata.namespace === wellKnown.CLUSTER_NAMESPACE;
}

function isOwnedBy({ metadata }: AnyObject, { metadata: { uid } }: Cluster): boolean {
  return metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
}

/** An endpoint in the one form in which it is compared and used. */
function normalEndpoint(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint).href : endpoint;
  return url.replace(/\/+$/, "");
}

function isHttp(endpoint: string): boolean {
  return /^http:/i.test(endpoint);
}

function headersOf(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.entries(headers).map(([name, all]) => [name, all.split(",")]));
}

/** What a key of the Secret holds: "" where it is absent, undefined where it cannot be read. */
function decoded(secret: AnyObject, key: string): string | undefined {
  const data = secret["data"] as Readonly<Record<string, unknown>> | undefined;
  const value = data?.[key] ?? "";
  if (typeof value !== "string") return undefined;
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(value), (char) => char.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
