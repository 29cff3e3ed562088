/**
 * What becomes of one CertificateSigningRequest.
 *
 *   for an agent, by that very agent        approved: a renewal
 *   for an agent, by a bootstrap token      approved, if the name is free or the token was given for it
 *   for an agent, but not exactly           denied
 *   for a writer of agents' rights          denied; refused as soon as it is made where the server asks (`neverGranted`)
 *   for a detector, by that very detector   approved: a renewal, if the detector is registered for the Cluster of today
 *   by a detector, for anything else        denied
 *   anything else                           left to a person
 *   approved, by whomever                   signed, unless no certificate may be made of it
 *
 * 1. A certificate names the user and groups that were asked for, byte for byte; nothing else of a request enters it but its
 *    key. Nothing is corrected: what is not exact is refused.
 * 2. The name of a cluster belongs to the first that registers it. It is free again when its Cluster is gone and has a
 *    tombstone, or when the certificate of a registration that was never finished has ended. A bootstrap token that was given
 *    for the cluster (`registrationGroup`) is an administrator's word for registering again. Where the API server cannot refuse the
 *    certificates of an agent that left, the name is free only when the last of them has ended, or by that word.
 * 3. What was asked for until a revocation of its user gets no certificate: it would be newer than the revocation, and so count.
 * 4. A Cluster of mode Push has no agent: neither a registration nor a renewal of its name is granted, nor what was approved before it
 *    was joined.
 * 5. Where another process signs, no certificate is cut short: a request that asks for a longer life than is granted is denied, and
 *    so is one that leaves its life to that process.
 * 6. The same view gives the same plan, so that two leaders and a restart decide alike.
 */
import { IMPERSONATOR_SUFFIX } from "@lifeboat/api";
import { addMs, formatTime, type Instant } from "@lifeboat/base";
import {
  AGENT_BOOTSTRAPPERS_GROUP,
  AGENTS_GROUP,
  BOOTSTRAP_USER_PREFIX,
  CLIENT_SIGNER,
  clusterOfAgent,
  clusterOfDetector,
  DETECTORS_GROUP,
  isAgentUser,
  isDetectorUser,
  REGISTRATION_GROUP_PREFIX,
  registrationGroup,
  RIGHTS_WRITER_USER,
} from "../rights/identity.ts";
import { type RequestReason, requestReasons } from "./reasons.ts";

/** What a request (PKCS #10) asks for, read and checked against its own signature. */
export interface RequestFacts {
  /** Attributes of the subject by their OID, in order; those of one set together. */
  readonly subject: readonly (readonly { readonly type: string; readonly value: string }[])[];
  /** OIDs of the extensions that are asked for, alternative names among them. */
  readonly extensions: readonly string[];
  /** OIDs of attributes other than the list of extensions. */
  readonly attributes: readonly string[];
  /** `ec-prime256v1`, `ed25519`, `rsa-2048`. */
  readonly keyType: string;
  /** Of the whole request, in bytes. */
  readonly size: number;
}

/** The marks that the first registration of a cluster left; see `REGISTERED_BY` and `REGISTERED_UNTIL`. */
export interface Registration {
  readonly by: string;
  /** When the certificate of that registration ends. */
  readonly until: Instant;
}

export interface RequestView {
  readonly signer: string;
  readonly made: Instant;
  /** The user that made it, as the server stamped it. */
  readonly user: string;
  readonly groups: readonly string[];
  readonly usages: readonly string[];
  readonly expirationSeconds: number | undefined;
  readonly isApproved: boolean;
  /** Denied, failed or issued. */
  readonly isAnswered: boolean;
  readonly read: RequestFacts | { readonly refusal: string };
  /** Of the cluster whose agent's identity is asked for; see `clusterAskedFor`. */
  readonly cluster: "absent" | "push" | "pull";
  readonly registration: Registration | undefined;
  /** The Cluster of the last registration is gone, and its tombstone is not written yet. */
  readonly isLeaving: boolean;
  /** Certificates and requests of this agent of before this time are void; see tombstones in `revocation.ts`. */
  readonly tombstone: Instant | undefined;
  /** When the last certificate of an agent that left ends, where the API server takes it until then; absent: such are refused. */
  readonly stillCounts?: Instant | undefined;
  /** What was asked for until then is void: the last revocation of the user that asks or is asked for. */
  readonly revoked: Instant | undefined;
  /** Another process signs what is approved, for as long as the request asks for. */
  readonly isSignedElsewhere: boolean;
  /** Whether the detector that is asked for was registered for the Cluster that there is today; see `detectorAskedFor`. */
  readonly isDetectorRegistered: boolean;
}

