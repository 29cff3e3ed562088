/**
 * Where a workload may run: candidates, tolerations, spreading, and how its replicas are divided. The rules about it, and
 * the defaults that depend on more than one field.
 */
import { duplicate, type FieldError, forbidden, invalid, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { labelKeyProblems } from "../../metadata/names.ts";
import { eachIn, isEmpty, setIfEmpty, setTo, within } from "../builder/changes.ts";
import {
  choice,
  integer,
  list,
  longInteger,
  object,
  optional,
  type Static,
  text,
  withDefault,
} from "../builder/shape.ts";
import { affinityFields, clusterAffinity, isEmptyAffinity, validateAffinity } from "./affinity.ts";
import { clusterTolerations, validateTolerations } from "./taints.ts";

const affinityName = text("The name of this group, unique in the policy.", {
  minLength: 1,
  maxLength: 32,
});

const affinityGroup = object("A named group of candidate clusters.", {
  affinityName,
  ...affinityFields,
  overflowAffinities: optional(
    list(
      "Groups that take what the group itself has no room for, in this order.",
      object("A further named group.", { affinityName, ...affinityFields }),
    ),
  ),
});

const spreadConstraint = object("How far to spread.", {
  spreadByField: optional(
    choice("What to spread over.", ["cluster", "region", "zone", "provider"]),
  ),
  spreadByLabel: optional(text("A cluster label to spread over; not together with spreadByField.")),
  maxGroups: optional(longInteger("At most this many groups.")),
  minGroups: optional(longInteger("At least this many groups; 1 when absent or 0.")),
});

const replicaScheduling = object(
  "How replicas are given to clusters. Absent altogether: every cluster gets all of them (Duplicated).",
  {
    replicaSchedulingType: withDefault(
      choice("All replicas to each cluster, or divided among them.", ["Duplicated", "Divided"]),
      "Divided",
    ),
    replicaDivisionPreference: optional(
      choice("Divided into as few clusters as possible, or by weight (the default).", [
        "Aggregated",
        "Weighted",
      ]),
    ),
    weightPreference: optional(
      object("The weights for Weighted.", {
        staticWeightList: optional(
          list(
            "Fixed weights.",
            object("The weight of some clusters.", {
              targetCluster: clusterAffinity("Which clusters."),
              weight: longInteger("Their weight.", { minimum: 1 }),
            }),
          ),
        ),
        dynamicWeight: optional(
          choice("Weights by what has room now; wins over fixed ones.", ["AvailableReplicas"]),
        ),
      }),
    ),
  },
);

const affinityTerm = (description: string) =>
  object(description, {
    groupByLabelKey: text("Workloads with the same value of this label form a group."),
  });

export const placement = object("Where the resources may run.", {
  clusterAffinity: optional(clusterAffinity("The candidate clusters; absent: all.")),
  clusterAffinities: optional(
    list(
      "Groups of candidates, tried in this order; not together with clusterAffinity.",
      affinityGroup,
    ),
  ),
  clusterTolerations: optional(clusterTolerations),
  spreadConstraints: optional(list("How far to spread; all must hold.", spreadConstraint)),
  replicaScheduling: optional(replicaScheduling),
  workloadAffinity: optional(
    object("Keeps workloads together or apart. Without effect yet.", {
      affinity: optional(affinityTerm("Run where the group runs.")),
      antiAffinity: optional(affinityTerm("Run where the group does not.")),
    }),
  ),
});

export type Placement = Static<typeof placement>;
type SpreadConstraint = Static<typeof spreadConstraint>;
type AffinityGroup = Static<typeof affinityGroup>;

/** What the admission of a policy fills in. */
export function preparePlacement(given: JsonObject): JsonObject {
  const spread = eachIn(given, "spreadConstraints", prepareSpread);
  return within(spread, "replicaScheduling", (scheduling) =>
    scheduling["replicaSchedulingType"] === "Divided"
      ? setIfEmpty(scheduling, "replicaDivisionPreference", "Weighted")
      : scheduling,
  );
}

function prepareSpread(constraint: JsonObject): JsonObject {
  const byNothing = isEmpty(constraint["spreadByField"]) && isEmpty(constraint["spreadByLabel"]);
  const named = byNothing ? setTo(constraint, "spreadByField", "cluster") : constraint;
  const { minGroups } = named;
  return minGroups === 0 || isEmpty(minGroups) ? setTo(named, "minGroups", 1) : named;
}

export function validatePlacement(given: Placement | undefined, field: string): FieldError[] {
  if (given === undefined) return [];
  return [
    ...validateCandidates(given, field),
    ...validateTolerations(given.clusterTolerations, `${field}.clusterTolerations`),
    ...validateSpread(given.spreadConstraints ?? [], `${field}.spreadConstraints`),
    ...validateWeights(given, `${field}.replicaScheduling.weightPreference.staticWeightList`),
    ...validateWorkloadAffinity(given, `${field}.workloadAffinity`),
  ];
}

function validateCandidates(given: Placement, field: string): FieldError[] {
  const groups = given.clusterAffinities ?? [];
  const errors = validateAffinity(given.clusterAffinity, `${field}.clusterAffinity`);
  if (given.clusterAffinity !== undefined && groups.length > 0)
    errors.push(
      forbidden(`${field}.clusterAffinities`, "cannot be used together with clusterAffinity"),
    );
  const names = new Set<string>();
  for (const [i, group] of groups.entries()) {
    const at = `${field}.clusterAffinities[${i}]`;
    errors.push(...validateGroup(group, at, names));
    if ((group.overflowAffinities ?? []).length === 0) continue;
    errors.push(...validateOverflow(given, group, `${at}.overflowAffinities`));
    for (const [j, overflow] of (group.overflowAffinities ?? []).entries())
      errors.push(...validateGroup(overflow, `${at}.overflowAffinities[${j}]`, names));
  }
  return errors;
}

function validateGroup(group: AffinityGroup, at: string, names: Set<string>): FieldError[] {
  const name = group.affinityName;
  const errors = labelKeyProblems(name).map((problem) =>
    invalid(`${at}.affinityName`, name, problem),
  );
  if (names.has(name)) errors.push(duplicate(`${at}.affinityName`, name));
  names.add(name);
  return [...errors, ...validateAffinity(group, at)];
}

/** Overflow needs a division that knows how much room there is, and a group that can be full. */
function validateOverflow(given: Placement, group: AffinityGroup, field: string): FieldError[] {
  const {
    replicaSchedulingType: type,
    replicaDivisionPreference: preference,
    weightPreference,
  } = given.replicaScheduling ?? {};
  const knowsRoom =
    preference === "Aggregated" || weightPreference?.dynamicWeight === "AvailableReplicas";
  const errors: FieldError[] = [];
  if (type !== "Divided" || !knowsRoom)
    errors.push(
      forbidden(field, "needs replicaScheduling Divided, with Aggregated or with dynamicWeight"),
    );
  if (isEmptyAffinity(group))
    errors.push(forbidden(field, "needs a group that does not select all clusters"));
  return errors;
}

function validateSpread(constraints: readonly SpreadConstraint[], field: string): FieldError[] {
  const errors: FieldError[] = [];
  const fields = new Set<string>();
  for (const [i, constraint] of constraints.entries()) {
    const at = `${field}[${i}]`;
    const { spreadByField: by = "", spreadByLabel = "", minGroups = 0, maxGroups = 0 } = constraint;
    if (by !== "" && spreadByLabel !== "")
      errors.push(forbidden(`${at}.spreadByLabel`, "cannot be used together with spreadByField"));
    if (minGroups < 0) errors.push(invalid(`${at}.minGroups`, minGroups, "must not be negative"));
    if (maxGroups < 0) errors.push(invalid(`${at}.maxGroups`, maxGroups, "must not be negative"));
    if (maxGroups > 0 && maxGroups < minGroups)
      errors.push(invalid(`${at}.maxGroups`, maxGroups, "must not be less than minGroups"));
    if (fields.has(by)) errors.push(duplicate(`${at}.spreadByField`, by));
    if (by !== "") fields.add(by);
  }
  if (fields.size > 0 && !fields.has("cluster"))
    errors.push(
      required(field, "one constraint must be by the field cluster when another is by field"),
    );
  return errors;
}

function validateWeights(given: Placement, field: string): FieldError[] {
  const weights = given.replicaScheduling?.weightPreference?.staticWeightList ?? [];
  return weights.flatMap(({ targetCluster }, i) =>
    validateAffinity(targetCluster, `${field}[${i}].targetCluster`),
  );
}

function validateWorkloadAffinity({ workloadAffinity }: Placement, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ["affinity", "antiAffinity"] as const) {
    const key = workloadAffinity?.[name]?.groupByLabelKey;
    if (key === undefined) continue;
    for (const problem of labelKeyProblems(key))
      errors.push(invalid(`${field}.${name}.groupByLabelKey`, key, problem));
  }
  const together = workloadAffinity?.affinity?.groupByLabelKey;
  if (together !== undefined && together === workloadAffinity?.antiAffinity?.groupByLabelKey)
    errors.push(
      invalid(
        `${field}.antiAffinity.groupByLabelKey`,
        together,
        "must differ from that of affinity",
      ),
    );
  return errors;
}

/** How many of a workload's replicas a cluster gets. */
export const targetCluster = object("A cluster and its share.", {
  name: text("The cluster's name."),
  replicas: optional(integer("How many replicas; absent: none, or the workload has none.")),
});
