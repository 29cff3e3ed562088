export type { AdmissionPlugin, AdmissionRequest } from "./admission/admission.ts";
export { type AdmissionChain, createAdmissionChain } from "./admission/chain.ts";
export type { TokenCrypto } from "./authentication/token-crypto.ts";
export { isTimely, audiencesOf, unverifiedClaims } from "./authentication/jwt.ts";
export { isSameText, type ProvenUser, type TokenAuthenticator } from "./authentication/tokens.ts";
export {
  isFront,
  type RequestHeaderRules,
  requestHeaderRules,
  userOfHeaders,
} from "./authentication/request-header.ts";
export type {
  Attributes,
  Authorizer,
  PolicyRule,
  ResourceAttributes,
} from "./authorization/authorizer.ts";
export type { Catalog, ServedResource } from "./catalog/served-resource.ts";
export {
  AUDIT_MODES,
  type AuditLog,
  type AuditMode,
  type Auditor,
  createAuditor,
} from "./http/audit/auditor.ts";
export {
  type AuditPolicy,
  DEFAULT_POLICY,
  parsePolicy,
  PolicyRefused,
} from "./http/audit/policy.ts";
export {
  Dropped,
  type Handle,
  type HttpRequest,
  type HttpResponse,
  type TakenConnection,
  type TakeOver,
} from "./http/exchange.ts";
export { type AggregatedDeps, createAggregatedHandle, type PassedOn } from "./http/aggregated.ts";
export { isMemberTarget, PROXY_GROUP, PROXY_VERSION } from "./http/path.ts";
export type { MemberProxy, MemberRequest } from "./http/member-proxy.ts";
export type { AskedLog, PodLogs } from "./http/pod-logs.ts";
export type { AskedStream, PodStreams } from "./http/pod-streams.ts";
export { createStore, StoreClosed, type StoreOptions } from "./store/create-store.ts";
export { createMemoryStorage, type DiskImage, type MemoryStorage } from "./store/memory-storage.ts";
export { restoredStorage } from "./store/restored-storage.ts";
export {
  type ChangeRow,
  type Loaded,
  type Storage,
  type StorageBatch,
  StorageBroken,
  StorageFull,
} from "./store/storage.ts";
export type { User } from "./authentication/user.ts";
export { installRights } from "./authorization/rbac/install-rights.ts";
export { allowMasters } from "./authorization/allow-masters.ts";
export {
  type ApiServer,
  type ApiServerOptions,
  type ApiServerPorts,
  createApiServer,
} from "./server.ts";
export { createKindsAdmission, type KindsAdmissionPorts } from "./admission/kinds-admission.ts";
export { decideCrdStatus } from "./catalog/crd-status.ts";
export { deletionProtection } from "./admission/kinds-deletion-protection.ts";
