/**
 * OverridePolicy and ClusterOverridePolicy: how copies of a resource differ from cluster to cluster. The two differ in
 * scope only.
 */
import { type FieldError, forbidden, invalid } from "../field-error.ts";
import { labelKeyProblems } from "../metadata/names.ts";
import { validateLabels } from "../metadata/validate-metadata.ts";
import { within } from "./builder/changes.ts";
import { declareKind, type DeclaredObject, type KindObject } from "./builder/kind-declaration.ts";
import {
  anything,
  choice,
  list,
  map,
  object,
  optional,
  type Static,
  text,
} from "./builder/shape.ts";
import {
  clusterAffinity,
  resourceSelector,
  selectInNamespace,
  validateAffinity,
  validateSelectors,
} from "./shared/affinity.ts";

const CHANGES = ["add", "remove", "replace"] as const;
const operator = choice("What to do.", CHANGES);
const pointer = "A JSON pointer, such as /spec/replicas.";

const wordsOverrider = object("A change of the words of a command line.", {
  containerName: text("The container."),
  operator: choice("What to do.", ["add", "remove"]),
  value: optional(list("The words.", text("A word."))),
});

const pairsOverrider = object("A change of labels or annotations.", {
  operator,
  value: optional(map("Keys and values.", text("A value."))),
});

const embeddedPatch = object("One change inside the embedded document.", {
  subPath: text(pointer),
  operator,
  value: optional(anything("The new value.")),
});

const overriders = object("The changes, kind by kind.", {
  plaintext: optional(
    list(
      "Changes by JSON patch.",
      object("One change.", {
        path: text(pointer),
        operator,
        value: optional(anything("The new value.")),
      }),
    ),
  ),
  imageOverrider: optional(
    list(
      "Changes of image names.",
      object("One change.", {
        predicate: optional(
          object("Which image; absent: those of all containers.", { path: text(pointer) }),
        ),
        component: choice("Which part of the name.", ["Registry", "Repository", "Tag"]),
        operator,
        value: optional(text("The new text.")),
      }),
    ),
  ),
  commandOverrider: optional(list("Changes of commands.", wordsOverrider)),
  argsOverrider: optional(list("Changes of arguments.", wordsOverrider)),
  labelsOverrider: optional(list("Changes of labels.", pairsOverrider)),
  annotationsOverrider: optional(list("Changes of annotations.", pairsOverrider)),
  fieldOverrider: optional(
    list(
      "Changes inside a text field that holds JSON or YAML.",
      object("Changes of one such field.", {
        fieldPath: text(pointer),
        json: optional(list("The changes, when the field holds JSON.", embeddedPatch)),
        yaml: optional(list("The changes, when the field holds YAML.", embeddedPatch)),
      }),
    ),
  ),
});

type Overriders = Static<typeof overriders>;

const spec = object("What is changed, where.", {
  resourceSelectors: optional(list("Which resources; absent: all.", resourceSelector)),
  overrideRules: optional(
    list(
      "The changes.",
      object("Changes for some clusters.", {
        targetCluster: optional(clusterAffinity("Which clusters; absent: all.")),
        overriders,
      }),
    ),
  ),
  targetCluster: optional(clusterAffinity("The old way to choose clusters; use overrideRules.")),
  overriders: optional(overriders),
});

type Policy = KindObject<typeof spec>;

const shared = {
  group: "policy.karmada.io",
  version: "v1alpha1",
  categories: ["karmada-io"],
  spec,
} as const;

export const overridePolicyKind = declareKind({
  ...shared,
  kind: "OverridePolicy",
  plural: "overridepolicies",
  namespaced: true,
  description: "Defines how copies of resources of its own namespace differ between clusters.",
  shortNames: ["op"],
  prepare: (policy) => within(policy, "spec", (given) => selectInNamespace(given, policy)),
  rules: (policy) => validatePolicy(policy),
});

export type OverridePolicy = DeclaredObject<typeof overridePolicyKind>;
export const overridePolicies = overridePolicyKind.resource;

