/** The table columns and cells of the other built-in kinds. */
import type { Instant } from "@lifeboat/base";
import { parseTime } from "@lifeboat/base";
import type { JsonObject } from "../../json.ts";
import type { TablePrinter } from "../../table.ts";
import { parseApiVersion } from "../../resource.ts";
import { count, items, part, partOf, text, textMap, texts } from "./fields.ts";
import { ageOf, humanDuration } from "./human-duration.ts";
import { formatLabels, formatSelector, formatSelectorOrNone } from "./label-selector.ts";
import { podPrinter } from "./pod-printer.ts";
import {
  containerCells,
  intOrStringText,
  isTrue,
  nameOf,
  objectAge,
  plainPrinter,
  printer,
  someOf,
} from "./printer.ts";

const TEMPLATE_COLUMNS = ["Containers*", "Images*", "Selector*"] as const;

function templateSpec(object: JsonObject): JsonObject {
  return partOf(partOf(partOf(object, "spec"), "template"), "spec");
}

const deployment = printer(
  ["Name:name", "Ready", "Up-to-date", "Available", "Age", ...TEMPLATE_COLUMNS],
  (object, now) => {
    const spec = partOf(object, "spec");
    const status = partOf(object, "status");
    return [
      nameOf(object),
      `${count(status, "readyReplicas")}/${count(spec, "replicas")}`,
      count(status, "updatedReplicas"),
      count(status, "availableReplicas"),
      objectAge(object, now),
      ...containerCells(templateSpec(object)),
      formatSelector(part(spec, "selector")),
    ];
  },
);

/** ReplicaSets and ReplicationControllers differ in the shape of their selector only. */
function replicaPrinter(selectorText: (spec: JsonObject) => string): TablePrinter {
  return printer(
    [
      "Name:name",
      "Desired:integer",
      "Current:integer",
      "Ready:integer",
      "Age",
      ...TEMPLATE_COLUMNS,
    ],
    (object, now) => {
      const spec = partOf(object, "spec");
      const status = partOf(object, "status");
      return [
        nameOf(object),
        count(spec, "replicas"),
        count(status, "replicas"),
        count(status, "readyReplicas"),
        objectAge(object, now),
        ...containerCells(templateSpec(object)),
        selectorText(spec),
      ];
    },
  );
}

const daemonSet = printer(
  [
    "Name:name",
    "Desired:integer",
    "Current:integer",
    "Ready:integer",
    "Up-to-date:integer",
    "Available:integer",
    "Node Selector",
    "Age",
    ...TEMPLATE_COLUMNS,
  ],
  (object, now) => {
    const status = partOf(object, "status");
    const podSpec = templateSpec(object);
    return [
      nameOf(object),
      count(status, "desiredNumberScheduled"),
      count(status, "currentNumberScheduled"),
      count(status, "numberReady"),
      count(status, "updatedNumberScheduled"),
      count(status, "numberAvailable"),
      formatLabels(textMap(podSpec, "nodeSelector")),
      objectAge(object, now),
      ...containerCells(podSpec),
      formatSelectorOrNone(part(partOf(object, "spec"), "selector")),
    ];
  },
);

const statefulSet = printer(
  ["Name:name", "Ready", "Age", "Containers*", "Images*"],
  (object, now) => [
    nameOf(object),
    `${count(partOf(object, "status"), "readyReplicas")}/${count(partOf(object, "spec"), "replicas")}`,
    objectAge(object, now),
    ...containerCells(templateSpec(object)),
  ],
);

const controllerRevision = printer(
  ["Name:name", "Controller", "Revision", "Age"],
  (object, now) => [
    nameOf(object),
    controllerText(object),
    count(object, "revision"),
    objectAge(object, now),
  ],
);

