/**
 * Registering a cluster by a token (Pull): from an address, a token and a pin to the certificate of the cluster's agent.
 *
 *   reach → authority → token → request → approval        then the agent starts, and → lease
 *
 * 1. Until the authority is known, nothing is sent but the question for the public cluster-info: neither the token nor anything
 *    else reaches a server that is not the one that made the token.
 * 2. The control plane is proven twice: cluster-info bears a signature that only the maker of the token can make, and its
 *    authority has the public key that the pin names. After that, TLS is checked against that authority.
 * 3. It can be repeated after dying at any step with the same key: the request has a name that follows from the cluster and the
 *    key, and the token was taken for that key.
 * 4. A check goes as far as one can without a change: up to the right to make the request.
 */
import {
  type AnyObject,
  certificateSigningRequests,
  configMaps,
  findCondition,
  isRefused,
  leases,
  type New,
  type ObjectKey,
  orNothing,
  Refused,
  type Resource,
} from "@lifeboat/api";
import { type Clock, formatDuration, sleep } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import {
  CLUSTER_INFO,
  kubeconfigOf,
  parseBootstrapToken,
  signatureOf,
  signKubeconfig,
  type TokenParts,
} from "@lifeboat/core/clusters/bootstrap-tokens";
import { CLIENT_SIGNER } from "@lifeboat/core/clusters/rights";
import {
  type Client,
  KubeconfigError,
  NotSent,
  OutcomeUnknown,
  parseClusterInfo,
} from "@lifeboat/kit";
import { RegistrationRefused } from "./refusal.ts";

/** How the control plane is spoken to in one step. */
export interface PlaneAccess {
  readonly server: string;
  /** PEM; absent: the server's certificate is not checked, because there is nothing to check it against yet. */
  readonly authority?: string;
  readonly token?: string;
  readonly client?: { readonly certificate: string; readonly key: string };
}

export interface RegisterPorts {
  readonly clock: Clock;
  connect(access: PlaneAccess): Promise<{ readonly client: Client; close(): void }>;
  /** HMAC with SHA-256, base64url. */
  hmacSha256(key: string, text: string): string;
  /** SHA-256, hexadecimal. */
  sha256(text: string): string;
  /** The pins (`sha256:<hex>`) of the certificates of a PEM bundle. */
  pinsOf(bundle: string): readonly string[];
}

export interface RegisterRequest {
  /** `https://host:port`. */
  readonly server: string;
  readonly token: string;
  /** Any of them suffices. */
  readonly pins: readonly string[];
  /** Trust whatever authority cluster-info names, if its signature is right. */
  readonly skipPin: boolean;
  readonly cluster: string;
  /** The request for the agent's certificate, and its key; both PEM. */
  readonly certificate: { readonly request: string; readonly key: string };
  readonly timeoutMs: number;
  /** Checks everything that can be checked, and changes nothing. */
  readonly check: boolean;
  /** Called after each step that went well. */
  readonly onStep: (step: RegisterStep, what: string) => void;
  readonly signal?: AbortSignal;
}

export type RegisterStep = "reach" | "authority" | "token" | "request" | "approval" | "lease";

export interface Registered {
  readonly server: string;
  /** PEM. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

const ACCESS_REVIEWS: Resource = {
  group: "authorization.k8s.io",
  version: "v1",
  plural: "selfsubjectaccessreviews",
  kind: "SelfSubjectAccessReview",
  namespaced: false,
};
const CERTIFICATE_SECONDS = 24 * 3600;
const POLL_MS = 500;

/** A step that failed: which one, and what to do. */
export class RegistrationStepFailed extends RegistrationRefused {
  readonly step: RegisterStep;

