export { appliedEvents, templateOf } from "./applied-event.ts";
export { refusedReportEvent, reportExcess, takenIn } from "./report-bounds.ts";
export { type WorkStatusReason, workStatusReasons } from "./reasons.ts";
export {
  appliedVersions,
  type ApplyOutcome,
  decideWorkStatus,
  hasBeenHealthy,
  type ManifestReport,
  type Reflection,
  type ReportedStatus,
  type WorkStatusCommand,
  type WorkStatusEvent,
  type WorkStatusPlan,
  type WorkStatusView,
} from "./work-status.ts";
