/**
 * One line of the audit log: an Event of audit.k8s.io/v1, as kube-apiserver writes it. Pure.
 *
 * Values of Secrets and tokens are never in it, whatever the policy asks for: of requests for what holds them no body is recorded,
 * and in other bodies the values of every Secret, however deep, are replaced.
 */
import { isJsonObject, type Json, type JsonObject } from "@lifeboat/api";
import { formatMicroTime, type Instant } from "@lifeboat/base";
import type { User } from "../../authentication/user.ts";
import type { AuditAttributes, AuditDecision, AuditStage } from "./policy.ts";

export interface AuditView {
  readonly auditId: string;
  readonly stage: AuditStage;
  readonly decision: AuditDecision;
  readonly attributes: AuditAttributes;
  /** The version of the API that the path names; "" for other paths. */
  readonly apiVersion: string;
  readonly url: string;
  readonly user: User;
  /** The user that the request acts as; undefined: itself. */
  readonly impersonated?: User | undefined;
  readonly remoteAddress?: string | undefined;
  readonly userAgent: string;
  readonly receivedAt: Instant;
  readonly now: Instant;
  readonly requestBody: Uint8Array;
  readonly response?: AuditedResponse | undefined;
}

export interface AuditedResponse {
  readonly status: number;
  /** Undefined: it is a stream, or no JSON. */
  readonly body?: Uint8Array | undefined;
}

export const REDACTED = "[redacted]";
/** Larger bodies are left out. */
const MAX_BODY = 256 * 1024;
/** Resources whose bodies hold Secrets or tokens in forms that cannot be distinguished: patches, reviews, manifests of Works. */
const SENSITIVE: ReadonlySet<string> = new Set([
  "/secrets",
  "/serviceaccounts/token",
  "authentication.k8s.io/tokenreviews",
  "work.karmada.io/works",
]);
/** What leads to another server may carry anything. */
const SENSITIVE_SUBRESOURCES: ReadonlySet<string> = new Set([
  "proxy",
  "token",
  "exec",
  // Of a pod, and the tunnel of an agent.
  "attach",
]);

/** The line, without the end of line. */
export function auditLine(view: AuditView): string {
  const { decision, attributes, response } = view;
  const { level } = decision;
  const mayHaveBodies =
    (level === "Request" || level === "RequestResponse") && !isSensitive(attributes);
  const request = mayHaveBodies ? bodyOf(view.requestBody, decision) : undefined;
  const answer =
    mayHaveBodies && level === "RequestResponse" && response?.body !== undefined
      ? bodyOf(response.body, decision)
      : undefined;
  const { remoteAddress, userAgent, impersonated } = view;
  return JSON.stringify({
    kind: "Event",
    apiVersion: "audit.k8s.io/v1",
    level,
    auditID: view.auditId,
    stage: view.stage,
    requestURI: view.url,
    verb: attributes.verb,
    user: userOf(view.user),
    ...(impersonated && { impersonatedUser: userOf(impersonated) }),
    ...(remoteAddress !== undefined && { sourceIPs: [remoteAddress] }),
    ...(userAgent !== "" && { userAgent }),
    ...objectRefOf(view),
    ...(response && { responseStatus: statusOf(response) }),
    ...(request !== undefined && { requestObject: request }),
    ...(answer !== undefined && { responseObject: answer }),
    requestReceivedTimestamp: formatMicroTime(view.receivedAt),
    stageTimestamp: formatMicroTime(view.now),
  });
}

function userOf({ name, uid, groups, extra }: User): JsonObject {
  return {
    username: name,
    ...(uid !== undefined && { uid }),
    groups: [...groups],
    ...(extra !== undefined && { extra }),
  };
}

function objectRefOf({ attributes, apiVersion }: AuditView): JsonObject {
  const { target } = attributes;
  if (target.kind === "path") return {};
  const { group, resource, subresource, namespace, name } = target;
  return {
    objectRef: {
      resource,
      ...(namespace !== "" && { namespace }),
      ...(name !== "" && { name }),
      ...(group !== "" && { apiGroup: group }),
      apiVersion,
      ...(subresource !== "" && { subresource }),
    },
  };
}

/** Of a refusal the reason and the message, which name what was asked for and hold no body. */
function statusOf({ status, body }: AuditedResponse): JsonObject {
  const answer = status >= 400 && body !== undefined ? parse(body) : undefined;
  if (!isJsonObject(answer) || answer["kind"] !== "Status") return { metadata: {}, code: status };
  const { reason, message } = answer;
  return {
    metadata: {},
    status: "Failure",
    ...(typeof message === "string" && { message }),
    ...(typeof reason === "string" && { reason }),
    code: status,
  };
}

/** Whether bodies of such requests are never recorded. */
export function isSensitive({ target }: AuditAttributes): boolean {
  if (target.kind === "path") return true;
  const { group, resource, subresource } = target;
  const name = `${group}/${resource}`;
  return (
    SENSITIVE.has(name) ||
    SENSITIVE.has(`${name}/${subresource}`) ||
    SENSITIVE_SUBRESOURCES.has(subresource)
  );
}

function bodyOf(bytes: Uint8Array, { omitManagedFields }: AuditDecision): Json | undefined {
  if (bytes.length === 0 || bytes.length > MAX_BODY) return undefined;
  const value = parse(bytes);
  return value === undefined ? undefined : redact(value, omitManagedFields);
}

function parse(bytes: Uint8Array): Json | undefined {
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as Json;
  } catch {
    // YAML and protobuf: they are not recorded.
    return undefined;
  }
}

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The value with every Secret's values replaced. */
export function redact(value: Json, omitManagedFields = false): Json {
  if (Array.isArray(value))
    return (value as readonly Json[]).map((one) => redact(one, omitManagedFields));
  if (!isJsonObject(value)) return value;
  const isSecret = value["kind"] === "Secret" || value["kind"] === "TokenRequest";
  const copy: Record<string, Json> = {};
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined) continue;
    if (omitManagedFields && key === "managedFields") continue;
    // An older state of any object, as text: it may hold what the object does not hold any more.
    if (key === LAST_APPLIED) copy[key] = REDACTED;
    else if (isSecret && SECRET_FIELDS.has(key)) copy[key] = allRedacted(field);
    else copy[key] = redact(field, omitManagedFields);
  }
  return copy;
}

const SECRET_FIELDS: ReadonlySet<string> = new Set(["data", "stringData", "status"]);

function allRedacted(value: Json): Json {
  if (!isJsonObject(value)) return REDACTED;
  return Object.fromEntries(Object.keys(value).map((key) => [key, REDACTED]));
}
