export { isProtected, isProvenHealthy, mayBeHealthy, mayServe } from "./copy-health.ts";
export {
  bindingFinalizer,
  clusterOfWork,
  decideWorks,
  type SyncFailure,
  workKey,
  type WorksCommand,
  type WorksPlan,
  type WorksView,
} from "./decide-works.ts";
export {
  bindingKeyOf,
  endorsementOf,
  type FirstCopyVerdict,
  type FirstCopyView,
  isEndorsed,
  judgeFirstCopy,
  wasTried,
  withdrawn,
} from "./first-copy.ts";
export { type SyncFailureReason, syncFailures, type WorksReason, worksReasons } from "./reasons.ts";
export {
  formatStrays,
  parseStrays,
  removalWork,
  removesStray,
  type StrayReport,
  strayReport,
} from "./stray-report.ts";
export { judgeStray, type StrayVerdict, type StrayView } from "./stray.ts";
export { type WorkClusters, workClustersOf } from "./work-clusters.ts";
