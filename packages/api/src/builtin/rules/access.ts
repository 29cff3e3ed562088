/** Validation of roles and bindings, and of leases and disruption budgets. */
import { equalJson } from "../../equal-json.ts";
import { invalid, notSupported, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { dnsSubdomainProblems, pathSegmentProblems } from "../../metadata/names.ts";
import {
  isAbsent,
  items,
  part,
  partOf,
  type Problems,
  pushInvalid,
  pushNonNegative,
  pushUnsupported,
  text,
  texts,
} from "./fields.ts";
import { checkLabelSelector, isSoundSelector } from "./label-selector.ts";
import { checkAtMostAll, checkIntOrPercent } from "./workloads.ts";

const GROUP = "rbac.authorization.k8s.io";

export function checkRole(problems: Problems, role: JsonObject): void {
  for (const [index, rule] of items(role, "rules").entries()) {
    checkRule(problems, `rules[${index}]`, rule, true);
  }
}

export function checkClusterRole(problems: Problems, role: JsonObject): void {
  for (const [index, rule] of items(role, "rules").entries()) {
    checkRule(problems, `rules[${index}]`, rule, false);
  }
  const aggregation = part(role, "aggregationRule");
  if (aggregation === undefined) return;
  const field = "aggregationRule.clusterRoleSelectors";
  const selectors = items(aggregation, "clusterRoleSelectors");
  if (selectors.length === 0) {
    problems.push(
      required(field, "at least one clusterRoleSelector required if aggregationRule is non-nil"),
    );
  }
  for (const [index, selector] of selectors.entries()) {
    const at = `${field}[${index}]`;
    checkLabelSelector(problems, at, selector);
    if (!isSoundSelector(selector)) {
      problems.push(invalid(at, null, "invalid label selector."));
    }
  }
}

function checkRule(problems: Problems, field: string, rule: JsonObject, namespaced: boolean): void {
  if (texts(rule, "verbs").length === 0) {
    problems.push(required(`${field}.verbs`, "verbs must contain at least one value"));
  }
  const urls = texts(rule, "nonResourceURLs");
  const groups = texts(rule, "apiGroups");
  const resources = texts(rule, "resources");
  if (urls.length > 0) {
    if (namespaced) {
      problems.push(
        invalid(
          `${field}.nonResourceURLs`,
          urls,
          "namespaced rules cannot apply to non-resource URLs",
        ),
      );
    }
    if (groups.length + resources.length + texts(rule, "resourceNames").length > 0) {
      problems.push(
        invalid(
          `${field}.nonResourceURLs`,
          urls,
          "rules cannot apply to both regular resources and non-resource URLs",
        ),
      );
    }
    return;
  }
  if (groups.length === 0) {
    problems.push(
      required(`${field}.apiGroups`, "resource rules must supply at least one api group"),
    );
  }
  if (resources.length === 0) {
    problems.push(
      required(`${field}.resources`, "resource rules must supply at least one resource"),
    );
  }
}

export function checkRoleBinding(problems: Problems, binding: JsonObject): void {
  checkBinding(problems, binding, ["Role", "ClusterRole"], true);
}

export function checkClusterRoleBinding(problems: Problems, binding: JsonObject): void {
  checkBinding(problems, binding, ["ClusterRole"], false);
}

function checkBinding(
  problems: Problems,
  binding: JsonObject,
  kinds: readonly string[],
  namespaced: boolean,
): void {
  const role = partOf(binding, "roleRef");
  pushUnsupported(problems, "roleRef.apiGroup", text(role, "apiGroup"), [GROUP]);
  pushUnsupported(problems, "roleRef.kind", text(role, "kind"), kinds);
  const name = text(role, "name");
  if (name === "") problems.push(required("roleRef.name"));
  else pushInvalid(problems, "roleRef.name", name, pathSegmentProblems(name));
  for (const [index, subject] of items(binding, "subjects").entries()) {
    checkSubject(problems, `subjects[${index}]`, subject, namespaced);
  }
}

function checkSubject(
  problems: Problems,
  field: string,
  subject: JsonObject,
  namespaced: boolean,
): void {
  const name = text(subject, "name");
  const kind = text(subject, "kind");
  const group = text(subject, "apiGroup");
  if (name === "") problems.push(required(`${field}.name`));
  if (kind === "ServiceAccount") {
    if (name !== "") pushInvalid(problems, `${field}.name`, name, dnsSubdomainProblems(name));
    if (group !== "") problems.push(notSupported(`${field}.apiGroup`, group, [""]));
    if (!namespaced && text(subject, "namespace") === "") {
      problems.push(required(`${field}.namespace`));
    }
  } else if (kind === "User" || kind === "Group") {
    pushUnsupported(problems, `${field}.apiGroup`, group, [GROUP]);
  } else {
    problems.push(notSupported(`${field}.kind`, kind, ["ServiceAccount", "User", "Group"]));
  }
}

/** A binding to another role is another binding. */
export function checkBindingUpdate(problems: Problems, binding: JsonObject, old: JsonObject): void {
  const role = partOf(binding, "roleRef");
  if (equalJson(role, partOf(old, "roleRef"))) return;
  problems.push(
    invalid(
      "roleRef",
      { APIGroup: text(role, "apiGroup"), Kind: text(role, "kind"), Name: text(role, "name") },
      "cannot change roleRef",
    ),
  );
}

export function checkLease(problems: Problems, lease: JsonObject): void {
  const spec = partOf(lease, "spec");
  const duration = spec["leaseDurationSeconds"];
  if (typeof duration === "number" && duration <= 0) {
    problems.push(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  }
  pushNonNegative(problems, "spec.leaseTransitions", spec["leaseTransitions"]);
}

export function checkDisruptionBudget(problems: Problems, budget: JsonObject): void {
  const spec = partOf(budget, "spec");
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec;
  if (!isAbsent(minAvailable) && !isAbsent(maxUnavailable)) {
    const shown = {
      MinAvailable: minAvailable,
      Selector: selector ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
    };
    problems.push(invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set"));
  }
  checkIntOrPercent(problems, "spec.minAvailable", minAvailable);
  checkAtMostAll(problems, "spec.minAvailable", minAvailable);
  checkIntOrPercent(problems, "spec.maxUnavailable", maxUnavailable);
  checkAtMostAll(problems, "spec.maxUnavailable", maxUnavailable);
  checkLabelSelector(problems, "spec.selector", part(spec, "selector"));
  if (!isAbsent(unhealthyPodEvictionPolicy)) {
    pushUnsupported(problems, "spec.unhealthyPodEvictionPolicy", unhealthyPodEvictionPolicy, [
      "AlwaysAllow",
      "IfHealthyBudget",
    ]);
  }
}
