/** PersistentVolume (v1): the member's binder owns the reference to the claim. */
import { type Fields, fieldsAt, textAt, valueAt, withValue } from "../../../fields.ts";
import type { KindHooks, StatusItem } from "../interpreter.ts";

/** The first of these that a copy is in. */
const PHASES = ["Failed", "Pending", "Available", "Bound", "Released"];

export const persistentVolume: KindHooks = {
  retain: (desired, observed) => {
    const claim = valueAt(observed, "spec", "claimRef");
    return claim === undefined ? desired : withValue(desired, ["spec", "claimRef"], claim);
  },
  aggregateStatus,
};

function aggregateStatus(template: Fields, items: readonly StatusItem[]): Fields {
  const phases = items.map((item) => textAt(item.status, "phase") || "Pending");
  const phase = PHASES.find((candidate) => phases.includes(candidate));
  const status = fieldsAt(template, "status");
  return phase === undefined ? status : { ...status, phase };
}