  constructor(step: RegisterStep, message: string) {
    super(message);
    this.step = step;
  }
}

/** Registers; undefined after a check. Throws RegistrationStepFailed. */
export async function registerByToken(
  ports: RegisterPorts,
  request: RegisterRequest,
): Promise<Registered | undefined> {
  const token = parseBootstrapToken(request.token);
  if (token === undefined)
    throw new RegistrationStepFailed(
      "token",
      "the token has another form than six characters, a dot and sixteen characters (a-z, 0-9): copy it whole",
    );
  const info = await readClusterInfo(ports, request);
  const authority = await proveAuthority(ports, request, token, info);
  const { server, cluster } = request;
  const plane = await ports.connect({ server, authority, token: request.token });
  try {
    await checkToken(plane.client, request);
    if (request.check) return undefined;
    const certificate = await getCertificate(ports, plane.client, request);
    request.onStep("approval", `the control plane issued a certificate for cluster ${cluster}`);
    return { server, authority, certificate, key: request.certificate.key };
  } finally {
    plane.close();
  }
}

function leaseKey(cluster: string): ObjectKey {
  return { namespace: wellKnown.CLUSTER_NAMESPACE, name: cluster };
}

/** The last renewal of an agent's Lease; undefined: there is none. With the agent's own identity. */
export async function lastRenewal(plane: Client, cluster: string): Promise<string | undefined> {
  const lease = await orNothing(plane.get(leases, leaseKey(cluster)));
  return (lease?.["spec"] as { readonly renewTime?: string } | undefined)?.renewTime;
}

/**
 * Waits until the agent has renewed its Lease; with the agent's own identity. `before` is the renewal that was there before the agent
 * was started: the Lease of an earlier registration may still be there, and proves nothing.
 */
export async function awaitLease(
  { clock }: Pick<RegisterPorts, "clock">,
  plane: Client,
  cluster: string,
  { before, timeoutMs }: { readonly before: string | undefined; readonly timeoutMs: number },
): Promise<void> {
  const deadline = clock.monotonic() + timeoutMs;
  const key = leaseKey(cluster);
  for (;;) {
    const renewal = await lastRenewal(plane, cluster);
    if (renewal !== undefined && renewal !== before) return;
    if (clock.monotonic() >= deadline)
      throw new RegistrationStepFailed(
        "lease",
        `the agent has not renewed its Lease ${key.namespace}/${key.name} within ${formatDuration(timeoutMs)}: read its log, and whether its pods run`,
      );
    await sleep(clock, POLL_MS);
  }
}

async function readClusterInfo(ports: RegisterPorts, request: RegisterRequest): Promise<AnyObject> {
  const { server } = request;
  const found = await inStep("reach", server, async () => {
    const stranger = await ports.connect({ server });
    try {
      return await orNothing(stranger.client.get(configMaps, CLUSTER_INFO));
    } catch (error) {
      if (!isRefused(error, "Forbidden") && !isRefused(error, "Unauthorized")) throw error;
      throw new RegistrationStepFailed(
        "reach",
        `${server} answers, but lets no client read its ConfigMap kube-public/cluster-info without a credential: is this the address of the control plane? A kube-apiserver needs anonymous requests (--anonymous-auth) and \`lifeboat install\``,
      );
    } finally {
      stranger.close();
    }
  });
  if (found === undefined)
    throw new RegistrationStepFailed(
      "reach",
      `${server} answers, but has no ConfigMap kube-public/cluster-info: is this the address of the control plane? Beside a kube-apiserver \`lifeboat install\` makes it`,
    );
  request.onStep("reach", `${server} answers`);
  return found;
}

/** The authority that cluster-info names, once signature and pin prove it; PEM. */
async function proveAuthority(
  ports: RegisterPorts,
  request: RegisterRequest,
  token: TokenParts,
  info: AnyObject,
): Promise<string> {
  const { server } = request;
  checkSignature(ports, token, info);
  const authority = authorityOf(info);
  const found = ports.pinsOf(authority);
  if (!request.skipPin && !found.some((pin) => request.pins.includes(pin)))
    throw new RegistrationStepFailed(
      "authority",
      `the control plane's authority is ${found.join(" or ")}, and not the one that --discovery-token-ca-cert-hash names: compare it with what lifeboat token create --print-register-command prints, and do not go on if they differ`,
    );
  await inStep("authority", server, async () => {
    const checked = await ports.connect({ server, authority });
    try {
      const again = await checked.client.get(configMaps, CLUSTER_INFO);
      if (kubeconfigOf(again) !== kubeconfigOf(info))
        throw new RegistrationStepFailed(
          "authority",
          "cluster-info changed between two reads: run the command again",
        );
    } finally {
      checked.close();
    }
  });
  request.onStep(
    "authority",
    request.skipPin
      ? "its certificate is by the authority of cluster-info"
      : "its authority is pinned",
  );
  return authority;
}

function checkSignature(ports: RegisterPorts, token: TokenParts, info: AnyObject): void {
  const signature = signatureOf(info, token.id);
  if (signature === "")
    throw new RegistrationStepFailed(
      "token",
      `the control plane knows no live token ${token.id}: it has expired, was deleted, or is of another control plane; create one with lifeboat token create`,
    );
  if (
    signature !==
    signKubeconfig(kubeconfigOf(info), token, (...given) => ports.hmacSha256(...given))
  )
    throw new RegistrationStepFailed(
      "token",
      `cluster-info is not signed by this token: the token is mistyped, or the authority of the control plane changed after the token was made, or the server is not the control plane; create another token with lifeboat token create`,
    );
}

function authorityOf(info: AnyObject): string {
  try {
    const { certificateAuthority } = parseClusterInfo(kubeconfigOf(info));
    if (certificateAuthority?.kind === "data")
      return new TextDecoder().decode(
        Uint8Array.from(atob(certificateAuthority.base64), (char) => char.charCodeAt(0)),
      );
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new RegistrationStepFailed("authority", error.message);
  }
  throw new RegistrationStepFailed("authority", "cluster-info names no certificate authority");
}

async function checkToken(plane: Client, request: RegisterRequest): Promise<void> {
  const review = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    metadata: {},
    spec: {
      resourceAttributes: {
        group: certificateSigningRequests.group,
        resource: certificateSigningRequests.plural,
        verb: "create",
      },
    },
  } as unknown as New<AnyObject>;
  const answer = await inStep("token", request.server, async () => {
    try {
      return await plane.create(ACCESS_REVIEWS, review);
    } catch (error) {
      if (!isRefused(error, "Unauthorized")) throw error;
      // The signature has just shown that the token lives.
      throw new RegistrationStepFailed(
        "token",
        "cluster-info is signed by the token, but the API server does not take it as a credential: a kube-apiserver needs the flag --enable-bootstrap-token-auth; otherwise the token has just expired or was deleted, create another one with lifeboat token create",
      );
    }
  });
  const status = answer["status"] as { readonly allowed?: boolean } | undefined;
  if (status?.allowed !== true)
    throw new RegistrationStepFailed(
      "token",
      "the token authenticates, but may not ask for a certificate: the control plane lacks the rights of its group system:bootstrappers; beside a kube-apiserver run `lifeboat install` again",
    );
  request.onStep("token", "the token counts");
}

