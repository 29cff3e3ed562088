/**
 * The identities of one cluster's agent and of its detector: the user and group that the certificate names, and the objects that belong
 * to it by name. Clients and certificates carry these names, so they are kept byte for byte.
 */
import { IMPERSONATOR_SUFFIX } from "@lifeboat/api";

/** The group of all agents. */
export const AGENTS_GROUP = "system:karmada:agents";
/** The signer of certificates by which clients prove their identity to the API server. */
export const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";
/** The groups of users that present a bootstrap token. */
export const BOOTSTRAPPERS_GROUP = "system:bootstrappers";
export const AGENT_BOOTSTRAPPERS_GROUP = "system:bootstrappers:karmada:default-cluster-token";
export const BOOTSTRAP_USER_PREFIX = "system:bootstrap:";
/** Groups of a token that was given for one cluster (`auth-extra-groups` of its Secret). */
export const REGISTRATION_GROUP_PREFIX = "system:bootstrappers:lifeboat:cluster:";

const AGENT_USER_PREFIX = "system:karmada:agent:";
/** What a Cluster may be called: DNS-1123 label, which also keeps the names made of it valid. */
const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,46}[a-z0-9])?$/;

/**
 * The user as which `karmadactl register` writes the rights of the agent that it registers, which here is the control plane's alone
 * (D25). It reads like the agent of a cluster of this name: no cluster may have it.
 */
export const RIGHTS_WRITER_USER = `${AGENT_USER_PREFIX}rbac-generator`;

/** The user of a cluster's agent: `system:karmada:agent:eu-1`. */
export function agentUser(cluster: string): string {
  return AGENT_USER_PREFIX + cluster;
}

/** The cluster whose agent a user is; undefined for any other user, also for one whose cluster can not exist. */
export function clusterOfAgent(user: string): string | undefined {
  if (!isAgentUser(user)) return undefined;
  const cluster = user.slice(AGENT_USER_PREFIX.length);
  return CLUSTER_NAME.test(cluster) ? cluster : undefined;
}

/** The Secrets of a cluster, Push or Pull, in the namespace that all clusters share: no cluster has the name of another one's. */
export function secretNames(cluster: string): {
  readonly token: string;
  readonly impersonator: string;
} {
  return { token: cluster, impersonator: cluster + IMPERSONATOR_SUFFIX };
}

/** The group of all detectors. */
export const DETECTORS_GROUP = "system:lifeboat:detectors";
const DETECTOR_USER_PREFIX = "system:lifeboat:detector:";

/** The user of a cluster's detector: `system:lifeboat:detector:eu-1`. */
export function detectorUser(cluster: string): string {
  return DETECTOR_USER_PREFIX + cluster;
}

/** The cluster whose detector a user is; undefined for any other user, also for one whose cluster can not exist. */
export function clusterOfDetector(user: string): string | undefined {
  if (!isDetectorUser(user)) return undefined;
  const cluster = user.slice(DETECTOR_USER_PREFIX.length);
  return CLUSTER_NAME.test(cluster) ? cluster : undefined;
}

/** Whether a user claims to be a detector, rightly or not. */
export function isDetectorUser(user: string): boolean {
  return user.startsWith(DETECTOR_USER_PREFIX);
}

/** The ClusterRole, Role and bindings of a cluster's detector. */
export function detectorRoleName(cluster: string): string {
  return `system:lifeboat:${cluster}:detector`;
}

/** An identity that is renewed by the process that has it. */
export interface RenewedIdentity {
  /** What a certificate request for it asks for, exactly. */
  readonly subject: { readonly commonName: string; readonly organizations: readonly string[] };
  /** The one CertificateSigningRequest that renews it: its rights name this one, so the last is deleted before the next is made. */
  readonly requestName: string;
}

export function agentIdentity(cluster: string): RenewedIdentity {
  return {
    subject: { commonName: agentUser(cluster), organizations: [AGENTS_GROUP] },
    requestName: `agent-${cluster}`,
  };
}

export function detectorIdentity(cluster: string): RenewedIdentity {
  return {
    subject: { commonName: detectorUser(cluster), organizations: [DETECTORS_GROUP] },
    requestName: `detector-${cluster}`,
  };
}

/** Whether a user claims to be an agent, rightly or not. */
export function isAgentUser(user: string): boolean {
  return user.startsWith(AGENT_USER_PREFIX);
}

/** The group of a bootstrap token that may register this cluster alone, also when it is registered already. */
export function registrationGroup(cluster: string): string {
  return REGISTRATION_GROUP_PREFIX + cluster;
}

/** The ClusterRole, Roles and bindings of a cluster's agent. */
export function agentRoleName(cluster: string): string {
  return `system:karmada:${cluster}:agent`;
}