function controllerText(object: JsonObject): string {
  const owner = items(partOf(object, "metadata"), "ownerReferences").find(
    (reference) => reference["controller"] === true,
  );
  if (owner === undefined) return "<none>";
  const { group } = parseApiVersion(text(owner, "apiVersion"));
  const kind = text(owner, "kind");
  const resource = group === "" ? kind : `${kind}.${group}`;
  return `${resource.toLowerCase()}/${text(owner, "name")}`;
}

const job = printer(
  ["Name:name", "Status", "Completions", "Duration", "Age", ...TEMPLATE_COLUMNS],
  (object, now) => [
    nameOf(object),
    jobStatus(object),
    jobCompletions(object),
    jobDuration(partOf(object, "status"), now),
    objectAge(object, now),
    ...containerCells(templateSpec(object)),
    formatSelectorOrNone(part(partOf(object, "spec"), "selector")),
  ],
);

function jobStatus(object: JsonObject): string {
  const conditions = items(partOf(object, "status"), "conditions");
  if (isTrue(conditions, "Complete")) return "Complete";
  if (isTrue(conditions, "Failed")) return "Failed";
  if (text(partOf(object, "metadata"), "deletionTimestamp") !== "") return "Terminating";
  for (const type of ["Suspended", "FailureTarget", "SuccessCriteriaMet"]) {
    if (isTrue(conditions, type)) return type;
  }
  return "Running";
}

