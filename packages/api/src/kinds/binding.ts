/**
 * ResourceBinding and ClusterResourceBinding: one resource, where it runs, what is being moved, and what its copies
 * report. The two differ in scope only: they are for resources with and without a namespace.
 */
import { type FieldError, invalid } from "../field-error.ts";
import type { KubeObject } from "../object.ts";
import {
  ageColumn,
  conditionColumn,
  declareKind,
  type DeclaredObject,
} from "./builder/kind-declaration.ts";
import {
  anyObject,
  choice,
  flag,
  integer,
  list,
  longInteger,
  map,
  object,
  optional,
  quantity,
  type Static,
  text,
  time,
  withDefault,
} from "./builder/shape.ts";
import { conditions } from "./shared/conditions.ts";
import { failover, PURGE_MODES } from "./shared/failover.ts";
import { validatePermanentId, withPermanentId } from "./shared/permanent-id.ts";
import { placement, targetCluster } from "./shared/placement.ts";
import { suspensionFields } from "./shared/suspension.ts";

const objectReference = object("The resource.", {
  apiVersion: text("Its group and version."),
  kind: text("Its kind."),
  namespace: optional(text("Its namespace.")),
  name: text("Its name."),
  uid: optional(text("Its uid.")),
  resourceVersion: optional(text("The version of it that was last read.")),
});

const replicaRequirements = object("What one replica needs.", {
  nodeClaim: optional(
    object("Which nodes it can run on.", {
      hardNodeAffinity: optional(anyObject("A node selector.")),
      nodeSelector: optional(map("Node labels.", text("A value."))),
      tolerations: optional(list("Taints of nodes it puts up with.", anyObject("A toleration."))),
    }),
  ),
  resourceRequest: optional(map("How much of each resource.", quantity("An amount."))),
  namespace: optional(text("The namespace of the workload.")),
  priorityClassName: optional(text("Its priority class.")),
});

const evictionTask = object("A copy that is leaving a cluster.", {
  fromCluster: text("The cluster it leaves."),
  purgeMode: optional(choice("What becomes of the old copy.", PURGE_MODES)),
  replicas: optional(integer("How many replicas leave; absent: the workload has none.")),
  reason: text("Why, as one word.", {
    minLength: 1,
    maxLength: 32,
    pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
  }),
  message: optional(text("Why, for people.", { maxLength: 1024 })),
  producer: text("The controller, or the person, that decided it."),
  gracePeriodSeconds: optional(integer("The longest wait for the new copy.")),
  suppressDeletion: optional(flag("true: the old copy stays until a person sets it to false.")),
  preservedLabelState: optional(
    map("Labels for the new copy, from the old one's status.", text("A value.")),
  ),
  creationTimestamp: optional(time("When the task was first seen.")),
  clustersBeforeFailover: optional(
    list("Where the workload ran before.", text("A cluster's name.")),
  ),
});

const spec = object("The resource, and where it runs.", {
  resource: objectReference,
  propagateDeps: optional(flag("What the resource refers to goes where it goes.")),
  replicaRequirements: optional(replicaRequirements),
  replicas: optional(integer("How many replicas the resource asks for.")),
  components: optional(
    list(
      "The parts of a workload that has several.",
      object("One part.", {
        name: text("Its name.", { maxLength: 32 }),
        replicas: integer("How many replicas of it."),
        replicaRequirements: optional(replicaRequirements),
      }),
    ),
  ),
  clusters: optional(list("Where it runs: the schedule.", targetCluster)),
  placement: optional(placement),
  gracefulEvictionTasks: optional(list("Copies that are leaving clusters.", evictionTask)),
  requiredBy: optional(
    list(
      "The bindings of workloads that need this resource.",
      object("One of them.", {
        namespace: optional(text("Its namespace.")),
        name: text("Its name."),
        clusters: optional(list("Where it runs.", targetCluster)),
      }),
    ),
  ),
  schedulerName: optional(text("The scheduler that places the resource.")),
  failover: optional(failover),
  conflictResolution: withDefault(
    choice("What to do about an object of the same name in the member.", ["Abort", "Overwrite"]),
    "Abort",
  ),
  rescheduleTriggeredAt: optional(time("Place it again if this is later than the last placement.")),
  suspension: optional(
    object("Holds back work on this resource.", {
      ...suspensionFields,
      scheduling: optional(flag("true: it is not placed.")),
    }),
  ),
  preserveResourcesOnDeletion: optional(flag("Leave the copies in the members on deletion.")),
  schedulePriority: optional(
    object("The order in which the scheduler serves bindings.", {
      priority: withDefault(integer("Higher is earlier."), 0),
    }),
  ),
  workloadAffinityGroups: optional(
    object("The groups it belongs to.", {
      affinityGroup: optional(text("key=value of the group it runs with.")),
      antiAffinityGroup: optional(text("key=value of the group it avoids.")),
    }),
  ),
});

