/**
 * The kinds that are questions: answered at once with 201 and never stored. Answered are those that clients ask of
 * every server; the rest of the virtual kinds answers 404.
 */
import { deepFreeze, formatTime } from "@lifeboat/base";
import {
  type AnyObject,
  invalid,
  invalidObject,
  isJsonObject,
  type JsonObject,
} from "@lifeboat/api";
import { badRequest, failure, Refused } from "@lifeboat/api";
import type { Attributes, PolicyRule } from "../authorization/authorizer.ts";
import { decodeBody } from "./decode-body.ts";
import type { VerbDeps } from "./deps.ts";
import type { User } from "../authentication/user.ts";
import type { Body, RequestContext, Target, WriteAnswer, WriteParameters } from "./verbs.ts";

type Answerer = (
  deps: VerbDeps,
  context: RequestContext,
  review: JsonObject,
  target: Target,
) => JsonObject | Promise<JsonObject>;

const answerers: ReadonlyMap<string, Answerer> = new Map<string, Answerer>([
  ["SelfSubjectAccessReview", (deps, { user }, review) => accessStatus(deps, user, specOf(review))],
  ["SubjectAccessReview", reviewSubject],
  ["LocalSubjectAccessReview", reviewLocalSubject],
  ["SelfSubjectRulesReview", rulesStatus],
  ["SelfSubjectReview", (_deps, { user }) => ({ userInfo: userInfo(user) })],
  ["TokenReview", reviewToken],
]);

export async function answerReview(
  deps: VerbDeps,
  context: RequestContext,
  target: Target,
  body: Body,
  parameters: WriteParameters,
): Promise<WriteAnswer> {
  const { resource } = target;
  const answerer = answerers.get(resource.kind);
  if (answerer === undefined)
    throw new Refused(failure(404, "NotFound", "the server could not find the requested resource"));
  const review = decodeBody(context, resource, body, parameters.fieldValidation);
  const status = await answerer(deps, context, review, target);
  const metadata =
    resource.kind === "SelfSubjectReview"
      ? { creationTimestamp: formatTime(deps.clock.now()) }
      : (review["metadata"] ?? {});
  const answer = { ...review, metadata, status } as unknown as AnyObject;
  return { object: deepFreeze(answer), created: true };
}

function reviewSubject(deps: VerbDeps, _context: RequestContext, review: JsonObject): JsonObject {
  const spec = specOf(review);
  const groups = (spec["groups"] ?? []) as readonly string[];
  const name = textOf(spec["user"]);
  if (name === "" && groups.length === 0)
    throw invalidReview("spec.user", "", "at least one of user or group must be specified");
  return accessStatus(deps, { name, groups }, spec);
}

/** As servers write it: about no kind. */
function invalidReview(field: string, value: unknown, detail: string): Error {
  const of = { group: "authorization.k8s.io", kind: "" };
  return invalidObject(of, "", [invalid(field, value, detail)]);
}

/** About one namespace: the one that the request is in. */
function reviewLocalSubject(
  deps: VerbDeps,
  context: RequestContext,
  review: JsonObject,
  target: Target,
): JsonObject {
  const { resourceAttributes, nonResourceAttributes } = specOf(review);
  if (isJsonObject(nonResourceAttributes)) {
    const { path, verb } = nonResourceAttributes;
    const shown = { Path: textOf(path), Verb: textOf(verb) };
    const detail = "disallowed on this kind of request";
    throw invalidReview("spec.nonResourceAttributes", shown, detail);
  }
  const namespace = isJsonObject(resourceAttributes) ? textOf(resourceAttributes["namespace"]) : "";
  if (namespace !== target.namespace)
    throw invalidReview(
      "spec.resourceAttributes.namespace",
      namespace,
      "must match metadata.namespace",
    );
  return reviewSubject(deps, context, review);
}

function accessStatus(deps: VerbDeps, user: User, spec: JsonObject): JsonObject {
  const attributes = attributesOf(user, spec);
  const allowed = deps.authorizer.allows(attributes);
  const reason = deps.authorizer.reason(attributes);
  return reason === "" ? { allowed } : { allowed, reason };
}

function attributesOf(user: User, spec: JsonObject): Attributes {
  const path = spec["nonResourceAttributes"];
  if (isJsonObject(path) === isJsonObject(spec["resourceAttributes"]))
    throw invalidReview(
      "spec.resourceAttributes",
      spec["resourceAttributes"] ?? null,
      "exactly one of nonResourceAttributes or resourceAttributes must be specified",
    );
  if (isJsonObject(path))
    return { kind: "path", user, verb: textOf(path["verb"]), path: textOf(path["path"]) };
  const asked = spec["resourceAttributes"];
  const resource: JsonObject = isJsonObject(asked) ? asked : {};
  return {
    kind: "resource",
    user,
    verb: textOf(resource["verb"]),
    group: textOf(resource["group"]),
    version: textOf(resource["version"]),
    plural: textOf(resource["resource"]),
    subresource: textOf(resource["subresource"]),
    namespace: textOf(resource["namespace"]),
    name: textOf(resource["name"]),
  };
}

/** Rules as they are bound, those about resources and those about paths apart. */
function rulesStatus(deps: VerbDeps, { user }: RequestContext, review: JsonObject): JsonObject {
  const namespace = textOf(specOf(review)["namespace"]);
  if (namespace === "") throw badRequest("no namespace on request");
  const { rules, problems } = deps.authorizer.rulesOf(user, namespace);
  const resourceRules = rules.filter((rule) => (rule.resources?.length ?? 0) > 0);
  const nonResourceRules = rules.filter((rule) => (rule.nonResourceURLs?.length ?? 0) > 0);
  return {
    resourceRules: resourceRules.map(resourceRule),
    nonResourceRules: nonResourceRules.map(pathRule),
    incomplete: false,
    ...(problems.length > 0 && { evaluationError: joined(problems) }),
  };
}

function resourceRule({ verbs, apiGroups, resources, resourceNames }: PolicyRule): JsonObject {
  return {
    verbs: verbs ?? [],
    ...(apiGroups !== undefined && { apiGroups }),
    ...(resources !== undefined && { resources }),
    ...(resourceNames !== undefined && { resourceNames }),
  };
}

function pathRule({ verbs, nonResourceURLs }: PolicyRule): JsonObject {
  return { verbs: verbs ?? [], ...(nonResourceURLs !== undefined && { nonResourceURLs }) };
}

function joined(problems: readonly string[]): string {
  return problems.length === 1 ? (problems[0] ?? "") : `[${problems.join(", ")}]`;
}

async function reviewToken(
  deps: VerbDeps,
  _context: RequestContext,
  review: JsonObject,
): Promise<JsonObject> {
  const spec = specOf(review);
  const audiences = (spec["audiences"] ?? []) as readonly string[];
  const token = textOf(spec["token"]);
  const proven = await deps.authenticateToken(token, audiences.length > 0 ? audiences : undefined);
  if (proven === undefined) return { user: {}, error: "invalid bearer token" };
  return { authenticated: true, user: userInfo(proven.user), audiences: proven.audiences };
}

function userInfo(user: User): JsonObject {
  return {
    username: user.name,
    ...(user.uid !== undefined && { uid: user.uid }),
    groups: user.groups,
    ...(user.extra !== undefined && { extra: user.extra }),
  };
}

function specOf(review: JsonObject): JsonObject {
  const spec = review["spec"];
  return isJsonObject(spec) ? spec : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
