/**
 * Reading the state that a workload carries to its next cluster (D12): the rules of its policy, run over the status that
 * its old copy last reported, become labels of the new copy.
 *
 * 1. Either all is known before anything is removed, or the eviction is held with the rule named: several values, a value
 *    that is no label, an integer that may have been rounded on its way here, a label that is not free.
 * 2. A key that the status does not have skips its rule and warns, unless the policy sets Hold
 *    (`lifeboat.dev/state-failure-policy: Hold`). What a former failover kept under that label is dropped, not reused: old
 *    state is worse than none.
 * 3. State is kept only when the cluster held all replicas: else the parts that stay disagree with it.
 * 4. Integers are written in decimal.
 */
import {
  compileJsonPath,
  isInexactInteger,
  isJsonObject,
  type Json,
  JsonPathError,
  labelValueProblems,
  stateLabelProblem,
} from "@lifeboat/api";
import { type Fields, fieldsAt, textsAt } from "../../fields.ts";
import type { StateReason } from "./reasons.ts";

export interface StateRule {
  readonly aliasLabelName: string;
  readonly jsonPath: string;
}

export interface StateView {
  readonly rules: readonly StateRule[];
  /** Whether the copy held every replica of the workload. */
  readonly heldAll: boolean;
  /** As the copy last reported it; undefined: never. */
  readonly status: unknown;
  readonly template: Fields;
  /** Whether the policy's annotation about missing keys is `Hold`. */
  readonly holdOnMissing: boolean;
}

export type ExtractedState =
  | {
      readonly outcome: "kept";
      readonly reason: Exclude<StateReason, "KeyMissing">;
      readonly labels: Readonly<Record<string, string>>;
      /** What a person should know: rules that found nothing. */
      readonly warnings: readonly string[];
    }
  | {
      readonly outcome: "held";
      readonly reason: StateReason;
      readonly message: string;
    };

/** The labels that carry the state, or why the workload must not be moved yet. */
export function extractState(view: StateView): ExtractedState {
  const { rules, status } = view;
  if (rules.length === 0) return kept("NothingAsked", {});
  if (!view.heldAll)
    return kept("NotAlone", {}, ["no state is kept: the cluster did not hold all replicas"]);
  const taken = labelsInUse(view.template);
  const labels: Record<string, string> = {};
  const warnings: string[] = [];
  for (const { aliasLabelName, jsonPath } of rules) {
    const named = `the rule for ${aliasLabelName} (${jsonPath})`;
    const problem = labelProblem(aliasLabelName, taken);
    if (problem !== undefined) return held("ForbiddenLabel", `${named}: ${problem}`);
    const found = status === undefined ? missing("StatusMissing") : valueOf(jsonPath, status);
    if (found.kind === "missing") {
      const why = found.reason === "StatusMissing" ? "no status was reported" : "finds nothing";
      if (view.holdOnMissing) return held(found.reason, `${named}: ${why}`);
      warnings.push(`${named}: ${why}; it is skipped`);
      continue;
    }
    if (found.kind === "wrong") return held(found.reason, `${named}: ${found.message}`);
    labels[aliasLabelName] = found.text;
  }
  const nothing = Object.keys(labels).length === 0 && status === undefined;
  return kept(nothing ? "StatusMissing" : "Preserved", labels, warnings);
}

type Found =
  | { readonly kind: "found"; readonly text: string }
  | { readonly kind: "missing"; readonly reason: "KeyMissing" | "StatusMissing" }
  | { readonly kind: "wrong"; readonly reason: StateReason; readonly message: string };

function missing(reason: "KeyMissing" | "StatusMissing"): Found {
  return { kind: "missing", reason };
}

function valueOf(jsonPath: string, status: unknown): Found {
  let values: readonly Json[];
  try {
    values = compileJsonPath(jsonPath, { allowMissingKeys: true })
      .evaluate(status as Json)
      .flat();
  } catch (error) {
    if (error instanceof JsonPathError)
      return { kind: "wrong", reason: "BadPath", message: error.message };
    throw error;
  }
  if (values.length === 0) return missing("KeyMissing");
  // seed: several-values
  if (values.length > 1)
    return { kind: "wrong", reason: "SeveralValues", message: `finds ${values.length} values` };
  if (isInexactInteger(values[0]))
    return {
      kind: "wrong",
      reason: "InexactInteger",
      message: "finds an integer beyond \u00b1(2^53 - 1), of which the last digits are not known",
    };
  const text = asText(values[0]);
  // A null is as good as absent: the member's controller has not filled it in.
  if (text === null) return missing("KeyMissing");
  if (text === undefined)
    return { kind: "wrong", reason: "NotALabel", message: "finds an object or a list" };
  const [problem] = labelValueProblems(text);
  if (problem !== undefined)
    return { kind: "wrong", reason: "NotALabel", message: `finds ${quoted(text)}: ${problem}` };
  return { kind: "found", text };
}

/** null for a null, undefined for what is not one value. */
function asText(value: Json | undefined): string | null | undefined {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number") return undefined;
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

/** Admission has asked the first question already; only here the template is known. */
function labelProblem(key: string, taken: ReadonlySet<string>): string | undefined {
  if (taken.has(key)) return "the label is part of the template's labels or of its selector";
  return stateLabelProblem(key);
}

/** The labels of a template, its selector and its pods. */
export function labelsInUse(template: Fields): ReadonlySet<string> {
  const selector = fieldsAt(template, "spec", "selector");
  const expressions = selector["matchExpressions"];
  const keys = Array.isArray(expressions)
    ? expressions.flatMap((one: unknown) =>
        isJsonObject(one as Json) && typeof (one as Fields)["key"] === "string"
          ? [(one as { readonly key: string }).key]
          : [],
      )
    : [];
  return new Set([
    ...Object.keys(textsAt(template, "metadata", "labels")),
    ...Object.keys(textsAt(template, "spec", "selector", "matchLabels")),
    ...Object.keys(textsAt(template, "spec", "template", "metadata", "labels")),
    ...keys,
  ]);
}

function kept(
  reason: Exclude<StateReason, "KeyMissing">,
  labels: Readonly<Record<string, string>>,
  warnings: readonly string[] = [],
): ExtractedState {
  return { outcome: "kept", reason, labels, warnings };
}

function held(reason: StateReason, message: string): ExtractedState {
  return { outcome: "held", reason, message };
}
