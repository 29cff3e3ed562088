/** Validation of where a pod may run: affinity, tolerations, spreading. */
import { duplicate, forbidden, invalid, notSupported, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { dnsLabelProblems, labelKeyProblems, labelValueProblems } from "../../metadata/names.ts";
import {
  count,
  isAbsent,
  items,
  part,
  type Problems,
  pushInvalid,
  pushUnsupported,
  text,
  texts,
} from "./fields.ts";
import { checkLabelSelector } from "./label-selector.ts";

const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function checkAffinity(
  problems: Problems,
  field: string,
  affinity: JsonObject | undefined,
): void {
  if (affinity === undefined) return;
  const node = part(affinity, "nodeAffinity");
  if (node !== undefined) checkNodeAffinity(problems, `${field}.nodeAffinity`, node);
  for (const name of ["podAffinity", "podAntiAffinity"]) {
    const pods = part(affinity, name);
    if (pods !== undefined) checkPodAffinity(problems, `${field}.${name}`, pods);
  }
}

function checkNodeAffinity(problems: Problems, field: string, affinity: JsonObject): void {
  const selector = part(affinity, REQUIRED);
  if (selector !== undefined) checkNodeSelector(problems, `${field}.${REQUIRED}`, selector);
  for (const [index, term] of items(affinity, PREFERRED).entries()) {
    const at = `${field}.${PREFERRED}[${index}]`;
    checkWeight(problems, at, term);
    checkNodeSelectorTerm(problems, `${at}.preference`, part(term, "preference"));
  }
}

export function checkNodeSelector(problems: Problems, field: string, selector: JsonObject): void {
  const terms = items(selector, "nodeSelectorTerms");
  if (terms.length === 0) {
    problems.push(
      required(`${field}.nodeSelectorTerms`, "must have at least one node selector term"),
    );
  }
  for (const [index, term] of terms.entries()) {
    checkNodeSelectorTerm(problems, `${field}.nodeSelectorTerms[${index}]`, term);
  }
}

function checkWeight(problems: Problems, field: string, term: JsonObject): void {
  const weight = count(term, "weight");
  if (weight < 1 || weight > 100) {
    problems.push(invalid(`${field}.weight`, weight, "must be in the range 1-100"));
  }
}

function checkNodeSelectorTerm(
  problems: Problems,
  field: string,
  term: JsonObject | undefined,
): void {
  for (const [index, expression] of items(term, "matchExpressions").entries()) {
    checkNodeExpression(problems, `${field}.matchExpressions[${index}]`, expression);
  }
  for (const [index, expression] of items(term, "matchFields").entries()) {
    checkNodeField(problems, `${field}.matchFields[${index}]`, expression);
  }
}

function checkNodeExpression(problems: Problems, field: string, expression: JsonObject): void {
  const values = texts(expression, "values");
  const operator = text(expression, "operator");
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) {
        problems.push(
          required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"),
        );
      }
      break;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        problems.push(
          forbidden(
            `${field}.values`,
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
          ),
        );
      }
      break;
    case "Gt":
    case "Lt":
      if (values.length !== 1) {
        problems.push(
          required(
            `${field}.values`,
            "must be specified single value when `operator` is 'Lt' or 'Gt'",
          ),
        );
      }
      break;
    default:
      problems.push(invalid(`${field}.operator`, operator, "not a valid selector operator"));
  }
  const key = text(expression, "key");
  pushInvalid(problems, `${field}.key`, key, labelKeyProblems(key));
}

