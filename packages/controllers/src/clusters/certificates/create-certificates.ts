/**
 * Answers certificate requests: approves those of agents and renewals of detectors, denies forged ones, and signs what is approved.
 *
 * 1. What becomes of a request is decided by `decideRequest` in core, on what the server has of the cluster's name, not on a
 *    cache: of two registrations of one name at the same time one gets it.
 * 2. The order is: the bootstrap token is taken, the name is taken, the rights exist, the request is approved, the certificate is written. Each step leaves
 *    a state from which another process goes on; a certificate that could not be written is forgotten.
 * 3. Every answer carries the version that it was decided on.
 * 4. A certificate is dated at the time before its cluster and its revocations were read: what is revoked meanwhile is newer, and
 *    makes it void.
 * 5. Where another process signs what is approved, it does so at once: there the rights exist before the request is approved, and
 *    requests of others are left to a person and that signer.
 */
import {
  type AnyObject,
  certificateSigningRequests,
  clusters,
  configMaps,
  isRefused,
  type JsonObject,
  orNothing,
  secrets,
} from "@lifeboat/api";
import { addMs, formatTime, type Instant, instantOf, parseTime } from "@lifeboat/base";
import {
  AGENT_CERTIFICATE_MS,
  CERTIFICATE_SKEW_MS,
  clusterAskedFor,
  decideRequest,
  detectorAskedFor,
  grantedUntil,
  issuedUntil,
  readRevocations,
  refusedBefore,
  requestReasons,
  type RequestPlan,
  type RequestView,
  REVOKED_NAME,
  REVOKED_NAMESPACE,
  revokedUntil,
  usersAskedFor,
} from "@lifeboat/core/clusters/certificates";
import {
  BOOTSTRAP_NAMESPACE,
  bootstrapSecretName,
  bootstrapTokenId,
  decideUse,
  useReasons,
} from "@lifeboat/core/clusters/bootstrap-tokens";
import { CLUSTER_UID, REGISTERED_BY, REGISTERED_UNTIL } from "@lifeboat/core/clusters/rights";
import {
  checkAgainAt,
  createController,
  done,
  Informer,
  type Outcome,
  ownKey,
  type RequestReader,
  type Service,
  type Signer,
  watching,
} from "@lifeboat/kit";
import {
  agentClusterRole,
  claimRegistration,
  ensureRegistrationRights,
  noteCertificate,
  tombstoneFor,
} from "../../context/agent-registration.ts";
import { isDetectorOfToday, noteDetectorCertificate } from "../../context/detector-registration.ts";
import type { PlaneContext } from "../../context/context.ts";

/** How many requests are answered at the same time: a whole fleet may register at once. */
const CONCURRENCY = 16;

type CertificateContext = Pick<PlaneContext, "clock" | "random" | "log" | "metrics" | "plane">;

/** Builds the controller and the informer of requests that it needs. */
export function createCertificates(
  context: CertificateContext,
  signer: RequestReader | Signer,
): readonly Service[] {
  const requests = new Informer<AnyObject>(context, context.plane, certificateSigningRequests);
  const answering = new Answering(context, signer);
  const controller = createController(context, {
    name: "certificates",
    concurrency: CONCURRENCY,
    watches: [watching(requests, ownKey)],
    reconcile: async (key, signal) => {
      const request = requests.get(key);
      return request === undefined ? done : answering.look(request, signal);
    },
  });
  return [requests, controller];
}

/** What the server has of the name of a cluster. */
interface Claim extends Pick<
  RequestView,
  "cluster" | "registration" | "isLeaving" | "tombstone" | "stillCounts"
> {
  readonly role: AnyObject | undefined;
}

/** What the request itself holds. */
type Asked = Omit<RequestView, keyof Claim | "isDetectorRegistered" | "revoked">;

/** A request, and when it was decided. */
interface Decided {
  readonly request: AnyObject;
  readonly asked: Asked;
  readonly now: Instant;
}

const NO_CLAIM: Claim = {
  role: undefined,
  cluster: "absent",
  registration: undefined,
  isLeaving: false,
  tombstone: undefined,
};

