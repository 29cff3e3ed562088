/**
 * Bootstrap tokens: what a new cluster shows once, to get its first certificate.
 *
 * A token is `id.secret` in the form that kubeadm uses. It is kept as the Secret `kube-system/bootstrap-token-<id>`, in the fields
 * that clients of such control planes know; in place of the secret part stands its hash (`token-secret-hash`). A kube-apiserver needs the secret part itself to authenticate:
 * there it is stored as it was given.
 *
 * 1. A token that registers clusters lives for an hour after its Secret was made, at most, whatever the Secret gives as its end.
 *    Tokens of others (those of kubeadm add nodes) are not ours to shorten.
 * 2. A token registers one cluster: the approver of certificate requests takes it for one public key (`decideUse`) before it
 *    approves, by an update that carries the version which it read. Of two racers one succeeds; the other reads again and is
 *    refused. The same key may ask again, because responses get lost.
 * 3. A token that was taken still authenticates until it expires: its owner has yet to read the certificate.
 */
import type { AnyObject } from "@lifeboat/api";
import { addMs, type Instant, instantOf, parseTime } from "@lifeboat/base";
import { defineReasons } from "../../plan.ts";
import { textAt } from "../../fields.ts";
import {
  AGENT_BOOTSTRAPPERS_GROUP,
  BOOTSTRAP_USER_PREFIX,
  REGISTRATION_GROUP_PREFIX,
} from "../rights/identity.ts";

export const BOOTSTRAP_NAMESPACE = "kube-system";
export const BOOTSTRAP_TYPE = "bootstrap.kubernetes.io/token";
export const MAX_TOKEN_LIFE_MS = 60 * 60 * 1000;

/** Keys of the Secret's data. */
export const tokenFields = {
  id: "token-id",
  /** The secret part in plain, as clients send it. The embedded server never stores it. */
  secret: "token-secret",
  /** Hexadecimal SHA-256 of the whole token, `id.secret`. */
  hash: "token-secret-hash",
  expiration: "expiration",
  description: "description",
  authentication: "usage-bootstrap-authentication",
  signing: "usage-bootstrap-signing",
  extraGroups: "auth-extra-groups",
  /** The one cluster that it may register; absent: any. */
  cluster: "cluster",
  /** The signature of the ConfigMap `cluster-info` by this token. */
  signature: "jws-kubeconfig",
  /** The public key that it was taken for, as PEM. */
  usedBy: "used-by-key",
  usedFor: "used-for-cluster",
} as const;

export interface TokenParts {
  readonly id: string;
  readonly secret: string;
}

/** The two parts of a token; undefined when the text has another form. */
export function parseBootstrapToken(text: string): TokenParts | undefined {
  if (!/^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(text)) return undefined;
  return { id: text.slice(0, 6), secret: text.slice(7) };
}

export function bootstrapSecretName(id: string): string {
  return `bootstrap-token-${id}`;
}

/** The id of the token that a user authenticated with; undefined for other users. */
export function bootstrapTokenId(user: string): string | undefined {
  if (!user.startsWith(BOOTSTRAP_USER_PREFIX)) return undefined;
  const id = user.slice(BOOTSTRAP_USER_PREFIX.length);
  return /^[a-z0-9]{6}$/.test(id) ? id : undefined;
}

/** A token as its Secret describes it. */
export interface BootstrapToken {
  readonly id: string;
  /** "" when the Secret has none: then the token authenticates no client. */
  readonly hash: string;
  /** Undefined: it does not expire, which only tokens have that register no clusters. */
  readonly expires: Instant | undefined;
  readonly authenticates: boolean;
  readonly signs: boolean;
  readonly groups: readonly string[];
  readonly cluster: string;
  readonly description: string;
  readonly signature: string;
  readonly usedBy: string;
  readonly usedFor: string;
}

