/** Validation of HorizontalPodAutoscalers in both versions. */
import { forbidden, invalid, notSupported, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { parseQuantity } from "../../quantity/quantity.ts";
import { pathSegmentProblems } from "../../metadata/names.ts";
import {
  count,
  isAbsent,
  items,
  part,
  partOf,
  type Problems,
  pushRequiredName,
  pushUnsupported,
  text,
} from "./fields.ts";
import { checkLabelSelector } from "./label-selector.ts";

const METRIC_TYPES = ["ContainerResource", "External", "Object", "Pods", "Resource"];
const METRIC_FIELDS: Readonly<Record<string, string>> = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
};

export function checkAutoscalerV1(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  checkBounds(problems, spec);
  // The server stores this version as the newer one, and speaks of it in those words.
  const cpu = spec["targetCPUUtilizationPercentage"];
  if (typeof cpu === "number" && cpu < 1) {
    problems.push(
      invalid("spec.metrics[0].resource.target.averageUtilization", cpu, "must be greater than 0"),
    );
  }
  checkScaleToZero(problems, spec, []);
}

export function checkAutoscaler(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  checkBounds(problems, spec);
  const metrics = items(spec, "metrics");
  for (const [index, metric] of metrics.entries()) {
    checkMetric(problems, `spec.metrics[${index}]`, metric);
  }
  checkScaleToZero(problems, spec, metrics);
  const behavior = part(spec, "behavior");
  checkScaling(problems, "spec.behavior.scaleUp", part(behavior, "scaleUp"));
  checkScaling(problems, "spec.behavior.scaleDown", part(behavior, "scaleDown"));
}

function checkBounds(problems: Problems, spec: JsonObject): void {
  const min = spec["minReplicas"];
  const max = count(spec, "maxReplicas");
  if (typeof min === "number" && min < 1) {
    problems.push(invalid("spec.minReplicas", min, "must be greater than or equal to 1"));
  }
  if (max === 0) {
    problems.push(required("spec.maxReplicas", "must be set and greater than 0"));
  } else if (max < 0) {
    problems.push(invalid("spec.maxReplicas", max, "must be greater than or equal to 1"));
  }
  if (typeof min === "number" && max < min) {
    problems.push(
      invalid("spec.maxReplicas", max, "must be greater than or equal to `minReplicas`"),
    );
  }
  checkReference(problems, "spec.scaleTargetRef", partOf(spec, "scaleTargetRef"), true);
}

function checkReference(
  problems: Problems,
  field: string,
  reference: JsonObject,
  needsGroup: boolean,
): void {
  pushRequiredName(problems, `${field}.kind`, text(reference, "kind"), pathSegmentProblems);
  pushRequiredName(problems, `${field}.name`, text(reference, "name"), pathSegmentProblems);
  const version = text(reference, "apiVersion");
  if (needsGroup && !version.includes("/") && text(reference, "kind") !== "ReplicationController") {
    problems.push(invalid(`${field}.apiVersion`, version, "apiVersion must specify API group"));
  }
}

function checkScaleToZero(
  problems: Problems,
  spec: JsonObject,
  metrics: readonly JsonObject[],
): void {
  if (spec["minReplicas"] !== 0) return;
  const enough = metrics.some((metric) => {
    const type = text(metric, "type");
    return type === "Object" || type === "External";
  });
  if (enough) return;
  problems.push(
    forbidden(
      "spec.metrics",
      "must specify at least one Object or External metric to support scaling to zero replicas",
    ),
  );
}

function checkMetric(problems: Problems, field: string, metric: JsonObject): void {
  const type = text(metric, "type");
  if (type === "") {
    problems.push(required(`${field}.type`, "must specify a metric source type"));
  }
  const known = METRIC_TYPES.includes(type);
  if (!known) problems.push(notSupported(`${field}.type`, type, METRIC_TYPES));
  for (const [kind, name] of Object.entries(METRIC_FIELDS)) {
    const source = part(metric, name);
    if (source === undefined) continue;
    if (kind === type) checkSource(problems, `${field}.${name}`, name, source);
    else if (known) {
      problems.push(forbidden(`${field}.${name}`, "must populate the given metric source only"));
    }
  }
  if (!known) {
    // The server checks the type once more when it looks for the source.
    problems.push(notSupported(`${field}.type`, type, METRIC_TYPES));
    return;
  }
  const wanted = METRIC_FIELDS[type] as string;
  if (part(metric, wanted) === undefined) {
    problems.push(
      required(`${field}.${wanted}`, "must populate information for the given metric source"),
    );
  }
}

