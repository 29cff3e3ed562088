/**
 * CertificateSigningRequests: which user asks, and which user may answer.
 *
 * 1. The request names the user that made it, as authentication has it. What the client writes there is not taken, and nothing
 *    of the spec changes afterwards.
 * 2. Conditions of approval change by the subresource `approval` alone, stay once they are set, and exclude each other. A
 *    certificate that was issued stays as it is.
 * 3. To approve needs the verb `approve`, to sign the verb `sign`, on the signer (`signers`, by its name or `domain/*`).
 * 4. No certificate for a client is requested for `system:masters`: such a credential could not be taken away by rights; nor one
 *    that the control plane never issues: clients that read no denial would wait for it.
 */
import {
  type AnyObject,
  equalJson,
  type FieldError,
  forbidden,
  forbiddenBecause,
  invalid,
  invalidObject,
  type JsonObject,
  notSupported,
  required,
} from "@lifeboat/api";
import { anew, type Clock, formatTime } from "@lifeboat/base";
import type { Authorizer } from "../authorization/authorizer.ts";
import type { User } from "../authentication/user.ts";
import type { AdmissionPlugin, AdmissionRequest } from "./admission.ts";

/** What a request (PEM) asks for, as far as the server has to know it; or what is wrong with it. */
export type ReadRequest = (pem: string) =>
  | {
      readonly organizations: readonly string[];
      /** Why such a certificate is never issued, whichever user asks. */
      readonly never?: string;
    }
  | { readonly refusal: string };

const TABLE = "certificates.k8s.io/certificatesigningrequests";
const APPROVED = "Approved";
const DENIED = "Denied";
const FAILED = "Failed";
const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";
const MASTERS = "system:masters";
const PEM_CERTIFICATES =
  /^\s*(?:-----BEGIN CERTIFICATE-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+$/;

/** The plugin. Without `read` requests are stored unread, and their signer finds out. */
export function createCertificateRequests(
  clock: Clock,
  authorizer: Authorizer,
  read: ReadRequest | undefined,
): AdmissionPlugin {
  return {
    name: "CertificateRequests",
    handles: ({ resource, operation }) => resource.table === TABLE && operation !== "DELETE",
    mutate: (request) =>
      request.operation === "CREATE" ? stamped(request) : timed(clock, request),
    validate: (request) => {
      if (request.operation === "CREATE") validateNew(request, read);
      else validateChange(authorizer, request);
    },
  };
}

/** The request with its user, and without a status. */
function stamped({ object, user }: AdmissionRequest): AnyObject {
  const { status: _, ...rest } = object as AnyObject;
  const {
    username: _username,
    uid: _uid,
    groups: _groups,
    extra: _extra,
    ...asked
  } = (rest["spec"] ?? {}) as JsonObject;
  return { ...anew, ...rest, spec: { ...asked, ...userFields(user) } };
}

function userFields({ name, uid, groups, extra }: User): JsonObject {
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(extra === undefined ? {} : { extra }),
  };
}

function validateNew(request: AdmissionRequest, read: ReadRequest | undefined): void {
  const { resource, name } = request;
  const spec = ((request.object as AnyObject)["spec"] ?? {}) as JsonObject;
  const encoded = typeof spec["request"] === "string" ? spec["request"] : "";
  const asked = read?.(decodeText(encoded));
  if (asked === undefined) return;
  if ("refusal" in asked)
    throw invalidObject(resource, name, [invalid("spec.request", encoded, asked.refusal)]);
  if (spec["signerName"] !== CLIENT_SIGNER) return;
  if (asked.never !== undefined) throw forbiddenBecause(resource, name, asked.never);
  if (asked.organizations.includes(MASTERS))
    throw forbiddenBecause(
      resource,
      name,
      `use of ${CLIENT_SIGNER} signer with ${MASTERS} group is not allowed`,
    );
}

/** Conditions get their times where the client gave none. */
function timed(clock: Clock, request: AdmissionRequest): AnyObject {
  const object = request.object as AnyObject;
  const conditions = conditionsOf(object);
  if (request.subresource === "" || conditions.length === 0) return object;
  const before = conditionsOf(request.old as AnyObject);
  const now = formatTime(clock.now());
  const filled = conditions.map((condition) => {
    const old = before.find(({ type }) => type === condition["type"]);
    const isSame = old !== undefined && old["status"] === condition["status"];
    const { lastUpdateTime, lastTransitionTime } = condition;
    return {
      ...condition,
      lastUpdateTime: lastUpdateTime ?? (isSame ? (old["lastUpdateTime"] ?? now) : now),
      lastTransitionTime: lastTransitionTime ?? (isSame ? (old["lastTransitionTime"] ?? now) : now),
    };
  });
  const status = { ...(object["status"] as JsonObject), conditions: filled };
  return { ...anew, ...object, status };
}

