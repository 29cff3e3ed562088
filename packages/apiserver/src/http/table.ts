/**
 * Table and PartialObjectMetadata: the two forms in which a client may ask for something other than the object itself.
 * A Table answer has one row per object; on a watch the columns come with the first event only.
 */
import { ageOf, type AnyObject, badRequest, type TablePrinter } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import type { Format } from "./media-type.ts";
import type { Query } from "./query.ts";

export type IncludeObject = "None" | "Metadata" | "Object";

/** Everything that decides what a row looks like. */
export interface TableForm {
  readonly printer: TablePrinter;
  readonly includeObject: IncludeObject;
  readonly metaVersion: Format["metaVersion"];
}

export interface TableMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export function includeObjectOf(query: Query): IncludeObject {
  const text = query.text("includeObject");
  if (text === "") return "Metadata";
  if (text === "None" || text === "Metadata" || text === "Object") return text;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(text)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** A whole Table as a value; `columns` false leaves them null, as later events of a watch do. */
export function tableOf(
  form: TableForm,
  metadata: TableMeta,
  objects: readonly AnyObject[],
  now: Instant,
  columns = true,
): object {
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${form.metaVersion}`,
    metadata,
    columnDefinitions: columns ? form.printer.columns : null,
    rows: objects.map((object) => tableRow(form, object, now)),
  };
}

export function tableRow(form: TableForm, object: AnyObject, now: Instant): object {
  const cells = form.printer.cells(object, now);
  if (form.includeObject === "None") return { cells };
  return {
    cells,
    object: form.includeObject === "Object" ? object : partialMetadata(object, form.metaVersion),
  };
}

export function partialMetadata(
  object: { readonly metadata: unknown },
  metaVersion: Format["metaVersion"],
): object {
  return {
    kind: "PartialObjectMetadata",
    apiVersion: `meta.k8s.io/${metaVersion}`,
    metadata: object.metadata,
  };
}

/** The columns of autoscaling/v1 Scale, which no catalog entry describes. */
export const SCALE_PRINTER: TablePrinter = {
  columns: [
    { name: "Name", type: "string", format: "name", description: "", priority: 0 },
    { name: "Desired", type: "integer", format: "", description: "", priority: 0 },
    { name: "Available", type: "integer", format: "", description: "", priority: 0 },
    { name: "Age", type: "string", format: "", description: "", priority: 0 },
  ],
  cells(object, now) {
    return [
      object.metadata.name,
      replicasIn(object["spec"]),
      replicasIn(object["status"]),
      ageOf(object.metadata.creationTimestamp, now),
    ];
  },
};

function replicasIn(part: unknown): number {
  if (typeof part !== "object" || part === null || !("replicas" in part)) return 0;
  return typeof part.replicas === "number" ? part.replicas : 0;
}