const status = object("What became of it.", {
  schedulerObservedGeneration: optional(longInteger("The generation last placed.")),
  schedulerObservingAffinityName: optional(text("The group of clusterAffinities in use.")),
  lastScheduledTime: optional(time("When it was last placed.")),
  conditions: optional(
    conditions(
      "Scheduled, FullyApplied; StatusUpToDate while clusters are not Ready, so that what their copies report may be outdated.",
    ),
  ),
  aggregatedStatus: optional(
    list(
      "What each copy reports.",
      object("One copy.", {
        clusterName: text("Its cluster."),
        status: optional(anyObject("Its status.")),
        applied: optional(flag("Whether it was written as wanted.")),
        appliedMessage: optional(text("Why not.")),
        health: optional(choice("Whether it is well.", ["Healthy", "Unhealthy", "Unknown"])),
      }),
    ),
  ),
});

export type EvictionTask = Static<typeof evictionTask>;
export type BindingSpec = Static<typeof spec>;
export type BindingStatus = Static<typeof status>;

const shared = {
  group: "work.karmada.io",
  version: "v1alpha2",
  categories: ["karmada-io"],
  columns: [
    conditionColumn("SCHEDULED", "Scheduled"),
    conditionColumn("FULLYAPPLIED", "FullyApplied"),
    ageColumn,
    { ...conditionColumn("STATUSUPTODATE", "StatusUpToDate"), priority: 1 },
  ],
  spec,
  status,
} as const;

const BINDING_ID = "resourcebinding.karmada.io/permanent-id";
const CLUSTER_BINDING_ID = "clusterresourcebinding.karmada.io/permanent-id";
const DEPENDENCIES = "resourcebinding.karmada.io/dependencies";

export const resourceBindingKind = declareKind({
  ...shared,
  kind: "ResourceBinding",
  plural: "resourcebindings",
  namespaced: true,
  description: "A resource of this namespace, bound to clusters.",
  shortNames: ["rb"],
  prepare: (binding, context) => withPermanentId(binding, BINDING_ID, context),
  rules: (binding, old) => [
    ...validatePermanentId(binding, old, BINDING_ID),
    ...validateDependencies(binding),
  ],
});

export type ResourceBinding = DeclaredObject<typeof resourceBindingKind>;
export const resourceBindings = resourceBindingKind.resource;

export const clusterResourceBindingKind = declareKind({
  ...shared,
  kind: "ClusterResourceBinding",
  plural: "clusterresourcebindings",
  namespaced: false,
  description: "A resource without a namespace, bound to clusters.",
  shortNames: ["crb"],
  prepare: (binding, context) => withPermanentId(binding, CLUSTER_BINDING_ID, context),
  rules: (binding, old) => validatePermanentId(binding, old, CLUSTER_BINDING_ID),
});

export type ClusterResourceBinding = DeclaredObject<typeof clusterResourceBindingKind>;
export const clusterResourceBindings = clusterResourceBindingKind.resource;

function validateDependencies({ metadata }: KubeObject): FieldError[] {
  const value = metadata.annotations?.[DEPENDENCIES];
  if (value === undefined || isJson(value)) return [];
  return [invalid(`metadata.annotations[${DEPENDENCIES}]`, value, "must be JSON")];
}

function isJson(value: string): boolean {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}
