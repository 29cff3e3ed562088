/** CronJob (batch/v1). */
import { type Fields, fieldsAt, listAt, textAt } from "../../../fields.ts";
import type { KindHooks, StatusItem } from "../interpreter.ts";
import { podDependencies } from "../pod-dependencies.ts";
import { byClusterName, latest } from "../statuses.ts";

export const cronJob: KindHooks = {
  aggregateStatus,
  dependencies: (object) =>
    podDependencies(object, fieldsAt(object, "spec", "jobTemplate", "spec", "template", "spec")),
};

function aggregateStatus(_template: Fields, items: readonly StatusItem[]): Fields {
  const active = byClusterName(items).flatMap((item) => listAt(item.status, "active"));
  const status: Record<string, unknown> = active.length === 0 ? {} : { active };
  for (const name of ["lastScheduleTime", "lastSuccessfulTime"]) {
    const time = latest(items.map((item) => textAt(item.status, name)));
    if (time !== undefined) status[name] = time;
  }
  return status;
}