function checkNodeField(problems: Problems, field: string, expression: JsonObject): void {
  const operator = text(expression, "operator");
  if (operator !== "In" && operator !== "NotIn") {
    problems.push(invalid(`${field}.operator`, operator, "not a valid selector operator"));
  } else if (texts(expression, "values").length !== 1) {
    problems.push(
      required(
        `${field}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      ),
    );
  }
  const key = text(expression, "key");
  if (key !== "metadata.name") {
    problems.push(invalid(`${field}.key`, key, "not a valid field selector key"));
  }
}

function checkPodAffinity(problems: Problems, field: string, affinity: JsonObject): void {
  for (const [index, term] of items(affinity, REQUIRED).entries()) {
    checkPodTerm(problems, `${field}.${REQUIRED}[${index}]`, term);
  }
  for (const [index, term] of items(affinity, PREFERRED).entries()) {
    const at = `${field}.${PREFERRED}[${index}]`;
    checkWeight(problems, at, term);
    checkPodTerm(problems, `${at}.podAffinityTerm`, part(term, "podAffinityTerm"));
  }
}

function checkPodTerm(problems: Problems, field: string, term: JsonObject | undefined): void {
  checkLabelSelector(problems, `${field}.labelSelector`, part(term, "labelSelector"));
  checkLabelSelector(problems, `${field}.namespaceSelector`, part(term, "namespaceSelector"));
  for (const namespace of texts(term, "namespaces")) {
    pushInvalid(problems, `${field}.namespace`, namespace, dnsLabelProblems(namespace));
  }
  const key = text(term, "topologyKey");
  if (key === "") problems.push(required(`${field}.topologyKey`, "can not be empty"));
  pushInvalid(problems, `${field}.topologyKey`, key, labelKeyProblems(key));
}

export function checkTolerations(
  problems: Problems,
  field: string,
  tolerations: readonly JsonObject[],
): void {
  for (const [index, toleration] of tolerations.entries()) {
    checkToleration(problems, `${field}[${index}]`, toleration);
  }
}

function checkToleration(problems: Problems, field: string, toleration: JsonObject): void {
  const key = text(toleration, "key");
  const operator = text(toleration, "operator");
  const value = text(toleration, "value");
  const effect = text(toleration, "effect");
  if (key !== "") pushInvalid(problems, `${field}.key`, key, labelKeyProblems(key));
  if (key === "" && operator !== "Exists") {
    problems.push(
      invalid(
        `${field}.operator`,
        operator,
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ),
    );
  }
  if (!isAbsent(toleration["tolerationSeconds"]) && effect !== "NoExecute") {
    problems.push(
      invalid(
        `${field}.effect`,
        effect,
        "effect must be 'NoExecute' when `tolerationSeconds` is set",
      ),
    );
  }
  if (operator === "Equal" || operator === "") {
    pushInvalid(problems, `${field}.operator`, value, labelValueProblems(value));
  } else if (operator !== "Exists") {
    problems.push(notSupported(`${field}.operator`, operator, ["Equal", "Exists"]));
  } else if (value !== "") {
    problems.push(
      invalid(`${field}.operator`, value, "value must be empty when `operator` is 'Exists'"),
    );
  }
  if (effect !== "") checkTaintEffect(problems, `${field}.effect`, effect);
}

export function checkTaintEffect(problems: Problems, field: string, effect: string): void {
  if (effect === "") problems.push(required(field));
  else pushUnsupported(problems, field, effect, EFFECTS);
}

export function checkSpreading(
  problems: Problems,
  field: string,
  constraints: readonly JsonObject[],
): void {
  const kinds = constraints.map(
    (constraint) =>
      `{${text(constraint, "topologyKey")}, ${text(constraint, "whenUnsatisfiable")}}`,
  );
  for (const [index, constraint] of constraints.entries()) {
    const at = `${field}[${index}]`;
    const skew = count(constraint, "maxSkew");
    const action = text(constraint, "whenUnsatisfiable");
    if (skew <= 0) problems.push(invalid(`${at}.maxSkew`, skew, "must be greater than zero"));
    if (text(constraint, "topologyKey") === "") {
      problems.push(required(`${at}.topologyKey`, "can not be empty"));
    }
    pushUnsupported(problems, `${at}.whenUnsatisfiable`, action, [
      "DoNotSchedule",
      "ScheduleAnyway",
    ]);
    const kind = kinds[index] as string;
    if (kinds.includes(kind, index + 1)) {
      problems.push(duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, kind));
    }
    checkMinDomains(problems, `${at}.minDomains`, constraint["minDomains"], action);
    for (const name of ["nodeAffinityPolicy", "nodeTaintsPolicy"]) {
      const policy = constraint[name];
      if (!isAbsent(policy)) {
        pushUnsupported(problems, `${at}.${name}`, policy, ["Honor", "Ignore"]);
      }
    }
    checkLabelSelector(problems, `${at}.labelSelector`, part(constraint, "labelSelector"));
  }
}

function checkMinDomains(
  problems: Problems,
  field: string,
  domains: unknown,
  action: string,
): void {
  if (typeof domains !== "number") return;
  if (domains <= 0) problems.push(invalid(field, domains, "must be greater than zero"));
  if (action !== "DoNotSchedule") {
    problems.push(
      invalid(
        field,
        domains,
        `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`,
      ),
    );
  }
}
