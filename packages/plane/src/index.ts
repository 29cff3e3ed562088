export {
  createCertificateKeeper,
  type OwnCertificate,
  type PlaneMaterial,
} from "./certificate-keeper.ts";
export {
  type ControlPlane,
  type ControlPlaneOptions,
  type ControlPlanePorts,
  createControlPlane,
} from "./control-plane.ts";
export { CONTROLLERS_USER, GATEWAY_USER } from "./plane-rights.ts";
export type { ShareTimes } from "./member-work.ts";
export type { PlaneWork } from "./plane-work.ts";
export { establishKinds, installKinds } from "./install-kinds.ts";
export {
  createMemberHost,
  type HostedAgent,
  type HostedMember,
} from "./simulated-member/member-host.ts";
export { modelOptions, type SimulatedMemberSpec } from "./simulated-member/member-spec.ts";
export {
  createSimulatedMember,
  type ServingListener,
  type SimulatedMember,
  type SimulatedMemberOptions,
} from "./simulated-member/simulated-member.ts";
export { createPodStreams } from "./simulated-member/pod-streams.ts";
export { type JoinOutcome, type JoinRequest, joinCluster } from "./registration/join.ts";
export type { GivenAccess } from "./registration/member-side.ts";
export { installAgent, installedKubeconfig, removeAgent } from "./registration/agent-in-member.ts";
export { AGENT_NAMESPACE, AGENT_NODE_FLAGS, agentManifest } from "./registration/agent-manifest.ts";
export {
  awaitLease,
  lastRenewal,
  type PlaneAccess,
  registerByToken,
  type Registered,
  type RegisterPorts,
  type RegisterRequest,
  RegistrationStepFailed,
} from "./registration/register.ts";
export { detectorManifest, detectorName } from "./registration/detector-manifest.ts";
export { registerDetector } from "./registration/register-detector.ts";
export { addUser, listUsers } from "./registration/users.ts";
export { unregisterFromMember } from "./registration/unregister.ts";
export { RegistrationRefused } from "./registration/refusal.ts";
export {
  type ClusterLoad,
  type FederatedShare,
  loadOf,
  unjoinCluster,
  type UnjoinOutcome,
  type UnjoinRequest,
} from "./registration/unjoin.ts";
export {
  controllerNames,
  type ControllersOptions,
  createControllers,
  DEFAULT_CONTROLLERS,
  evictionRatesOf,
  foresightSettingsOf,
  runsController,
  unknownControllers,
} from "./controllers.ts";
export { SIGNED_BY_OTHERS } from "./published-settings.ts";
export { type Gate, gateNames, isGate, publishedApproval, readGateEntries } from "./gates.ts";
export {
  createPlaneContext,
  type PlaneContextPorts,
  type RunningContext,
} from "./plane-context.ts";
export {
  createPlaneManager,
  type ElectionOptions,
  MANAGER_LEASE,
  type PlaneManager,
  type PlaneManagerOptions,
  type PlaneManagerPorts,
} from "./manager.ts";
export type { AggregatedProxy } from "./aggregated/create-aggregated.ts";
export { clusterOfRecord, TUNNEL_LABEL } from "./aggregated/tunnel-record.ts";
export type { CertificateMaker, CertifiedPair } from "./webhook/certificates.ts";
export {
  installPlane,
  type InstallRequest,
  type InstallStep,
  subjectOf,
} from "./install/install.ts";
export { InstallRefused } from "./install/refusal.ts";
export { planUninstall, uninstallPlane, type UninstallPlan } from "./install/uninstall.ts";
export { planMigration, type MigrationPlan } from "./moving/plan-migration.ts";
export { migrate, type MovingPorts } from "./moving/migrate.ts";
export { objectsOf } from "./moving/read-tables.ts";
export { MovingRefused } from "./moving/refusal.ts";
export { adopt, type AdoptionPlan, planAdoption } from "./moving/adopt.ts";
