/**
 * Answers the AdmissionReviews of a kube-apiserver with the rules that the embedded server applies itself.
 *
 * 1. `/mutate` answers a JSON patch, `/validate` answers yes, or no with the Status that the embedded server would send.
 * 2. `/restrict` judges what an agent or a detector sends (D25), before anything is filled in, and changes nothing.
 * 3. The caller is not authenticated and its object is not trusted: what is no AdmissionReview gets 400, and a rule that fails on it
 *    gets 500. Neither changes anything here.
 */
import {
  type AnyObject,
  conflict,
  equalJson,
  isJsonObject,
  type Json,
  type JsonObject,
  Refused,
} from "@lifeboat/api";
import type { AdmissionChain, AdmissionRequest } from "@lifeboat/apiserver";

export interface ReviewAnswer {
  readonly code: number;
  readonly body: JsonObject | string;
}

export const REVIEW_PATHS = {
  restrict: "/restrict",
  mutate: "/mutate",
  validate: "/validate",
} as const;

export interface ReviewChains {
  /** What agents and detectors may write. */
  readonly agents: AdmissionChain;
  /** What holds for every writer. */
  readonly all: AdmissionChain;
}

/** Answers one review. `path` is without a query; `text` is the body. */
export async function answerReview(
  chains: ReviewChains,
  path: string,
  text: string,
): Promise<ReviewAnswer> {
  const respond = RESPONDERS.get(path);
  if (respond === undefined) return refusal(404, "there is nothing here");
  const read = readReview(text);
  if (typeof read === "string") return refusal(400, read);
  const warnings: string[] = [];
  const request = { ...read.request, warn: (warning: string) => void warnings.push(warning) };
  try {
    const response = await respond(chains, request);
    const told = warnings.length === 0 ? {} : { warnings };
    return answered(read.uid, { ...response, ...told });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    // A server that cannot decide now is asked again, and is no verdict about the object.
    return answered(read.uid, {
      allowed: false,
      status: error.status as unknown as JsonObject,
    });
  }
}

type Respond = (chains: ReviewChains, request: AdmissionRequest) => Promise<JsonObject>;

async function restrict({ agents }: ReviewChains, request: AdmissionRequest): Promise<JsonObject> {
  const { object, old, resource, name } = request;
  // An API server compares versions after this review: what others have written since would look like written by the agent.
  const version = object?.metadata.resourceVersion ?? "";
  if (request.operation === "UPDATE" && version !== "" && version !== old?.metadata.resourceVersion)
    throw conflict(resource, name, "the object has been modified since it was read");
  if (object === undefined) await agents.validate(request);
  else await agents.mutate({ ...request, object });
  return { allowed: true };
}

async function mutate({ all }: ReviewChains, request: AdmissionRequest): Promise<JsonObject> {
  const { object } = request;
  if (object === undefined) return { allowed: true };
  const after = await all.mutate({ ...request, object });
  const patch = patchOf(object as unknown as JsonObject, after as unknown as JsonObject);
  if (patch.length === 0) return { allowed: true };
  return { allowed: true, patchType: "JSONPatch", patch: base64(JSON.stringify(patch)) };
}

async function validate({ all }: ReviewChains, request: AdmissionRequest): Promise<JsonObject> {
  await all.validate(request);
  return { allowed: true };
}

const RESPONDERS: ReadonlyMap<string, Respond> = new Map([
  [REVIEW_PATHS.restrict, restrict],
  [REVIEW_PATHS.mutate, mutate],
  [REVIEW_PATHS.validate, validate],
]);

/** JSON patch operations for the fields that differ: inside metadata one by one, others whole. */
export function patchOf(before: JsonObject, after: JsonObject, at = ""): readonly JsonObject[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].flatMap((field): readonly JsonObject[] => {
    const [was, is] = [before[field], after[field]];
    const path = `${at}/${field.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (is === undefined) return [{ op: "remove", path }];
    if (was !== undefined && equalJson(was, is)) return [];
    if (path === "/metadata" && isJsonObject(was) && isJsonObject(is))
      return patchOf(was, is, path);
    return [{ op: "add", path, value: is }];
  });
}

interface ReadReview {
  readonly uid: string;
  readonly request: Omit<AdmissionRequest, "warn">;
}

/** The request of a review, or what is wrong with it. */
function readReview(text: string): ReadReview | string {
  let review: unknown;
  try {
    review = JSON.parse(text);
  } catch {
    return "the body is not JSON";
  }
  const request = isJsonObject(review) ? review["request"] : undefined;
  if (!isJsonObject(request)) return "the body is no AdmissionReview with a request";
  const { uid, operation, resource, kind, userInfo } = request;
  const operations = ["CREATE", "UPDATE", "DELETE"] as const;
  const known = operations.find((one) => one === operation);
  if (typeof uid !== "string" || !isJsonObject(resource) || !isJsonObject(kind))
    return "the request of the AdmissionReview has no uid, resource or kind";
  if (known === undefined) return "the operation of the request is none of CREATE, UPDATE, DELETE";
  const group = textOf(resource["group"]);
  const plural = textOf(resource["resource"]);
  const user = isJsonObject(userInfo) ? userInfo : {};
  const groups = Array.isArray(user["groups"]) ? user["groups"].map(textOf) : [];
  const object = objectOf(request["object"]);
  const old = objectOf(request["oldObject"]);
  if (known !== "DELETE" && object === undefined) return "the request has no object";
  return {
    uid,
    request: {
      operation: known,
      resource: {
        group,
        version: textOf(resource["version"]),
        plural,
        kind: textOf(kind["kind"]),
        namespaced: textOf(request["namespace"]) !== "",
        table: `${group}/${plural}`,
      },
      subresource: textOf(request["subResource"]),
      namespace: textOf(request["namespace"]),
      name: textOf(request["name"]) || (object?.metadata.name ?? ""),
      user: { name: textOf(user["username"]), groups },
      dryRun: request["dryRun"] === true,
      ...(object === undefined ? {} : { object }),
      ...(old === undefined ? {} : { old }),
    },
  };
}

/** An object as far as the rules take it for granted; the API server has checked the rest. */
function objectOf(value: Json | undefined): AnyObject | undefined {
  if (!isJsonObject(value) || !isJsonObject(value["metadata"])) return undefined;
  return value as unknown as AnyObject;
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function answered(uid: string, response: JsonObject): ReviewAnswer {
  const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };
  return { code: 200, body: { ...review, response: { uid, ...response } } };
}

function refusal(code: number, why: string): ReviewAnswer {
  return { code, body: why };
}

function base64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
