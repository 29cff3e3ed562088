/** Which rule the names of a resource follow, where it is not the common one (a DNS subdomain). */
import type { NameRule } from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";

const RULES: ReadonlyMap<string, NameRule> = new Map<string, NameRule>([
  ["/namespaces", "dnsLabel"],
  ["/services", "dns1035Label"],
  ["rbac.authorization.k8s.io/roles", "pathSegment"],
  ["rbac.authorization.k8s.io/rolebindings", "pathSegment"],
  ["rbac.authorization.k8s.io/clusterroles", "pathSegment"],
  ["rbac.authorization.k8s.io/clusterrolebindings", "pathSegment"],
  ["apiregistration.k8s.io/apiservices", "pathSegment"],
]);

export function nameRuleOf(resource: ServedResource): NameRule {
  return RULES.get(resource.table) ?? "dnsSubdomain";
}
