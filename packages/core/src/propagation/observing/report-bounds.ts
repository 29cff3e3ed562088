/**
 * How much a whole report on a Work may hold, and what the control plane takes in of one that holds more.
 *
 * 1. An agent of ours keeps to the bounds; what writes in its name may not. Where the server asks about each report, a larger one is
 *    refused. A kube-apiserver asks about none that is not plainly too long: it stores what it takes for an object of
 *    its own size, and the control plane takes nothing of it in.
 * 2. What is not taken in counts for nothing: the copy's health is unknown, no binding and no template has any of it, and the condition
 *    StatusObserved of the Work, as the control plane sees it, states why.
 */
import { type Condition, findCondition, type Work } from "@lifeboat/api";
import { fieldsAt, listAt } from "../../fields.ts";
import type { PlannedEvent } from "../../plan.ts";
import { reportProblem } from "./bounds.ts";

const REPORT_TOO_LARGE = "ReportTooLarge";

/** Why a report on a Work of so many manifests is refused; undefined when it is not. */
export function reportExcess(status: unknown, manifests: number): string | undefined {
  return listAt(status, "manifestStatuses").length > manifests
    ? "an agent reports each manifest of a Work once"
    : sizeExcess(status);
}

/** The Work as it is taken in: unchanged where its report is within bounds. */
export function takenIn(work: Work): Work {
  const { status } = work;
  const reports = status?.manifestStatuses ?? [];
  // The first report is the only one that bindings read; a Work that names no manifest has room for it.
  const most = Math.max(1, work.spec.workload?.manifests?.length ?? 0);
  // A Work that holds less than before still bears the report of before.
  const first =
    reports.length > most ? { ...status, manifestStatuses: reports.slice(0, most) } : status;
  const excess = sizeExcess(first);
  if (excess === undefined)
    return first === status ? work : { ...work, ...(first && { status: first }) };
  const since =
    findCondition(status?.conditions, "StatusObserved")?.lastTransitionTime ??
    work.metadata.creationTimestamp ??
    "1970-01-01T00:00:00Z";
  const refusal: Condition = {
    type: "StatusObserved",
    status: "False",
    reason: REPORT_TOO_LARGE,
    message: excess,
    lastTransitionTime: since,
  };
  return { ...work, status: { conditions: [refusal] } };
}

/** The Event of a report that is not taken in, where the one before was. */
export function refusedReportEvent(
  cluster: string,
  old: Work,
  now: Work,
): PlannedEvent<typeof REPORT_TOO_LARGE> | undefined {
  if (!isRefused(now) || isRefused(old)) return undefined;
  const message = `The report of cluster ${cluster} is not taken in: ${findCondition(now.status?.conditions, "StatusObserved")?.message ?? ""}`;
  return { type: "Warning", reason: REPORT_TOO_LARGE, message };
}

function isRefused(work: Work): boolean {
  return findCondition(work.status?.conditions, "StatusObserved")?.reason === REPORT_TOO_LARGE;
}

function sizeExcess(status: unknown): string | undefined {
  const { manifestStatuses: _, ...rest } = fieldsAt(status);
  const parts = listAt(status, "manifestStatuses").flatMap((report) => {
    const { status: own, ...about } = fieldsAt(report);
    return [own, about];
  });
  for (const part of [rest, ...parts]) {
    const problem = reportProblem(part);
    if (problem !== undefined) return `an agent's report is bounded: ${problem}`;
  }
  return undefined;
}
