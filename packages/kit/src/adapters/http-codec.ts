/**
 * How calls of the Client port are written as requests, and their answers read.
 *
 * Objects come out frozen, with kind and apiVersion (lists of built-in kinds leave them out on the wire) and without
 * managedFields, which nothing here reads and which are half of many an object.
 *
 * Answers are not trusted: they are read within limits (response-limits.ts), a large one in slices, and what is wrong with
 * one is reported without quoting it.
 */
import type * as http from "node:http";
import {
  apiVersionOf,
  isInexactInteger,
  isJsonObject,
  type Json,
  type JsonObject,
  type KubeList,
  type KubeObject,
  type Resource,
} from "@lifeboat/api";
import {
  type DeleteOptions,
  NotSent,
  OutcomeUnknown,
  type Patch,
  type Selection,
  type WriteOptions,
} from "../client.ts";
import { JsonOutline } from "./json-outline.ts";
import {
  type ResponseLimits,
  SLICE_BYTES,
  tooDeep,
  tooLarge,
  tooManyItems,
} from "./response-limits.ts";

export const PATCH_TYPES: Readonly<Record<Patch["type"], string>> = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
  apply: "application/apply-patch+yaml",
};

/**
 * The text of a request's body. An integer beyond ±(2^53 - 1), which a member may report, is written with an exponent: its last
 * digits were lost when it was read, and a server that keeps integers exactly refuses it in another form, so that an agent could
 * never report the object. A reader still recognizes that it is not exact.
 */
export function encodeBody(body: unknown): string {
  const text = JSON.stringify(body);
  if (!LONG_NUMBER.test(text)) return text;
  let mark = "#";
  while (text.includes(mark)) mark += "#";
  let isFound = false;
  const marked = JSON.stringify(body, (_key, value: unknown) => {
    if (typeof value !== "number" || !isInexactInteger(value)) return value;
    isFound = true;
    return `${mark}${value.toExponential()}`;
  });
  return isFound ? marked.replaceAll(new RegExp(`"${mark}([^"]+)"`, "g"), "$1") : text;
}

const LONG_NUMBER = /\d{16}/;

type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

export function queryOf(parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined && value !== "") query.set(name, String(value));
  return query;
}

export function selectionQuery(selection: Selection, parameters: Parameters): URLSearchParams {
  const { labelSelector, fieldSelector } = selection;
  return queryOf({ labelSelector, fieldSelector, ...parameters });
}

export function writeQuery(options: WriteOptions): URLSearchParams {
  return queryOf({
    dryRun: options.dryRun === true ? "All" : undefined,
    fieldManager: options.fieldManager,
    fieldValidation: options.fieldValidation,
  });
}

export function deleteBody(options: DeleteOptions): JsonObject {
  const { gracePeriodSeconds, propagationPolicy, preconditions, dryRun } = options;
  return {
    kind: "DeleteOptions",
    apiVersion: "v1",
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(dryRun === true ? { dryRun: ["All"] } : {}),
  };
}

/** The body of an answer, and whether a write was asked for: what cannot be read of it is an unknown outcome. */
export interface ReadAnswer {
  readonly method: string;
  readonly body: Buffer;
  readonly limits: ResponseLimits;
}

/** The document of an answer, frozen. Throws NotSent or OutcomeUnknown when it cannot be read. */
export async function decodeDocument(answer: ReadAnswer): Promise<Json> {
  const { body, limits } = answer;
  try {
    if (body.length <= SLICE_BYTES) return freezeWithin(parse(body), limits.maxDepth);
    const text = body.toString("utf8");
    await outlineOf(text, limits);
    return parseWhole(text, limits);
  } catch (error) {
    throw unreadable(answer.method, error);
  }
}

/** The object of an answer as the port promises it. Its type is what the resource claims, as everywhere in the port. */
export async function decodeObject<T extends KubeObject>(
  resource: Resource<T>,
  answer: ReadAnswer,
): Promise<T> {
  const document = await decodeDocument(answer);
  // What answers 200 need not be an API server: a proxy, or a server that a name leads to by mistake.
  if (!isJsonObject(document) || !isJsonObject(document["metadata"]))
    throw unreadable(answer.method, new Error(`the answer is no ${resource.kind}`));
  return withoutManagedFields(document) as unknown as T;
}

/** The list of an answer as the port promises it; a large one is read in slices. */
export async function decodeList<T extends KubeObject>(
  resource: Resource<T>,
  answer: ReadAnswer,
): Promise<KubeList<T>> {
  const { body, limits } = answer;
  try {
    if (body.length <= SLICE_BYTES) return listOf(resource, parse(body), limits);
    const text = body.toString("utf8");
    const outline = await outlineOf(text, limits);
    if (outline.size === undefined) return listOf(resource, parseWhole(text, limits), limits);
    const items: T[] = [];
    let read = 0;
    for (let i = 0; i < outline.size; i++) {
      const item = outline.item(i);
      read += item.length;
      if (read > SLICE_BYTES) {
        read = item.length;
        await nextTurn();
      }
      items.push(itemOf(resource, JSON.parse(item) as JsonObject, limits));
    }
    return listAround(resource, JSON.parse(outline.envelope()) as Json, items);
  } catch (error) {
    throw unreadable(answer.method, error);
  }
}

