/**
 * The priority of a workload among those that may leave a cluster (D31): the number on its binding, else the value of the PriorityClass
 * that its policy names. A class that does not exist gives none: the order of a queue is no reason to hold a workload.
 */
import type { ResourceBinding } from "@lifeboat/api";
import { integerAt, textAt } from "../../fields.ts";

/** `classOf`: the PriorityClass of this name; undefined: there is none. `policy`: the one that claims the workload, if it is there. */
export function priorityOf(
  { spec }: Pick<ResourceBinding, "spec">,
  policy: object | undefined,
  classOf: (name: string) => object | undefined,
): number {
  if (spec.schedulePriority !== undefined) return spec.schedulePriority.priority ?? 0;
  const name = textAt(policy, "spec", "schedulePriority", "priorityClassName");
  return name === "" ? 0 : (integerAt(classOf(name), "value") ?? 0);
}
