/** Which checks hold for which kind, by `apiVersion/Kind`. */
import type { FieldError } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import type { AnyObject } from "../../object.ts";
import type { KindRules } from "../kind-rules.ts";
import * as access from "./access.ts";
import * as autoscaling from "./autoscaling.ts";
import * as batch from "./batch.ts";
import * as cluster from "./cluster-kinds.ts";
import * as core from "./core.ts";
import * as events from "./events.ts";
import type { Problems } from "./fields.ts";
import { partOf } from "./fields.ts";
import * as networking from "./networking.ts";
import { checkPod, checkPodTemplate, checkPodUpdate } from "./pod-validation.ts";
import * as services from "./services.ts";
import * as workloads from "./workloads.ts";

type Check = (problems: Problems, object: JsonObject) => void;
type UpdateCheck = (problems: Problems, object: JsonObject, old: JsonObject) => void;

type Validation = Pick<KindRules, "validateCreate" | "validateUpdate">;

/** The checks as the functions that KindRules wants. */
function checks(create: Check, update?: UpdateCheck): Validation {
  const validateCreate = (object: AnyObject): readonly FieldError[] => {
    const problems: Problems = [];
    create(problems, object as unknown as JsonObject);
    return problems;
  };
  if (update === undefined) return { validateCreate };
  const validateUpdate = (object: AnyObject, old: AnyObject): readonly FieldError[] => {
    const problems: Problems = [];
    update(problems, object as unknown as JsonObject, old as unknown as JsonObject);
    return problems;
  };
  return { validateCreate, validateUpdate };
}

const ADMISSION = "admissionregistration.k8s.io/v1";
const NETWORKING = "networking.k8s.io/v1";
const RBAC = "rbac.authorization.k8s.io/v1";
const STORAGE = "storage.k8s.io/v1";

export const validation: Readonly<Record<string, Validation>> = {
  "v1/Pod": checks(checkPod, checkPodUpdate),
  "v1/PodTemplate": checks((problems, object) =>
    checkPodTemplate(problems, "template", partOf(object, "template")),
  ),
  "v1/ReplicationController": checks(workloads.checkReplicationController),
  "v1/Service": checks(services.checkService, services.checkServiceUpdate),
  "v1/ConfigMap": checks(core.checkConfigMap, core.checkConfigMapUpdate),
  "v1/Secret": checks(core.checkSecret, core.checkSecretUpdate),
  "v1/PersistentVolumeClaim": checks(core.checkClaim, core.checkClaimUpdate),
  "v1/PersistentVolume": checks(core.checkVolume, core.checkVolumeUpdate),
  "v1/Node": checks(core.checkNode, core.checkNodeUpdate),
  "v1/Endpoints": checks(core.checkEndpoints),
  "v1/LimitRange": checks(core.checkLimitRange),
  "v1/ResourceQuota": checks(core.checkResourceQuota, core.checkResourceQuotaUpdate),
  "v1/Event": checks(events.checkEvent),
  "events.k8s.io/v1/Event": checks(events.checkNewEvent),
  "apps/v1/Deployment": checks(workloads.checkDeployment, workloads.checkSelectorUpdate),
  "apps/v1/ReplicaSet": checks(workloads.checkReplicaSet, workloads.checkSelectorUpdate),
  "apps/v1/DaemonSet": checks(workloads.checkDaemonSet, workloads.checkSelectorUpdate),
  "apps/v1/StatefulSet": checks(workloads.checkStatefulSet, workloads.checkStatefulSetUpdate),
  "apps/v1/ControllerRevision": checks(
    workloads.checkControllerRevision,
    workloads.checkControllerRevisionUpdate,
  ),
  "batch/v1/Job": checks(batch.checkJob, batch.checkJobUpdate),
  "batch/v1/CronJob": checks(batch.checkCronJob),
  [`${NETWORKING}/Ingress`]: checks(networking.checkIngress),
  [`${NETWORKING}/IngressClass`]: checks(
    networking.checkIngressClass,
    networking.checkIngressClassUpdate,
  ),
  [`${NETWORKING}/NetworkPolicy`]: checks(networking.checkNetworkPolicy),
  "discovery.k8s.io/v1/EndpointSlice": checks(
    networking.checkEndpointSlice,
    networking.checkEndpointSliceUpdate,
  ),
  [`${RBAC}/Role`]: checks(access.checkRole),
  [`${RBAC}/ClusterRole`]: checks(access.checkClusterRole),
  [`${RBAC}/RoleBinding`]: checks(access.checkRoleBinding, access.checkBindingUpdate),
  [`${RBAC}/ClusterRoleBinding`]: checks(access.checkClusterRoleBinding, access.checkBindingUpdate),
  "policy/v1/PodDisruptionBudget": checks(access.checkDisruptionBudget),
  "coordination.k8s.io/v1/Lease": checks(access.checkLease),
  "autoscaling/v1/HorizontalPodAutoscaler": checks(autoscaling.checkAutoscalerV1),
  "autoscaling/v2/HorizontalPodAutoscaler": checks(autoscaling.checkAutoscaler),
  [`${STORAGE}/StorageClass`]: checks(cluster.checkStorageClass, cluster.checkStorageClassUpdate),
  [`${STORAGE}/CSIDriver`]: checks(cluster.checkCsiDriver, cluster.checkCsiDriverUpdate),
  [`${STORAGE}/CSINode`]: checks(cluster.checkCsiNode),
  [`${STORAGE}/CSIStorageCapacity`]: checks(cluster.checkCsiCapacity),
  [`${STORAGE}/VolumeAttachment`]: checks(cluster.checkVolumeAttachment),
  [`${STORAGE}/VolumeAttributesClass`]: checks(cluster.checkAttributesClass),
  "scheduling.k8s.io/v1/PriorityClass": checks(
    cluster.checkPriorityClass,
    cluster.checkPriorityClassUpdate,
  ),
  [`${ADMISSION}/ValidatingWebhookConfiguration`]: checks(cluster.checkValidatingWebhooks),
  [`${ADMISSION}/MutatingWebhookConfiguration`]: checks(cluster.checkMutatingWebhooks),
  [`${ADMISSION}/ValidatingAdmissionPolicyBinding`]: checks(cluster.checkPolicyBinding),
  "apiregistration.k8s.io/v1/APIService": checks(cluster.checkApiService),
  "certificates.k8s.io/v1/CertificateSigningRequest": checks(cluster.checkSigningRequest),
};
