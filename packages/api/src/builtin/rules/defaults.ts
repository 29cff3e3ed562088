/**
 * The defaults of the built-in kinds, by `apiVersion/Kind`. The same two promises as in pod-defaults.ts hold: unchanged
 * parts are shared, and a second application changes nothing.
 *
 * Some things the server fills in when it creates an object rather than when it decodes one (a pod's phase and
 * service class) are here too: they depend on nothing but the object.
 */
import { encodeBase64 } from "../base64.ts";
import type { Json, JsonObject } from "../../json.ts";
import {
  copyOf,
  isAbsent,
  items,
  part,
  partOf,
  text,
  textMap,
  texts,
  withValue,
  withValues,
} from "./fields.ts";
import {
  changeList,
  changePart,
  defaultAzureDisk,
  defaultClaimSpec,
  defaultHostPath,
  defaultIscsi,
  defaultPod,
  defaultPodTemplate,
  defaultRbd,
  defaultScaleIo,
  roundQuantities,
} from "./pod-defaults.ts";

const UTF8 = new TextEncoder();

type Defaults = (object: JsonObject) => JsonObject;

/** Fills in the fields that are absent or empty strings; the object itself when none is. */
function fill(object: JsonObject, values: JsonObject): JsonObject {
  let next: Record<string, Json | undefined> | undefined;
  for (const name in values) {
    const value = object[name];
    if (!isAbsent(value) && value !== "") continue;
    // An empty text is filled with an empty one when what it is made from is empty: nothing changes then.
    if (value === values[name]) continue;
    next ??= copyOf(object);
    next[name] = values[name];
  }
  return next ?? object;
}

/** Changes a part that is always there, even if the object lacks it. */
function ensurePart(object: JsonObject, name: string, change: Defaults): JsonObject {
  const value = partOf(object, name);
  const next = change(value);
  return next === object[name] ? object : withValue(object, name, next);
}

const withSpec =
  (change: Defaults): Defaults =>
  (object) =>
    ensurePart(object, "spec", change);

const withTemplate =
  (change: Defaults): Defaults =>
  (object) =>
    ensurePart(object, "spec", (spec) => change(ensurePart(spec, "template", defaultPodTemplate)));

const QUARTER = "25%";