class Answering {
  readonly #context: CertificateContext;
  readonly #reader: RequestReader;
  /** Absent: another process signs. */
  readonly #signer: Signer | undefined;

  constructor(context: CertificateContext, signer: RequestReader | Signer) {
    this.#context = context;
    this.#reader = signer;
    this.#signer = "sign" in signer ? signer : undefined;
  }

  async look(request: AnyObject, signal: AbortSignal): Promise<Outcome> {
    const now = this.#context.clock.now();
    const asked = this.#asked(request);
    const cluster = asked.isAnswered ? undefined : clusterAskedFor(asked.read);
    const claim = cluster === undefined ? NO_CLAIM : await this.#claimOf(cluster);
    const detector = asked.isAnswered ? undefined : detectorAskedFor(asked.read);
    const isDetectorRegistered =
      detector !== undefined && (await isDetectorOfToday(this.#context.plane, detector));
    const revoked = asked.isAnswered ? undefined : await this.#revokedFor(asked);
    const { role, ...known } = claim;
    const view = { ...asked, ...known, isDetectorRegistered, revoked };
    const plan = decideRequest(view, now);
    try {
      await this.#carryOut({ request, asked, now }, plan, role, signal);
    } catch (error) {
      // The request is gone: there is nothing to answer.
      if (!isRefused(error, "NotFound")) throw error;
    }
    return plan.kind === "wait" ? checkAgainAt(plan.until) : done;
  }

  /** Of the user that asks and of the one that is asked for: what was issued to either until then is void. */
  async #revokedFor({ user, read }: Asked): Promise<Instant | undefined> {
    // Another API server reads no revocations.
    if (this.#signer === undefined) return undefined;
    const key = { namespace: REVOKED_NAMESPACE, name: REVOKED_NAME };
    const revocations = readRevocations(await orNothing(this.#context.plane.get(configMaps, key)));
    return revokedUntil(revocations, [user, ...usersAskedFor(read)]);
  }

  #asked(request: AnyObject): Asked {
    const spec = (request["spec"] ?? {}) as JsonObject;
    const { conditions, certificate } = statusOf(request);
    const types = ((conditions ?? []) as readonly JsonObject[]).map(({ type }) => type);
    const seconds = spec["expirationSeconds"];
    const isAnswered =
      types.includes("Denied") ||
      types.includes("Failed") ||
      (typeof certificate === "string" && certificate !== "");
    return {
      signer: textOf(spec["signerName"]),
      made: parseTime(request.metadata.creationTimestamp ?? "") ?? this.#context.clock.now(),
      user: textOf(spec["username"]),
      groups: textsOf(spec["groups"]),
      usages: textsOf(spec["usages"]),
      expirationSeconds: typeof seconds === "number" ? seconds : undefined,
      isApproved: types.includes("Approved"),
      isAnswered,
      read: isAnswered ? { refusal: "" } : this.#reader.read(pemOf(request)),
      isSignedElsewhere: this.#signer === undefined,
    };
  }

  async #claimOf(name: string): Promise<Claim> {
    const { plane } = this.#context;
    const [cluster, role, tombstone] = await Promise.all([
      orNothing(plane.get(clusters, { namespace: "", name })),
      agentClusterRole(plane, name),
      tombstoneFor(plane, name),
    ]);
    const marks = role?.metadata.annotations ?? {};
    const by = marks[REGISTERED_BY];
    const registration =
      by === undefined
        ? undefined
        : { by, until: parseTime(marks[REGISTERED_UNTIL] ?? "") ?? NEVER };
    return {
      role,
      cluster:
        cluster === undefined ? "absent" : cluster.spec.syncMode === "Pull" ? "pull" : "push",
      registration,
      isLeaving: cluster === undefined && marks[CLUSTER_UID] !== undefined,
      tombstone: refusedBefore(tombstone),
      // The signer is part of a server that also refuses what a tombstone makes void.
      stillCounts: this.#signer === undefined ? issuedUntil(tombstone) : undefined,
    };
  }

  async #carryOut(
    { request, asked, now }: Decided,
    plan: RequestPlan,
    role: AnyObject | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { plane } = this.#context;
    const { cluster } = plan;
    const { user } = asked;
    switch (plan.kind) {
      case "leave":
      case "wait":
        return;
      case "approve":
        if (cluster !== undefined && plan.reason !== "AgentRenews") {
          const detail = await this.#takeToken(request, user, cluster);
          if (detail !== undefined) {
            const refusal = condition("Denied", { kind: "deny", reason: "TokenRefused", detail });
            return this.#answer(request, "approval", refusal, signal);
          }
          const until = addMs(now, AGENT_CERTIFICATE_MS);
          await claimRegistration(plane, cluster, role, user, until);
        }
        if (this.#signer === undefined)
          await this.#prepare(plan, user, grantedUntil(plan, asked, now));
        return this.#answer(request, "approval", condition("Approved", plan), signal);
      case "deny":
        return this.#answer(request, "approval", condition("Denied", plan), signal);
      case "fail":
        if (this.#signer === undefined) return;
        return this.#answer(request, "status", condition("Failed", plan), signal);
      case "sign": {
        await this.#prepare(plan, user, plan.certificate.notAfter);
        if (this.#signer === undefined) return;
        const read = this.#signer.read(pemOf(request));
        if ("refusal" in read) return;
        const certificate = this.#signer.sign({
          ...plan.certificate,
          publicKey: read.publicKey,
          notBefore: addMs(now, -CERTIFICATE_SKEW_MS),
        });
        await plane.update(
          certificateSigningRequests,
          {
            ...request,
            status: { ...statusOf(request), certificate: btoa(certificate) },
          },
          { subresource: "status", signal },
        );
      }
    }
  }

  /** What exists before a certificate does: the rights of its agent, and a note of its end. */
  async #prepare({ cluster, detector }: RequestPlan, user: string, until: Instant): Promise<void> {
    const { plane, clock } = this.#context;
    if (cluster !== undefined) {
      await ensureRegistrationRights(plane, cluster);
      await noteCertificate(plane, cluster, user, until);
    }
    if (detector !== undefined)
      await noteDetectorCertificate(plane, detector, { since: clock.now(), until });
  }

  /**
   * Takes the bootstrap token of a request for its key; answers why it cannot be taken. When another request takes it at the same
   * time, the write is refused with Conflict, and the next reconcile finds which request has it.
   */
  async #takeToken(request: AnyObject, user: string, cluster: string): Promise<string | undefined> {
    const { plane, clock } = this.#context;
    const read = this.#reader.read(pemOf(request));
    const id = bootstrapTokenId(user);
    if ("refusal" in read || id === undefined) return useReasons.NoToken;
    const key = { namespace: BOOTSTRAP_NAMESPACE, name: bootstrapSecretName(id) };
    const secret = await orNothing(plane.get(secrets, key));
    const use = decideUse(secret, { cluster, key: read.publicKey }, clock.now());
    if (!use.allowed) return useReasons[use.reason];
    if (use.write !== undefined) await plane.update(secrets, use.write);
    return undefined;
  }

  async #answer(
    request: AnyObject,
    subresource: "approval" | "status",
    added: JsonObject,
    signal: AbortSignal,
  ): Promise<void> {
    const status = statusOf(request);
    const now = formatTime(this.#context.clock.now());
    const conditions = [
      ...((status["conditions"] ?? []) as readonly JsonObject[]),
      { ...added, lastUpdateTime: now, lastTransitionTime: now },
    ];
    const answered: AnyObject = { ...request, status: { ...status, conditions } };
    await this.#context.plane.update(certificateSigningRequests, answered, { subresource, signal });
  }
}

const NEVER: Instant = instantOf(Number.MAX_SAFE_INTEGER);

function condition(type: string, { reason, detail }: RequestPlan): JsonObject {
  const sentence = requestReasons[reason];
  const message = detail === undefined ? sentence : `${sentence} ${detail}`;
  return { type, status: "True", reason, message };
}

function statusOf(request: AnyObject): JsonObject {
  return (request["status"] ?? {}) as JsonObject;
}

function pemOf(request: AnyObject): string {
  const encoded = ((request["spec"] ?? {}) as JsonObject)["request"];
  try {
    return atob(textOf(encoded));
  } catch {
    return "";
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((item): item is string => typeof item === "string")
    : [];
}