/** The certificate that a request gets. */
export interface GrantedCertificate {
  readonly user: string;
  readonly groups: readonly string[];
  readonly notAfter: Instant;
}

export type RequestPlan = {
  readonly reason: RequestReason;
  /** For people, what the sentence of the reason does not contain. */
  readonly detail?: string;
  /** The cluster whose agent the certificate is for. */
  readonly cluster?: string;
  /** The cluster whose detector the certificate is for. */
  readonly detector?: string;
} & (
  | { readonly kind: "leave" | "deny" | "fail" }
  | { readonly kind: "approve" }
  | { readonly kind: "sign"; readonly certificate: GrantedCertificate }
  | { readonly kind: "wait"; readonly until: Instant }
);

/** A Cluster of mode Push has no agent: its Secrets are the credential of the control plane. */
const IS_PUSH = "it is registered in mode Push, and has no agent: remove it first";
const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";
const HOUR_MS = 3_600_000;
/** The longest life of an agent's certificate. */
export const AGENT_CERTIFICATE_MS = 24 * HOUR_MS;
/** The longest life of any other client's certificate. */
export const CLIENT_CERTIFICATE_MS = 365 * 24 * HOUR_MS;
const SECOND_MS = 1000;
/** Certificates begin so much before they are made, because clocks of others may be behind. */
export const CERTIFICATE_SKEW_MS = 5 * 60 * SECOND_MS;
const MAX_SIZE = 16 * 1024;
const CLIENT_AUTH = "client auth";
const ALLOWED_USAGES: readonly string[] = [CLIENT_AUTH, "digital signature", "key encipherment"];
const ALLOWED_KEYS: readonly string[] = [
  "ec-prime256v1",
  "ec-secp384r1",
  "ec-secp521r1",
  "ed25519",
  "rsa-2048",
  "rsa-3072",
  "rsa-4096",
];
const MASTERS = "system:masters";

/** Decides one request. */
export function decideRequest(view: RequestView, now: Instant): RequestPlan {
  if (view.signer !== CLIENT_SIGNER) return { kind: "leave", reason: "LeftToAPerson" };
  if (view.isAnswered) return { kind: "leave", reason: "Answered" };
  return view.isApproved ? decideSigning(view, now) : decideApproval(view, now);
}

/** The cluster whose agent's identity a request asks for, exactly or nearly. */
export function clusterAskedFor(read: RequestView["read"]): string | undefined {
  if ("refusal" in read) return undefined;
  return clusterOfAgent(onlyValue(read, COMMON_NAME) ?? "");
}

/** The cluster whose detector's identity a request asks for. */
export function detectorAskedFor(read: RequestView["read"]): string | undefined {
  if ("refusal" in read) return undefined;
  return clusterOfDetector(onlyValue(read, COMMON_NAME) ?? "");
}

/** The users that a certificate by this request would name. */
export function usersAskedFor(read: RequestView["read"]): readonly string[] {
  return "refusal" in read ? [] : valuesOf(read, COMMON_NAME);
}

/** Why a certificate like this is never issued; refused when the request is made, because some clients wait for minutes and read no denial. */
export function neverGranted(read: RequestFacts): string | undefined {
  return asksToWriteRights(read) ? requestReasons.RightsWriter : undefined;
}

function asksToWriteRights(read: RequestFacts): boolean {
  return valuesOf(read, COMMON_NAME).includes(RIGHTS_WRITER_USER);
}

/** The second at which a request was granted again after a cluster of this name left, so that its certificate is newer. */
function waitsForTombstone(view: RequestView, now: Instant): Instant | undefined {
  if (view.isLeaving) return addMs(now, SECOND_MS);
  if (view.tombstone === undefined) return undefined;
  const free = addMs(view.tombstone, SECOND_MS);
  return now < free ? free : undefined;
}