function checkSource(problems: Problems, field: string, name: string, source: JsonObject): void {
  const target = partOf(source, "target");
  if (name === "resource" || name === "containerResource") {
    checkResourceSource(problems, field, name, source, target);
    return;
  }
  if (name === "object") {
    checkReference(problems, `${field}.describedObject`, partOf(source, "describedObject"), false);
  }
  const metric = partOf(source, "metric");
  if (text(metric, "name") === "") {
    problems.push(required(`${field}.metric.name`, "must specify a metric name"));
  }
  checkLabelSelector(problems, `${field}.metric.selector`, part(metric, "selector"));
  checkTarget(problems, `${field}.target`, target);
  if (name === "pods") {
    if (isAbsent(target["averageValue"])) {
      problems.push(
        required(`${field}.target.averageValue`, "must specify a positive target averageValue"),
      );
    }
    return;
  }
  if (!isAbsent(target["value"]) || !isAbsent(target["averageValue"])) return;
  problems.push(
    required(
      `${field}.target.averageValue`,
      name === "object"
        ? "must set either a target value or averageValue"
        : "must set either a target value for metric or a per-pod target",
    ),
  );
}

function checkResourceSource(
  problems: Problems,
  field: string,
  name: string,
  source: JsonObject,
  target: JsonObject,
): void {
  if (text(source, "name") === "") {
    problems.push(required(`${field}.name`, "must specify a resource name"));
  }
  if (name === "containerResource" && text(source, "container") === "") {
    problems.push(required(`${field}.container`, "must specify a container"));
  }
  checkTarget(problems, `${field}.target`, target);
  const value = !isAbsent(target["averageValue"]);
  const utilization = !isAbsent(target["averageUtilization"]);
  if (!value && !utilization) {
    problems.push(
      required(
        `${field}.target.averageUtilization`,
        "must set either a target raw value or a target utilization",
      ),
    );
  }
  if (value && utilization) {
    problems.push(
      forbidden(
        `${field}.target.averageValue`,
        "may not set both a target raw value and a target utilization",
      ),
    );
  }
}

function checkTarget(problems: Problems, field: string, target: JsonObject): void {
  const type = text(target, "type");
  if (type === "") {
    problems.push(required(`${field}.type`, "must specify a metric target type"));
  }
  pushUnsupported(problems, `${field}.type`, type, ["AverageValue", "Utilization", "Value"]);
  for (const name of ["value", "averageValue"]) {
    const quantity = parseQuantity(text(target, name));
    if (quantity !== undefined && quantity.nanos <= 0n) {
      problems.push(invalid(`${field}.${name}`, text(target, name), "must be positive"));
    }
  }
  const utilization = target["averageUtilization"];
  if (typeof utilization === "number" && utilization < 1) {
    problems.push(invalid(`${field}.averageUtilization`, utilization, "must be greater than 0"));
  }
}

function checkScaling(problems: Problems, field: string, rules: JsonObject | undefined): void {
  if (rules === undefined) return;
  const window = rules["stabilizationWindowSeconds"];
  if (typeof window === "number" && window < 0) {
    problems.push(
      invalid(
        `${field}.stabilizationWindowSeconds`,
        window,
        "must be greater than or equal to zero",
      ),
    );
  }
  if (typeof window === "number" && window > 3600) {
    problems.push(
      invalid(`${field}.stabilizationWindowSeconds`, window, "must be less than or equal to 3600"),
    );
  }
  const select = rules["selectPolicy"];
  if (!isAbsent(select)) {
    pushUnsupported(problems, `${field}.selectPolicy`, select, ["Disabled", "Max", "Min"]);
  }
  const policies = items(rules, "policies");
  if (policies.length === 0) {
    problems.push(required(`${field}.policies`, "must specify at least one Policy"));
  }
  for (const [index, policy] of policies.entries()) {
    checkPolicy(problems, `${field}.policies[${index}]`, policy);
  }
}

function checkPolicy(problems: Problems, field: string, policy: JsonObject): void {
  pushUnsupported(problems, `${field}.type`, text(policy, "type"), ["Percent", "Pods"]);
  for (const name of ["value", "periodSeconds"]) {
    if (count(policy, name) > 0) continue;
    problems.push(invalid(`${field}.${name}`, count(policy, name), "must be greater than zero"));
  }
  const period = count(policy, "periodSeconds");
  if (period > 1800) {
    problems.push(invalid(`${field}.periodSeconds`, period, "must be less than or equal to 1800"));
  }
}