/** Reads the Secret of a token; undefined for any other Secret. */
export function bootstrapTokenOf(secret: AnyObject): BootstrapToken | undefined {
  if (textAt(secret, "type") !== BOOTSTRAP_TYPE) return undefined;
  const { name, namespace } = secret.metadata;
  const id = fieldOf(secret, tokenFields.id);
  if (namespace !== BOOTSTRAP_NAMESPACE || !/^[a-z0-9]{6}$/.test(id)) return undefined;
  if (name !== bootstrapSecretName(id)) return undefined;
  const groups = groupsOf(fieldOf(secret, tokenFields.extraGroups));
  return {
    id,
    hash: fieldOf(secret, tokenFields.hash),
    expires: endOf(secret, registersClusters({ groups })),
    authenticates: fieldOf(secret, tokenFields.authentication) === "true",
    signs: fieldOf(secret, tokenFields.signing) === "true",
    groups,
    cluster: fieldOf(secret, tokenFields.cluster),
    description: fieldOf(secret, tokenFields.description),
    signature: fieldOf(secret, tokenFields.signature),
    usedBy: fieldOf(secret, tokenFields.usedBy),
    usedFor: fieldOf(secret, tokenFields.usedFor),
  };
}

/** Whether clusters register by a token with these groups. */
export function registersClusters({ groups }: Pick<BootstrapToken, "groups">): boolean {
  return groups.some(
    (group) => group === AGENT_BOOTSTRAPPERS_GROUP || group.startsWith(REGISTRATION_GROUP_PREFIX),
  );
}

function endOf(secret: AnyObject, isBounded: boolean): Instant | undefined {
  const text = fieldOf(secret, tokenFields.expiration);
  // An end that cannot be read has passed.
  const given = text === "" ? undefined : (parseTime(text) ?? LONG_AGO);
  const made = parseTime(secret.metadata.creationTimestamp ?? "");
  if (!isBounded || made === undefined) return given;
  const latest = addMs(made, MAX_TOKEN_LIFE_MS);
  return given === undefined || given > latest ? latest : given;
}

export function isExpired({ expires }: Pick<BootstrapToken, "expires">, now: Instant): boolean {
  return expires !== undefined && expires <= now;
}

export const useReasons = defineReasons({
  Taken: "The token is taken for this public key by this decision.",
  TakenBefore: "The token was taken for the same public key before.",
  NoToken: "There is no such bootstrap token: it was deleted, or it expired.",
  Expired: "The bootstrap token has expired: create another one with lifeboat token create.",
  OtherCluster: "The bootstrap token is for another cluster.",
  UsedByAnother:
    "The bootstrap token has registered a cluster already, with another key: create another one with lifeboat token create.",
});

export type UseReason = keyof typeof useReasons;

export interface Use {
  readonly cluster: string;
  /** The public key of the certificate request, PEM. */
  readonly key: string;
}

export interface UseDecision {
  readonly allowed: boolean;
  readonly reason: UseReason;
  /** The Secret to write before the request is approved, with the version that was read; absent: nothing is to be written. */
  readonly write?: AnyObject;
}

/** Decides whether a token may register this cluster with this key. */
export function decideUse(secret: AnyObject | undefined, use: Use, now: Instant): UseDecision {
  const token = secret === undefined ? undefined : bootstrapTokenOf(secret);
  if (secret === undefined || token === undefined) return refused("NoToken");
  if (token.usedBy !== "")
    return token.usedBy === use.key && token.usedFor === use.cluster
      ? { allowed: true, reason: "TakenBefore" }
      : refused("UsedByAnother");
  if (isExpired(token, now)) return refused("Expired");
  if (token.cluster !== "" && token.cluster !== use.cluster) return refused("OtherCluster");
  const data = {
    ...(secret["data"] as Readonly<Record<string, string>>),
    [tokenFields.usedBy]: toBase64(use.key),
    [tokenFields.usedFor]: toBase64(use.cluster),
  };
  return { allowed: true, reason: "Taken", write: { ...secret, data } };
}

const LONG_AGO = instantOf(0);
const MAX_GROUPS = 16;

function refused(reason: UseReason): UseDecision {
  return { allowed: false, reason };
}

/** Only groups below `system:bootstrappers` can come from a token. */
function groupsOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((group) => group.trim())
    .filter((group) => /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/.test(group))
    .slice(0, MAX_GROUPS);
}

/** A field of a Secret as text; "" when it is absent or no text. */
export function fieldOf(secret: AnyObject, field: string): string {
  const value = textAt(secret, "data", field);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(
      Uint8Array.from(atob(value), (char) => char.charCodeAt(0)),
    );
  } catch {
    return "";
  }
}

/** A text as a field of a Secret. */
export function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