function defaultDeployment(spec: JsonObject): JsonObject {
  const next = ensurePart(spec, "strategy", (strategy) => {
    const typed = fill(strategy, { type: "RollingUpdate" });
    if (typed["type"] !== "RollingUpdate") return typed;
    return ensurePart(typed, "rollingUpdate", (update) =>
      fillAbsent(update, { maxUnavailable: QUARTER, maxSurge: QUARTER }),
    );
  });
  return fill(next, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
}

/** Like `fill`, where an empty string is a value. */
function fillAbsent(object: JsonObject, values: JsonObject): JsonObject {
  let next: Record<string, Json | undefined> | undefined;
  for (const name in values) {
    if (!isAbsent(object[name])) continue;
    next ??= copyOf(object);
    next[name] = values[name];
  }
  return next ?? object;
}

function defaultDaemonSet(spec: JsonObject): JsonObject {
  const next = ensurePart(spec, "updateStrategy", (strategy) => {
    const typed = fill(strategy, { type: "RollingUpdate" });
    if (typed["type"] !== "RollingUpdate") return typed;
    return ensurePart(typed, "rollingUpdate", (update) =>
      fillAbsent(update, { maxUnavailable: 1, maxSurge: 0 }),
    );
  });
  return fill(next, { revisionHistoryLimit: 10 });
}

function defaultStatefulSet(spec: JsonObject): JsonObject {
  let next = ensurePart(spec, "updateStrategy", (strategy) => {
    const typed =
      text(strategy, "type") === ""
        ? withValues(strategy, {
            type: "RollingUpdate",
            rollingUpdate: partOf(strategy, "rollingUpdate"),
          })
        : strategy;
    if (typed["type"] !== "RollingUpdate") return typed;
    return changePart(typed, "rollingUpdate", (update) => fillAbsent(update, { partition: 0 }));
  });
  next = ensurePart(next, "persistentVolumeClaimRetentionPolicy", (policy) =>
    fill(policy, { whenDeleted: "Retain", whenScaled: "Retain" }),
  );
  // A claim inside a set is written out as a whole object.
  next = changeList(next, "volumeClaimTemplates", (template) =>
    fill(defaultClaim(template), { kind: "PersistentVolumeClaim", apiVersion: "v1" }),
  );
  return fill(next, {
    podManagementPolicy: "OrderedReady",
    replicas: 1,
    revisionHistoryLimit: 10,
  });
}

const defaultReplicaSet: Defaults = (spec) => fill(spec, { replicas: 1 });

function defaultReplicationController(controller: JsonObject): JsonObject {
  const spec = partOf(controller, "spec");
  let nextSpec = fill(changePart(spec, "template", defaultPodTemplate), { replicas: 1 });
  const labels = part(partOf(partOf(spec, "template"), "metadata"), "labels");
  if (labels === undefined) return withPart(controller, "spec", nextSpec);
  if (Object.keys(partOf(spec, "selector")).length === 0) {
    nextSpec = withValues(nextSpec, { selector: labels });
  }
  return adoptLabels(withPart(controller, "spec", nextSpec), labels);
}

/** An object without labels takes those of its template. */
function adoptLabels(object: JsonObject, labels: JsonObject): JsonObject {
  const metadata = partOf(object, "metadata");
  if (Object.keys(partOf(metadata, "labels")).length > 0) return object;
  return withValues(object, { metadata: { ...metadata, labels } });
}

function withPart(object: JsonObject, name: string, value: JsonObject): JsonObject {
  return object[name] === value ? object : withValue(object, name, value);
}

function defaultJob(job: JsonObject): JsonObject {
  const spec = partOf(job, "spec");
  const next = withPart(job, "spec", defaultJobSpec(spec, true));
  const labels = part(partOf(partOf(spec, "template"), "metadata"), "labels");
  return labels === undefined ? next : adoptLabels(next, labels);
}

const MAX_INT32 = 2_147_483_647;

/** Inside a CronJob only the pod template is defaulted; the rest is when the job is made. */
function defaultJobSpec(spec: JsonObject, whole: boolean): JsonObject {
  let next = ensurePart(spec, "template", defaultPodTemplate);
  const policy = part(next, "podFailurePolicy");
  if (policy !== undefined) {
    next = changePart(next, "podFailurePolicy", (value) =>
      changeList(value, "rules", (rule) =>
        changeList(rule, "onPodConditions", (pattern) => fill(pattern, { status: "True" })),
      ),
    );
  }
  if (!whole) return next;
  if (next["completions"] === undefined && next["parallelism"] === undefined) {
    next = withValues(next, { completions: 1, parallelism: 1 });
  }
  return fill(next, {
    parallelism: 1,
    backoffLimit: next["backoffLimitPerIndex"] === undefined ? 6 : MAX_INT32,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: policy === undefined ? "TerminatingOrFailed" : "Failed",
    manualSelector: false,
  });
}

const CRON_JOB: JsonObject = {
  concurrencyPolicy: "Allow",
  suspend: false,
  successfulJobsHistoryLimit: 3,
  failedJobsHistoryLimit: 1,
};

function defaultCronJob(spec: JsonObject): JsonObject {
  const next = ensurePart(spec, "jobTemplate", (template) =>
    ensurePart(template, "spec", (job) => defaultJobSpec(job, false)),
  );
  return fill(next, CRON_JOB);
}

function defaultService(service: JsonObject): JsonObject {
  const spec = defaultServiceSpec(partOf(service, "spec"));
  const next = withPart(service, "spec", spec);
  if (text(spec, "type") !== "LoadBalancer") return next;
  return changePart(next, "status", (status) =>
    changePart(status, "loadBalancer", (balancer) =>
      changeList(balancer, "ingress", (ingress) =>
        text(ingress, "ip") !== "" ? fill(ingress, { ipMode: "VIP" }) : ingress,
      ),
    ),
  );
}

function defaultServiceSpec(spec: JsonObject): JsonObject {
  let next = fill(spec, { sessionAffinity: "None", type: "ClusterIP" });
  next = defaultAffinity(next);
  next = changeList(next, "ports", defaultServicePort);
  const type = text(next, "type");
  const open = type === "NodePort" || type === "LoadBalancer";
  if (open || (type === "ClusterIP" && texts(next, "externalIPs").length > 0)) {
    next = fill(next, { externalTrafficPolicy: "Cluster" });
  }
  if (open || type === "ClusterIP") next = fill(next, { internalTrafficPolicy: "Cluster" });
  if (type === "LoadBalancer") next = fill(next, { allocateLoadBalancerNodePorts: true });
  return next;
}

function defaultAffinity(spec: JsonObject): JsonObject {
  const affinity = text(spec, "sessionAffinity");
  const config = part(spec, "sessionAffinityConfig");
  if (affinity === "None" && config !== undefined) {
    const { sessionAffinityConfig: _dropped, ...rest } = spec;
    return rest;
  }
  const timeout = part(config, "clientIP")?.["timeoutSeconds"];
  if (affinity !== "ClientIP" || timeout !== undefined) return spec;
  return withValue(spec, "sessionAffinityConfig", { clientIP: { timeoutSeconds: 10_800 } });
}

function defaultServicePort(port: JsonObject): JsonObject {
  const next = fill(port, { protocol: "TCP" });
  const target = next["targetPort"];
  const unset = target === undefined || target === 0 || target === "";
  return unset && target !== next["port"]
    ? withValues(next, { targetPort: next["port"] ?? 0 })
    : next;
}

function defaultSecret(secret: JsonObject): JsonObject {
  const next = fill(secret, { type: "Opaque" });
  const plain = part(next, "stringData");
  if (plain === undefined) return next;
  const { stringData: _moved, ...rest } = next;
  const data: Record<string, Json | undefined> = { ...part(next, "data") };
  for (const key in plain) data[key] = encodeBase64(UTF8.encode(text(plain, key)));
  return { ...rest, data };
}

const METADATA_NAME = "kubernetes.io/metadata.name";

function defaultNamespace(namespace: JsonObject): JsonObject {
  const metadata = partOf(namespace, "metadata");
  const name = text(metadata, "name");
  const labels = textMap(metadata, "labels");
  let next = namespace;
  if (name !== "" && labels[METADATA_NAME] !== name) {
    next = withValues(next, {
      metadata: { ...metadata, labels: withValue(labels, METADATA_NAME, name) },
    });
  }
  return ensurePart(next, "status", (status) => fill(status, { phase: "Active" }));
}

function defaultVolume(volume: JsonObject): JsonObject {
  const next = ensurePart(volume, "spec", (spec) => {
    let changed = changePart(spec, "hostPath", defaultHostPath);
    changed = changePart(changed, "iscsi", defaultIscsi);
    changed = changePart(changed, "rbd", defaultRbd);
    changed = changePart(changed, "azureDisk", defaultAzureDisk);
    changed = changePart(changed, "scaleIO", defaultScaleIo);
    changed = changePart(changed, "capacity", roundQuantities);
    return fill(changed, { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" });
  });
  return ensurePart(next, "status", (status) => fill(status, { phase: "Pending" }));
}

function defaultClaim(claim: JsonObject): JsonObject {
  const next = ensurePart(claim, "spec", defaultClaimSpec);
  return ensurePart(next, "status", (status) => fill(status, { phase: "Pending" }));
}

const defaultEndpoints: Defaults = (object) =>
  changeList(object, "subsets", (subset) =>
    changeList(subset, "ports", (port) => fill(port, { protocol: "TCP" })),
  );

function defaultNode(node: JsonObject): JsonObject {
  return changePart(node, "status", (status) => {
    const rounded = changePart(
      changePart(status, "capacity", roundQuantities),
      "allocatable",
      roundQuantities,
    );
    const capacity = part(rounded, "capacity");
    if (capacity === undefined || rounded["allocatable"] !== undefined) return rounded;
    return withValues(rounded, { allocatable: capacity });
  });
}

const LIMITS = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] as const;

function defaultLimit(limit: JsonObject): JsonObject {
  let next = limit;
  for (const name of LIMITS) next = changePart(next, name, roundQuantities);
  if (text(next, "type") !== "Container") return next;
  const limits = { ...partOf(next, "max"), ...partOf(next, "default") };
  const requests = { ...partOf(next, "min"), ...limits, ...partOf(next, "defaultRequest") };
  const grown =
    Object.keys(limits).length > Object.keys(partOf(next, "default")).length ||
    Object.keys(requests).length > Object.keys(partOf(next, "defaultRequest")).length;
  if (!grown) return next;
  return {
    ...next,
    ...(Object.keys(limits).length === 0 ? {} : { default: limits }),
    ...(Object.keys(requests).length === 0 ? {} : { defaultRequest: requests }),
  };
}

const RBAC_GROUP = "rbac.authorization.k8s.io";

function defaultBinding(binding: JsonObject): JsonObject {
  const next = ensurePart(binding, "roleRef", (role) => fill(role, { apiGroup: RBAC_GROUP }));
  return changeList(next, "subjects", (subject) => {
    const kind = text(subject, "kind");
    return kind === "User" || kind === "Group" ? fill(subject, { apiGroup: RBAC_GROUP }) : subject;
  });
}

function defaultNetworkPolicy(spec: JsonObject): JsonObject {
  const ports: Defaults = (rule) =>
    changeList(rule, "ports", (port) => fill(port, { protocol: "TCP" }));
  const next = changeList(changeList(spec, "ingress", ports), "egress", ports);
  const types = items(next, "egress").length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
  return texts(next, "policyTypes").length > 0 ? next : withValues(next, { policyTypes: types });
}

const defaultIngressClass: Defaults = (spec) =>
  changePart(spec, "parameters", (parameters) => fill(parameters, { scope: "Cluster" }));

const DEFAULT_METRIC: JsonObject = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
};

const SCALE_UP: JsonObject = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};

