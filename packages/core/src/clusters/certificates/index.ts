export { bundleMark, CA_BUNDLE } from "./bundle.ts";
export { type RequestReason, requestReasons } from "./reasons.ts";
export {
  decideRenewal,
  type ExpiryStage,
  expiryStage,
  type Life,
  nextStageAt,
  shareLeft,
} from "./renewal.ts";
export {
  AGENT_CERTIFICATE_MS,
  CERTIFICATE_SKEW_MS,
  CLIENT_CERTIFICATE_MS,
  clusterAskedFor,
  decideRequest,
  detectorAskedFor,
  type GrantedCertificate,
  grantedUntil,
  neverGranted,
  type Registration,
  type RequestFacts,
  type RequestPlan,
  type RequestView,
} from "./request.ts";
export {
  issuedUntil,
  CLUSTER_LEFT,
  NO_REVOCATIONS,
  type PresentedCertificate,
  readRevocations,
  type Refusal,
  refusalOf,
  refusedBefore,
  type Revocation,
  type Revocations,
  REVOKED_NAME,
  REVOKED_NAMESPACE,
  TOMBSTONE,
  tombstoneName,
  tombstoneNameFor,
  tombstoneOf,
  withRevocation,
} from "./revocation.ts";
