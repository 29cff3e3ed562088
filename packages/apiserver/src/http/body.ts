/**
 * Request bodies: from bytes to what the verbs take, by Content-Type. No Content-Type means JSON; YAML and, for what has
 * a protobuf form, protobuf are understood too. Everything that cannot be read is refused with 400, every type that is
 * not understood with 415, in the words of the real server. What holds more values than is read is refused with 413.
 *
 * Everything here is done in steps, because a large body takes long (body-turns.ts).
 */
import {
  badRequest,
  DecodeError,
  type Decoded,
  decodeJsonInSteps,
  decodeProtobuf,
  decodeUtf8,
  decodeYamlInSteps,
  failure,
  isJsonObject,
  type Json,
  type JsonObject,
  ProtobufError,
  Refused,
  type Steps,
  TooLargeError,
  unreadableBody,
} from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";
import type { Body, DeleteOptionsBody, PatchBody } from "../verbs/verbs.ts";
import type { HttpRequest } from "./exchange.ts";
import { parseMediaType, unsupportedMediaType } from "./media-type.ts";
import { deleteOptionsFromBody, deleteOptionsFromQuery } from "./parameters.ts";
import type { Query } from "./query.ts";

export const MAX_BODY_BYTES = 3 * 1024 * 1024;
const SMALL_BODY_BYTES = 64 * 1024;
const SMALL_YAML_BYTES = 4 * 1024;

const BODY_TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const UNKNOWN_FORMAT =
  "the body of the request was in an unknown format - accepted media types include: ";

type PatchType = PatchBody["type"];

/** Refuses a body above the limit; the transport has stopped reading it. */
export function checkBodySize(request: HttpRequest): void {
  if (request.bodyTooLarge !== true && request.body.length <= MAX_BODY_BYTES) return;
  throw tooLarge(`limit is ${MAX_BODY_BYTES}`);
}

/** A body that holds more than is read gets the answer of one that is too long. */
function refuseTooLarge(error: unknown): void {
  if (error instanceof TooLargeError) throw tooLarge(error.message);
}

function tooLarge(why: string): Refused {
  return new Refused(failure(413, "RequestEntityTooLarge", `Request entity too large: ${why}`));
}

/** Whether a body takes so little time that others may wait for it: some milliseconds, whatever it holds. */
export function isSmallBody({ body, headers }: HttpRequest): boolean {
  if (body.length <= SMALL_YAML_BYTES) return true;
  return body.length <= SMALL_BODY_BYTES && headers["content-type"]?.includes("yaml") !== true;
}

/** The body of a create or an update. */
export function* readObject(request: HttpRequest, kind: string): Steps<Body> {
  const { body } = request;
  const media = bodyMedia(request);
  try {
    const { value, duplicateFields } = yield* decodeMedia(media, body);
    if (!isJsonObject(value)) throw new DecodeError(notAnObject(value, TYPE_META));
    return duplicateFields.length === 0 ? { object: value } : { object: value, duplicateFields };
  } catch (error) {
    refuseTooLarge(error);
    if (error instanceof ProtobufError || (error instanceof DecodeError && media === "yaml"))
      throw badRequest(
        `the object provided is unrecognized (must be of type ${kind}): ${error.message}`,
      );
    if (error instanceof DecodeError) throw unreadableBody(kind, error.message, body);
    throw error;
  }
}

/** The options of a deletion: from the body when there is one, else from the query. */
export function* readDeleteOptions(request: HttpRequest, query: Query): Steps<DeleteOptionsBody> {
  if (request.body.length === 0) return deleteOptionsFromQuery(query);
  try {
    const { value } = yield* decodeMedia(bodyMedia(request), request.body);
    if (!isJsonObject(value)) throw new DecodeError(notAnObject(value, "v1.DeleteOptions"));
    return deleteOptionsFromBody(value);
  } catch (error) {
    refuseTooLarge(error);
    if (!(error instanceof DecodeError || error instanceof ProtobufError)) throw error;
    throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
  }
}

/** Which kind of patch a Content-Type announces; refuses what is none, and what this resource does not take. */
export function patchTypeOf(request: HttpRequest, resource: ServedResource): PatchType {
  const header = request.headers["content-type"] ?? "";
  const type = PATCH_TYPES.get(parseMediaType(header)?.name ?? "");
  if (type === undefined) throw unsupportedMediaType("415: Unsupported Media Type", true);
  if (type === "strategic" && resource.custom)
    throw unsupportedMediaType(
      `${UNKNOWN_FORMAT}application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml`,
    );
  return type;
}

/** The body of a patch of this type. */
export function* readPatch(request: HttpRequest, type: PatchType): Steps<PatchBody> {
  if (type === "apply") return { type, body: yield* applyBody(request.body) };
  const prefix = type === "strategic" ? "" : "error decoding patch: ";
  const { value, duplicateFields } = yield* decodePatch(request.body, prefix);
  if (type === "json") return { type, operations: value };
  if (!isJsonObject(value))
    throw badRequest(`${prefix}${notAnObject(value, "map[string]interface {}")}`);
  return {
    type,
    body: duplicateFields.length === 0 ? { object: value } : { object: value, duplicateFields },
  };
}

const PATCH_TYPES: ReadonlyMap<string, PatchType> = new Map([
  ["application/json-patch+json", "json"],
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "strategic"],
  ["application/apply-patch+yaml", "apply"],
]);

type BodyMedia = "json" | "yaml" | "protobuf";

const BODY_MEDIA: ReadonlyMap<string, BodyMedia> = new Map([
  ["application/json", "json"],
  ["application/yaml", "yaml"],
  ["application/vnd.kubernetes.protobuf", "protobuf"],
]);

const TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function bodyMedia(request: HttpRequest): BodyMedia {
  const header = request.headers["content-type"];
  if (header === undefined || header === "" || header === "application/json") return "json";
  const media = BODY_MEDIA.get(parseMediaType(header)?.name ?? "");
  if (media === undefined) throw unsupportedMediaType(`${UNKNOWN_FORMAT}${BODY_TYPES}`);
  return media;
}

function* decodeMedia(media: BodyMedia, body: Uint8Array): Steps<Decoded> {
  if (media === "json") return yield* decodeJsonInSteps(body);
  if (media === "yaml") return yield* decodeYamlInSteps(decodeUtf8(body));
  return { value: decodeProtobuf(body).object, duplicateFields: [] };
}

function* decodePatch(body: Uint8Array, prefix: string): Steps<Decoded> {
  try {
    return yield* decodeJsonInSteps(body);
  } catch (error) {
    refuseTooLarge(error);
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`${prefix}${error.message}`);
  }
}

/** An apply configuration; JSON is YAML. */
function* applyBody(bytes: Uint8Array): Steps<Body> {
  try {
    const { value, duplicateFields } = yield* decodeYamlInSteps(decodeUtf8(bytes));
    const object: JsonObject | undefined = isJsonObject(value) ? value : undefined;
    if (object === undefined) throw new DecodeError(notAnObject(value, "map[string]interface {}"));
    return duplicateFields.length === 0 ? { object } : { object, duplicateFields };
  } catch (error) {
    refuseTooLarge(error);
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`error decoding YAML: ${error.message}`);
  }
}

function notAnObject(value: Json, into: string): string {
  const found = Array.isArray(value)
    ? "array"
    : value === null
      ? "null"
      : typeof value === "boolean"
        ? "bool"
        : typeof value;
  return `json: cannot unmarshal ${found} into Go value of type ${into}`;
}
