/**
 * Built-in interpretation: one file per kind under kinds/, found here by apiVersion and kind.
 *
 * 1. Every operation has an answer for every object; nothing throws, whatever the object looks like.
 * 2. A kind without an answer of its own: no replicas, nothing retained, the whole status reflected, healthy, the
 *    template's status left alone, no dependencies.
 * 3. `retain` never loses what the member decided; a copy reflected and aggregated is as healthy as it was.
 */
import { type Fields, isFields, textAt, valueAt } from "../../fields.ts";
import type { Interpreter, KindHooks } from "./interpreter.ts";
import { cronJob } from "./kinds/cron-job.ts";
import { daemonSet } from "./kinds/daemon-set.ts";
import { deployment } from "./kinds/deployment.ts";
import { flinkDeployment } from "./kinds/flink-deployment.ts";
import { horizontalPodAutoscaler } from "./kinds/horizontal-pod-autoscaler.ts";
import { ingress } from "./kinds/ingress.ts";
import { job } from "./kinds/job.ts";
import { persistentVolumeClaim } from "./kinds/persistent-volume-claim.ts";
import { persistentVolume } from "./kinds/persistent-volume.ts";
import { podDisruptionBudget } from "./kinds/pod-disruption-budget.ts";
import { pod } from "./kinds/pod.ts";
import { replicaSet } from "./kinds/replica-set.ts";
import { secret } from "./kinds/secret.ts";
import { serviceAccount } from "./kinds/service-account.ts";
import { service } from "./kinds/service.ts";
import { statefulSet } from "./kinds/stateful-set.ts";

/** The interpreter of kinds that have no answers of their own. */
export const defaultInterpreter: Interpreter = {
  replicas: () => ({ replicas: 0 }),
  reviseReplicas: (object) => object,
  retain: (desired) => desired,
  reflectStatus: (object) => {
    const status = valueAt(object, "status");
    return isFields(status) ? status : undefined;
  },
  health: () => "Healthy",
  aggregateStatus: () => undefined,
  dependencies: () => [],
};

const hooks: ReadonlyMap<string, KindHooks> = new Map<string, KindHooks>([
  ["apps/v1 Deployment", deployment],
  ["apps/v1 ReplicaSet", replicaSet],
  ["apps/v1 StatefulSet", statefulSet],
  ["apps/v1 DaemonSet", daemonSet],
  ["batch/v1 Job", job],
  ["batch/v1 CronJob", cronJob],
  ["v1 Pod", pod],
  ["v1 Service", service],
  ["v1 ServiceAccount", serviceAccount],
  ["v1 Secret", secret],
  ["v1 PersistentVolumeClaim", persistentVolumeClaim],
  ["v1 PersistentVolume", persistentVolume],
  ["networking.k8s.io/v1 Ingress", ingress],
  ["policy/v1 PodDisruptionBudget", podDisruptionBudget],
  ["autoscaling/v1 HorizontalPodAutoscaler", horizontalPodAutoscaler],
  ["autoscaling/v2 HorizontalPodAutoscaler", horizontalPodAutoscaler],
  ["flink.apache.org/v1beta1 FlinkDeployment", flinkDeployment],
]);

const interpreters: ReadonlyMap<string, Interpreter> = new Map(
  [...hooks].map(([kind, own]) => [kind, { ...defaultInterpreter, ...own }]),
);

/** The built-in interpreter of an object's kind. */
export function interpreterOf(object: Fields): Interpreter {
  return interpreters.get(kindOf(object)) ?? defaultInterpreter;
}

/** Whether the object's kind has a built-in answer of its own for an operation. */
export function hasOwnAnswer(object: Fields, operation: keyof Interpreter): boolean {
  return hooks.get(kindOf(object))?.[operation] !== undefined;
}

function kindOf(object: Fields): string {
  return `${textAt(object, "apiVersion")} ${textAt(object, "kind")}`;
}
