/**
 * Namespaces: which of them are made in every member by themselves, and the Work that makes one in a cluster.
 *
 * 1. The Work belongs to the Namespace (owner reference), so that it goes with it; there is no binding.
 * 2. Only policies for all namespaces override: a Namespace is in none.
 * 3. A namespace that a member has already is left alone unless the template sets `overwrite`: what we took over, we
 *    would delete with everything in it.
 */
import type { Work } from "@lifeboat/api";
import { deepFreeze } from "@lifeboat/base";
import { type Fields, NO_FIELDS, textAt, valueAt } from "../../fields.ts";
import {
  CLUSTER_NAMESPACE,
  CONFLICT_RESOLUTION,
  EXECUTION_NAMESPACE_PREFIX,
  SKIP_AUTO_PROPAGATION,
  SYSTEM_NAMESPACES,
} from "../../well-known.ts";
import type { NamespaceReason } from "./reasons.ts";
import { type Rendered, renderWork } from "./render.ts";

export interface NamespaceView {
  readonly namespace: Fields;
  readonly cluster: object;
  readonly clusterOverridePolicies: readonly object[];
  /** The permanent id of the Work: that of the existing one, or a new one. */
  readonly workId: string;
  /** The Work that is there, if there is one. */
  readonly existing?: Work | undefined;
}

/** Every cluster has it. */
const DEFAULT_NAMESPACE = "default";

/** Whether a namespace is made in every member; `skipped` is an expression for whole names. */
export function decideNamespaceSync(namespace: Fields, skipped: RegExp): NamespaceReason {
  const name = textAt(namespace, "metadata", "name");
  if (isReservedNamespace(name)) return "Reserved";
  if (skipped.test(name)) return "SkippedByName";
  const label = textAt(namespace, "metadata", "labels", SKIP_AUTO_PROPAGATION);
  if (label.toLowerCase() === "true") return "SkippedByLabel";
  if (valueAt(namespace, "metadata", "deletionTimestamp") !== undefined) return "BeingDeleted";
  return "Synced";
}

/** The Work of one cluster that holds a Namespace. */
export function renderNamespaceWork(view: NamespaceView): Rendered {
  const { namespace, existing, ...rest } = view;
  const rendered = renderWork({
    ...rest,
    template: namespace,
    binding: NO_FIELDS,
    overridePolicies: [],
    // Another control plane of the same kinds leaves it out: what was adopted from it is not written again for that.
    leavesAbortOut:
      existing !== undefined && existing.metadata.annotations?.[CONFLICT_RESOLUTION] === undefined,
  });
  if (rendered.outcome === "failed") return rendered;
  const metadata = {
    ...rendered.work.metadata,
    ownerReferences: [
      {
        apiVersion: "v1",
        kind: "Namespace",
        name: textAt(namespace, "metadata", "name"),
        uid: textAt(namespace, "metadata", "uid"),
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  };
  return deepFreeze({ ...rendered, work: { ...rendered.work, metadata } });
}

function isReservedNamespace(name: string): boolean {
  return (
    name === DEFAULT_NAMESPACE ||
    name === CLUSTER_NAMESPACE ||
    SYSTEM_NAMESPACES.includes(name) ||
    name.startsWith(EXECUTION_NAMESPACE_PREFIX)
  );
}
