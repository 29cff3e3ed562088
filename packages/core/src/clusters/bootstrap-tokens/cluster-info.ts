/**
 * The ConfigMap `kube-public/cluster-info`: how a client that has only a token gets to know the control plane. It holds a kubeconfig
 * with the server's address and its authorities, and for each token a signature of that kubeconfig, which proves to the owner
 * of the token that the kubeconfig comes from the control plane that made the token.
 *
 * In the embedded server a signature is made when the token is created, because the control plane knows the token then and never again.
 * On a kube-apiserver the secret part is stored, so the manager signs when it sees the token. A bootstrap signer of that control plane
 * (kube-controller-manager) writes the same bytes, so that it does not matter whether one runs. A signature goes when its token goes.
 */
import type { AnyObject } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { textAt } from "../../fields.ts";
import {
  bootstrapTokenOf,
  fieldOf,
  isExpired,
  registersClusters,
  tokenFields,
} from "./bootstrap-tokens.ts";

export const CLUSTER_INFO = Object.freeze({ namespace: "kube-public", name: "cluster-info" });
export const KUBECONFIG_FIELD = "kubeconfig";
const SIGNATURE_PREFIX = "jws-kubeconfig-";

/** The kubeconfig of a cluster-info; "" when there is none. */
export function kubeconfigOf(clusterInfo: AnyObject | undefined): string {
  return textAt(clusterInfo, "data", KUBECONFIG_FIELD);
}

/** A token's signature in a cluster-info; "" when there is none. */
export function signatureOf(clusterInfo: AnyObject | undefined, id: string): string {
  return textAt(clusterInfo, "data", SIGNATURE_PREFIX + id);
}

/**
 * The signature of a kubeconfig by a token: a JSON Web Signature without its payload, byte for byte as clients compute it to
 * compare. `hmac` is HMAC-SHA-256 in base64url.
 */
export function signKubeconfig(
  kubeconfig: string,
  token: { readonly id: string; readonly secret: string },
  hmac: Hmac,
): string {
  const header = base64Url(JSON.stringify({ alg: "HS256", kid: token.id }));
  return `${header}..${hmac(token.secret, `${header}.${base64Url(kubeconfig)}`)}`;
}

export interface TokenCare {
  /** The cluster-info as it should be; absent: it is so already, or there is none. */
  readonly clusterInfo?: AnyObject;
  /** Secrets of tokens that have expired. */
  readonly expired: readonly AnyObject[];
  /** When the next token expires. */
  readonly checkAgainAt?: Instant;
}

/** HMAC with SHA-256, base64url. */
export type Hmac = (key: string, text: string) => string;

/**
 * Decides which signatures cluster-info bears, and which tokens go. With `hmac` the secret parts are stored and signed with here, and
 * tokens by which no cluster registers belong to others: they and their signatures stay as they are.
 */
export function decideTokenCare(
  clusterInfo: AnyObject | undefined,
  secrets: readonly AnyObject[],
  now: Instant,
  hmac?: Hmac,
): TokenCare {
  const expired: AnyObject[] = [];
  const signatures: Record<string, string> = {};
  let next: Instant | undefined;
  for (const secret of secrets) {
    const token = bootstrapTokenOf(secret);
    if (token === undefined) continue;
    if (hmac !== undefined && !registersClusters(token)) {
      const field = SIGNATURE_PREFIX + token.id;
      const before = textAt(clusterInfo, "data", field);
      if (before !== "") signatures[field] = before;
      continue;
    }
    if (isExpired(token, now)) {
      expired.push(secret);
      continue;
    }
    if (token.expires !== undefined && (next === undefined || token.expires < next))
      next = token.expires;
    const signature = token.signs
      ? signatureBy(secret, token, kubeconfigOf(clusterInfo), hmac)
      : "";
    if (signature !== "") signatures[SIGNATURE_PREFIX + token.id] = signature;
  }
  const wanted = clusterInfo === undefined ? undefined : withSignatures(clusterInfo, signatures);
  return {
    expired,
    ...(wanted !== undefined && { clusterInfo: wanted }),
    ...(next !== undefined && { checkAgainAt: next }),
  };
}

function signatureBy(
  secret: AnyObject,
  { id, signature }: { readonly id: string; readonly signature: string },
  kubeconfig: string,
  hmac: Hmac | undefined,
): string {
  if (hmac === undefined) return signature;
  const plain = fieldOf(secret, tokenFields.secret);
  return plain === "" || kubeconfig === ""
    ? ""
    : signKubeconfig(kubeconfig, { id, secret: plain }, hmac);
}

function withSignatures(
  clusterInfo: AnyObject,
  signatures: Readonly<Record<string, string>>,
): AnyObject | undefined {
  const before = (clusterInfo["data"] ?? {}) as Readonly<Record<string, string>>;
  const kept = Object.entries(before).filter(([field]) => !field.startsWith(SIGNATURE_PREFIX));
  const data: Record<string, string> = { ...Object.fromEntries(kept), ...signatures };
  const isSame =
    Object.keys(data).length === Object.keys(before).length &&
    Object.entries(data).every(([field, value]) => before[field] === value);
  return isSame ? undefined : { ...clusterInfo, data };
}

function base64Url(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
