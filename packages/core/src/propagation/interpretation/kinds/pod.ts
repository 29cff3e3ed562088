/**
 * Pod (v1). Almost nothing of a pod can change once it runs, and members fill in much of it, so whatever the desired pod
 * leaves open stays as it is in the member.
 */
import { equalJson } from "@lifeboat/api";
import {
  type Fields,
  fieldsAt,
  isFields,
  listAt,
  merged,
  textAt,
  valueAt,
  withValue,
} from "../../../fields.ts";
import type { KindHooks, StatusItem } from "../interpreter.ts";
import { podDependencies } from "../pod-dependencies.ts";
import { replicasOf } from "../pod-requirements.ts";
import { byClusterName, isTrue, pick } from "../statuses.ts";

/** Decided by the member, whatever the desired pod has. */
const MEMBER_OWNED = ["nodeName", "serviceAccountName", "serviceAccount", "volumes"];
/** From worst to best; phases that are not listed are ignored. */
const PHASES = ["Failed", "Pending", "Running", "Succeeded"];

export const pod: KindHooks = {
  replicas: (object) => replicasOf(1, fieldsAt(object, "spec")),
  retain,
  health: (object) => (isWell(object) ? "Healthy" : "Unhealthy"),
  aggregateStatus,
  dependencies: (object) => podDependencies(object, fieldsAt(object, "spec")),
};

function isWell(object: Fields): boolean {
  const status = fieldsAt(object, "status");
  if (valueAt(status, "phase") === "Succeeded") return true;
  return valueAt(status, "phase") === "Running" && isTrue(listAt(status, "conditions"), "Ready");
}

function retain(desired: Fields, observed: Fields): Fields {
  const wanted = fieldsAt(desired, "spec");
  const actual = fieldsAt(observed, "spec");
  let spec = merged(merged(actual, wanted), pick(actual, MEMBER_OWNED));
  for (const list of ["containers", "initContainers"])
    if (Array.isArray(valueAt(wanted, list)))
      spec = merged(spec, { [list]: retainContainers(listAt(wanted, list), listAt(actual, list)) });
  if (
    Array.isArray(valueAt(wanted, "tolerations")) ||
    Array.isArray(valueAt(actual, "tolerations"))
  )
    spec = merged(spec, { tolerations: retainTolerations(wanted, actual) });
  return withValue(desired, ["spec"], spec);
}

function retainContainers(wanted: readonly unknown[], actual: readonly unknown[]): unknown[] {
  return wanted.map((container) => {
    const same = actual.find((other) => textAt(other, "name") === textAt(container, "name"));
    if (!isFields(container) || !isFields(same)) return container;
    return merged(merged(same, container), pick(same, ["volumeMounts"]));
  });
}

/** Tolerations of a running pod can be added to, not taken away. */
function retainTolerations(wanted: Fields, actual: Fields): unknown[] {
  const kept = listAt(actual, "tolerations");
  const added = listAt(wanted, "tolerations").filter(
    (toleration) => !kept.some((other) => equalJson(other, toleration)),
  );
  return [...kept, ...added];
}

function aggregateStatus(template: Fields, unordered: readonly StatusItem[]): Fields {
  const items = byClusterName(unordered);
  const phases = items.map((item) =>
    item.status === undefined ? "Pending" : textAt(item.status, "phase"),
  );
  const status: Record<string, unknown> = { ...fieldsAt(template, "status") };
  const phase = PHASES.find((candidate) => phases.includes(candidate));
  if (phase !== undefined) status["phase"] = phase;
  for (const list of ["containerStatuses", "initContainerStatuses"]) {
    const statuses = items.flatMap((item) => listAt(item.status, list));
    delete status[list];
    if (statuses.length > 0)
      status[list] = statuses.map((one) => (isFields(one) ? pick(one, ["ready", "state"]) : {}));
  }
  return status;
}