function decideApproval(view: RequestView, now: Instant): RequestPlan {
  const { read } = view;
  if (isVoid(view)) return { kind: "deny", reason: "Revoked" };
  const isAgents = isAgentUser(view.user) || isBootstrapper(view);
  if ("refusal" in read) {
    // Of other users nothing is known about what they ask for: a person sees the same.
    if (!isAgents && !isDetector(view)) return { kind: "leave", reason: "LeftToAPerson" };
    return { kind: "deny", reason: "Unreadable", detail: read.refusal };
  }
  if (isDetector(view)) return decideDetectorRenewal(view, read);
  if (asksToWriteRights(read)) return { kind: "deny", reason: "RightsWriter" };
  if (!isAgents && !claimsAgent(read)) return { kind: "leave", reason: "LeftToAPerson" };
  const wrong = wrongForAgent(view, read);
  if (wrong !== undefined) return { kind: "deny", ...wrong };
  const cluster = clusterAskedFor(read) as string;
  if (!isAgents) return { kind: "leave", reason: "LeftToAPerson", cluster };
  if (livesTooLong(view, AGENT_CERTIFICATE_MS)) return { kind: "deny", reason: "TooLong" };
  return isAgentUser(view.user)
    ? decideRenewalRequest(view, cluster, now)
    : decideRegistration(view, cluster, now);
}

function decideRenewalRequest(view: RequestView, cluster: string, now: Instant): RequestPlan {
  if (clusterOfAgent(view.user) !== cluster || !view.groups.includes(AGENTS_GROUP))
    return { kind: "deny", reason: "WrongCluster" };
  if (view.cluster === "push") return { kind: "deny", reason: "NameTaken", detail: IS_PUSH };
  if (view.tombstone !== undefined && view.made <= view.tombstone)
    return { kind: "deny", reason: "Left" };
  const until = waitsForTombstone(view, now);
  if (until !== undefined) return { kind: "wait", reason: "JustLeft", until };
  return { kind: "approve", reason: "AgentRenews", cluster };
}

/** A detector asks for itself and for nothing else. A person makes its first certificate (`lifeboat register --detector`). */
function decideDetectorRenewal(view: RequestView, read: RequestFacts): RequestPlan {
  const wrong = wrongForDetector(view, read);
  if (wrong !== undefined) return { kind: "deny", ...wrong };
  const detector = detectorAskedFor(read) as string;
  if (clusterOfDetector(view.user) !== detector || !view.groups.includes(DETECTORS_GROUP))
    return { kind: "deny", reason: "WrongCluster" };
  if (livesTooLong(view, CLIENT_CERTIFICATE_MS)) return { kind: "deny", reason: "TooLong" };
  if (!view.isDetectorRegistered) return { kind: "deny", reason: "NoDetector" };
  return { kind: "approve", reason: "DetectorRenews", detector };
}

function decideRegistration(view: RequestView, cluster: string, now: Instant): RequestPlan {
  const bound = view.groups.filter((group) => group.startsWith(REGISTRATION_GROUP_PREFIX));
  const isGivenForIt = bound.includes(registrationGroup(cluster));
  if (bound.length > 0 && !isGivenForIt)
    return {
      kind: "deny",
      reason: "WrongCluster",
      detail: "its token was given for another cluster",
    };
  if (cluster.endsWith(IMPERSONATOR_SUFFIX)) return { kind: "deny", reason: "ReservedName" };
  const again = `to register it again, remove it (lifeboat unregister ${cluster}), or make a token for it (lifeboat token create --cluster ${cluster})`;
  if (view.cluster === "push" || (view.cluster === "pull" && !isGivenForIt))
    return {
      kind: "deny",
      reason: "NameTaken",
      detail: view.cluster === "push" ? IS_PUSH : again,
    };
  const { registration } = view;
  if (
    view.cluster === "absent" &&
    !isGivenForIt &&
    registration !== undefined &&
    registration.by !== view.user &&
    registration.until > now
  )
    return {
      kind: "deny",
      reason: "NameTaken",
      detail: `${registration.by} has begun to register it; ${again}`,
    };
  const until = waitsForTombstone(view, now);
  if (until !== undefined) return { kind: "wait", reason: "JustLeft", until };
  const { stillCounts } = view;
  if (!isGivenForIt && stillCounts !== undefined && now < stillCounts)
    return {
      kind: "deny",
      reason: "NameTaken",
      detail: `the agent that left has certificates until ${formatTime(stillCounts)}, which this API server cannot refuse: they would count for the new cluster of this name. If no one else has them, make a token for it (lifeboat token create --cluster ${cluster})`,
    };
  return {
    kind: "approve",
    reason: view.cluster === "absent" ? "AgentRegisters" : "AgentReturns",
    cluster,
  };
}

