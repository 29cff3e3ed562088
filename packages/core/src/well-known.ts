/**
 * The keys that the control plane writes on templates, bindings, Works and objects in members. Clients and
 * existing manifests use them as they are, so they are kept byte for byte.
 */
export const BINDING_ID = "resourcebinding.karmada.io/permanent-id";
export const CLUSTER_BINDING_ID = "clusterresourcebinding.karmada.io/permanent-id";
/** The id of the policy that claims a template: on the policy, the template and the binding. */
export const POLICY_ID = "propagationpolicy.karmada.io/permanent-id";
export const CLUSTER_POLICY_ID = "clusterpropagationpolicy.karmada.io/permanent-id";
export const WORK_ID = "work.karmada.io/permanent-id";

/** The ownership mark of objects in members: label, value `true`. */
export const MANAGED = "karmada.io/managed";
export const RETAIN_REPLICAS = "resourcetemplate.karmada.io/retain-replicas";

/** On templates and bindings: the name of the policy that claims them. */
export const POLICY_NAMESPACE = "propagationpolicy.karmada.io/namespace";
export const POLICY_NAME = "propagationpolicy.karmada.io/name";
export const CLUSTER_POLICY_NAME = "clusterpropagationpolicy.karmada.io/name";
/** On a binding: JSON of the placement that was last carried out. */
export const APPLIED_PLACEMENT = "policy.karmada.io/applied-placement";

export const BINDING_NAMESPACE = "resourcebinding.karmada.io/namespace";
export const BINDING_NAME = "resourcebinding.karmada.io/name";
export const CLUSTER_BINDING_NAME = "clusterresourcebinding.karmada.io/name";
export const WORK_NAMESPACE = "work.karmada.io/namespace";
export const WORK_NAME = "work.karmada.io/name";
/** `overwrite` or `abort`. */
export const CONFLICT_RESOLUTION = "work.karmada.io/conflict-resolution";
export const TEMPLATE_UID = "resourcetemplate.karmada.io/uid";
export const TEMPLATE_GENERATION = "resourcetemplate.karmada.io/generation";
/** The keys a rendering put on an object, so that a later rendering without one of them takes it away again. */
export const MANAGED_LABELS = "resourcetemplate.karmada.io/managed-labels";
export const MANAGED_ANNOTATIONS = "resourcetemplate.karmada.io/managed-annotations";
export const APPLIED_OVERRIDES = "policy.karmada.io/applied-overrides";
export const APPLIED_CLUSTER_OVERRIDES = "policy.karmada.io/applied-cluster-overrides";

/** On a binding: the state saved by the last failover, written with the eviction (see rendering/preserved-state.ts). */
export const PRESERVED_STATE = "lifeboat.dev/preserved-state";

/**
 * On a Work that an eviction leaves behind. `Directly`, set before it is deleted: the copy and its pods must be gone
 * before the Work is. `Gracefully`, set while the eviction task stands: its later removal is the eviction's.
 */
export const PURGE_MODE = "lifeboat.dev/purge-mode";
/**
 * On a Work that a failing application leaves behind, set while the eviction task stands: the seconds after which the old
 * copy goes although some of its replicas may still serve (D9).
 */
export const GRACE_PERIOD = "lifeboat.dev/grace-period-seconds";

/** Annotation of a Pull Cluster: its agent deletes nothing, because the control plane was restored from a backup (D20). */
export const DELETIONS_HELD = "lifeboat.dev/deletions-held";
/**
 * On a Work of a Pull cluster: the uid of the Work, written by the control plane after it read the binding (D26). An agent makes
 * no first copy without it. See propagation/works/first-copy.ts.
 */
export const ENDORSED = "lifeboat.dev/endorsed";
/** On the Lease of a Pull cluster, value `v1`: its agent knows endorsements. */
export const ENDORSEMENT = "lifeboat.dev/endorsement";
/** On the same Lease: JSON of the copies without a Work that the agent found (see propagation/works/stray-report.ts). */
export const STRAY_COPIES = "lifeboat.dev/stray-copies";
/** On a Work, value `true`: it is there to be deleted, so that the agent removes a stray copy. */
export const REMOVES_STRAY = "lifeboat.dev/removes-stray";

/**
 * On the Secret of a Cluster: the apiEndpoint that its token was given for (several, separated by spaces). The token is sent
 * nowhere else, whatever the Cluster names.
 */
export const API_ENDPOINT = "lifeboat.dev/api-endpoint";
/** On the Secret of a Cluster, value `true`: its token may travel over plain HTTP, where any host on the way reads it. */
export const ALLOW_HTTP = "lifeboat.dev/allow-insecure-http";

/** On a Cluster, value `true`: when it is deleted, it goes without waiting for what is on it. */
export const FORCE_REMOVAL = "lifeboat.dev/force-removal";

/** On a binding: the digest of the template it was made from (see matching/digest.ts). */
export const TEMPLATE_DIGEST = "lifeboat.dev/template-digest";
/**
 * On a template that came from another API server, and on its binding: JSON of the uid and the generation that it had there (see
 * origin.ts).
 */
