/**
 * The kinds that the model reads and writes: of each the fields it looks at, and the collection it is in.
 *
 * Everything else of an object stays as it is: writes spread what was read.
 */
import type { KubeObject, LabelSelector, NewMeta, Resource } from "@lifeboat/api";

/** A condition as workloads, pods and nodes write it: reason, message and update time only where there is one. */
export interface KindCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
  readonly lastProbeTime?: string | null;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
}

export interface PodSpec {
  readonly nodeName?: string;
  readonly hostname?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly restartPolicy?: string;
  readonly readinessGates?: readonly { readonly conditionType: string }[];
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly persistentVolumeClaim?: { readonly claimName: string };
  }[];
}

export interface PodTemplate {
  readonly metadata?: NewMeta;
  readonly spec: PodSpec;
}

export interface ContainerStatus {
  readonly name: string;
  readonly image: string;
  readonly imageID: string;
  readonly ready: boolean;
  readonly started: boolean;
  readonly restartCount: number;
  readonly state: {
    readonly waiting?: { readonly reason: string; readonly message?: string };
    readonly running?: { readonly startedAt: string };
    readonly terminated?: {
      readonly exitCode: number;
      readonly reason: string;
      readonly finishedAt: string;
    };
  };
}

export interface PodStatus {
  readonly phase?: string;
  readonly conditions?: readonly KindCondition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly startTime?: string;
  readonly hostIP?: string;
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
}

export interface Pod extends KubeObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

/** A pod to be created: what it is, before a node is chosen for it. */
export interface NewPod {
  readonly apiVersion: "v1";
  readonly kind: "Pod";
  readonly metadata: NewMeta & { readonly name: string; readonly namespace: string };
  readonly spec: PodSpec;
}

export interface NodeStatus {
  readonly capacity?: Readonly<Record<string, string>>;
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly conditions?: readonly KindCondition[];
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
}

export interface Node extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: NodeStatus;
}

export interface ReplicaSetStatus {
  readonly replicas?: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly observedGeneration?: number;
}

export interface ReplicaSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
  };
  readonly status?: ReplicaSetStatus;
}

export interface DeploymentStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly conditions?: readonly KindCondition[];
}

export interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly progressDeadlineSeconds?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: {
        readonly maxSurge?: number | string;
        readonly maxUnavailable?: number | string;
      };
    };
  };
  readonly status?: DeploymentStatus;
}

export interface StatefulSetStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly currentReplicas?: number;
  readonly updatedReplicas?: number;
  readonly availableReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
}

export interface StatefulSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly podManagementPolicy?: string;
    readonly ordinals?: { readonly start?: number };
    readonly template: PodTemplate;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number };
    };
    readonly volumeClaimTemplates?: readonly {
      readonly metadata: NewMeta & { readonly name: string };
      readonly spec: Claim["spec"];
    }[];
  };
  readonly status?: StatefulSetStatus;
}

export interface DaemonSetStatus {
  readonly observedGeneration?: number;
  readonly desiredNumberScheduled?: number;
  readonly currentNumberScheduled?: number;
  readonly numberMisscheduled?: number;
  readonly numberReady?: number;
  readonly updatedNumberScheduled?: number;
  readonly numberAvailable?: number;
  readonly numberUnavailable?: number;
}

export interface DaemonSet extends KubeObject {
  readonly spec: {
    readonly minReadySeconds?: number;
    readonly template: PodTemplate;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxUnavailable?: number | string };
    };
  };
  readonly status?: DaemonSetStatus;
}

export interface JobStatus {
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly active?: number;
  readonly ready?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly completedIndexes?: string;
  readonly uncountedTerminatedPods?: Readonly<Record<string, never>>;
  readonly conditions?: readonly KindCondition[];
}

export interface Job extends KubeObject {
  readonly spec: {
    readonly parallelism?: number;
    readonly completions?: number;
    readonly completionMode?: string;
    readonly backoffLimit?: number;
    readonly activeDeadlineSeconds?: number;
    readonly ttlSecondsAfterFinished?: number;
    readonly suspend?: boolean;
    readonly template: PodTemplate;
  };
  readonly status?: JobStatus;
}

export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion?: string;
}

export interface CronJobStatus {
  readonly active?: readonly ObjectReference[];
  readonly lastSuccessfulTime?: string;
}

export interface CronJob extends KubeObject {
  readonly status?: CronJobStatus;
}

export interface ServiceStatus {
  readonly loadBalancer?: {
    readonly ingress?: readonly { readonly ip?: string; readonly ipMode?: string }[];
  };
}

export interface ServicePort {
  readonly name?: string;
  readonly protocol?: string;
  readonly port: number;
  readonly targetPort?: number | string;
}

export interface LoadBalanced extends KubeObject {
  readonly spec: {
    readonly type?: string;
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly ServicePort[];
  };
  readonly status?: ServiceStatus;
}

export interface SliceEndpoint {
  readonly addresses: readonly string[];
  readonly conditions: {
    readonly ready: boolean;
    readonly serving: boolean;
    readonly terminating: boolean;
  };
  readonly nodeName?: string;
}

export interface EndpointSlice extends KubeObject {
  readonly addressType: "IPv4";
  readonly ports: readonly {
    readonly name: string;
    readonly protocol: string;
    readonly port: number;
  }[];
  readonly endpoints: readonly SliceEndpoint[];
}

export interface ClaimStatus {
  readonly phase?: string;
  readonly accessModes?: readonly string[];
  readonly capacity?: Readonly<Record<string, string>>;
}

export interface Claim extends KubeObject {
  readonly spec: {
    readonly accessModes?: readonly string[];
    readonly volumeName?: string;
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  };
  readonly status?: ClaimStatus;
}

/** The node that a pod shall run on. Answered, never stored. */
export interface Binding extends KubeObject {
  readonly target: { readonly apiVersion: "v1"; readonly kind: "Node"; readonly name: string };
}

export const pods: Resource<Pod> = core("pods", "Pod");
export const nodes: Resource<Node> = core("nodes", "Node", false);
export const bindings: Resource<Binding> = core("bindings", "Binding");
export const services: Resource<LoadBalanced> = core("services", "Service");
export const endpointSlices: Resource<EndpointSlice> = grouped(
  "discovery.k8s.io",
  "endpointslices",
  "EndpointSlice",
);
export const claims: Resource<Claim> = core("persistentvolumeclaims", "PersistentVolumeClaim");
export const replicaSets: Resource<ReplicaSet> = grouped("apps", "replicasets", "ReplicaSet");
export const deployments: Resource<Deployment> = grouped("apps", "deployments", "Deployment");
export const statefulSets: Resource<StatefulSet> = grouped("apps", "statefulsets", "StatefulSet");
export const daemonSets: Resource<DaemonSet> = grouped("apps", "daemonsets", "DaemonSet");
export const jobs: Resource<Job> = grouped("batch", "jobs", "Job");
export const cronJobs: Resource<CronJob> = grouped("batch", "cronjobs", "CronJob");

function core<T extends KubeObject>(plural: string, kind: string, namespaced = true): Resource<T> {
  return { group: "", version: "v1", plural, kind, namespaced };
}

function grouped<T extends KubeObject>(group: string, plural: string, kind: string): Resource<T> {
  return { group, version: "v1", plural, kind, namespaced: true };
}