function jobCompletions(object: JsonObject): string {
  const spec = partOf(object, "spec");
  const succeeded = count(partOf(object, "status"), "succeeded");
  if (typeof spec["completions"] === "number") return `${succeeded}/${spec["completions"]}`;
  const parallelism = count(spec, "parallelism");
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(status: JsonObject, now: Instant): string {
  const start = parseTime(text(status, "startTime"));
  if (start === undefined) return "";
  return humanDuration((parseTime(text(status, "completionTime")) ?? now) - start);
}

const cronJob = printer(
  [
    "Name:name",
    "Schedule",
    "Timezone",
    "Suspend:boolean",
    "Active:integer",
    "Last Schedule",
    "Age",
    ...TEMPLATE_COLUMNS,
  ],
  (object, now) => {
    const spec = partOf(object, "spec");
    const status = partOf(object, "status");
    const last = status["lastScheduleTime"];
    const jobSpec = partOf(partOf(spec, "jobTemplate"), "spec");
    return [
      nameOf(object),
      text(spec, "schedule"),
      typeof spec["timeZone"] === "string" ? spec["timeZone"] : "<none>",
      spec["suspend"] === undefined ? "<unset>" : spec["suspend"] === true ? "True" : "False",
      items(status, "active").length,
      typeof last === "string" ? ageOf(last, now) : "<none>",
      objectAge(object, now),
      ...containerCells(partOf(partOf(jobSpec, "template"), "spec")),
      formatSelectorOrNone(part(jobSpec, "selector")),
    ];
  },
);

const service = printer(
  ["Name:name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector*"],
  (object, now) => {
    const spec = partOf(object, "spec");
    return [
      nameOf(object),
      text(spec, "type"),
      texts(spec, "clusterIPs")[0] ?? "<none>",
      externalAddresses(spec, partOf(object, "status")),
      items(spec, "ports").map(servicePortText).join(",") || "<none>",
      objectAge(object, now),
      formatLabels(textMap(spec, "selector")),
    ];
  },
);

function externalAddresses(spec: JsonObject, status: JsonObject): string {
  const external = texts(spec, "externalIPs");
  switch (text(spec, "type")) {
    case "ClusterIP":
    case "NodePort":
      return external.join(",") || "<none>";
    case "LoadBalancer":
      return [...loadBalancerAddresses(status), ...external].join(",") || "<pending>";
    case "ExternalName":
      return text(spec, "externalName");
    default:
      return "<unknown>";
  }
}

function loadBalancerAddresses(status: JsonObject): readonly string[] {
  const addresses = items(partOf(status, "loadBalancer"), "ingress")
    .map((ingress) => text(ingress, "ip") || text(ingress, "hostname"))
    .filter((address) => address !== "");
  return [...new Set(addresses)].toSorted();
}

function servicePortText(port: JsonObject): string {
  const nodePort = count(port, "nodePort");
  const number = nodePort > 0 ? `${count(port, "port")}:${nodePort}` : `${count(port, "port")}`;
  return `${number}/${text(port, "protocol")}`;
}

const ingress = printer(
  ["Name:name", "Class", "Hosts", "Address", "Ports", "Age"],
  (object, now) => {
    const spec = partOf(object, "spec");
    const className = spec["ingressClassName"];
    return [
      nameOf(object),
      typeof className === "string" ? className : "<none>",
      ingressHosts(items(spec, "rules")),
      loadBalancerAddresses(partOf(object, "status")).join(","),
      items(spec, "tls").length > 0 ? "80, 443" : "80",
      objectAge(object, now),
    ];
  },
);

function ingressHosts(rules: readonly JsonObject[]): string {
  const hosts = rules.map((rule) => text(rule, "host")).filter((host) => host !== "");
  if (hosts.length === 0) return "*";
  const shown = hosts.slice(0, 3).join(",");
  return hosts.length > 3 ? `${shown} + ${rules.length - 3} more...` : shown;
}

const ingressClass = printer(["Name:name", "Controller", "Parameters", "Age"], (object, now) => {
  const spec = partOf(object, "spec");
  return [
    defaultMarked(object, "ingressclass.kubernetes.io/is-default-class"),
    text(spec, "controller"),
    classParameters(part(spec, "parameters")),
    objectAge(object, now),
  ];
});

function classParameters(parameters: JsonObject | undefined): string {
  if (parameters === undefined) return "<none>";
  const group = parameters["apiGroup"];
  const kind = text(parameters, "kind");
  return `${typeof group === "string" ? `${kind}.${group}` : kind}/${text(parameters, "name")}`;
}

function defaultMarked(object: JsonObject, annotation: string): string {
  const name = nameOf(object);
  const marked = textMap(partOf(object, "metadata"), "annotations")[annotation] === "true";
  return marked ? `${name} (default)` : name;
}

const networkPolicy = printer(["Name:name", "Pod-Selector", "Age"], (object, now) => [
  nameOf(object),
  formatSelectorOrNone(part(partOf(object, "spec"), "podSelector")),
  objectAge(object, now),
]);

const endpoints = printer(["Name:name", "Endpoints", "Age"], (object, now) => [
  nameOf(object),
  endpointsText(items(object, "subsets")),
  objectAge(object, now),
]);

function endpointsText(subsets: readonly JsonObject[]): string {
  if (subsets.length === 0) return "<none>";
  const addresses: string[] = [];
  for (const subset of subsets) {
    const ips = items(subset, "addresses").map((address) => text(address, "ip"));
    const ports = items(subset, "ports");
    if (ports.length === 0) addresses.push(...ips);
    for (const port of ports) {
      for (const ip of ips) {
        addresses.push(`${ip.includes(":") ? `[${ip}]` : ip}:${count(port, "port")}`);
      }
    }
  }
  return someOf(addresses, 3);
}

const endpointSlice = printer(
  ["Name:name", "AddressType", "Ports", "Endpoints", "Age"],
  (object, now) => {
    const ports = items(object, "ports").map((port) => {
      if (typeof port["port"] === "number") return String(port["port"]);
      return typeof port["name"] === "string" ? port["name"] : "*";
    });
    const addresses = items(object, "endpoints").flatMap((endpoint) =>
      texts(endpoint, "addresses"),
    );
    return [
      nameOf(object),
      text(object, "addressType"),
      someOf(ports, 3) || "<unset>",
      someOf(addresses, 3) || "<unset>",
      objectAge(object, now),
    ];
  },
);

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

const persistentVolume = printer(
  [
    "Name:name",
    "Capacity",
    "Access Modes",
    "Reclaim Policy",
    "Status",
    "Claim",
    "StorageClass",
    "VolumeAttributesClass",
    "Reason",
    "Age",
    "VolumeMode*",
  ],
  (object, now) => {
    const spec = partOf(object, "spec");
    const claim = part(spec, "claimRef");
    return [
      nameOf(object),
      text(partOf(spec, "capacity"), "storage") || "0",
      accessModes(texts(spec, "accessModes")),
      text(spec, "persistentVolumeReclaimPolicy"),
      phaseOf(object),
      claim === undefined ? "" : `${text(claim, "namespace")}/${text(claim, "name")}`,
      storageClassOf(object),
      optionalText(spec["volumeAttributesClassName"], "<unset>"),
      text(partOf(object, "status"), "reason"),
      objectAge(object, now),
      optionalText(spec["volumeMode"], "<unset>"),
    ];
  },
);

const persistentVolumeClaim = printer(
  [
    "Name:name",
    "Status",
    "Volume",
    "Capacity",
    "Access Modes",
    "StorageClass",
    "VolumeAttributesClass",
    "Age",
    "VolumeMode*",
  ],
  (object, now) => {
    const spec = partOf(object, "spec");
    const status = partOf(object, "status");
    const volume = text(spec, "volumeName");
    return [
      nameOf(object),
      phaseOf(object),
      volume,
      volume === "" ? "" : text(partOf(status, "capacity"), "storage") || "0",
      volume === "" ? "" : accessModes(texts(status, "accessModes")),
      storageClassOf(object),
      optionalText(spec["volumeAttributesClassName"], "<unset>"),
      objectAge(object, now),
      optionalText(spec["volumeMode"], "<unset>"),
    ];
  },
);

const MODE_LETTERS: readonly (readonly [string, string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

function accessModes(modes: readonly string[]): string {
  const letters = MODE_LETTERS.filter(([mode]) => modes.includes(mode)).map(([, short]) => short);
  return letters.join(",");
}

function phaseOf(object: JsonObject): string {
  const deleted = text(partOf(object, "metadata"), "deletionTimestamp") !== "";
  return deleted ? "Terminating" : text(partOf(object, "status"), "phase");
}

function storageClassOf(object: JsonObject): string {
  const annotations = textMap(partOf(object, "metadata"), "annotations");
  const legacy = annotations["volume.beta.kubernetes.io/storage-class"];
  return legacy ?? text(partOf(object, "spec"), "storageClassName");
}

function optionalText(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
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

const autoscaler = printer(
  ["Name:name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"],
  (object, now) => {
    const spec = partOf(object, "spec");
    const target = partOf(spec, "scaleTargetRef");
    return [
      nameOf(object),
      `${text(target, "kind")}/${text(target, "name")}`,
      autoscalerTargets(spec, partOf(object, "status")),
      typeof spec["minReplicas"] === "number" ? String(spec["minReplicas"]) : "<unset>",
      count(spec, "maxReplicas"),
      count(partOf(object, "status"), "currentReplicas"),
      objectAge(object, now),
    ];
  },
);

function autoscalerTargets(spec: JsonObject, status: JsonObject): string {
  const cpu = spec["targetCPUUtilizationPercentage"];
  if (typeof cpu === "number") {
    const current = status["currentCPUUtilizationPercentage"];
    return `cpu: ${typeof current === "number" ? `${current}%` : "<unknown>"}/${cpu}%`;
  }
  const metrics = items(spec, "metrics");
  if (metrics.length === 0) return "<none>";
  const current = items(status, "currentMetrics");
  const list = metrics.map((metric, index) => metricText(metric, current[index]));
  return someOf(list, 2, ", ");
}

function metricText(metric: JsonObject, status: JsonObject | undefined): string {
  const type = text(metric, "type");
  const name = metricPart(type);
  if (name === undefined) return "<unknown type>";
  const source = partOf(metric, name);
  const target = partOf(source, "target");
  const seen = part(part(status, name), "current");
  if (name === "resource" || name === "containerResource") {
    const usage =
      target["averageValue"] === undefined
        ? `${percentText(seen, "<unknown>")}/${percentText(target, "<auto>")}`
        : `${seen === undefined ? "<unknown>" : text(seen, "averageValue") || "0"}/${text(target, "averageValue")}`;
    return `${text(source, "name")}: ${usage}`;
  }
  if (name === "pods") {
    return `${seen === undefined ? "<unknown>" : text(seen, "averageValue")}/${text(target, "averageValue")}`;
  }
  if (target["averageValue"] !== undefined) {
    return `${text(seen, "averageValue") || "<unknown>"}/${text(target, "averageValue")} (avg)`;
  }
  return `${seen === undefined ? "<unknown>" : text(seen, "value")}/${text(target, "value")}`;
}

function metricPart(type: string): string | undefined {
  switch (type) {
    case "External":
    case "Pods":
    case "Object":
    case "Resource":
      return type.toLowerCase();
    case "ContainerResource":
      return "containerResource";
    default:
      return undefined;
  }
}

function percentText(of: JsonObject | undefined, otherwise: string): string {
  const value = of?.["averageUtilization"];
  return typeof value === "number" ? `${value}%` : otherwise;
}

const disruptionBudget = printer(
  ["Name:name", "Min Available", "Max Unavailable", "Allowed Disruptions:integer", "Age"],
  (object, now) => {
    const spec = partOf(object, "spec");
    return [
      nameOf(object),
      intOrStringText(spec["minAvailable"]) || "N/A",
      intOrStringText(spec["maxUnavailable"]) || "N/A",
      count(partOf(object, "status"), "disruptionsAllowed"),
      objectAge(object, now),
    ];
  },
);

const binding = printer(
  ["Name:name", "Role", "Age", "Users*", "Groups*", "ServiceAccounts*"],
  (object, now) => {
    const role = partOf(object, "roleRef");
    const subjects = items(object, "subjects");
    const named = (kind: string, show: (subject: JsonObject) => string): string =>
      subjects
        .filter((subject) => text(subject, "kind") === kind)
        .map(show)
        .join(", ");
    return [
      nameOf(object),
      `${text(role, "kind")}/${text(role, "name")}`,
      objectAge(object, now),
      named("User", (subject) => text(subject, "name")),
      named("Group", (subject) => text(subject, "name")),
      named("ServiceAccount", accountText),
    ];
  },
);

function accountText(subject: JsonObject): string {
  const namespace = text(subject, "namespace");
  return namespace === "" ? text(subject, "name") : `${namespace}/${text(subject, "name")}`;
}

const storageClass = printer(
  ["Name:name", "Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age"],
  (object, now) => [
    defaultMarked(object, "storageclass.kubernetes.io/is-default-class"),
    text(object, "provisioner"),
    text(object, "reclaimPolicy") || "Delete",
    text(object, "volumeBindingMode") || "Immediate",
    object["allowVolumeExpansion"] === true,
    objectAge(object, now),
  ],
);

const csiDriver = printer(
  [
    "Name:name",
    "AttachRequired:boolean",
    "PodInfoOnMount:boolean",
    "StorageCapacity:boolean",
    "TokenRequests",
    "RequiresRepublish:boolean",
    "Modes",
    "Age",
  ],
  (object, now) => {
    const spec = partOf(object, "spec");
    const tokens = spec["tokenRequests"];
    const audiences = items(spec, "tokenRequests").map((request) => text(request, "audience"));
    return [
      nameOf(object),
      spec["attachRequired"] !== false,
      spec["podInfoOnMount"] === true,
      spec["storageCapacity"] === true,
      Array.isArray(tokens) ? audiences.join(",") : "<unset>",
      spec["requiresRepublish"] === true,
      texts(spec, "volumeLifecycleModes").join(",") || "<none>",
      objectAge(object, now),
    ];
  },
);

/** Name, one count, age. */
function countPrinter(column: string, counted: (object: JsonObject) => number): TablePrinter {
  return printer(["Name:name", `${column}:integer`, "Age"], (object, now) => [
    nameOf(object),
    counted(object),
    objectAge(object, now),
  ]);
}

/** Name, one text, age. */
function textPrinter(column: string, shown: (object: JsonObject) => unknown): TablePrinter {
  return printer(["Name:name", column, "Age"], (object, now) => [
    nameOf(object),
    shown(object),
    objectAge(object, now),
  ]);
}

const webhooks = countPrinter("Webhooks", (object) => items(object, "webhooks").length);

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

function policyPrinter(column: string, field: string): TablePrinter {
  return printer(["Name:name", `${column}:integer`, "ParamKind", "Age"], (object, now) => {
    const spec = partOf(object, "spec");
    const kind = part(spec, "paramKind");
    return [
      nameOf(object),
      items(spec, field).length,
      kind === undefined ? "<unset>" : `${text(kind, "apiVersion")}/${text(kind, "kind")}`,
      objectAge(object, now),
    ];
  });
}

const policyBinding = printer(["Name:name", "PolicyName", "ParamRef", "Age"], (object, now) => {
  const spec = partOf(object, "spec");
  return [
    nameOf(object),
    text(spec, "policyName"),
    parameterText(part(spec, "paramRef")),
    objectAge(object, now),
  ];
});

function parameterText(reference: JsonObject | undefined): string {
  if (reference === undefined) return "<unset>";
  const name = text(reference, "name");
  if (name !== "") return `${text(reference, "namespace") || "*"}/${name}`;
  const selector = part(reference, "selector");
  return selector === undefined ? "<unset>" : formatSelector(selector);
}

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

const signingRequest = printer(
  ["Name:name", "Age", "SignerName", "Requestor", "RequestedDuration", "Condition"],
  (object, now) => {
    const spec = partOf(object, "spec");
    const seconds = spec["expirationSeconds"];
    return [
      nameOf(object),
      objectAge(object, now),
      text(spec, "signerName") || "<none>",
      text(spec, "username"),
      typeof seconds === "number" ? humanDuration(seconds * 1000) : "<none>",
      signingCondition(partOf(object, "status")),
    ];
  },
);

function signingCondition(status: JsonObject): string {
  const types = new Set(items(status, "conditions").map((condition) => text(condition, "type")));
  const words = [types.has("Denied") ? "Denied" : types.has("Approved") ? "Approved" : "Pending"];
  if (types.has("Failed")) words.push("Failed");
  if (text(status, "certificate") !== "") words.push("Issued");
  return words.join(",");
}

const volumeAttachment = printer(
  ["Name:name", "Attacher:name", "PV", "Node", "Attached:boolean", "Age"],
  (object, now) => {
    const spec = partOf(object, "spec");
    return [
      nameOf(object),
      text(spec, "attacher"),
      text(partOf(spec, "source"), "persistentVolumeName"),
      text(spec, "nodeName"),
      partOf(object, "status")["attached"] === true,
      objectAge(object, now),
    ];
  },
);

const componentStatus = printer(["Name:name", "Status", "Message", "Error"], (object) => {
  const health = items(object, "conditions").find(
    (condition) => text(condition, "type") === "Healthy",
  );
  const word =
    health === undefined ? "Unknown" : text(health, "status") === "True" ? "Healthy" : "Unhealthy";
  return [nameOf(object), word, text(health, "message"), text(health, "error")];
});

/** By `apiVersion/Kind`. Kinds that are not here print their name and age of creation. */
export const printers: Readonly<Record<string, TablePrinter>> = {
  "v1/Pod": podPrinter,
  "v1/PodTemplate": printer(["Name:name", "Containers", "Images", "Pod Labels"], (object) => {
    const template = partOf(object, "template");
    const labels = textMap(partOf(template, "metadata"), "labels");
    return [nameOf(object), ...containerCells(partOf(template, "spec")), formatLabels(labels)];
  }),
  "v1/ReplicationController": replicaPrinter((spec) => formatLabels(textMap(spec, "selector"))),
  "v1/Service": service,
  "v1/ConfigMap": textPrinter(
    "Data",
    (object) =>
      Object.keys(partOf(object, "data")).length + Object.keys(partOf(object, "binaryData")).length,
  ),
  "v1/Secret": printer(["Name:name", "Type", "Data", "Age"], (object, now) => [
    nameOf(object),
    text(object, "type"),
    Object.keys(partOf(object, "data")).length,
    objectAge(object, now),
  ]),
  "v1/Namespace": textPrinter("Status", (object) => text(partOf(object, "status"), "phase")),
  "v1/ServiceAccount": printer(["Name:name", "Age"], (object, now) => [
    nameOf(object),
    objectAge(object, now),
  ]),
  "v1/PersistentVolume": persistentVolume,
  "v1/PersistentVolumeClaim": persistentVolumeClaim,
  "v1/Node": node,
  "v1/Endpoints": endpoints,
  "v1/Event": event,
  "v1/LimitRange": plainPrinter,
  "v1/ResourceQuota": resourceQuota,
  "v1/ComponentStatus": componentStatus,
  "events.k8s.io/v1/Event": event,
  "apps/v1/Deployment": deployment,
  "apps/v1/ReplicaSet": replicaPrinter((spec) => formatSelectorOrNone(part(spec, "selector"))),
  "apps/v1/DaemonSet": daemonSet,
  "apps/v1/StatefulSet": statefulSet,
  "apps/v1/ControllerRevision": controllerRevision,
  "batch/v1/Job": job,
  "batch/v1/CronJob": cronJob,
  "networking.k8s.io/v1/Ingress": ingress,
  "networking.k8s.io/v1/IngressClass": ingressClass,
  "networking.k8s.io/v1/NetworkPolicy": networkPolicy,
  "networking.k8s.io/v1/ServiceCIDR": textPrinter("CIDRs", (object) =>
    texts(partOf(object, "spec"), "cidrs").join(","),
  ),
  "rbac.authorization.k8s.io/v1/Role": plainPrinter,
  "rbac.authorization.k8s.io/v1/ClusterRole": plainPrinter,
  "rbac.authorization.k8s.io/v1/RoleBinding": binding,
  "rbac.authorization.k8s.io/v1/ClusterRoleBinding": binding,
  "policy/v1/PodDisruptionBudget": disruptionBudget,
  "autoscaling/v1/HorizontalPodAutoscaler": autoscaler,
  "autoscaling/v2/HorizontalPodAutoscaler": autoscaler,
  "coordination.k8s.io/v1/Lease": textPrinter("Holder", (object) =>
    text(partOf(object, "spec"), "holderIdentity"),
  ),
  "discovery.k8s.io/v1/EndpointSlice": endpointSlice,
  "storage.k8s.io/v1/StorageClass": storageClass,
  "storage.k8s.io/v1/CSIDriver": csiDriver,
  "storage.k8s.io/v1/CSINode": countPrinter(
    "Drivers",
    (object) => items(partOf(object, "spec"), "drivers").length,
  ),
  "storage.k8s.io/v1/CSIStorageCapacity": plainPrinter,
  "storage.k8s.io/v1/VolumeAttachment": volumeAttachment,
  "storage.k8s.io/v1/VolumeAttributesClass": textPrinter("DriverName", (object) =>
    text(object, "driverName"),
  ),
  "scheduling.k8s.io/v1/PriorityClass": priorityClass,
  "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration": webhooks,
  "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration": webhooks,
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy": policyPrinter(
    "Validations",
    "validations",
  ),
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding": policyBinding,
  "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy": policyPrinter(
    "Mutations",
    "mutations",
  ),
  "admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding": policyBinding,
  "apiextensions.k8s.io/v1/CustomResourceDefinition": plainPrinter,
  "apiregistration.k8s.io/v1/APIService": apiService,
  "certificates.k8s.io/v1/CertificateSigningRequest": signingRequest,
};
