/**
 * The identity and the rights of the detector of one cluster (D25): it reads its own Cluster, writes the conditions of it that belong to
 * detectors, writes its own Leases in the execution namespace of the cluster, and renews its own certificate. Nothing else, and never as the cluster's agent.
 *
 * RBAC binds it to the objects; `detectorRefusal` binds it to the field and to the names.
 */
import { type AnyObject, equalJson, type New } from "@lifeboat/api";
import { fieldsAt, listAt, textAt, without } from "../../fields.ts";
import { executionNamespace } from "../../propagation/rendering/index.ts";
import {
  DETECTOR_CONDITION_PREFIX,
  DETECTOR_LEASE_PREFIX,
  DETECTOR_OF,
  NAME_RESOLUTION,
  SYSTEM,
} from "../../well-known.ts";
import type { AgentWrite } from "./agent-admission.ts";
import { isDetectorCondition } from "./detector-condition.ts";
import {
  clusterOfDetector,
  detectorIdentity,
  detectorRoleName,
  DETECTORS_GROUP,
  detectorUser,
  isDetectorUser,
} from "./identity.ts";
import { requestRefusal } from "./own-request.ts";

/** A Cluster is read often: what one detector can add to it is bounded. */
const MAX_CONDITIONS = 16;
const RBAC = "rbac.authorization.k8s.io";

/** Whether a write is a detector's, or of a user that claims to be one; `detectorRefusal` then judges it. */
export function isDetectorsWrite({ user }: Pick<AgentWrite, "user">): boolean {
  return isDetectorUser(user.name) || user.groups.includes(DETECTORS_GROUP);
}

/** Why a detector may not write this; undefined when it may. */
export function detectorRefusal(write: AgentWrite): string | undefined {
  const { user, group, plural } = write;
  const cluster = clusterOfDetector(user.name);
  if (cluster === undefined || !user.groups.includes(DETECTORS_GROUP))
    return "the user is in the group of detectors, or named like one, and is the detector of no cluster";
  if (group === "cluster.karmada.io" && plural === "clusters") return checkCluster(cluster, write);
  if (group === "coordination.k8s.io" && plural === "leases") return checkLease(cluster, write);
  if (group === "certificates.k8s.io" && plural === "certificatesigningrequests")
    return requestRefusal("detector", cluster, detectorIdentity(cluster), write);
  return "a detector writes no objects of this kind";
}

function checkCluster(cluster: string, write: AgentWrite): string | undefined {
  const { name, operation, subresource, object, old } = write;
  if (name !== cluster) return `the detector of cluster ${cluster} writes no other Cluster`;
  if (operation !== "UPDATE" || subresource !== "status")
    return "a detector writes nothing of a Cluster but its status";
  const rest = (value: unknown) => without(fieldsAt(value, "status"), "conditions");
  const all = (value: unknown) => listAt(value, "status", "conditions");
  const isOwn = (one: unknown) => isDetectorCondition(textAt(one, "type"));
  const others = (value: unknown) => all(value).filter((one) => !isOwn(one));
  if (all(object).filter(isOwn).length > Math.max(MAX_CONDITIONS, all(old).filter(isOwn).length))
    return `the detectors of a cluster report at most ${MAX_CONDITIONS} conditions`;
  return equalJson(rest(object), rest(old)) && equalJson(others(object), others(old))
    ? undefined
    : `a detector writes nothing of the status but the conditions ${NAME_RESOLUTION} and ${DETECTOR_CONDITION_PREFIX}*`;
}

function checkLease(cluster: string, write: AgentWrite): string | undefined {
  const { namespace, name, object, operation } = write;
  if (namespace !== executionNamespace(cluster) || !name.startsWith(DETECTOR_LEASE_PREFIX))
    return `the detector of cluster ${cluster} writes Leases ${DETECTOR_LEASE_PREFIX}* in ${executionNamespace(cluster)} alone`;
  const label = textAt(object, "metadata", "labels", DETECTOR_OF);
  return operation === "DELETE" || label === "" || label === cluster
    ? undefined
    : `the label ${DETECTOR_OF} of this Lease must be ${cluster}`;
}

/** The RBAC objects of a cluster's detector; the execution namespace has to exist. */
export function detectorRoleObjects(cluster: string): readonly New<AnyObject>[] {
  const namespace = executionNamespace(cluster);
  const name = detectorRoleName(cluster);
  const labels = { [SYSTEM]: "true", [DETECTOR_OF]: cluster };
  const apiVersion = `${RBAC}/v1`;
  const subjects = [{ apiGroup: RBAC, kind: "User", name: detectorUser(cluster) }];
  const own = { apiGroups: ["cluster.karmada.io"], resourceNames: [cluster] };
  const requests = {
    apiGroups: ["certificates.k8s.io"],
    resources: ["certificatesigningrequests"],
  };
  const rules = [
    { ...own, resources: ["clusters"], verbs: ["get", "list", "watch"] },
    { ...own, resources: ["clusters/status"], verbs: ["update"] },
    {
      ...requests,
      resourceNames: [detectorIdentity(cluster).requestName],
      verbs: ["get", "delete"],
    },
    // RBAC binds no creation to a name: admission does.
    { ...requests, verbs: ["create"] },
  ];
  const verbs = ["get", "list", "watch", "create", "update"];
  const leaseRules = [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs }];
  const roleRef = { apiGroup: RBAC, name };
  return [
    { apiVersion, kind: "ClusterRole", metadata: { name, labels }, rules },
    {
      apiVersion,
      kind: "ClusterRoleBinding",
      metadata: { name, labels },
      roleRef: { ...roleRef, kind: "ClusterRole" },
      subjects,
    },
    { apiVersion, kind: "Role", metadata: { name, namespace, labels }, rules: leaseRules },
    {
      apiVersion,
      kind: "RoleBinding",
      metadata: { name, namespace, labels },
      roleRef: { ...roleRef, kind: "Role" },
      subjects,
    },
  ];
}
