/**
 * What happens to a workload when its cluster or the workload itself fails.
 */
import { type FieldError, forbidden, invalid } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { compileJsonPath, JsonPathError } from "../../jsonpath/jsonpath.ts";
import { setIfEmpty, within } from "../builder/changes.ts";
import {
  choice,
  integer,
  list,
  object,
  optional,
  type Static,
  text,
  withDefault,
} from "../builder/shape.ts";
import { stateLabelProblem } from "./state-label.ts";

/** Directly and Gracefully were once spelled Immediately and Graciously; both spellings are accepted. */
export const CLUSTER_PURGE_MODES = ["Directly", "Gracefully", "Immediately", "Graciously"] as const;
export const PURGE_MODES = [...CLUSTER_PURGE_MODES, "Never"] as const;

const PURGE_MODE =
  "What becomes of the old copy: Directly removes it before the new one is placed, Gracefully once the new one is " +
  "healthy. Immediately and Graciously are old spellings of the two.";

const statePreservation = object(
  "Which parts of the old copy's status travel with the workload, as labels of the new copy.",
  {
    rules: list(
      "What to keep.",
      object("One value to keep.", {
        aliasLabelName: text("The label that carries the value in the new copy."),
        jsonPath: text(
          "Where the value is in the status, such as `{ .jobStatus.jobId }`; case matters.",
        ),
      }),
    ),
  },
);

export const failover = object("What happens on failure; absent: nothing.", {
  application: optional(
    object("When the workload itself is unhealthy in a cluster. Needs propagateDeps.", {
      decisionConditions: object("When to act.", {
        tolerationSeconds: withDefault(
          integer("How long the workload may be unhealthy.", { minimum: 0 }),
          300,
        ),
      }),
      purgeMode: withDefault(choice(`${PURGE_MODE} Never keeps it.`, PURGE_MODES), "Gracefully"),
      gracePeriodSeconds: optional(
        integer("For Gracefully: the longest wait for the new copy; 600 when absent.", {
          minimum: 1,
        }),
      ),
      statePreservation: optional(statePreservation),
    }),
  ),
  cluster: optional(
    object(
      "When the cluster bears a taint with the effect PreferNoExecute; absent: such taints move nothing. NoExecute " +
        "taints move workloads with or without this.",
      {
        purgeMode: withDefault(choice(PURGE_MODE, CLUSTER_PURGE_MODES), "Gracefully"),
        tolerationSeconds: withDefault(
          integer(
            "How long to wait after a PreferNoExecute taint was added; 0: not at all. It does not delay NoExecute: for " +
              "that, see placement.clusterTolerations.",
            { minimum: 0 },
          ),
          300,
        ),
        statePreservation: optional(statePreservation),
      },
    ),
  ),
});

export type Failover = Static<typeof failover>;
type StatePreservation = Static<typeof statePreservation>;

const GRACE_SECONDS = 600;

function isGraceful(purgeMode: unknown): boolean {
  return purgeMode === "Gracefully" || purgeMode === "Graciously";
}

export function prepareFailover(given: JsonObject): JsonObject {
  return within(given, "application", (application) =>
    isGraceful(application["purgeMode"])
      ? setIfEmpty(application, "gracePeriodSeconds", GRACE_SECONDS)
      : application,
  );
}

/**
 * `propagateDeps` is the policy's: dependencies must come along when an application moves. `old` is what is stored: a policy
 * from before a label was refused can still be labelled and deleted.
 */
export function validateFailover(
  given: Failover | undefined,
  old: Failover | undefined,
  field: string,
  propagateDeps: boolean,
): FieldError[] {
  const { application, cluster } = given ?? {};
  const errors: FieldError[] = [];
  if (application !== undefined) {
    const at = `${field}.application`;
    if (!propagateDeps)
      errors.push(
        invalid(
          "spec.propagateDeps",
          propagateDeps,
          "must be true when failover.application is set",
        ),
      );
    if (application.gracePeriodSeconds !== undefined && !isGraceful(application.purgeMode))
      errors.push(forbidden(`${at}.gracePeriodSeconds`, "is for the purge mode Gracefully only"));
    errors.push(
      ...validatePreservation(
        application.statePreservation,
        old?.application?.statePreservation,
        `${at}.statePreservation`,
      ),
    );
  }
  const ofCluster = validatePreservation(
    cluster?.statePreservation,
    old?.cluster?.statePreservation,
    `${field}.cluster.statePreservation`,
  );
  return [...errors, ...ofCluster];
}

/** What is accepted of the field, and has no effect while the gate is off. */
export function failoverWarnings(given: Failover | undefined, field: string): readonly string[] {
  return (["application", "cluster"] as const)
    .filter((name) => (given?.[name]?.statePreservation?.rules ?? []).length > 0)
    .map(
      (name) =>
        `${field}.${name}.statePreservation: no state is kept while the feature gate StatefulFailoverInjection is off`,
    );
}

function validatePreservation(
  given: StatePreservation | undefined,
  old: StatePreservation | undefined,
  field: string,
): FieldError[] {
  const stored = new Set(old?.rules.map(({ aliasLabelName }) => aliasLabelName));
  const errors: FieldError[] = [];
  for (const [i, { aliasLabelName, jsonPath }] of (given?.rules ?? []).entries()) {
    const at = `${field}.rules[${i}]`;
    const taken = stored.has(aliasLabelName) ? undefined : stateLabelProblem(aliasLabelName);
    if (taken !== undefined) errors.push(invalid(`${at}.aliasLabelName`, aliasLabelName, taken));
    const problem = jsonPathProblem(jsonPath);
    if (problem !== undefined) errors.push(invalid(`${at}.jsonPath`, jsonPath, problem));
  }
  return errors;
}

/** A path that cannot be read would hold every evacuation: better said when the policy is written. */
function jsonPathProblem(path: string): string | undefined {
  // Text outside of braces stands for itself: `jobId` would carry the word, and nothing of the status.
  if (!path.includes("{")) return "must have a path in braces, such as { .jobStatus.jobId }";
  try {
    compileJsonPath(path);
    return undefined;
  } catch (error) {
    if (error instanceof JsonPathError) return error.message;
    throw error;
  }
}