/** A cluster of this name that leaves meanwhile makes the request void: it is made again, with the same key. */
async function getCertificate(
  ports: RegisterPorts,
  plane: Client,
  request: RegisterRequest,
): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const name = await makeRequest(ports, plane, request, attempt);
    try {
      return await awaitCertificate(ports, plane, request, name);
    } catch (error) {
      if (!(error instanceof MadeTooEarly) || attempt === MOST_ATTEMPTS) throw error;
    }
    await sleep(ports.clock, SECOND_MS, request.signal);
  }
}

const MOST_ATTEMPTS = 5;
const SECOND_MS = 1000;

/** The approver's reason for a request of the same second in which the last cluster of this name left. */
const LEFT = "Left";

class MadeTooEarly extends RegistrationStepFailed {}

async function makeRequest(
  ports: RegisterPorts,
  plane: Client,
  request: RegisterRequest,
  attempt: number,
): Promise<string> {
  const { cluster, certificate } = request;
  const pem = btoa(certificate.request);
  const again = attempt === 1 ? "" : `-${attempt}`;
  const name = `agent-${cluster}-${ports.sha256(certificate.request).slice(0, 10)}${again}`;
  const wanted = {
    apiVersion: "certificates.k8s.io/v1",
    kind: certificateSigningRequests.kind,
    metadata: { name },
    spec: {
      request: pem,
      signerName: CLIENT_SIGNER,
      expirationSeconds: CERTIFICATE_SECONDS,
      usages: ["digital signature", "key encipherment", "client auth"],
    },
  } as unknown as New<AnyObject>;
  await inStep("request", request.server, async () => {
    try {
      await plane.create(certificateSigningRequests, wanted);
    } catch (error) {
      // The response of an earlier run got lost: the name follows from the request.
      if (!isRefused(error, "AlreadyExists")) throw error;
    }
  });
  request.onStep("request", `the certificate request ${name} is made`);
  return name;
}

