/**
 * HorizontalPodAutoscalers are stored as autoscaling/v2. Version 1 knows CPU utilization alone; the rest travels in
 * annotations, so that a write through version 1 loses nothing.
 */
import { type AnyObject, isJsonObject, type Json, type JsonObject } from "@lifeboat/api";

const PREFIX = "autoscaling.alpha.kubernetes.io";
/** Annotation in version 1, and where it belongs in version 2. */
const CARRIED = [
  { annotation: `${PREFIX}/metrics`, part: "spec", field: "metrics" },
  { annotation: `${PREFIX}/behavior`, part: "spec", field: "behavior" },
  { annotation: `${PREFIX}/current-metrics`, part: "status", field: "currentMetrics" },
  { annotation: `${PREFIX}/conditions`, part: "status", field: "conditions" },
] as const;

/** v2 → v1. */
export function autoscalerFromStorage(stored: AnyObject): AnyObject {
  const spec = partOf(stored, "spec");
  const status = partOf(stored, "status");
  const cpuTarget = listOf(spec["metrics"]).find(isCpuUtilization);
  const cpuNow = listOf(status["currentMetrics"]).find(isCpu);
  const rest: Readonly<Record<string, Json | undefined>> = {
    metrics: nonEmpty(listOf(spec["metrics"]).filter((metric) => metric !== cpuTarget)),
    behavior: spec["behavior"],
    currentMetrics: nonEmpty(
      listOf(status["currentMetrics"]).filter((metric) => metric !== cpuNow),
    ),
    conditions: status["conditions"],
  };
  const target = resourceField(cpuTarget, "target", "averageUtilization");
  const current = resourceField(cpuNow, "current", "averageUtilization");
  return {
    kind: stored.kind,
    apiVersion: "autoscaling/v1",
    metadata: withAnnotations(stored, rest),
    spec: {
      ...pick(spec, ["scaleTargetRef", "minReplicas", "maxReplicas"]),
      ...(target !== undefined && { targetCPUUtilizationPercentage: target }),
    },
    status: {
      ...pick(status, ["observedGeneration", "lastScaleTime"]),
      currentReplicas: status["currentReplicas"] ?? 0,
      desiredReplicas: status["desiredReplicas"] ?? 0,
      ...(current !== undefined && { currentCPUUtilizationPercentage: current }),
    },
  };
}

/** v1 → v2. */
export function autoscalerToStorage(object: AnyObject): AnyObject {
  const spec = partOf(object, "spec");
  const status = partOf(object, "status");
  const { metadata, carried } = withoutAnnotations(object);
  const metrics = [
    ...cpuMetric("target", spec["targetCPUUtilizationPercentage"]),
    ...listOf(carried["metrics"]),
  ];
  const currentMetrics = [
    ...cpuMetric("current", status["currentCPUUtilizationPercentage"]),
    ...listOf(carried["currentMetrics"]),
  ];
  return {
    kind: object.kind,
    apiVersion: "autoscaling/v2",
    metadata,
    spec: {
      ...pick(spec, ["scaleTargetRef", "minReplicas", "maxReplicas"]),
      ...(metrics.length > 0 && { metrics }),
      ...(carried["behavior"] !== undefined && { behavior: carried["behavior"] }),
    },
    status: {
      ...pick(status, ["observedGeneration", "lastScaleTime"]),
      ...(status["currentReplicas"] !== 0 && pick(status, ["currentReplicas"])),
      desiredReplicas: status["desiredReplicas"] ?? 0,
      currentMetrics: nonEmpty(currentMetrics) ?? null,
      ...(carried["conditions"] !== undefined && { conditions: carried["conditions"] }),
    },
  };
}

function partOf(object: AnyObject, field: string): JsonObject {
  const part = object[field];
  return isJsonObject(part) ? part : {};
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function nonEmpty(list: readonly Json[]): readonly Json[] | undefined {
  return list.length === 0 ? undefined : list;
}

function pick(from: JsonObject, fields: readonly string[]): JsonObject {
  const picked: Record<string, Json> = {};
  for (const field of fields) {
    const value = from[field];
    if (value !== undefined) picked[field] = value;
  }
  return picked;
}

function isCpu(metric: Json): boolean {
  if (!isJsonObject(metric) || metric["type"] !== "Resource") return false;
  const resource = metric["resource"];
  return isJsonObject(resource) && resource["name"] === "cpu";
}

function isCpuUtilization(metric: Json): boolean {
  return isCpu(metric) && resourceField(metric, "target", "averageUtilization") !== undefined;
}

function resourceField(metric: Json | undefined, part: string, field: string): Json | undefined {
  const resource = isJsonObject(metric) ? metric["resource"] : undefined;
  const inner = isJsonObject(resource) ? resource[part] : undefined;
  return isJsonObject(inner) ? inner[field] : undefined;
}

function cpuMetric(part: "target" | "current", percentage: Json | undefined): readonly Json[] {
  if (percentage === undefined) return [];
  const value =
    part === "target"
      ? { type: "Utilization", averageUtilization: percentage }
      : { averageUtilization: percentage };
  return [{ type: "Resource", resource: { name: "cpu", [part]: value } }];
}

function withAnnotations(
  stored: AnyObject,
  values: Readonly<Record<string, Json | undefined>>,
): AnyObject["metadata"] {
  const added: Record<string, string> = {};
  for (const { annotation, field } of CARRIED) {
    const value = values[field];
    if (value !== undefined) added[annotation] = JSON.stringify(value);
  }
  if (Object.keys(added).length === 0) return stored.metadata;
  return { ...stored.metadata, annotations: { ...stored.metadata.annotations, ...added } };
}

function withoutAnnotations(object: AnyObject): {
  readonly metadata: AnyObject["metadata"];
  readonly carried: JsonObject;
} {
  const { annotations } = object.metadata;
  const carried: Record<string, Json> = {};
  const left: Record<string, string> = { ...annotations };
  for (const { annotation, field } of CARRIED) {
    const value = parseOrNothing(annotations?.[annotation]);
    if (value === undefined) continue;
    carried[field] = value;
    delete left[annotation];
  }
  if (Object.keys(carried).length === 0) return { metadata: object.metadata, carried };
  const { annotations: _, ...rest } = object.metadata;
  const metadata = Object.keys(left).length === 0 ? rest : { ...rest, annotations: left };
  return { metadata, carried };
}

/** What clients wrote into an annotation that is no JSON stays where it is. */
function parseOrNothing(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
