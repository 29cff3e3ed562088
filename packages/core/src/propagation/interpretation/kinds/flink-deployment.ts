/**
 * FlinkDeployment (flink.apache.org/v1beta1). Its status is reflected whole, so that `jobStatus` (`jobId`, savepoints) is
 * there when state has to be carried to another cluster.
 *
 * 1. Replicas are pods: the job managers, and the task managers that the job's parallelism asks for. The operator divides
 *    its own work, so the number cannot be revised.
 * 2. Healthy is a job that runs or has finished, or is suspended because the spec asks for it; without a job, a session
 *    cluster whose job manager is ready.
 */
import {
  countAt,
  type Fields,
  fieldsAt,
  integerAt,
  isFields,
  textAt,
  valueAt,
} from "../../../fields.ts";
import type { Health, KindHooks, Replicas, StatusItem } from "../interpreter.ts";
import { requirementsOf } from "../pod-requirements.ts";
import { byClusterName } from "../statuses.ts";

const STOPPED = ["SUSPENDED", "CANCELED", "FINISHED"];

export const flinkDeployment: KindHooks = { replicas, health, aggregateStatus };

function replicas(object: Fields): Replicas {
  const spec = fieldsAt(object, "spec");
  const total = Math.max(1, integerAt(spec, "jobManager", "replicas") ?? 1) + taskManagers(spec);
  const requirements = requirementsOf(asPodSpec(spec));
  return requirements === undefined ? { replicas: total } : { replicas: total, requirements };
}

function taskManagers(spec: Fields): number {
  const stated = integerAt(spec, "taskManager", "replicas");
  if (stated !== undefined) return Math.max(0, stated);
  const parallelism = countAt(spec, "job", "parallelism");
  const slots = Number(valueAt(spec, "flinkConfiguration", "taskmanager.numberOfTaskSlots"));
  return Math.ceil(parallelism / (Number.isSafeInteger(slots) && slots > 0 ? slots : 1));
}

/** One replica is counted as the larger of the two kinds of pods: as init containers, of which only the largest counts. */
function asPodSpec(spec: Fields): Fields {
  const initContainers = ["jobManager", "taskManager"].map((role) => {
    const { cpu, memory } = fieldsAt(spec, role, "resource");
    return { resources: { requests: { cpu, memory: asQuantity(memory) } } };
  });
  return { ...fieldsAt(spec, "podTemplate", "spec"), containers: [], initContainers };
}

/** Flink writes `2048m` and `2g` for mebibytes and gibibytes. */
function asQuantity(memory: unknown): unknown {
  if (typeof memory !== "string") return memory;
  const match = /^\s*([0-9]+)\s*(k|m|g|t)b?\s*$/i.exec(memory);
  if (match === null) return memory;
  const [, digits = "", unit = ""] = match;
  return `${digits}${unit.toUpperCase()}i`;
}

function health(object: Fields): Health {
  const status = fieldsAt(object, "status");
  const manager = textAt(status, "jobManagerDeploymentStatus");
  if (manager === "ERROR") return "Unhealthy";
  const job = valueAt(object, "spec", "job");
  if (!isFields(job)) return manager === "READY" ? "Healthy" : "Unhealthy";
  const state = textAt(status, "jobStatus", "state");
  const isWell =
    state === "RUNNING" ||
    state === "FINISHED" ||
    (valueAt(job, "state") === "suspended" && STOPPED.includes(state));
  return isWell ? "Healthy" : "Unhealthy";
}

/** A job has one status and not a sum: that of the first cluster whose job runs, else of the first that reports one. */
function aggregateStatus(template: Fields, items: readonly StatusItem[]): Fields | undefined {
  const reported = byClusterName(items).filter((item) => isFields(item.status));
  const chosen =
    reported.find((item) => textAt(item.status, "jobStatus", "state") === "RUNNING") ?? reported[0];
  if (chosen === undefined) return undefined;
  // A member counts generations of its own.
  const { observedGeneration: _member, ...status } = fieldsAt(chosen, "status");
  const observed = valueAt(template, "status", "observedGeneration");
  return observed === undefined ? status : { ...status, observedGeneration: observed };
}
