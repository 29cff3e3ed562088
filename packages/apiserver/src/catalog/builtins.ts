/** The built-in resources as the server serves them: names and behaviour from the API package, joined with tables and conversions. */
import {
  apiVersionOf,
  type BuiltinResource,
  builtinResources,
  builtinSchema,
  kindRules,
  type TablePrinter,
} from "@lifeboat/api";
import { assert } from "@lifeboat/base";
import { eventFromStorage, eventToStorage } from "./event-conversion.ts";
import { autoscalerFromStorage, autoscalerToStorage } from "./autoscaler-conversion.ts";
import { plainPrinter } from "./plain-printer.ts";
import type { ServedResource, Subresources } from "./served-resource.ts";

/** Kept in memory only. */
export const EVENTS_TABLE = "/events";

/** Everything that is served without any CRD. */
export function servedBuiltins(): readonly ServedResource[] {
  return builtinResources.map(serve);
}

function serve(resource: BuiltinResource): ServedResource {
  const apiVersion = apiVersionOf(resource);
  const schema = builtinSchema(apiVersion, resource.kind);
  assert(schema !== undefined, "a served kind is described", { apiVersion, kind: resource.kind });
  const name = `${apiVersion}/${resource.kind}`;
  const rules = Object.hasOwn(kindRules, name) ? kindRules[name] : undefined;
  const printer: TablePrinter = rules?.printer ?? plainPrinter;
  return {
    ...resource,
    subresources: subresourcesOf(resource),
    schema,
    printer,
    selectableFields: rules?.selectableFields ?? {},
    custom: false,
    ...(rules?.prepareCreate !== undefined && { prepareCreate: rules.prepareCreate }),
    ...storageOf(resource),
  };
}

function subresourcesOf(resource: BuiltinResource): Subresources {
  const { group, kind, subresources } = resource;
  if (group === "" && kind === "Pod") return { ...subresources, binding: true, eviction: true };
  if (group === "" && kind === "ServiceAccount") return { ...subresources, token: true };
  return subresources;
}

type StorageOf = Pick<ServedResource, "table" | "storageVersion" | "fromStorage" | "toStorage">;

function storageOf(resource: BuiltinResource): StorageOf {
  const { group, version, plural } = resource;
  if (group === "events.k8s.io")
    return {
      table: EVENTS_TABLE,
      storageVersion: "v1",
      fromStorage: eventFromStorage,
      toStorage: eventToStorage,
    };
  const table = `${group}/${plural}`;
  if (table === "autoscaling/horizontalpodautoscalers" && version === "v1")
    return {
      table,
      storageVersion: "v2",
      fromStorage: autoscalerFromStorage,
      toStorage: autoscalerToStorage,
    };
  return {
    table,
    storageVersion: table === "autoscaling/horizontalpodautoscalers" ? "v2" : version,
  };
}