export const ORIGIN = "lifeboat.dev/origin";
/** On a template that a lazy policy claimed: its digest at that time. While it is the same, nothing is propagated. */
export const LAZY_SINCE = "lifeboat.dev/lazy-since";
/** Label of objects that something else takes care of: policies leave them alone. */
export const CLAIMED_BY = "resourcetemplate.karmada.io/claimed-by";

export const CLUSTER_FINALIZER = "karmada.io/cluster-controller";
export const BINDING_FINALIZER = "karmada.io/binding-controller";
export const CLUSTER_BINDING_FINALIZER = "karmada.io/cluster-resource-binding-controller";
export const DEPENDENCIES_FINALIZER = "karmada.io/binding-dependencies-distributor";
export const POLICY_FINALIZER = "karmada.io/propagation-policy-controller";
export const CLUSTER_POLICY_FINALIZER = "karmada.io/cluster-propagation-policy-controller";
export const EXECUTION_FINALIZER = "karmada.io/execution-controller";
/** The namespace of clusters' Secrets, here and in members. */
export const CLUSTER_NAMESPACE = "karmada-cluster";
/** Label of execution namespaces and of what joining makes, value `true`. */
export const SYSTEM = "karmada.io/system";
export const EXECUTION_NAMESPACE_PREFIX = "karmada-es-";
export const DEPENDED_BY_PREFIX = "resourcebinding.karmada.io/depended-by-";
/** On a workload's binding: JSON of what follows it (see dependencies/recorded.ts). */
export const DEPENDENCIES = "resourcebinding.karmada.io/dependencies";
/** On the binding of an object that follows workloads: the digest of the object when its version was last taken over. */
export const FOLLOWER_DIGEST = "lifeboat.dev/follower-digest";
/** On a workload, value `true`: the Services that select its pods follow it. */
export const PROPAGATE_SERVICES = "lifeboat.dev/propagate-services";
/** On a Namespace, value `true` in any case: it is not made in members by itself. */
export const SKIP_AUTO_PROPAGATION = "namespace.karmada.io/skip-auto-propagation";
/** Namespaces of the control plane itself. */
export const OWN_NAMESPACE = "lifeboat-system";
export const SYSTEM_NAMESPACES: readonly string[] = ["karmada-system", OWN_NAMESPACE];

/** On a Cluster: what taint policies remember (see taints/record.ts). */
export const TAINT_POLICIES = "lifeboat.dev/taint-policies";
/** On a Cluster: JSON, which Remedies caused which action, and since when (see remedy/actions/record.ts). */
export const REMEDY_SOURCES = "lifeboat.dev/remedy-sources";
/** The conditions of a Cluster that its observer reports, which is its agent where it pulls; see failover/health/. */
export const READY = "Ready";
export const COMPLETE_ENABLEMENTS = "CompleteAPIEnablements";
export const RESPONSES_WITHIN_LIMITS = "ResponsesWithinLimits";
/** The condition of a Cluster that a detector reports of name resolution. */
export const NAME_RESOLUTION = "ServiceDomainNameResolutionReady";
/** The types of all other conditions that detectors report begin so. */
export const DETECTOR_CONDITION_PREFIX = "detector.lifeboat.dev/";
/** The names of the Leases of detectors begin so. */
export const DETECTOR_LEASE_PREFIX = "detector-";
/** Label of the Leases of a detector: the cluster it is in. */
export const DETECTOR_OF = "lifeboat.dev/detector-of";
/** On the Lease of one instance of a detector: the type of the condition, and its verdict: True, False or Unknown. */
export const DETECTOR_CONDITION = "lifeboat.dev/detector-condition";
export const DETECTOR_VERDICT = "lifeboat.dev/detector-verdict";
/** On the budget of the fleet: the steps of the plane's clock that processes saw. */
export const CLOCK_STEPS = "lifeboat.dev/clock-steps";

/** On an object that a user changed: JSON of that act, stamped by admission alone (see history/act.ts). */
export const LAST_ACT = "lifeboat.dev/last-act";
/** In a write of a user: the reason of it. Admission moves it into the act. */
export const REASON = "lifeboat.dev/reason";