const SCALE_DOWN: JsonObject = {
  selectPolicy: "Max",
  policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
};

function defaultAutoscaler(spec: JsonObject): JsonObject {
  let next = fill(spec, { minReplicas: 1 });
  if (items(next, "metrics").length === 0) next = withValues(next, { metrics: [DEFAULT_METRIC] });
  return changePart(next, "behavior", (behavior) => {
    const up = ensurePart(behavior, "scaleUp", (rules) => fill(rules, SCALE_UP));
    return ensurePart(up, "scaleDown", (rules) => fill(rules, SCALE_DOWN));
  });
}

/** The older version always names its target, because v2 stores it as a metric. */
const defaultAutoscalerV1: Defaults = (spec) =>
  fill(spec, { minReplicas: 1, targetCPUUtilizationPercentage: 80 });

/** Fields of a leader election that is switched off in the server we follow are not kept. */
function defaultLease(spec: JsonObject): JsonObject {
  if (spec["strategy"] === undefined && spec["preferredHolder"] === undefined) return spec;
  const { strategy: _off, preferredHolder: _alsoOff, ...rest } = spec;
  return rest;
}

const defaultEndpointSlice: Defaults = (slice) =>
  changeList(slice, "ports", (port) => fill(fillAbsent(port, { name: "" }), { protocol: "TCP" }));