/** The type and the object of an event of a watch, the object frozen; `text` is the whole event. */
export function decodeEvent(
  text: string,
  limits: ResponseLimits,
): { readonly type: Json; readonly object: Json } {
  if (text.length > SLICE_BYTES) {
    const outline = new JsonOutline(text, limits);
    outline.advance(text.length);
  }
  const frame = JSON.parse(text) as Json;
  if (!isJsonObject(frame)) return { type: null, object: null };
  const { type = null, object = null } = frame;
  return { type, object: withoutManagedFields(freezeWithin(object, limits.maxDepth)) };
}

function parse(body: Buffer): Json {
  return JSON.parse(body.toString("utf8")) as Json;
}

function parseWhole(text: string, { maxObjectBytes, maxDepth }: ResponseLimits): Json {
  if (text.length > maxObjectBytes) throw tooLarge(maxObjectBytes);
  return freezeWithin(JSON.parse(text) as Json, maxDepth);
}

/** The outline of a large text; other work goes on between its slices. */
async function outlineOf(text: string, limits: ResponseLimits): Promise<JsonOutline> {
  const outline = new JsonOutline(text, limits);
  while (outline.advance(SLICE_BYTES)) await nextTurn();
  return outline;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What an answer that cannot be read means. Nothing of it is quoted: a member's page has no place in our messages. */
function unreadable(method: string, error: unknown): Error {
  const message =
    error instanceof SyntaxError ? "the answer is not JSON" : (error as Error).message;
  return method === "GET"
    ? new NotSent(message, { cause: error })
    : new OutcomeUnknown(message, { cause: error });
}

/** Freezes a value; throws when it is nested too deep, or holds a number that no double can hold. */
function freezeWithin(value: Json, maxDepth: number): Json {
  if (typeof value === "object" && value !== null) freezeLevel(value, maxDepth, maxDepth);
  return value;
}

function freezeLevel(value: object, levels: number, maxDepth: number): void {
  if (levels <= 0) throw tooDeep(maxDepth);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) freezeChild(value[i], levels, maxDepth);
  } else {
    for (const key in value) freezeChild((value as Record<string, unknown>)[key], levels, maxDepth);
  }
  Object.freeze(value);
}

function freezeChild(child: unknown, levels: number, maxDepth: number): void {
  if (typeof child === "object") {
    if (child !== null) freezeLevel(child, levels - 1, maxDepth);
  } else if (child === Infinity || child === -Infinity)
    throw new SyntaxError("a number is out of range");
}

function withoutManagedFields(value: Json): Json {
  if (!isJsonObject(value)) return value;
  const { metadata } = value;
  if (!isJsonObject(metadata) || metadata["managedFields"] === undefined) return value;
  const { managedFields: _, ...rest } = metadata;
  return Object.freeze({ ...value, metadata: Object.freeze(rest) });
}

function listOf<T extends KubeObject>(
  resource: Resource<T>,
  answer: Json,
  limits: ResponseLimits,
): KubeList<T> {
  const given = isJsonObject(answer) ? answer["items"] : undefined;
  // Taken for an empty list, another document would mean that every object is gone.
  if (given !== null && !Array.isArray(given))
    throw new Error(`the answer is no list of ${resource.plural}`);
  const list = given ?? [];
  if (list.length > limits.maxItems) throw tooManyItems(limits.maxItems);
  const items = (list as readonly JsonObject[]).map((item) => itemOf(resource, item, limits));
  return listAround(resource, answer, items);
}

function itemOf<T extends KubeObject>(
  resource: Resource<T>,
  item: JsonObject,
  { maxDepth }: ResponseLimits,
): T {
  const typed = { apiVersion: apiVersionOf(resource), kind: resource.kind, ...item };
  return withoutManagedFields(freezeWithin(typed, maxDepth)) as unknown as T;
}

function listAround<T extends KubeObject>(
  resource: Resource<T>,
  answer: Json,
  items: readonly T[],
): KubeList<T> {
  const given = isJsonObject(answer) && isJsonObject(answer["metadata"]) ? answer["metadata"] : {};
  const { resourceVersion = "", continue: token, remainingItemCount } = given;
  return Object.freeze({
    apiVersion: apiVersionOf(resource),
    kind: `${resource.kind}List`,
    metadata: Object.freeze({
      resourceVersion: resourceVersion as string,
      ...(typeof token === "string" && { continue: token }),
      ...(typeof remainingItemCount === "number" && { remainingItemCount }),
    }),
    items: Object.freeze(items),
  });
}

export function isStatus(answer: unknown): boolean {
  return isJsonObject(answer) && answer["kind"] === "Status" && answer["apiVersion"] === "v1";
}

export function isJsonType(headers: http.IncomingHttpHeaders): boolean {
  return (headers["content-type"] ?? "").startsWith("application/json");
}
