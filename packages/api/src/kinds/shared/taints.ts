/**
 * Taints and tolerations of clusters.
 *
 * Four effects: PreferNoSchedule lets new workloads come only after clusters without it; NoSchedule keeps them away; PreferNoExecute
 * does too, and moves those whose policy sets `failover.cluster`; NoExecute moves everything that does not tolerate it.
 */
import { duplicate, type FieldError, invalid, notSupported } from "../../field-error.ts";
import { labelKeyProblems, labelValueProblems } from "../../metadata/names.ts";
import { list, longInteger, object, optional, type Static, text } from "../builder/shape.ts";

export const TAINT_EFFECTS = [
  "NoSchedule",
  "NoExecute",
  "PreferNoExecute",
  "PreferNoSchedule",
] as const;
/** The effects that move workloads away. */
export const EVICTING_EFFECTS: readonly string[] = ["NoExecute", "PreferNoExecute"];

const toleration = object("What a workload puts up with.", {
  key: optional(text("The key of the taints; empty with Exists: every key.")),
  operator: optional(text("Equal (the default) or Exists.")),
  value: optional(text("The value of the taints, for Equal.")),
  effect: optional(
    text(
      "NoSchedule, NoExecute or PreferNoSchedule; empty: all three. PreferNoExecute is never tolerated.",
    ),
  ),
  tolerationSeconds: optional(
    longInteger("For NoExecute: how long to put up with it; absent: for ever."),
  ),
});

export type Toleration = Static<typeof toleration>;

export const clusterTolerations = list(
  "Taints with the effects NoSchedule, NoExecute and PreferNoSchedule that do not keep this workload away. They never apply to " +
    "PreferNoExecute: for that, see failover.cluster.tolerationSeconds.",
  toleration,
);

interface Taint {
  readonly key: string;
  readonly effect: string;
  readonly value?: string;
}

/** Keys, values and effects of taints, and that each key and effect occurs once. */
export function validateTaints(taints: readonly Taint[] | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, { key, value = "", effect }] of (taints ?? []).entries()) {
    const at = `${field}[${i}]`;
    for (const problem of labelKeyProblems(key)) errors.push(invalid(`${at}.key`, key, problem));
    for (const problem of labelValueProblems(value))
      errors.push(invalid(`${at}.value`, value, problem));
    const identity = `${key}:${effect}`;
    if (seen.has(identity)) errors.push(duplicate(at, { key, effect }));
    seen.add(identity);
  }
  return errors;
}

const OPERATORS: readonly string[] = ["Equal", "Exists"];
const TOLERABLE: readonly string[] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function validateTolerations(
  tolerations: readonly Toleration[] | undefined,
  field: string,
): FieldError[] {
  return (tolerations ?? []).flatMap((one, i) => validateToleration(one, `${field}[${i}]`));
}

function validateToleration(one: Toleration, at: string): FieldError[] {
  const { key = "", operator = "", value = "", effect = "" } = one;
  const errors: FieldError[] = [];
  if (key !== "")
    for (const problem of labelKeyProblems(key)) errors.push(invalid(`${at}.key`, key, problem));
  else if (operator !== "Exists")
    errors.push(invalid(`${at}.operator`, operator, "must be Exists when key is empty"));
  if (operator !== "" && !OPERATORS.includes(operator))
    errors.push(notSupported(`${at}.operator`, operator, OPERATORS));
  if (operator === "Exists" && value !== "")
    errors.push(invalid(`${at}.value`, value, "must be empty when operator is Exists"));
  for (const problem of labelValueProblems(value))
    errors.push(invalid(`${at}.value`, value, problem));
  if (effect !== "" && !TOLERABLE.includes(effect))
    errors.push(notSupported(`${at}.effect`, effect, TOLERABLE));
  if (one.tolerationSeconds !== undefined && effect !== "NoExecute")
    errors.push(
      invalid(`${at}.effect`, effect, "must be NoExecute when tolerationSeconds is given"),
    );
  return errors;
}
