/**
 * Deciding what becomes of a copy in a member that bears our marks and has no Work: a member that was restored from a
 * backup brings back what had left it, and a person may take a Work away by force. Nothing else would remove it (D11).
 *
 * 1. Only what is provably of this control plane goes: the binding that its marks name is there, under the same id. The
 *    rest is left alone; another control plane may have it.
 * 2. Nothing goes that its binding asks for, or keeps while it leaves: its Work comes.
 * 3. What strayed may be the last copy that serves (D9): it goes once all copies that are asked for are well, and not within
 *    a minute after it was first seen, so that a control plane that was itself restored hears of the others first. Where it
 *    was purged (D10), or its binding goes, it does not wait.
 */
import type { ResourceBinding } from "@lifeboat/api";
import { isDispatchingSuspended } from "../../binding/index.ts";
import { type Fields, textAt } from "../../fields.ts";
import { BINDING_ID, CLUSTER_BINDING_ID } from "../../well-known.ts";
import { workClustersOf } from "./work-clusters.ts";

/** `wait`: not yet; look again. */
export type StrayVerdict = "remove" | "wait" | "leave";

export interface StrayView {
  readonly cluster: string;
  readonly copy: Fields;
  /** The binding that the copy names. */
  readonly binding: ResourceBinding;
  /** For how long it has been known that no Work holds the copy. */
  readonly seenForMs: number;
}

const PATIENCE_MS = 60_000;

/** What becomes of a copy that has no Work. */
export function judgeStray({ cluster, copy, binding, seenForMs }: StrayView): StrayVerdict {
  const { metadata, spec } = binding;
  const isTheirs = [BINDING_ID, CLUSTER_BINDING_ID].some((key) => {
    const id = textAt(copy, "metadata", "labels", key);
    return id !== "" && id === metadata.labels?.[key];
  });
  if (!isTheirs) return "leave";
  if (metadata.deletionTimestamp !== undefined)
    return spec.preserveResourcesOnDeletion === true ? "leave" : "remove";
  const { wanted, leaving, purged } = workClustersOf(binding);
  if (wanted.has(cluster) || leaving.has(cluster)) return "leave";
  if (isDispatchingSuspended(binding, cluster)) return "wait";
  if (purged.has(cluster)) return "remove";
  // It may be one that was to stay when its cluster was taken out by force.
  if (spec.preserveResourcesOnDeletion === true) return "leave";
  if (seenForMs < PATIENCE_MS) return "wait";
  const well = wellIn(binding);
  return wanted.size > 0 && [...wanted].every((name) => well.has(name)) ? "remove" : "wait";
}

function wellIn({ status }: ResourceBinding): ReadonlySet<string> {
  return new Set(
    (status?.aggregatedStatus ?? [])
      .filter(({ health, applied }) => health === "Healthy" && applied === true)
      .map(({ clusterName }) => clusterName),
  );
}
