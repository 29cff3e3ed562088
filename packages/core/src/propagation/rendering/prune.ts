/**
 * Taking out of a template what must not reach a member: what a server fills in on its own, and what controllers of the
 * control plane's side decided for their side.
 *
 * 1. Pruning twice is pruning once.
 * 2. Fields that are not named here stay as they are, unknown ones included.
 */
import {
  type Fields,
  fieldsAt,
  isFields,
  listAt,
  textAt,
  valueAt,
  without,
  withValue,
} from "../../fields.ts";
import {
  FEDERATED_ACKNOWLEDGED,
  FEDERATED_LET_GO,
  FEDERATED_REPLICAS,
  FEDERATED_SERVICES,
  ORIGIN,
} from "../../well-known.ts";
import { TOKEN_SECRET } from "../interpretation/kinds/secret.ts";

const SERVER_METADATA = [
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "managedFields",
  "resourceVersion",
  "selfLink",
  "uid",
  "ownerReferences",
  "finalizers",
];

/** Labels that a Job's own controller gives to its pods. */
const JOB_LABELS = [
  "controller-uid",
  "job-name",
  "batch.kubernetes.io/controller-uid",
  "batch.kubernetes.io/job-name",
];

const RULES: ReadonlyMap<string, (object: Fields) => Fields> = new Map([
  [
    "apps/v1 Deployment",
    (object: Fields) => withoutAnnotation(object, "deployment.kubernetes.io/revision"),
  ],
  [
    "apps/v1 DaemonSet",
    // Every server counts it for itself.
    (object: Fields) => withoutAnnotation(object, "deprecated.daemonset.template.generation"),
  ],
  [
    "apps/v1 StatefulSet",
    // Confirmations are for the control plane alone.
    (object: Fields) =>
      [FEDERATED_LET_GO, FEDERATED_ACKNOWLEDGED].reduce(withoutAnnotation, object),
  ],
  ["batch/v1 Job", pruneJob],
  ["v1 ServiceAccount", pruneServiceAccount],
  ["v1 Secret", pruneSecret],
  ["v1 Service", pruneService],
  [
    "v1 PersistentVolumeClaim",
    (object: Fields) => withoutAnnotation(object, "volume.kubernetes.io/selected-node"),
  ],
]);

export function prune(object: Fields): Fields {
  const bare = without(object, "status");
  const metadata = without(fieldsAt(bare, "metadata"), ...SERVER_METADATA);
  const pruned = withoutAnnotation(withValue(bare, ["metadata"], metadata), ORIGIN);
  const rule = RULES.get(`${textAt(object, "apiVersion")} ${textAt(object, "kind")}`);
  return rule === undefined ? pruned : rule(pruned);
}

/** The labels of the pods also stand on the Job itself, because servers copy them there. */
function pruneJob(object: Fields): Fields {
  const bare = withValue(object, ["spec", "ttlSecondsAfterFinished"], undefined);
  if (valueAt(object, "spec", "manualSelector") === true) return bare;
  let pruned = withValue(bare, ["spec", "selector"], undefined);
  for (const path of [
    ["metadata", "labels"],
    ["spec", "template", "metadata", "labels"],
  ]) {
    const labels = valueAt(pruned, ...path);
    if (isFields(labels)) pruned = withValue(pruned, path, without(labels, ...JOB_LABELS));
  }
  return pruned;
}

function pruneServiceAccount(object: Fields): Fields {
  const prefix = `${textAt(object, "metadata", "name")}-token-`;
  const secrets = listAt(object, "secrets");
  const kept = secrets.filter((secret) => !textAt(secret, "name").startsWith(prefix));
  if (kept.length === secrets.length) return object;
  return withValue(object, ["secrets"], kept.length === 0 ? undefined : kept);
}

function pruneSecret(object: Fields): Fields {
  if (valueAt(object, "type") !== TOKEN_SECRET) return object;
  return withoutAnnotation(without(object, "data"), "kubernetes.io/service-account.uid");
}

/**
 * A headless Service is headless everywhere; other addresses are the member's to give. Node ports stay: one that the user
 * chose looks like one that a server gave, and dropping what a user wrote would be worse than the refusal of a member
 * where the port is taken, which is reported. An override policy can take them out. What the control plane writes on the
 * headless Service of a federated StatefulSet is for its own side.
 */
function pruneService(service: Fields): Fields {
  const object = [FEDERATED_SERVICES, FEDERATED_REPLICAS].reduce(withoutAnnotation, service);
  if (valueAt(object, "spec", "clusterIP") === "None") return object;
  const spec = valueAt(object, "spec");
  if (!isFields(spec)) return object;
  return withValue(object, ["spec"], without(spec, "clusterIP", "clusterIPs"));
}

function withoutAnnotation(object: Fields, name: string): Fields {
  return withValue(object, ["metadata", "annotations", name], undefined);
}
