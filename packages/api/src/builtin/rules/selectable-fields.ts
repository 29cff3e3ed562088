/** Field selectors beyond metadata.name and metadata.namespace, by `apiVersion/Kind`. Absent fields select as "". */
import type { JsonObject } from "../../json.ts";
import type { AnyObject } from "../../object.ts";
import { count, part, partOf, text } from "./fields.ts";

type Select = (object: AnyObject) => string;
type Selectable = Readonly<Record<string, Select>>;

/** The string at `a.b.c`. */
function textAt(path: string): Select {
  const names = path.split(".");
  const last = names.pop() ?? "";
  return (object) => {
    let at: JsonObject | undefined = object as unknown as JsonObject;
    for (const name of names) at = part(at, name);
    return text(at, last);
  };
}

/** Every path selects the string it names. */
function textsAt(...paths: readonly string[]): Selectable {
  return Object.fromEntries(paths.map((path) => [path, textAt(path)]));
}

function numberIn(section: string, field: string): Select {
  return (object) => String(count(partOf(object as unknown as JsonObject, section), field));
}

function flagIn(section: string, field: string): Select {
  return (object) => String(partOf(object as unknown as JsonObject, section)[field] === true);
}

const events: Selectable = {
  ...textsAt(
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "type",
  ),
  source: (object) =>
    textAt("source.component")(object) ||
    text(object as unknown as JsonObject, "reportingComponent"),
};

const newEvents: Selectable = {
  ...textsAt(
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reason",
    "reportingController",
    "type",
  ),
};

const replicas: Selectable = { "status.replicas": numberIn("status", "replicas") };

export const selectableFields: Readonly<Record<string, Selectable>> = {
  "v1/Pod": {
    ...textsAt(
      "spec.nodeName",
      "spec.restartPolicy",
      "spec.schedulerName",
      "spec.serviceAccountName",
      "status.phase",
      "status.podIP",
      "status.nominatedNodeName",
    ),
    "spec.hostNetwork": flagIn("spec", "hostNetwork"),
  },
  "v1/Event": events,
  "events.k8s.io/v1/Event": newEvents,
  "v1/Secret": textsAt("type"),
  "v1/Namespace": textsAt("status.phase"),
  "v1/Node": { "spec.unschedulable": flagIn("spec", "unschedulable") },
  "v1/Service": textsAt("spec.clusterIP", "spec.type"),
  "v1/ReplicationController": replicas,
  "apps/v1/ReplicaSet": replicas,
  "batch/v1/Job": { "status.successful": numberIn("status", "succeeded") },
  "certificates.k8s.io/v1/CertificateSigningRequest": textsAt("spec.signerName"),
};