/** The key of the taint by which a person empties a cluster; its effect is NoExecute. */
export const DRAIN_TAINT = "lifeboat.dev/drain";
/** On a binding: JSON, by cluster, of the evacuation and taint it was last evicted for (see evacuation/entry.ts). */
export const EVICTED_FOR = "lifeboat.dev/evicted-for";
/** On a binding: the digest of the result that the control plane wrote last (see evacuation/own-result.ts). */
export const RESULT_DIGEST = "lifeboat.dev/result-digest";
/** On a policy, value `Hold`: a workload whose state lacks a key is not moved. */
export const STATE_FAILURE_POLICY = "lifeboat.dev/state-failure-policy";
/** On a policy, value `Required`: its workloads leave a faulty cluster only after a person approved it (D30). */
export const APPROVAL = "lifeboat.dev/approval";
/** On a policy, value `false`: a workload that moves gracefully does not carry its state. */
export const INJECT_ON_GRACEFUL = "lifeboat.dev/inject-on-graceful";
/** On a StatefulSet, value `true`: every cluster has a fixed part of it. */
export const FEDERATED = "federation.kubernetes.io/federated";
/** On a federated StatefulSet and its headless Service: `true` asks for one Service per pod. */
export const FEDERATED_SERVICES = "federation.kubernetes.io/statefulset-lb-needed";
/** On a federated StatefulSet: the type of those Services, `LoadBalancer` (default) or `ClusterIP`. */
export const FEDERATED_SERVICE_TYPE = "federation.kubernetes.io/service-type";
/** On a federated StatefulSet, value `true`: its pods form one quorum. */
export const FEDERATED_QUORUM = "federation.kubernetes.io/quorum";
/** On such a set and its binding: the departures that the application confirmed, `<pod>/<number>, …` (see federated/departure.ts). */
export const FEDERATED_LET_GO = "lifeboat.dev/let-go";
/** On such a set: a new value acknowledges that its Services and names go (see federated/objects/admission.ts). */
export const FEDERATED_ACKNOWLEDGED = "lifeboat.dev/gives-up-names";
/** On a member's copy of such a set: how many of its first pods form the quorum now; 0 once it is formed. */
export const FEDERATED_FOUNDERS = "lifeboat.dev/federated-founders";
/** Label of pods of such a set: `new` of those that formed the quorum, `existing` of those that joined it. */
export const FEDERATED_STATE = "lifeboat.dev/federated-state";
/** On the headless Service of a federated StatefulSet: the names of all its pods, `a, b, c`. */
export const FEDERATED_REPLICAS = "federation.kubernetes.io/stateful-replica-list";
/** Label of a pod of a federated StatefulSet: the name of the pod. The Service of that pod selects by it. */
export const FEDERATED_POD = "federated-statefulset";
/** On the binding of a federated StatefulSet: JSON, by cluster, how many replicas are its own (see federated/record.ts). */
export const FEDERATED_SHARES = "lifeboat.dev/federated-shares";
/** On the same binding: JSON of what else must not be lost (see federated/record.ts). */
export const FEDERATED_RECORD = "lifeboat.dev/federated-record";
/** Label of what is made for a federated StatefulSet, of its pods, and annotation of such bindings: the name of the set. */
export const FEDERATED_SET = "lifeboat.dev/federated-set";
/** Label of the same: the cluster that the pod runs in. */
export const FEDERATED_CLUSTER = "lifeboat.dev/federated-cluster";
/** Label of pods: a whole number that no other pod of the set has. */
export const FEDERATED_ID = "lifeboat.dev/federated-id";
/** Label in the pod template of a member's copy: what the ordinal is added to for that number. */
export const FEDERATED_ID_BASE = "lifeboat.dev/federated-id-base";

/** On a binding: JSON, by cluster, since when its copy there is unhealthy (see application-failover/timers.ts). */
export const UNHEALTHY_SINCE = "lifeboat.dev/unhealthy-since";
/** On a binding: JSON list of the clusters that it left because it was unhealthy there, until it is well again (D23). */
export const EVICTED_FROM = "lifeboat.dev/evicted-from";
/** On a Cluster: JSON of a person's declaration that it is off (see eviction/fence.ts). Removed when it answers again. */
export const FENCED = "lifeboat.dev/fenced";
/** On a binding: JSON of where it ran before it was last evicted (see evacuation/former-result.ts). */
export const FORMER_RESULT = "lifeboat.dev/former-result";
/** On a policy: its workloads return by themselves to where they ran before an outage (see operating/failback-rule.ts). */
export const FAILBACK = "lifeboat.dev/failback";
/** On a binding: the outage after which it returned by itself. */
export const FAILED_BACK = "lifeboat.dev/failed-back";
/** On a binding: the uid of the last order to place it again that was passed on (see rebalancing/rebalance.ts). */
export const ORDERED_BY = "lifeboat.dev/ordered-by";

/** Label of the Lease of a replica of the manager, in lifeboat-system, where replicas share out members. */
export const MANAGER_REPLICA = "lifeboat.dev/manager-replica";
/** On such a Lease: JSON of what the replica reports to the others (see clusters/shares/report.ts). */
export const REPLICA_REPORT = "lifeboat.dev/replica-report";

/** On a MultiClusterIngress: JSON of the backends that the control plane knows (see traffic/published.ts). */
export const BACKENDS = "lifeboat.dev/backends";
/** On a Service: `Pods` makes its pods the backends of ingresses, in the place of load balancers and nodes (see traffic/endpoints.ts). */
export const TRAFFIC_TARGET = "lifeboat.dev/traffic-target";
/** Label of the Lease of a load balancer, in lifeboat-system: which provider it is. */
export const TRAFFIC_PROVIDER = "lifeboat.dev/traffic-provider";
/** On such a Lease: JSON, by ingress, of the generation of backends that is carried out (see traffic/confirmation.ts). */
export const TRAFFIC_APPLIED = "lifeboat.dev/traffic-applied";
/** On such a Lease: the class of the ingresses that it serves beside those without one. */
export const TRAFFIC_CLASS = "lifeboat.dev/traffic-class";