function decideSigning(view: RequestView, now: Instant): RequestPlan {
  const { read } = view;
  if ("refusal" in read) return { kind: "fail", reason: "Unreadable", detail: read.refusal };
  if (asksToWriteRights(read)) return { kind: "fail", reason: "RightsWriter" };
  if (isVoid(view)) return { kind: "fail", reason: "Revoked" };
  const user = onlyValue(read, COMMON_NAME) ?? "";
  const groups = valuesOf(read, ORGANIZATION);
  if (claimsAgent(read)) {
    const wrong = wrongForAgent(view, read);
    if (wrong !== undefined) return { kind: "fail", ...wrong };
    const until = waitsForTombstone(view, now);
    if (until !== undefined) return { kind: "wait", reason: "JustLeft", until };
    const cluster = clusterOfAgent(user) as string;
    if (view.cluster === "push")
      return { kind: "fail", reason: "NameTaken", detail: IS_PUSH, cluster };
    if (view.tombstone !== undefined && view.made <= view.tombstone)
      return { kind: "fail", reason: "Left", cluster };
    const notAfter = lifeOf(view, AGENT_CERTIFICATE_MS, now);
    return { kind: "sign", reason: "Signed", cluster, certificate: { user, groups, notAfter } };
  }
  const claims = claimsDetector(read);
  const wrong = claims ? wrongForDetector(view, read) : wrongForClient(view, read);
  if (wrong !== undefined) return { kind: "fail", ...wrong };
  const notAfter = lifeOf(view, CLIENT_CERTIFICATE_MS, now);
  const certificate = { user, groups, notAfter };
  const detector = claims ? detectorAskedFor(read) : undefined;
  return {
    kind: "sign",
    reason: "Signed",
    certificate,
    ...(detector !== undefined && { detector }),
  };
}

/** When the certificate of an agent or a detector ends that an approved request gets now, at the latest. */
export function grantedUntil(
  { detector }: Pick<RequestPlan, "detector">,
  asked: Pick<RequestView, "expirationSeconds" | "isSignedElsewhere">,
  now: Instant,
): Instant {
  const longest = detector === undefined ? AGENT_CERTIFICATE_MS : CLIENT_CERTIFICATE_MS;
  return lifeOf(asked, longest, now);
}

/** A life that another process decides is taken for its longest: what a person has approved may ask for any. */
function lifeOf(
  {
    expirationSeconds,
    isSignedElsewhere,
  }: Pick<RequestView, "expirationSeconds" | "isSignedElsewhere">,
  longest: number,
  now: Instant,
): Instant {
  if (isSignedElsewhere) return addMs(now, askedMs(expirationSeconds) ?? CLIENT_CERTIFICATE_MS);
  return addMs(now, Math.min(askedMs(expirationSeconds) ?? longest, longest));
}

function askedMs(expirationSeconds: number | undefined): number | undefined {
  return expirationSeconds === undefined ? undefined : expirationSeconds * SECOND_MS;
}

/** Here a long life is cut short when it is signed; another process would sign it as it was asked for. */
function livesTooLong(
  { expirationSeconds, isSignedElsewhere }: RequestView,
  longest: number,
): boolean {
  const asked = askedMs(expirationSeconds);
  return isSignedElsewhere && !(asked !== undefined && asked > 0 && asked <= longest);
}

/** Times have whole seconds: what was asked for in the second of a revocation counts as before. */
function isVoid({ made, revoked }: RequestView): boolean {
  return revoked !== undefined && made <= revoked;
}

