/**
 * Request bodies: from bytes to what the verbs take, by Content-Type. No Content-Type means JSON; YAML and, for what has
 * a protobuf form, protobuf are understood too. Everything that cannot be read is refused with 400, every type that is
 * not understood with 415, in the words of the real server.
 */
import {
  badRequest,
  DecodeError,
  type Decoded,
  decodeJson,
  decodeProtobuf,
  decodeUtf8,
  decodeYaml,
  failure,
  isJsonObject,
  type Json,
  type JsonObject,
  ProtobufError,
  Refused,
  unreadableBody,
} from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";
import type { Body, DeleteOptionsBody, PatchBody } from "../verbs/verbs.ts";
import type { HttpRequest } from "./exchange.ts";
import { parseMediaType, unsupportedMediaType } from "./media-type.ts";
import { deleteOptionsFromBody, deleteOptionsFromQuery } from "./parameters.ts";
import type { Query } from "./query.ts";

export const MAX_BODY_BYTES = 3 * 1024 * 1024;

const BODY_TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const UNKNOWN_FORMAT =
  "the body of the request was in an unknown format - accepted media types include: ";

type PatchType = PatchBody["type"];

/** Refuses a body above the limit; the transport has stopped reading it. */
export function checkBodySize(request: HttpRequest): void {
  if (request.bodyTooLarge !== true && request.body.length <= MAX_BODY_BYTES) return;
  const message = `Request entity too large: limit is ${MAX_BODY_BYTES}`;
  throw new Refused(failure(413, "RequestEntityTooLarge", message));
}

/** The body of a create or an update. */
export function readObject(request: HttpRequest, kind: string): Body {
  const { body } = request;
  const media = bodyMedia(request);
  try {
    const { value, duplicateFields } = decodeMedia(media, body);
    if (!isJsonObject(value)) throw new DecodeError(notAnObject(value, TYPE_META));
    return duplicateFields.length === 0 ? { object: value } : { object: value, duplicateFields };
  } catch (error) {
    if (error instanceof ProtobufError || (error instanceof DecodeError && media === "yaml"))
      throw badRequest(
        `the object provided is unrecognized (must be of type ${kind}): ${error.message}`,
      );
    if (error instanceof DecodeError) throw unreadableBody(kind, error.message, body);
    throw error;
  }
}

/** The options of a deletion: from the body when there is one, else from the query. */
export function readDeleteOptions(request: HttpRequest, query: Query): DeleteOptionsBody {
  if (request.body.length === 0) return deleteOptionsFromQuery(query);
  try {
    const { value } = decodeMedia(bodyMedia(request), request.body);
    if (!isJsonObject(value)) throw new DecodeError(notAnObject(value, "v1.DeleteOptions"));
    return deleteOptionsFromBody(value);
  } catch (error) {
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
export function readPatch(request: HttpRequest, type: PatchType): PatchBody {
  if (type === "apply") return { type, body: applyBody(request.body) };
  const prefix = type === "strategic" ? "" : "error decoding patch: ";
  const { value, duplicateFields } = decodePatch(request.body, prefix);
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

function decodeMedia(media: BodyMedia, body: Uint8Array): Decoded {
  if (media === "json") return decodeJson(body);
  if (media === "yaml") return decodeYaml(decodeUtf8(body));
  return { value: decodeProtobuf(body).object, duplicateFields: [] };
}

function decodePatch(body: Uint8Array, prefix: string): Decoded {
  try {
    return decodeJson(body);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`${prefix}${error.message}`);
  }
}

/** An apply configuration; JSON is YAML. */
function applyBody(bytes: Uint8Array): Body {
  try {
    const { value, duplicateFields } = decodeYaml(decodeUtf8(bytes));
    const object: JsonObject | undefined = isJsonObject(value) ? value : undefined;
    if (object === undefined) throw new DecodeError(notAnObject(value, "map[string]interface {}"));
    return duplicateFields.length === 0 ? { object } : { object, duplicateFields };
  } catch (error) {
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