export const clusterOverridePolicyKind = declareKind({
  ...shared,
  kind: "ClusterOverridePolicy",
  plural: "clusteroverridepolicies",
  namespaced: false,
  description:
    "Defines how copies of resources of any namespace, or of none, differ between clusters.",
  shortNames: ["cop"],
  rules: (policy) => validatePolicy(policy),
});

export type ClusterOverridePolicy = DeclaredObject<typeof clusterOverridePolicyKind>;
export const clusterOverridePolicies = clusterOverridePolicyKind.resource;

function validatePolicy({ metadata, spec: given }: Policy): FieldError[] {
  const rules = given.overrideRules ?? [];
  const errors = validateSelectors(
    given.resourceSelectors,
    "spec.resourceSelectors",
    metadata.namespace ?? "",
  );
  if (rules.length > 0 && (given.targetCluster !== undefined || hasChanges(given.overriders)))
    errors.push(
      forbidden("spec.overrideRules", "cannot be used together with targetCluster or overriders"),
    );
  errors.push(...validateAffinity(given.targetCluster, "spec.targetCluster"));
  errors.push(...validateOverriders(given.overriders ?? {}, "spec.overriders"));
  for (const [i, rule] of rules.entries()) {
    const at = `spec.overrideRules[${i}]`;
    errors.push(...validateAffinity(rule.targetCluster, `${at}.targetCluster`));
    errors.push(...validateOverriders(rule.overriders, `${at}.overriders`));
  }
  return errors;
}

function hasChanges(given: Overriders | undefined): boolean {
  return Object.values(given ?? {}).some((changes) => changes.length > 0);
}

function validateOverriders(given: Overriders, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const checkPointer = (path: string, at: string): void => {
    const problem = pointerProblem(path);
    if (problem !== undefined) errors.push(invalid(at, path, problem));
  };
  for (const [i, { path }] of (given.plaintext ?? []).entries())
    checkPointer(path, `${field}.plaintext[${i}].path`);
  for (const [i, { predicate }] of (given.imageOverrider ?? []).entries())
    if (predicate !== undefined)
      checkPointer(predicate.path, `${field}.imageOverrider[${i}].predicate.path`);
  for (const [i, one] of (given.fieldOverrider ?? []).entries()) {
    const at = `${field}.fieldOverrider[${i}]`;
    checkPointer(one.fieldPath, `${at}.fieldPath`);
    if ((one.json ?? []).length > 0 === (one.yaml ?? []).length > 0)
      errors.push(invalid(at, one.fieldPath, "exactly one of json and yaml must have changes"));
    for (const format of ["json", "yaml"] as const)
      for (const [j, { subPath }] of (one[format] ?? []).entries())
        checkPointer(subPath, `${at}.${format}[${j}].subPath`);
  }
  for (const [i, { value }] of (given.labelsOverrider ?? []).entries())
    errors.push(...validateLabels(value, `${field}.labelsOverrider[${i}].value`));
  for (const [i, { value }] of (given.annotationsOverrider ?? []).entries())
    errors.push(...validateAnnotations(value, `${field}.annotationsOverrider[${i}].value`));
  return errors;
}

/** Keys of annotations may have capitals where keys of labels may not. */
function validateAnnotations(
  pairs: Readonly<Record<string, string>> | undefined,
  field: string,
): FieldError[] {
  return Object.keys(pairs ?? {}).flatMap((key) =>
    labelKeyProblems(key.toLowerCase()).map((problem) => invalid(field, key, problem)),
  );
}

/** RFC 6901: empty for the whole document, or tokens that each start with a slash, with ~ escaped. */
function pointerProblem(pointerText: string): string | undefined {
  if (pointerText === "") return undefined;
  if (!pointerText.startsWith("/")) return "a JSON pointer starts with /";
  return /~(?![01])/.test(pointerText)
    ? "in a JSON pointer ~ is written ~0 and / is written ~1"
    : undefined;
}
