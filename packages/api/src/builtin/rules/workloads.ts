/** Validation of the kinds that make pods and keep them running. */
import { equalJson } from "../../equal-json.ts";
import { forbidden, invalid, notSupported, required } from "../../field-error.ts";
import type { JsonObject } from "../../json.ts";
import { dnsLabelProblems } from "../../metadata/names.ts";
import { checkClaimSpec } from "./claim-spec.ts";
import {
  count,
  invalidAlone,
  isAbsent,
  isEmpty,
  items,
  part,
  partOf,
  type Problems,
  pushImmutable,
  pushInvalid,
  pushNonNegative,
  text,
  textMap,
} from "./fields.ts";
import { checkLabelSelector, isSoundSelector, selectorMatches } from "./label-selector.ts";
import { percentProblems } from "./field-texts.ts";
import { checkPodTemplate } from "./pod-validation.ts";

export function checkDeployment(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  pushNonNegative(problems, "spec.replicas", spec["replicas"]);
  checkSelectorAndTemplate(problems, spec, "deployment", "invalid label selector");
  checkStrategy(problems, partOf(spec, "strategy"));
  pushNonNegative(problems, "spec.minReadySeconds", spec["minReadySeconds"]);
  pushNonNegative(problems, "spec.revisionHistoryLimit", spec["revisionHistoryLimit"]);
  const deadline = spec["progressDeadlineSeconds"];
  pushNonNegative(problems, "spec.progressDeadlineSeconds", deadline);
  if (typeof deadline === "number" && deadline <= count(spec, "minReadySeconds")) {
    problems.push(
      invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"),
    );
  }
}

export function checkReplicaSet(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  pushNonNegative(problems, "spec.replicas", spec["replicas"]);
  pushNonNegative(problems, "spec.minReadySeconds", spec["minReadySeconds"]);
  checkSelectorAndTemplate(problems, spec, "deployment", "invalid label selector");
}

export function checkSelectorUpdate(problems: Problems, object: JsonObject, old: JsonObject): void {
  pushImmutable(
    problems,
    "spec.selector",
    partOf(object, "spec")["selector"],
    partOf(old, "spec")["selector"],
  );
}

/** The selector is there and selects the pods of the template. `unsound` is what an impossible selector is called. */
function checkSelectorAndTemplate(
  problems: Problems,
  spec: JsonObject,
  kind: string,
  unsound: string,
): void {
  const selector = part(spec, "selector");
  if (selector === undefined) {
    problems.push(required("spec.selector"));
  } else {
    checkLabelSelector(problems, "spec.selector", selector);
    pushIfEmpty(problems, selector, kind);
  }
  if (!isSoundSelector(selector)) {
    problems.push(invalid("spec.selector", selector, unsound));
    return;
  }
  const template = partOf(spec, "template");
  checkSelected(problems, selector, template);
  checkPodTemplate(problems, "spec.template", template);
  checkAlwaysRestarted(problems, template, "ReplicaSet");
}

function pushIfEmpty(problems: Problems, selector: JsonObject, kind: string): void {
  const expressions = items(selector, "matchExpressions").length;
  if (expressions > 0 || !isEmpty(part(selector, "matchLabels"))) return;
  problems.push(invalid("spec.selector", selector, `empty selector is invalid for ${kind}`));
}

function checkSelected(
  problems: Problems,
  selector: JsonObject | undefined,
  template: JsonObject,
): void {
  const labels = part(partOf(template, "metadata"), "labels");
  if (selectorMatches(selector, textMap(partOf(template, "metadata"), "labels"))) return;
  problems.push(
    invalid(
      "spec.template.metadata.labels",
      labels ?? null,
      "`selector` does not match template `labels`",
    ),
  );
}

function checkAlwaysRestarted(problems: Problems, template: JsonObject, kind: string): void {
  const spec = partOf(template, "spec");
  const policy = text(spec, "restartPolicy");
  if (policy !== "Always") {
    problems.push(notSupported("spec.template.spec.restartPolicy", policy, ["Always"]));
  }
  if (!isAbsent(spec["activeDeadlineSeconds"])) {
    problems.push(
      forbidden(
        "spec.template.spec.activeDeadlineSeconds",
        `activeDeadlineSeconds in ${kind} is not Supported`,
      ),
    );
  }
}

function checkStrategy(problems: Problems, strategy: JsonObject): void {
  const type = text(strategy, "type");
  const update = part(strategy, "rollingUpdate");
  const field = "spec.strategy";
  if (type === "Recreate") {
    if (update === undefined) return;
    problems.push(
      forbidden(
        `${field}.rollingUpdate`,
        "may not be specified when strategy `type` is 'Recreate'",
      ),
    );
  } else if (type === "RollingUpdate") {
    checkRollingUpdate(problems, `${field}.rollingUpdate`, partOf(strategy, "rollingUpdate"));
  } else {
    problems.push(notSupported(field, internalStrategy(strategy), ["Recreate", "RollingUpdate"]));
  }
}

