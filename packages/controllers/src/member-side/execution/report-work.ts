/**
 * Writes into a Work's status what its objects report, and records the Events of what changed.
 *
 * 1. The status is written only if something in it changed, and once for all manifests.
 * 2. An Event that concerns the template goes to the template, too, as far as a manifest names it.
 */
import { type Work, works as workResource } from "@lifeboat/api";
import type { Clock, Instant } from "@lifeboat/base";
import {
  decideWorkStatus,
  type ManifestReport,
  templateOf,
  type WorkStatusEvent,
} from "@lifeboat/core/propagation/observing";
import type { Client, EventRecorder } from "@lifeboat/kit";
import { generationOf, statusOf } from "./work-fields.ts";
import type { WorkMemory } from "./work-memory.ts";

export interface ReportPorts {
  readonly cluster: string;
  readonly clock: Clock;
  readonly plane: Client;
  readonly events: EventRecorder;
}

/** Writes the status if anything changed; answers when time alone makes another reconciliation due. */
export async function reportWork(
  ports: ReportPorts,
  work: Work,
  memory: WorkMemory,
  reports: readonly ManifestReport[],
  signal: AbortSignal,
): Promise<Instant | undefined> {
  const { cluster, plane, events } = ports;
  const now = ports.clock.now();
  const plan = decideWorkStatus(
    {
      cluster,
      generation: generationOf(work),
      status: statusOf(work),
      suspended: work.spec.suspendDispatching === true,
      reports,
      writtenAt: memory.writtenAt,
      reported: memory.written?.status,
    },
    now,
  );
  for (const { status } of plan.commands) {
    signal.throwIfAborted();
    const changed = { ...work, status: status as Work["status"] } as Work;
    memory.reported = { generation: generationOf(work), status };
    memory.written = await plane.update(workResource, changed, { subresource: "status", signal });
    memory.writtenAt = now;
  }
  for (const event of plan.events) record(events, work, event, reports);
  return plan.checkAgainAt;
}

function record(
  events: EventRecorder,
  work: Work,
  event: WorkStatusEvent,
  reports: readonly ManifestReport[],
): void {
  const { type, reason, message } = event;
  events.record(work, { type, reason, message });
  if (!event.concernsTemplates) return;
  for (const { manifest } of reports) {
    const template = templateOf(manifest);
    if (template !== undefined) events.record(template, { type, reason, message });
  }
}
