/**
 * The audit policy (`kind: Policy` of audit.k8s.io/v1): how much is recorded of a request. Pure.
 *
 * 1. The first rule that matches decides; none: nothing is recorded.
 * 2. A rule with resources or namespaces matches requests for resources only, one with nonResourceURLs the others only. `pods` does
 *    not match `pods/log`; `pods/*`, `*` and `*` + `/log` match subresources.
 * 3. A policy with anything that is not understood is refused whole: a rule that is silently without effect records too little.
 */
import { isJsonObject, type Json, type JsonObject } from "@lifeboat/api";

export const AUDIT_LEVELS = ["None", "Metadata", "Request", "RequestResponse"] as const;
export type AuditLevel = (typeof AUDIT_LEVELS)[number];

export const AUDIT_STAGES = [
  "RequestReceived",
  "ResponseStarted",
  "ResponseComplete",
  "Panic",
] as const;
export type AuditStage = (typeof AUDIT_STAGES)[number];

/** What a policy is asked about. */
export interface AuditAttributes {
  readonly user: string;
  readonly groups: readonly string[];
  readonly verb: string;
  readonly target:
    | {
        readonly kind: "resource";
        readonly group: string;
        readonly resource: string;
        readonly subresource: string;
        readonly namespace: string;
        readonly name: string;
      }
    | { readonly kind: "path"; readonly path: string };
}

export interface AuditDecision {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

interface GroupResources {
  readonly group: string;
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

interface AuditRule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
}

/** The policy is not understood; the message names the field. */
export class PolicyRefused extends Error {
  override readonly name = "PolicyRefused";
}

const NOTHING: AuditDecision = Object.freeze({
  level: "None",
  omitStages: new Set<AuditStage>(),
  omitManagedFields: false,
});

/** How much is recorded of a request. */
export function decideAudit({ rules }: AuditPolicy, request: AuditAttributes): AuditDecision {
  return rules.find((rule) => matches(rule, request)) ?? NOTHING;
}

function matches(rule: AuditRule, { user, groups, verb, target }: AuditAttributes): boolean {
  if (rule.users.length > 0 && !rule.users.includes(user)) return false;
  if (rule.userGroups.length > 0 && !rule.userGroups.some((one) => groups.includes(one)))
    return false;
  if (rule.verbs.length > 0 && !rule.verbs.includes(verb)) return false;
  const isForResources = rule.resources.length > 0 || rule.namespaces.length > 0;
  if (isForResources) return target.kind === "resource" && matchesResource(rule, target);
  if (rule.nonResourceURLs.length > 0)
    return target.kind === "path" && rule.nonResourceURLs.some((one) => isUrl(one, target.path));
  return true;
}

type ResourceTarget = Extract<AuditAttributes["target"], { kind: "resource" }>;

function matchesResource(rule: AuditRule, target: ResourceTarget): boolean {
  if (rule.namespaces.length > 0 && !rule.namespaces.includes(target.namespace)) return false;
  if (rule.resources.length === 0) return true;
  return rule.resources.some(
    ({ group, resources, resourceNames }) =>
      group === target.group &&
      (resources.length === 0 || resources.some((one) => isResource(one, target))) &&
      (resourceNames.length === 0 || resourceNames.includes(target.name)),
  );
}

function isResource(pattern: string, { resource, subresource }: ResourceTarget): boolean {
  if (pattern === "*") return true;
  if (pattern === (subresource === "" ? resource : `${resource}/${subresource}`)) return true;
  if (pattern.endsWith("/*")) return pattern.slice(0, -2) === resource;
  return subresource !== "" && pattern === `*/${subresource}`;
}

function isUrl(pattern: string, path: string): boolean {
  if (pattern.endsWith("*")) return path.startsWith(pattern.slice(0, -1));
  return pattern === path;
}

/** Reads a policy; throws PolicyRefused. */
export function parsePolicy(value: unknown): AuditPolicy {
  const policy = objectAt(value as Json, "the policy");
  if (policy["apiVersion"] !== "audit.k8s.io/v1" || policy["kind"] !== "Policy")
    throw new PolicyRefused("it must be of kind Policy and apiVersion audit.k8s.io/v1");
  known(policy, "", ["apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields"]);
  const shared = stagesAt(policy, "omitStages");
  const omitManagedFields = flagAt(policy, "omitManagedFields") ?? false;
  const rules = listAt(policy, "rules");
  if (rules.length === 0) throw new PolicyRefused("rules: at least one is needed");
  return {
    rules: rules.map((rule, i) => parseRule(rule, `rules[${i}]`, shared, omitManagedFields)),
  };
}

const RULE_FIELDS = [
  "level",
  "users",
  "userGroups",
  "verbs",
  "resources",
  "namespaces",
  "nonResourceURLs",
  "omitStages",
  "omitManagedFields",
];

function parseRule(
  value: Json,
  at: string,
  omitted: readonly AuditStage[],
  omitManagedFields: boolean,
): AuditRule {
  const rule = objectAt(value, at);
  known(rule, `${at}.`, RULE_FIELDS);
  const level = AUDIT_LEVELS.find((one) => one === rule["level"]);
  if (level === undefined)
    throw new PolicyRefused(`${at}.level: one of ${AUDIT_LEVELS.join(", ")} is needed`);
  const nonResourceURLs = textsAt(rule, "nonResourceURLs", at);
  const resources = listAt(rule, "resources", at).map((one, i) =>
    parseGroup(one, `${at}.resources[${i}]`),
  );
  const namespaces = textsAt(rule, "namespaces", at);
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0))
    throw new PolicyRefused(`${at}: nonResourceURLs cannot stand beside resources or namespaces`);
  for (const url of nonResourceURLs)
    if (!/^(\*|\/[^*]*\*?)$/.test(url))
      throw new PolicyRefused(
        `${at}.nonResourceURLs: "${url}" is not a path, with * at its end alone`,
      );
  return {
    level,
    users: textsAt(rule, "users", at),
    userGroups: textsAt(rule, "userGroups", at),
    verbs: textsAt(rule, "verbs", at),
    resources,
    namespaces,
    nonResourceURLs,
    omitStages: new Set([...omitted, ...stagesAt(rule, "omitStages", at)]),
    omitManagedFields: flagAt(rule, "omitManagedFields", at) ?? omitManagedFields,
  };
}

