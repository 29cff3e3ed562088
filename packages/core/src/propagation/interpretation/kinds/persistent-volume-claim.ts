/** PersistentVolumeClaim (v1): the member binds a volume and fills in its storage class, both for good. */
import { type Fields, fieldsAt, textAt, valueAt, withValue } from "../../../fields.ts";
import type { KindHooks, StatusItem } from "../interpreter.ts";

export const persistentVolumeClaim: KindHooks = {
  retain,
  health: (object) => (valueAt(object, "status", "phase") === "Bound" ? "Healthy" : "Unhealthy"),
  aggregateStatus,
};

function retain(desired: Fields, observed: Fields): Fields {
  let retained = desired;
  for (const name of ["volumeName", "storageClassName", "volumeMode"]) {
    const value = valueAt(observed, "spec", name);
    if (value === undefined) continue;
    if (name === "volumeName" || valueAt(desired, "spec", name) === undefined)
      retained = withValue(retained, ["spec", name], value);
  }
  return retained;
}

/** Bound, unless a copy reports another phase; a lost volume outweighs one that is not yet there. */
function aggregateStatus(template: Fields, items: readonly StatusItem[]): Fields {
  const phases = items.map((item) => textAt(item.status, "phase") || "Pending");
  const phase = phases.includes("Lost")
    ? "Lost"
    : (phases.find((candidate) => candidate !== "Bound") ?? "Bound");
  return { ...fieldsAt(template, "status"), phase };
}
