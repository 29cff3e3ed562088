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
import { failure, Refused } from "@lifeboat/api";
import type { Attributes } from "../authorization/authorizer.ts";
import { decodeBody } from "./decode-body.ts";
import type { VerbDeps } from "./deps.ts";
import type { Body, RequestContext, Target, User, WriteAnswer, WriteParameters } from "./verbs.ts";

type Answerer = (
  deps: VerbDeps,
  context: RequestContext,
  review: JsonObject,
) => JsonObject | Promise<JsonObject>;

const answerers: ReadonlyMap<string, Answerer> = new Map<string, Answerer>([
  ["SelfSubjectAccessReview", (deps, { user }, review) => accessStatus(deps, user, specOf(review))],
  ["SubjectAccessReview", reviewSubject],
  ["LocalSubjectAccessReview", reviewSubject],
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
  const status = await answerer(deps, context, review);
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

function accessStatus(deps: VerbDeps, user: User, spec: JsonObject): JsonObject {
  return { allowed: deps.authorizer.allows(attributesOf(user, spec)) };
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

/** All or nothing, as the present authorizer has it: whoever may do everything sees one rule for everything. */
function rulesStatus(deps: VerbDeps, { user }: RequestContext): JsonObject {
  const everything = deps.authorizer.allows({
    kind: "resource",
    user,
    verb: "*",
    group: "*",
    version: "*",
    plural: "*",
    subresource: "",
    namespace: "",
    name: "",
  });
  return everything
    ? {
        resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
        nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
        incomplete: false,
      }
    : {
        resourceRules: [],
        nonResourceRules: [
          { verbs: ["get"], nonResourceURLs: ["/api", "/api/*", "/apis", "/apis/*", "/version"] },
        ],
        incomplete: false,
      };
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