interface RequestStatus {
  readonly certificate?: string;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly message?: string;
  }[];
}

async function awaitCertificate(
  { clock }: RegisterPorts,
  plane: Client,
  request: RegisterRequest,
  name: string,
): Promise<string> {
  const deadline = clock.monotonic() + request.timeoutMs;
  for (;;) {
    const found = await inStep("approval", request.server, () =>
      orNothing(plane.get(certificateSigningRequests, { namespace: "", name })),
    );
    const status = (found?.["status"] ?? {}) as RequestStatus;
    if (status.certificate !== undefined && status.certificate !== "")
      return atob(status.certificate);
    const refusal =
      findCondition(status.conditions as never, "Denied") ??
      findCondition(status.conditions as never, "Failed");
    if (refusal?.reason === LEFT) throw new MadeTooEarly("approval", refusal.message ?? "");
    if (found === undefined || refusal !== undefined)
      throw new RegistrationStepFailed(
        "approval",
        refusal?.message ?? `the certificate request ${name} is gone: run the command again`,
      );
    if (clock.monotonic() >= deadline)
      throw new RegistrationStepFailed(
        "approval",
        `the certificate request ${name} ${unanswered(status, request.timeoutMs)}; then run the same command again`,
      );
    if (!(await sleep(clock, POLL_MS, request.signal)))
      throw new RegistrationStepFailed(
        "approval",
        "interrupted; run the same command again to go on",
      );
  }
}

/** What a request waits for: an approval, or a signer. */
function unanswered({ conditions }: RequestStatus, timeoutMs: number): string {
  const waited = formatDuration(timeoutMs);
  return findCondition(conditions as never, "Approved") === undefined
    ? `was neither approved nor denied within ${waited}: the controller agentcsrapproving of lifeboat up or lifeboat manager does that, see whether one runs (lifeboat status)`
    : `is approved, but no signer issued a certificate within ${waited}: beside a kube-apiserver kube-controller-manager signs for ${CLIENT_SIGNER}, if it runs with --cluster-signing-cert-file and --cluster-signing-key-file`;
}

/** Runs a step; what the network or the server refuses becomes the sentence of that step. */
async function inStep<T>(step: RegisterStep, server: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof NotSent || error instanceof OutcomeUnknown)
      throw new RegistrationStepFailed(
        step,
        step === "authority"
          ? `the certificate of ${server} is not by the authority that cluster-info names, or not for this address: ${error.message}`
          : `no answer from ${server}: ${error.message}; check the address, the firewall and the proxy settings`,
      );
    if (isRefused(error, "Unauthorized"))
      throw new RegistrationStepFailed(
        step,
        "the token does not count: it has expired, or was deleted; create another one with lifeboat token create",
      );
    if (error instanceof Refused)
      throw new RegistrationStepFailed(
        step,
        error.status.message ?? `refused with code ${error.status.code}`,
      );
    throw error;
  }
}
