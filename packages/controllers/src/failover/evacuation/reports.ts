/** What evacuations report to people: Events on workloads, templates and Clusters, with a log line for each decision. */
import type { Evacuation } from "@lifeboat/api";
import { describeTaint, type RecordedTaint } from "@lifeboat/core/failover/evacuation";
import { type Binding, bindingOf, recordOnWorkload } from "../../context/bindings.ts";
import type { PlaneContext } from "../../context/context.ts";
import type { Held, Item } from "./items.ts";

type Audience = Pick<PlaneContext, "events" | "informers" | "log">;

export function reportOnBinding(
  { events }: Pick<Audience, "events">,
  binding: Binding,
  type: "Normal" | "Warning",
  { reason, message }: { readonly reason: string; readonly message: string },
): void {
  recordOnWorkload(events, binding, { type, reason, message });
}

export function reportOnCluster(
  { informers, events }: Audience,
  name: string,
  reason: string,
  message: string,
): void {
  const cluster = informers.clusters.get({ namespace: "", name });
  if (cluster !== undefined) events.record(cluster, { type: "Warning", reason, message });
}

/** Reports that taints came off, and how many entries stay for that. */
export function reportRemoved(
  context: Audience,
  current: Evacuation,
  gone: readonly RecordedTaint[],
  stays: number,
): void {
  if (gone.length === 0) return;
  const { name } = current.metadata;
  if (stays > 0)
    reportOnCluster(
      context,
      current.spec.cluster,
      "EvictionAbandoned",
      `Evacuation ${name}: ${stays} stay, because the taint is gone.`,
    );
  context.log.info("a faulty cluster lost taints, what they had queued stays", {
    evacuation: name,
    stays,
    taints: gone.map(({ taint }) => describeTaint(taint)),
  });
}

/** Reports that a workload which was in line stays. */
export function reportStays(context: Audience, item: Item, isTakenOut: boolean): void {
  const { track, entry, id, key } = item;
  const { cluster, evacuation } = track;
  const why = isTakenOut ? "a person took it out of" : "the taint is gone that had caused";
  const message = `Stays on cluster ${cluster}: ${why} evacuation ${evacuation.metadata.name}.`;
  const binding = bindingOf(context.informers, key);
  if (binding !== undefined)
    reportOnBinding(context, binding, "Normal", { reason: "EvictionAbandoned", message });
  context.log.info("an eviction was abandoned", {
    evacuation: evacuation.metadata.name,
    cluster,
    binding: id,
    kind: entry.resource.kind,
    reason: isTakenOut ? "EditedByHand" : "Recovered",
  });
}

/** Reports that a workload is held. */
export function reportHeld(
  context: Audience,
  item: Item,
  { reason, message }: Pick<Held, "reason" | "message">,
): void {
  const { cluster, evacuation } = item.track;
  const binding = bindingOf(context.informers, item.key);
  if (binding !== undefined)
    reportOnBinding(context, binding, "Warning", {
      reason: "EvictionHeld",
      message: `Not evicted from cluster ${cluster}: ${message}`,
    });
  context.log.info("an eviction is held", {
    evacuation: evacuation.metadata.name,
    cluster,
    binding: item.id,
    reason,
    message,
  });
}