function validateChange(authorizer: Authorizer, request: AdmissionRequest): void {
  const { resource, name, subresource } = request;
  const object = request.object as AnyObject;
  const old = request.old as AnyObject;
  if (subresource === "") return;
  const errors = [
    ...conditionErrors(object),
    ...keptErrors(object, old, subresource === "approval"),
    ...certificateErrors(object, old),
  ];
  if (errors.length > 0) throw invalidObject(resource, name, errors);
  const signer = signerOf(old);
  if (subresource === "approval") mustHave(authorizer, request, "approve", signer);
  else if (
    !equalJson(statusOf(object)["certificate"], statusOf(old)["certificate"]) ||
    !equalJson(ofType(object, FAILED), ofType(old, FAILED))
  )
    mustHave(authorizer, request, "sign", signer);
}

function conditionErrors(object: AnyObject): readonly FieldError[] {
  const conditions = conditionsOf(object);
  const types = conditions.map(({ type }) => type);
  const errors: FieldError[] = [];
  conditions.forEach(({ type, status }, i) => {
    const field = `status.conditions[${i}]`;
    if (type === undefined || type === "") errors.push(required(`${field}.type`));
    if (status === undefined || status === "") errors.push(required(`${field}.status`));
    else if ((type === APPROVED || type === DENIED || type === FAILED) && status !== "True")
      errors.push(notSupported(`${field}.status`, status, ["True"]));
    if (types.indexOf(type) < i)
      errors.push({
        reason: "FieldValueDuplicate",
        field: `${field}.type`,
        message: `Duplicate value: ${JSON.stringify(type)}`,
      });
  });
  if (types.includes(APPROVED) && types.includes(DENIED))
    errors.push(
      invalid("status.conditions", DENIED, "Approved and Denied conditions are mutually exclusive"),
    );
  return errors;
}

function keptErrors(object: AnyObject, old: AnyObject, mayApprove: boolean): readonly FieldError[] {
  const field = "status.conditions";
  return [APPROVED, DENIED, FAILED].flatMap((type) => {
    const [before, after] = [ofType(old, type), ofType(object, type)];
    const quoted = JSON.stringify(type);
    if (before === undefined && after !== undefined) {
      const isAllowed = type === FAILED ? !mayApprove : mayApprove;
      return isAllowed
        ? []
        : [forbidden(field, `updates may not add a condition of type ${quoted}`)];
    }
    if (before !== undefined && after === undefined)
      return [forbidden(field, `updates may not remove a condition of type ${quoted}`)];
    // Of an approval that stands, message and times may change where approvals are written.
    return mayApprove || equalJson(before, after)
      ? []
      : [forbidden(field, `updates may not modify a condition of type ${quoted}`)];
  });
}

function certificateErrors(object: AnyObject, old: AnyObject): readonly FieldError[] {
  const [before, after] = [statusOf(old)["certificate"], statusOf(object)["certificate"]];
  if (equalJson(before, after)) return [];
  const field = "status.certificate";
  if (typeof before === "string" && before !== "")
    return [forbidden(field, "updates may not modify existing certificate content")];
  const text = decodeText(typeof after === "string" ? after : "");
  return PEM_CERTIFICATES.test(text)
    ? []
    : [invalid(field, "<certificate data>", "must contain at least one CERTIFICATE PEM block")];
}

/** The signer by its name, or by its domain. */
function mustHave(
  authorizer: Authorizer,
  { user, resource, name }: AdmissionRequest,
  verb: "approve" | "sign",
  signer: string,
): void {
  const [domain = ""] = signer.split("/");
  const allowed = [signer, `${domain}/*`].some((asked) =>
    authorizer.allows({
      kind: "resource",
      user,
      verb,
      group: "certificates.k8s.io",
      version: "v1",
      plural: "signers",
      subresource: "",
      namespace: "",
      name: asked,
    }),
  );
  if (!allowed)
    throw forbiddenBecause(
      resource,
      name,
      `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`,
    );
}

function signerOf(request: AnyObject): string {
  const { signerName } = (request["spec"] ?? {}) as JsonObject;
  return typeof signerName === "string" ? signerName : "";
}

function statusOf(object: AnyObject): JsonObject {
  return (object["status"] ?? {}) as JsonObject;
}

function conditionsOf(object: AnyObject): readonly JsonObject[] {
  return (statusOf(object)["conditions"] ?? []) as readonly JsonObject[];
}

function ofType(object: AnyObject, type: string): JsonObject | undefined {
  return conditionsOf(object).find((condition) => condition["type"] === type);
}

function decodeText(base64: string): string {
  try {
    return atob(base64);
  } catch {
    return "";
  }
}
