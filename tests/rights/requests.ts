/** Every request that the access matrix is made of: each verb, at each place, in each way that a client can write it. */
import type { Verb } from "./access-table.ts";
import { pathOf, type Served } from "./served.ts";

export interface MatrixRequest {
  readonly of: Served;
  readonly verb: Verb;
  readonly namespace: string;
  /** Empty: the whole collection. */
  readonly name: string;
  /** Whether the name is in a field selector. */
  readonly isSelected?: boolean;
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
}

/** `namespace/name`; without a namespace for objects that have none. */
export type Place = readonly [namespace: string, name: string];

const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const JSON_PATCH = "application/json-patch+json";

/** All requests to one resource. */
export function requestsTo(of: Served, places: readonly Place[]): readonly MatrixRequest[] {
  const fitting = places.filter(([namespace]) => (namespace !== "") === of.namespaced);
  const namespaces = of.namespaced
    ? [...new Set(fitting.map(([namespace]) => namespace)), ""]
    : [""];
  const atObjects = fitting.flatMap((place) => toObject(of, place));
  if (of.subresource !== "") return atObjects;
  return [...atObjects, ...namespaces.flatMap((namespace) => toCollection(of, namespace))];
}

function toObject(of: Served, [namespace, name]: Place): readonly MatrixRequest[] {
  const path = pathOf(of, namespace, name);
  const base = { of, namespace, name, path };
  const selected = `fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`;
  const collection = pathOf({ ...of, subresource: "" }, namespace, "");
  const whole: readonly MatrixRequest[] = [
    { ...base, verb: "get", method: "GET" },
    { ...base, verb: "update", method: "PUT" },
    { ...base, verb: "patch", method: "PATCH", contentType: MERGE },
    { ...base, verb: "patch", method: "PATCH", contentType: JSON_PATCH },
    { ...base, verb: "patch", method: "PATCH", contentType: STRATEGIC },
    { ...base, verb: "delete", method: "DELETE" },
  ];
  if (of.subresource !== "") return [...whole, { ...base, verb: "create", method: "POST" }];
  const bySelector = { isSelected: true, method: "GET" } as const;
  const old = pathOf(of, namespace, name, "watch/");
  return [
    ...whole,
    { ...base, verb: "create", method: "POST", path: collection },
    { ...base, ...bySelector, verb: "list", path: `${collection}?${selected}` },
    { ...base, ...bySelector, verb: "watch", path: `${collection}?watch=1&${selected}` },
    { ...base, verb: "watch", method: "GET", path: old },
  ];
}

function toCollection(of: Served, namespace: string): readonly MatrixRequest[] {
  const path = pathOf(of, namespace, "");
  const base = { of, namespace, name: "" };
  const others = `fieldSelector=${encodeURIComponent("metadata.name!=nothing")}`;
  const labelled = "labelSelector=a%3Db";
  return [
    { ...base, verb: "list", method: "GET", path },
    { ...base, verb: "list", method: "GET", path: `${path}?${others}` },
    { ...base, verb: "list", method: "GET", path: `${path}?${labelled}&limit=1` },
    { ...base, verb: "watch", method: "GET", path: `${path}?watch=1` },
    { ...base, verb: "watch", method: "GET", path: `${path}?watch=true&${others}` },
    { ...base, verb: "watch", method: "GET", path: pathOf(of, namespace, "", "watch/") },
    { ...base, verb: "deletecollection", method: "DELETE", path },
    { ...base, verb: "deletecollection", method: "DELETE", path: `${path}?${labelled}` },
  ];
}
