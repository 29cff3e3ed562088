/** Tables of what runs, and what looks after it. */
import { type Instant, parseTime } from "@lifeboat/base";
import type { JsonObject } from "../../../json.ts";
import { parseApiVersion } from "../../../resource.ts";
import type { TablePrinter } from "../../../table.ts";
import { count, items, part, partOf, text, textMap } from "../fields.ts";
import { ageOf, humanDuration } from "../human-duration.ts";
import { formatLabels, formatSelector, formatSelectorOrNone } from "../label-selector.ts";
import { podPrinter } from "../pod-printer.ts";
import {
  containerCells,
  intOrStringText,
  isTrue,
  nameOf,
  objectAge,
  printer,
  type Printers,
  someOf,
} from "../printer.ts";

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

export const workloadsPrinters: Printers = {
  "v1/Pod": podPrinter,
  "v1/PodTemplate": printer(["Name:name", "Containers", "Images", "Pod Labels"], (object) => {
    const template = partOf(object, "template");
    const labels = textMap(partOf(template, "metadata"), "labels");
    return [nameOf(object), ...containerCells(partOf(template, "spec")), formatLabels(labels)];
  }),
  "v1/ReplicationController": replicaPrinter((spec) => formatLabels(textMap(spec, "selector"))),
  "apps/v1/Deployment": deployment,
  "apps/v1/ReplicaSet": replicaPrinter((spec) => formatSelectorOrNone(part(spec, "selector"))),
  "apps/v1/DaemonSet": daemonSet,
  "apps/v1/StatefulSet": statefulSet,
  "apps/v1/ControllerRevision": controllerRevision,
  "batch/v1/Job": job,
  "batch/v1/CronJob": cronJob,
  "policy/v1/PodDisruptionBudget": disruptionBudget,
  "autoscaling/v1/HorizontalPodAutoscaler": autoscaler,
  "autoscaling/v2/HorizontalPodAutoscaler": autoscaler,
};