type Wrong = { readonly reason: RequestReason; readonly detail?: string } | undefined;

/** What keeps a request from being one of an agent, in full. */
function wrongForAgent(view: RequestView, read: RequestFacts): Wrong {
  return wrongForOne(view, read, clusterAskedFor(read), AGENTS_GROUP);
}

/** What keeps a request from being one of a detector, in full. */
function wrongForDetector(view: RequestView, read: RequestFacts): Wrong {
  return wrongForOne(view, read, detectorAskedFor(read), DETECTORS_GROUP);
}

function wrongForOne(
  view: RequestView,
  read: RequestFacts,
  cluster: string | undefined,
  group: string,
): Wrong {
  if (read.size > MAX_SIZE) return { reason: "TooLarge", detail: `${read.size} bytes` };
  const isExact =
    read.subject.every((set) => set.length === 1) &&
    read.subject.length === 2 &&
    cluster !== undefined &&
    onlyValue(read, ORGANIZATION) === group;
  if (!isExact) return { reason: "WrongSubject" };
  if (read.extensions.length > 0 || read.attributes.length > 0)
    return { reason: "WrongExtensions" };
  return wrongUse(view, read);
}

/** What keeps a person's approval from becoming a certificate. */
function wrongForClient(view: RequestView, read: RequestFacts): Wrong {
  if (read.size > MAX_SIZE) return { reason: "TooLarge", detail: `${read.size} bytes` };
  if ((onlyValue(read, COMMON_NAME) ?? "") === "" || valuesOf(read, ORGANIZATION).includes(MASTERS))
    return { reason: "WrongSubject" };
  return wrongUse(view, read);
}

function wrongUse({ usages }: RequestView, { keyType }: RequestFacts): Wrong {
  if (!usages.includes(CLIENT_AUTH) || usages.some((usage) => !ALLOWED_USAGES.includes(usage)))
    return { reason: "WrongUsages", detail: usages.join(", ") };
  if (!ALLOWED_KEYS.includes(keyType)) return { reason: "WrongKey", detail: keyType };
  return undefined;
}

function isBootstrapper({ user, groups }: RequestView): boolean {
  return (
    user.startsWith(BOOTSTRAP_USER_PREFIX) &&
    groups.some(
      (group) => group === AGENT_BOOTSTRAPPERS_GROUP || group.startsWith(REGISTRATION_GROUP_PREFIX),
    )
  );
}

function isDetector({ user, groups }: RequestView): boolean {
  return isDetectorUser(user) || groups.includes(DETECTORS_GROUP);
}

/** Whether a name or group reads like an agent's, for a program or for a person. */
function claimsAgent(read: RequestFacts): boolean {
  return reads(read, "karmada:agent");
}

function claimsDetector(read: RequestFacts): boolean {
  return reads(read, "lifeboat:detector");
}

function reads(read: RequestFacts, words: string): boolean {
  return read.subject.flat().some(({ value }) => folded(value).includes(words));
}

/** Letters of other scripts that look like those of the words above. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  а: "a",
  α: "a",
  ɑ: "a",
  с: "c",
  ԁ: "d",
  е: "e",
  ε: "e",
  ɡ: "g",
  к: "k",
  κ: "k",
  м: "m",
  п: "n",
  ո: "n",
  г: "r",
  т: "t",
  τ: "t",
  і: "i",
  ι: "i",
  ı: "i",
  о: "o",
  ο: "o",
  ƒ: "f",
  в: "b",
  ӏ: "l",
  "։": ":",
  "∶": ":",
  ː: ":",
};

function folded(value: string): string {
  return value
    .normalize("NFKD")
    .replace(/\p{M}|\p{Cf}|\p{Cc}|\s/gu, "")
    .toLowerCase()
    .replace(/[^\x20-\x7e]/gu, (letter) => LOOKALIKES[letter] ?? letter);
}

function valuesOf(read: RequestFacts, type: string): readonly string[] {
  return read.subject
    .flat()
    .flatMap((attribute) => (attribute.type === type ? [attribute.value] : []));
}

function onlyValue(read: RequestFacts, type: string): string | undefined {
  const values = valuesOf(read, type);
  return values.length === 1 ? values[0] : undefined;
}
