/**
 * StatefulSet (apps/v1). Claims that the set makes from its own templates are not dependencies.
 *
 * A rolling update of a set is over when its current revision is its update revision: nothing else shows it, because the
 * pods of the old revision are ready too. So the copies report both, and the template's differ until no copy's do.
 */
import {
  countAt,
  type Fields,
  fieldsAt,
  listAt,
  textAt,
  without,
  withValue,
} from "../../../fields.ts";
import type { Dependency, KindHooks, StatusItem } from "../interpreter.ts";
import { podDependencies } from "../pod-dependencies.ts";
import { replicasOf } from "../pod-requirements.ts";
import {
  aggregateWorkload,
  byClusterName,
  type Counters,
  pick,
  reflectWorkload,
} from "../statuses.ts";
import { isRolledOut } from "./deployment.ts";

const COUNTERS: Counters = {
  always: ["replicas", "availableReplicas"],
  nonZero: ["currentReplicas", "readyReplicas", "updatedReplicas"],
};
const REVISIONS = ["currentRevision", "updateRevision"];

export const statefulSet: KindHooks = {
  replicas: (object) =>
    replicasOf(countAt(object, "spec", "replicas"), fieldsAt(object, "spec", "template", "spec")),
  reviseReplicas: (object, replicas) => withValue(object, ["spec", "replicas"], replicas),
  reflectStatus: (object) => ({
    ...reflectWorkload(object, COUNTERS),
    ...pick(fieldsAt(object, "status"), REVISIONS),
  }),
  health: (object) => (isRolledOut(object) ? "Healthy" : "Unhealthy"),
  aggregateStatus: (template, items) => ({
    ...without(aggregateWorkload(template, items, COUNTERS), ...REVISIONS),
    ...revisionsOf(items),
  }),
  dependencies: dependenciesOf,
};

/** The revisions of the first copy that is being updated; when none is, those of the first copy. */
function revisionsOf(items: readonly StatusItem[]): Fields {
  const reported = byClusterName(items)
    .map(({ status }) => pick(fieldsAt(status), REVISIONS))
    .filter((revisions) => textAt(revisions, "updateRevision") !== "");
  const updating = reported.find(
    (revisions) => textAt(revisions, "currentRevision") !== textAt(revisions, "updateRevision"),
  );
  return updating ?? reported[0] ?? {};
}

function dependenciesOf(object: Fields): Dependency[] {
  const own = new Set(
    listAt(object, "spec", "volumeClaimTemplates").map((claim) =>
      textAt(claim, "metadata", "name"),
    ),
  );
  return podDependencies(object, fieldsAt(object, "spec", "template", "spec")).filter(
    ({ kind, name }) => kind !== "PersistentVolumeClaim" || name === undefined || !own.has(name),
  );
}