function parseGroup(value: Json, at: string): GroupResources {
  const one = objectAt(value, at);
  known(one, `${at}.`, ["group", "resources", "resourceNames"]);
  const { group = "" } = one;
  if (typeof group !== "string") throw new PolicyRefused(`${at}.group: a text is needed`);
  const resources = textsAt(one, "resources", at);
  const resourceNames = textsAt(one, "resourceNames", at);
  if (resourceNames.length > 0 && resources.length === 0)
    throw new PolicyRefused(`${at}.resourceNames: resources are needed beside them`);
  return { group, resources, resourceNames };
}

function known(value: JsonObject, at: string, fields: readonly string[]): void {
  for (const field of Object.keys(value))
    if (!fields.includes(field)) throw new PolicyRefused(`${at}${field}: there is no such field`);
}

function objectAt(value: Json, at: string): JsonObject {
  if (!isJsonObject(value)) throw new PolicyRefused(`${at}: an object is needed`);
  return value;
}

function listAt(value: JsonObject, field: string, at = ""): readonly Json[] {
  const list = value[field] ?? [];
  if (!Array.isArray(list)) throw new PolicyRefused(`${pathOf(at, field)}: a list is needed`);
  return list as readonly Json[];
}

function textsAt(value: JsonObject, field: string, at = ""): readonly string[] {
  return listAt(value, field, at).map((one) => {
    if (typeof one !== "string")
      throw new PolicyRefused(`${pathOf(at, field)}: a list of texts is needed`);
    return one;
  });
}

function stagesAt(value: JsonObject, field: string, at = ""): readonly AuditStage[] {
  return textsAt(value, field, at).map((one) => {
    const stage = AUDIT_STAGES.find((name) => name === one);
    if (stage === undefined)
      throw new PolicyRefused(
        `${pathOf(at, field)}: "${one}" is not one of ${AUDIT_STAGES.join(", ")}`,
      );
    return stage;
  });
}

function flagAt(value: JsonObject, field: string, at = ""): boolean | undefined {
  const flag = value[field];
  if (flag !== undefined && typeof flag !== "boolean")
    throw new PolicyRefused(`${pathOf(at, field)}: true or false is needed`);
  return flag;
}

function pathOf(at: string, field: string): string {
  return at === "" ? field : `${at}.${field}`;
}

/** Without a policy: that something was changed, by which user and when; nothing of reads. */
export const DEFAULT_POLICY: AuditPolicy = parsePolicy({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "None", verbs: ["get", "list", "watch", "head"] }, { level: "Metadata" }],
});