/** Servers show the strategy with the field names of their own code. */
function internalStrategy(strategy: JsonObject): JsonObject {
  const update = part(strategy, "rollingUpdate");
  return {
    Type: text(strategy, "type"),
    RollingUpdate:
      update === undefined
        ? null
        : {
            MaxUnavailable: update["maxUnavailable"] ?? 0,
            MaxSurge: update["maxSurge"] ?? 0,
          },
  };
}

function checkRollingUpdate(problems: Problems, field: string, update: JsonObject): void {
  const { maxUnavailable, maxSurge } = update;
  checkIntOrPercent(problems, `${field}.maxUnavailable`, maxUnavailable);
  checkIntOrPercent(problems, `${field}.maxSurge`, maxSurge);
  if (amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0) {
    problems.push(
      invalid(`${field}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0"),
    );
  }
  checkAtMostAll(problems, `${field}.maxUnavailable`, maxUnavailable);
}

/** A whole number or a percentage, not negative. */
export function checkIntOrPercent(problems: Problems, field: string, value: unknown): void {
  if (typeof value === "string") pushInvalid(problems, field, value, percentProblems(value));
  else pushNonNegative(problems, field, value);
}

export function checkAtMostAll(problems: Problems, field: string, value: unknown): void {
  if (typeof value !== "string" || percentProblems(value).length > 0 || amountOf(value) <= 100)
    return;
  problems.push(invalid(field, value, "must not be greater than 100%"));
}

/** The number itself, of a percentage its figure; 0 when it is neither. */
function amountOf(value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return 0;
  return percentProblems(value).length === 0 ? Number(value.slice(0, -1)) : 0;
}

export function checkDaemonSet(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  const selector = part(spec, "selector");
  const template = partOf(spec, "template");
  checkLabelSelector(problems, "spec.selector", selector);
  if (isSoundSelector(selector)) checkSelected(problems, selector, template);
  if (selector !== undefined) pushIfEmpty(problems, selector, "daemonset");
  checkPodTemplate(problems, "spec.template", template);
  checkAlwaysRestarted(problems, template, "DaemonSet");
  pushNonNegative(problems, "spec.minReadySeconds", spec["minReadySeconds"]);
  checkDaemonStrategy(problems, partOf(spec, "updateStrategy"));
  pushNonNegative(problems, "spec.revisionHistoryLimit", spec["revisionHistoryLimit"]);
}

function checkDaemonStrategy(problems: Problems, strategy: JsonObject): void {
  const type = text(strategy, "type");
  if (type === "OnDelete") return;
  const field = "spec.updateStrategy";
  if (type !== "RollingUpdate") {
    problems.push(notSupported(field, internalStrategy(strategy), ["RollingUpdate", "OnDelete"]));
    return;
  }
  const { maxUnavailable, maxSurge } = partOf(strategy, "rollingUpdate");
  const at = `${field}.rollingUpdate`;
  checkIntOrPercent(problems, `${at}.maxUnavailable`, maxUnavailable);
  checkAtMostAll(problems, `${at}.maxUnavailable`, maxUnavailable);
  checkIntOrPercent(problems, `${at}.maxSurge`, maxSurge);
  checkAtMostAll(problems, `${at}.maxSurge`, maxSurge);
  const unavailable = amountOf(maxUnavailable) > 0;
  const surge = amountOf(maxSurge) > 0;
  if (unavailable && surge) {
    problems.push(
      invalid(`${at}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero"),
    );
  }
  if (!unavailable && !surge) {
    problems.push(required(`${at}.maxUnavailable`, "cannot be 0 when maxSurge is 0"));
  }
}

export function checkStatefulSet(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  checkStatefulPolicies(problems, spec);
  for (const [index, claim] of items(spec, "volumeClaimTemplates").entries()) {
    checkClaimSpec(problems, `spec.volumeClaimTemplates[${index}].spec`, partOf(claim, "spec"));
  }
  pushNonNegative(problems, "spec.replicas", spec["replicas"]);
  pushNonNegative(problems, "spec.minReadySeconds", spec["minReadySeconds"]);
  pushNonNegative(problems, "spec.ordinals.start", part(spec, "ordinals")?.["start"]);
  const service = text(spec, "serviceName");
  if (service !== "") pushInvalid(problems, "spec.serviceName", service, dnsLabelProblems(service));
  const selector = part(spec, "selector");
  if (selector === undefined) {
    problems.push(required("spec.selector"));
  } else {
    checkLabelSelector(problems, "spec.selector", selector);
    pushIfEmpty(problems, selector, "statefulset");
  }
  if (isSoundSelector(selector)) {
    checkStatefulTemplate(problems, spec, selector);
  } else {
    problems.push(invalidAlone("spec.selector", selector));
  }
  checkAlwaysRestarted(problems, partOf(spec, "template"), "StatefulSet");
}

function checkStatefulPolicies(problems: Problems, spec: JsonObject): void {
  const management = text(spec, "podManagementPolicy");
  if (management !== "OrderedReady" && management !== "Parallel") {
    problems.push(
      invalid("spec.podManagementPolicy", management, "must be 'OrderedReady' or 'Parallel'"),
    );
  }
  const strategy = partOf(spec, "updateStrategy");
  const type = text(strategy, "type");
  const update = part(strategy, "rollingUpdate");
  if (type === "OnDelete" && update !== undefined) {
    problems.push(
      invalid(
        "spec.updateStrategy.rollingUpdate",
        { Partition: update["partition"] ?? 0, MaxUnavailable: update["maxUnavailable"] ?? null },
        "only allowed for updateStrategy 'RollingUpdate'",
      ),
    );
  } else if (type === "RollingUpdate") {
    pushNonNegative(problems, "spec.updateStrategy.rollingUpdate.partition", update?.["partition"]);
  } else if (type !== "OnDelete") {
    problems.push(
      invalid(
        "spec.updateStrategy",
        { Type: type, RollingUpdate: null },
        "must be 'RollingUpdate' or 'OnDelete'",
      ),
    );
  }
  const retention = part(spec, "persistentVolumeClaimRetentionPolicy");
  for (const name of ["whenDeleted", "whenScaled"]) {
    const policy = retention?.[name];
    if (isAbsent(policy) || policy === "Retain" || policy === "Delete") continue;
    problems.push(
      notSupported(`spec.persistentVolumeClaimRetentionPolicy.${name}`, policy, [
        "Retain",
        "Delete",
      ]),
    );
  }
}

/** The template is checked as the pods will be: with the claims as volumes, and names that the set gives. */
function checkStatefulTemplate(
  problems: Problems,
  spec: JsonObject,
  selector: JsonObject | undefined,
): void {
  const template = partOf(spec, "template");
  checkSelected(problems, selector, template);
  const { hostname: _host, subdomain: _sub, ...podSpec } = partOf(template, "spec");
  const claims = items(spec, "volumeClaimTemplates").map((claim) => {
    const name = text(partOf(claim, "metadata"), "name");
    return { name, persistentVolumeClaim: { claimName: name } };
  });
  const taken = new Set(claims.map(({ name }) => name));
  const volumes = items(podSpec, "volumes").filter((volume) => !taken.has(text(volume, "name")));
  checkPodTemplate(problems, "spec.template", {
    ...template,
    spec: { ...podSpec, volumes: [...claims, ...volumes] },
  });
  // The server looks at the labels twice.
  checkLabelSelectorLabels(problems, template);
}

function checkLabelSelectorLabels(problems: Problems, template: JsonObject): void {
  const again: Problems = [];
  checkPodTemplate(again, "spec.template", { metadata: partOf(template, "metadata") });
  problems.push(...again.filter(({ field }) => field === "spec.template.labels"));
}

const CHANGEABLE = [
  "replicas",
  "template",
  "updateStrategy",
  "minReadySeconds",
  "ordinals",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
];

export function checkStatefulSetUpdate(
  problems: Problems,
  object: JsonObject,
  oldObject: JsonObject,
): void {
  const old = partOf(oldObject, "spec");
  const next: Record<string, JsonObject[string]> = { ...partOf(object, "spec") };
  for (const name of CHANGEABLE) next[name] = old[name];
  if (equalJson(next, old)) return;
  problems.push(
    forbidden(
      "spec",
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ),
  );
}

export function checkControllerRevision(problems: Problems, object: JsonObject): void {
  pushNonNegative(problems, "revision", object["revision"]);
  const { data } = object;
  if (isAbsent(data)) problems.push(required("data", "data is mandatory"));
  else if (part(object, "data") === undefined) {
    problems.push(required("data", "data must be a valid JSON object"));
  }
}

export function checkControllerRevisionUpdate(
  problems: Problems,
  object: JsonObject,
  old: JsonObject,
): void {
  pushImmutable(problems, "data", object["data"], old["data"]);
}

export function checkReplicationController(problems: Problems, object: JsonObject): void {
  const spec = partOf(object, "spec");
  pushNonNegative(problems, "spec.minReadySeconds", spec["minReadySeconds"]);
  pushNonNegative(problems, "spec.replicas", spec["replicas"]);
  const selector = textMap(spec, "selector");
  if (isEmpty(selector)) problems.push(required("spec.selector"));
  const template = part(spec, "template");
  if (template === undefined) {
    problems.push(required("spec.template"));
    return;
  }
  if (!isEmpty(selector)) checkSelected(problems, { matchLabels: selector }, template);
  checkPodTemplate(problems, "spec.template", template);
  checkAlwaysRestarted(problems, template, "ReplicationController");
}