const CSI_DRIVER: JsonObject = {
  attachRequired: true,
  podInfoOnMount: false,
  storageCapacity: false,
  fsGroupPolicy: "ReadWriteOnceWithFSType",
  requiresRepublish: false,
  seLinuxMount: false,
};

function defaultCsiDriver(spec: JsonObject): JsonObject {
  const next = fill(spec, CSI_DRIVER);
  return texts(next, "volumeLifecycleModes").length > 0
    ? next
    : withValues(next, { volumeLifecycleModes: ["Persistent"] });
}

const WEBHOOK: JsonObject = {
  failurePolicy: "Fail",
  matchPolicy: "Equivalent",
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
};

function defaultWebhook(webhook: JsonObject, more: JsonObject): JsonObject {
  let next = fill(webhook, WEBHOOK);
  next = fill(next, more);
  next = changeList(next, "rules", (rule) => fill(rule, { scope: "*" }));
  return changePart(next, "clientConfig", (config) =>
    changePart(config, "service", (service) => fill(service, { port: 443 })),
  );
}

const defaultWebhooks =
  (more: JsonObject): Defaults =>
  (object) =>
    changeList(object, "webhooks", (webhook) => defaultWebhook(webhook, more));

const MATCH: JsonObject = {
  matchPolicy: "Equivalent",
  namespaceSelector: {},
  objectSelector: {},
};

