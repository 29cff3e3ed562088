/**
 * Reports on the templates of Works on Pull clusters what became of their copies, and on the Work that a report is not taken in. An agent writes Events in its own execution namespace
 * alone (D25), so the control plane writes here what execution writes for Push clusters.
 *
 * 1. What an agent reported while no control plane looked is no news: a restart reports nothing twice.
 * 2. The words of a condition are the member's claim; they are cut, and reach only the templates of Works of its own cluster.
 */
import type { Work } from "@lifeboat/api";
import {
  appliedEvents,
  refusedReportEvent,
  templateOf,
} from "@lifeboat/core/propagation/observing";
import { clusterOfExecutionNamespace } from "@lifeboat/core/propagation/rendering";
import type { Service } from "@lifeboat/kit";
import type { PlaneContext } from "../../context/context.ts";

const MAX_MESSAGE_LENGTH = 1000;

/** Builds the service that follows the Works of Pull clusters. */
export function createAppliedEvents(context: PlaneContext): Service {
  const { informers } = context;
  return {
    name: "applied-events",
    run: async (signal) => {
      if (!(await informers.clusters.whenSynced(signal))) return;
      if (!(await informers.works.whenSynced(signal))) return;
      const unsubscribe = informers.works.onChange((old, now) => tell(context, old, now));
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      unsubscribe();
    },
  };
}

function tell(
  { informers, events }: PlaneContext,
  old: Work | undefined,
  now: Work | undefined,
): void {
  if (old === undefined || now === undefined || old.metadata.uid !== now.metadata.uid) return;
  const cluster = clusterOfExecutionNamespace(now.metadata.namespace ?? "") ?? "";
  if (informers.clusters.get({ namespace: "", name: cluster })?.spec.syncMode !== "Pull") return;
  const refusal = refusedReportEvent(cluster, old, now);
  if (refusal !== undefined) events.record(now, refusal);
  const manifests = now.spec.workload?.manifests ?? [];
  const planned = appliedEvents({ cluster, manifests }, old.status ?? {}, now.status ?? {});
  for (const event of planned) {
    const message = event.message.slice(0, MAX_MESSAGE_LENGTH);
    for (const manifest of manifests) {
      const template = templateOf(manifest);
      if (template !== undefined) events.record(template, { ...event, message });
    }
  }
}
