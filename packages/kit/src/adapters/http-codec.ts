/**
 * How calls of the Client port are written as requests, and their answers read.
 *
 * Objects come out frozen, with kind and apiVersion (lists of built-in kinds leave them out on the wire) and without
 * managedFields, which nothing here reads and which are half of many an object.
 */
import type * as http from "node:http";
import {
  apiVersionOf,
  isJsonObject,
  type Json,
  type JsonObject,
  type KubeList,
  type KubeObject,
  type Resource,
} from "@lifeboat/api";
import { deepFreeze } from "@lifeboat/base";
import {
  type DeleteOptions,
  NotSent,
  OutcomeUnknown,
  type Patch,
  type Selection,
  type WriteOptions,
} from "../client.ts";

export const PATCH_TYPES: Readonly<Record<Patch["type"], string>> = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
  apply: "application/apply-patch+yaml",
};

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

export function parsed(method: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const message = `the answer is not JSON: ${(error as Error).message}`;
    throw method === "GET" ? new NotSent(message) : new OutcomeUnknown(message);
  }
}

/** The object as the port promises it. Its type is what the resource claims, as everywhere in the port. */
export function frozen<T extends KubeObject>(_: Resource<T>, value: Json): T {
  return deepFreeze(withoutManagedFields(value)) as unknown as T;
}

function withoutManagedFields(value: Json): Json {
  if (!isJsonObject(value)) return value;
  const { metadata } = value;
  if (!isJsonObject(metadata) || metadata["managedFields"] === undefined) return value;
  const { managedFields: _, ...rest } = metadata;
  return { ...value, metadata: rest };
}

export function frozenList<T extends KubeObject>(resource: Resource<T>, answer: Json): KubeList<T> {
  const list = isJsonObject(answer) ? answer : {};
  const apiVersion = apiVersionOf(resource);
  const { kind } = resource;
  const items = Array.isArray(list["items"]) ? (list["items"] as JsonObject[]) : [];
  const metadata = isJsonObject(list["metadata"]) ? list["metadata"] : {};
  return deepFreeze({
    apiVersion,
    kind: `${kind}List`,
    metadata: { resourceVersion: "", ...metadata },
    items: items.map((item) => frozen(resource, { apiVersion, kind, ...item })),
  });
}

export function isStatus(answer: Json): boolean {
  return isJsonObject(answer) && answer["kind"] === "Status" && answer["apiVersion"] === "v1";
}

export function isJsonType(headers: http.IncomingHttpHeaders): boolean {
  return (headers["content-type"] ?? "").startsWith("application/json");
}
