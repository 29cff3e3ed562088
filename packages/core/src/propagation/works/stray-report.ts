/**
 * Stray copies that an agent reports for the control plane to judge (D26): an annotation of the cluster's Lease, and the Work by
 * which the control plane has one removed.
 *
 *   copy without a Work ──▶ agent: reported on its Lease ──▶ plane: judgeStray ──▶ Work of the copy's name, deleted at once
 *                                                                                  ──▶ agent: removes the copy, then the Work goes
 *
 * 1. A report is what a member claims: what is not a report is left out, and so is more than twenty.
 * 2. The Work that removes a copy is suspended, bears no endorsement and a mark of its own: it can never be applied, and the
 *    mark makes the control plane delete it, whichever process made it.
 */
import type { New, Work } from "@lifeboat/api";
import { fieldsAt, type Fields, isFields, textAt } from "../../fields.ts";
import {
  BINDING_ID,
  BINDING_NAME,
  BINDING_NAMESPACE,
  CLUSTER_BINDING_ID,
  CLUSTER_BINDING_NAME,
  EXECUTION_FINALIZER,
  MANAGED,
  REMOVES_STRAY,
  WORK_NAME,
  WORK_NAMESPACE,
} from "../../well-known.ts";
import { executionNamespace } from "../rendering/names.ts";

export interface StrayReport {
  /** The name of the Work that the copy names. */
  readonly work: string;
  readonly seenForMs: number;
  /** Its kind, its name, and our marks on it. */
  readonly copy: Fields;
}

const MOST = 20;
const MARKS_IN_LABELS = [BINDING_ID, CLUSTER_BINDING_ID, MANAGED];
const MARKS_IN_ANNOTATIONS = [
  BINDING_NAMESPACE,
  BINDING_NAME,
  CLUSTER_BINDING_NAME,
  WORK_NAMESPACE,
  WORK_NAME,
];

/** The report of one copy: nothing of it but what the judgment needs. */
export function strayReport(work: string, copy: Fields, seenForMs: number): StrayReport {
  const { apiVersion, kind } = copy;
  const namespace = textAt(copy, "metadata", "namespace");
  const metadata = {
    name: textAt(copy, "metadata", "name"),
    ...(namespace !== "" && { namespace }),
    labels: picked(fieldsAt(copy, "metadata", "labels"), MARKS_IN_LABELS),
    annotations: picked(fieldsAt(copy, "metadata", "annotations"), MARKS_IN_ANNOTATIONS),
  };
  return { work, seenForMs: Math.round(seenForMs), copy: { apiVersion, kind, metadata } };
}

/** The text of the annotation; undefined: there is nothing to report. */
export function formatStrays(reports: readonly StrayReport[]): string | undefined {
  return reports.length === 0 ? undefined : JSON.stringify(reports.slice(0, MOST));
}

/** What the annotation reports. */
export function parseStrays(text: string | undefined): readonly StrayReport[] {
  if (text === undefined) return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.slice(0, MOST).flatMap(readReport) : [];
  } catch {
    return [];
  }
}

function readReport(value: unknown): readonly StrayReport[] {
  if (!isFields(value) || !isFields(value["copy"])) return [];
  const { work, seenForMs, copy } = value;
  const hasKind = [textAt(copy, "apiVersion"), textAt(copy, "kind")].every((text) => text !== "");
  if (typeof work !== "string" || typeof seenForMs !== "number" || !hasKind) return [];
  if (textAt(copy, "metadata", "annotations", WORK_NAME) !== work) return [];
  return [strayReport(work, copy, seenForMs)];
}

/** The Work whose deletion removes a stray copy. */
export function removalWork(cluster: string, { work, copy }: StrayReport): New<Work> {
  const marks = fieldsAt(copy, "metadata", "annotations");
  const annotations = picked(marks, [BINDING_NAMESPACE, BINDING_NAME, CLUSTER_BINDING_NAME]);
  return {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: {
      namespace: executionNamespace(cluster),
      name: work,
      annotations: { ...annotations, [REMOVES_STRAY]: "true" },
      finalizers: [EXECUTION_FINALIZER],
    },
    spec: { suspendDispatching: true, workload: { manifests: [copy] } },
  };
}

/** Whether a Work is there only to remove a stray copy. */
export function removesStray({ metadata }: Work): boolean {
  return metadata.annotations?.[REMOVES_STRAY] === "true";
}

function picked(from: Fields, keys: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = from[key];
      return typeof value === "string" ? [[key, value]] : [];
    }),
  );
}
