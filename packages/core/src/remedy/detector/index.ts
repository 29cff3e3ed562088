export {
  decideDetection,
  HEARTBEAT_MS,
  type InstanceReport,
  instanceLeaseName,
  instanceMarks,
  isLeaseDue,
  leaderLeaseName,
  reportedVerdict,
} from "./report.ts";
export { type DetectorReason, detectorReasons } from "./reasons.ts";
export { namesToAsk, parseResolvConf, type ResolverSettings } from "./resolv-conf.ts";
export { isHealthyStatus, parseHttpTarget, parseTcpTarget } from "./target.ts";
export { decideSilence, detectedConditions, reportedAmiss, STALE_THRESHOLD_MS } from "./silence.ts";
export {
  afterDetection,
  type DetectorThresholds,
  type DetectorWindow,
  firstWindow,
} from "./window.ts";
