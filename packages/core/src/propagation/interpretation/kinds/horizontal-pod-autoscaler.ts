/** HorizontalPodAutoscaler (autoscaling/v1 and v2). */
import { fieldsAt } from "../../../fields.ts";
import type { KindHooks } from "../interpreter.ts";
import { type Counters, pick, sumInto } from "../statuses.ts";

const COUNTERS: Counters = { always: ["currentReplicas", "desiredReplicas"], nonZero: [] };

export const horizontalPodAutoscaler: KindHooks = {
  reflectStatus: (object) => pick(fieldsAt(object, "status"), COUNTERS.always),
  aggregateStatus: (template, items) => sumInto(template, items, COUNTERS),
};
