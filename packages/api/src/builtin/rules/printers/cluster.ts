/** Tables of what a cluster consists of, and what it tells. */
import type { JsonObject } from "../../../json.ts";
import { count, items, part, partOf, text, textMap } from "../fields.ts";
import { ageOf } from "../human-duration.ts";
import {
  nameOf,
  objectAge,
  plainPrinter,
  printer,
  type Printers,
  textPrinter,
} from "../printer.ts";

const node = printer(
  [
    "Name:name",
    "Status",
    "Roles",
    "Age",
    "Version",
    "Internal-IP*",
    "External-IP*",
    "OS-Image*",
    "Kernel-Version*",
    "Container-Runtime*",
  ],
  (object, now) => {
    const status = partOf(object, "status");
    const info = partOf(status, "nodeInfo");
    const architecture = text(info, "architecture");
    const kernel = text(info, "kernelVersion") || "<unknown>";
    return [
      nameOf(object),
      nodeStatus(object),
      nodeRoles(object) || "<none>",
      objectAge(object, now),
      text(info, "kubeletVersion"),
      nodeAddress(status, "InternalIP"),
      nodeAddress(status, "ExternalIP"),
      text(info, "osImage") || "<unknown>",
      architecture === "" ? kernel : `${kernel} (${architecture})`,
      text(info, "containerRuntimeVersion") || "<unknown>",
    ];
  },
);

function nodeStatus(object: JsonObject): string {
  const ready = items(partOf(object, "status"), "conditions").findLast(
    (condition) => text(condition, "type") === "Ready",
  );
  const word =
    ready === undefined ? "Unknown" : text(ready, "status") === "True" ? "Ready" : "NotReady";
  return partOf(object, "spec")["unschedulable"] === true ? `${word},SchedulingDisabled` : word;
}

function nodeRoles(object: JsonObject): string {
  const labels = textMap(partOf(object, "metadata"), "labels");
  const roles = new Set<string>();
  for (const key in labels) {
    if (key.startsWith("node-role.kubernetes.io/")) roles.add(key.slice(24));
    else if (key === "kubernetes.io/role") roles.add(labels[key] as string);
  }
  roles.delete("");
  return [...roles].toSorted().join(",");
}

function nodeAddress(status: JsonObject, type: string): string {
  const address = items(status, "addresses").find((candidate) => text(candidate, "type") === type);
  return address === undefined ? "<none>" : text(address, "address");
}

const event = printer(
  [
    "Last Seen",
    "Type",
    "Reason",
    "Object",
    "Subobject*",
    "Source*",
    "Message",
    "First Seen*",
    "Count*",
    "Name:name*",
  ],
  (object, now) => {
    // The two groups that serve events name the same things differently.
    const involved = part(object, "involvedObject") ?? partOf(object, "regarding");
    const series = part(object, "series");
    const first = ageOf(
      object["firstTimestamp"] ?? object["deprecatedFirstTimestamp"] ?? object["eventTime"],
      now,
    );
    const lastSeen = object["lastTimestamp"] ?? object["deprecatedLastTimestamp"];
    const last = typeof lastSeen === "string" ? ageOf(lastSeen, now) : first;
    const times = count(object, "count") || count(object, "deprecatedCount") || 1;
    const kind = text(involved, "kind").toLowerCase();
    const name = text(involved, "name");
    return [
      series === undefined ? last : ageOf(series["lastObservedTime"], now),
      text(object, "type"),
      text(object, "reason"),
      name === "" ? kind : `${kind}/${name}`,
      text(involved, "fieldPath"),
      eventSource(object),
      (text(object, "message") || text(object, "note")).trim(),
      first,
      series === undefined ? times : count(series, "count"),
      nameOf(object),
    ];
  },
);

function eventSource(object: JsonObject): string {
  const source = part(object, "source") ?? partOf(object, "deprecatedSource");
  const component =
    text(source, "component") ||
    text(object, "reportingComponent") ||
    text(object, "reportingController");
  const host = text(source, "host") || text(object, "reportingInstance");
  return host === "" ? component : `${component}, ${host}`;
}

const resourceQuota = printer(["Name:name", "Request", "Limit", "Age"], (object, now) => {
  const status = partOf(object, "status");
  const hard = textMap(status, "hard");
  const used = textMap(status, "used");
  const requests: string[] = [];
  const limits: string[] = [];
  for (const name of Object.keys(hard).toSorted()) {
    const list = name.startsWith("limits.") ? limits : requests;
    list.push(`${name}: ${used[name] ?? "0"}/${hard[name]}`);
  }
  return [nameOf(object), requests.join(", "), limits.join(", "), objectAge(object, now)];
});

const priorityClass = printer(
  ["Name:name", "Value:integer", "Global-Default:boolean", "Age", "PreemptionPolicy"],
  (object, now) => [
    nameOf(object),
    count(object, "value"),
    object["globalDefault"] === true,
    objectAge(object, now),
    text(object, "preemptionPolicy"),
  ],
);

const apiService = printer(["Name:name", "Service", "Available", "Age"], (object, now) => {
  const target = part(partOf(object, "spec"), "service");
  const service =
    target === undefined ? "Local" : `${text(target, "namespace")}/${text(target, "name")}`;
  return [nameOf(object), service, availability(object), objectAge(object, now)];
});

function availability(object: JsonObject): string {
  const condition = items(partOf(object, "status"), "conditions").find(
    (candidate) => text(candidate, "type") === "Available",
  );
  if (condition === undefined) return "Unknown";
  const status = text(condition, "status");
  return status === "True" ? "True" : `${status} (${text(condition, "reason")})`;
}

const componentStatus = printer(["Name:name", "Status", "Message", "Error"], (object) => {
  const health = items(object, "conditions").find(
    (condition) => text(condition, "type") === "Healthy",
  );
  const word =
    health === undefined ? "Unknown" : text(health, "status") === "True" ? "Healthy" : "Unhealthy";
  return [nameOf(object), word, text(health, "message"), text(health, "error")];
});

export const clusterPrinters: Printers = {
  "v1/ConfigMap": textPrinter(
    "Data",
    (object) =>
      Object.keys(partOf(object, "data")).length + Object.keys(partOf(object, "binaryData")).length,
  ),
  "v1/Namespace": textPrinter("Status", (object) => text(partOf(object, "status"), "phase")),
  "v1/Node": node,
  "v1/Event": event,
  "v1/LimitRange": plainPrinter,
  "v1/ResourceQuota": resourceQuota,
  "v1/ComponentStatus": componentStatus,
  "events.k8s.io/v1/Event": event,
  "coordination.k8s.io/v1/Lease": textPrinter("Holder", (object) =>
    text(partOf(object, "spec"), "holderIdentity"),
  ),
  "scheduling.k8s.io/v1/PriorityClass": priorityClass,
  "apiextensions.k8s.io/v1/CustomResourceDefinition": plainPrinter,
  "apiregistration.k8s.io/v1/APIService": apiService,
};