function defaultMatchResources(match: JsonObject): JsonObject {
  const scope: Defaults = (rule) => fill(rule, { scope: "*" });
  const next = changeList(fill(match, MATCH), "resourceRules", scope);
  return changeList(next, "excludeResourceRules", scope);
}

const defaultAdmissionPolicy: Defaults = (spec) =>
  fill(changePart(spec, "matchConstraints", defaultMatchResources), { failurePolicy: "Fail" });

const defaultAdmissionBinding: Defaults = (spec) =>
  changePart(spec, "matchResources", defaultMatchResources);

function defaultDefinition(spec: JsonObject): JsonObject {
  const next = ensurePart(spec, "names", (names) => {
    const kind = text(names, "kind");
    const singular = fill(names, { singular: kind.toLowerCase() });
    return kind === "" ? singular : fill(singular, { listKind: `${kind}List` });
  });
  return ensurePart(next, "conversion", (conversion) =>
    changePart(fill(conversion, { strategy: "None" }), "webhook", (webhook) =>
      changePart(webhook, "clientConfig", (config) =>
        changePart(config, "service", (service) => fill(service, { port: 443 })),
      ),
    ),
  );
}

const defaultApiService: Defaults = (spec) =>
  changePart(spec, "service", (service) => fill(service, { port: 443 }));

export const defaults: Readonly<Record<string, Defaults>> = {
  "v1/Pod": defaultPod,
  "v1/PodTemplate": (object) => ensurePart(object, "template", defaultPodTemplate),
  "v1/ReplicationController": defaultReplicationController,
  "v1/Service": defaultService,
  "v1/Secret": defaultSecret,
  "v1/Namespace": defaultNamespace,
  "v1/PersistentVolume": defaultVolume,
  "v1/PersistentVolumeClaim": defaultClaim,
  "v1/Endpoints": defaultEndpoints,
  "v1/Node": defaultNode,
  "v1/LimitRange": withSpec((spec) => changeList(spec, "limits", defaultLimit)),
  "v1/ResourceQuota": withSpec((spec) => changePart(spec, "hard", roundQuantities)),
  "apps/v1/Deployment": withTemplate(defaultDeployment),
  "apps/v1/ReplicaSet": withTemplate(defaultReplicaSet),
  "apps/v1/DaemonSet": withTemplate(defaultDaemonSet),
  "apps/v1/StatefulSet": withTemplate(defaultStatefulSet),
  "batch/v1/Job": defaultJob,
  "batch/v1/CronJob": withSpec(defaultCronJob),
  "networking.k8s.io/v1/NetworkPolicy": withSpec(defaultNetworkPolicy),
  "networking.k8s.io/v1/IngressClass": withSpec(defaultIngressClass),
  "rbac.authorization.k8s.io/v1/RoleBinding": defaultBinding,
  "rbac.authorization.k8s.io/v1/ClusterRoleBinding": defaultBinding,
  "autoscaling/v1/HorizontalPodAutoscaler": withSpec(defaultAutoscalerV1),
  "autoscaling/v2/HorizontalPodAutoscaler": withSpec(defaultAutoscaler),
  "coordination.k8s.io/v1/Lease": withSpec(defaultLease),
  "discovery.k8s.io/v1/EndpointSlice": defaultEndpointSlice,
  "storage.k8s.io/v1/StorageClass": (object) =>
    fill(object, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
  "storage.k8s.io/v1/CSIDriver": withSpec(defaultCsiDriver),
  "scheduling.k8s.io/v1/PriorityClass": (object) =>
    fill(object, { preemptionPolicy: "PreemptLowerPriority" }),
  "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration": defaultWebhooks({}),
  "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration": defaultWebhooks({
    reinvocationPolicy: "Never",
  }),
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy": withSpec(defaultAdmissionPolicy),
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding":
    withSpec(defaultAdmissionBinding),
  "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy": withSpec(defaultAdmissionPolicy),
  "admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding":
    withSpec(defaultAdmissionBinding),
  "apiextensions.k8s.io/v1/CustomResourceDefinition": withSpec(defaultDefinition),
  "apiregistration.k8s.io/v1/APIService": withSpec(defaultApiService),
};
