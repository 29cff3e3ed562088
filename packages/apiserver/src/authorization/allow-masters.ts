/**
 * The simplest authorizer: members of `system:masters` may do everything, every other authenticated user may read
 * what a client needs to find its way (discovery, OpenAPI, version, health) and ask about itself.
 *
 * For servers without roles of their own: simulated members, and tests of other parts.
 */
import type { User } from "../authentication/user.ts";
import type { Attributes, Authorizer, PolicyRule } from "./authorizer.ts";
import { MASTERS } from "./masters.ts";

const AUTHENTICATED = "system:authenticated";
const PUBLIC_PATHS: readonly string[] = ["/healthz", "/livez", "/readyz", "/version"];
const DISCOVERY_PATHS: readonly string[] = ["/api", "/apis", "/openapi", ...PUBLIC_PATHS];
const SELF_REVIEWS: readonly string[] = [
  "selfsubjectaccessreviews",
  "selfsubjectrulesreviews",
  "selfsubjectreviews",
];

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];
const ABOUT_ONESELF: readonly PolicyRule[] = [
  { verbs: ["create"], apiGroups: ["authorization.k8s.io"], resources: SELF_REVIEWS.slice(0, 2) },
  { verbs: ["create"], apiGroups: ["authentication.k8s.io"], resources: SELF_REVIEWS.slice(2) },
  { verbs: ["get", "head"], nonResourceURLs: pathRules(DISCOVERY_PATHS) },
];
const PUBLIC: readonly PolicyRule[] = [
  { verbs: ["get", "head"], nonResourceURLs: pathRules(PUBLIC_PATHS) },
];

/** Allows masters all, authenticated users discovery and self reviews, every client health and version. */
export const allowMasters: Authorizer = Object.freeze({
  allows(attributes: Attributes): boolean {
    if (attributes.user.groups.includes(MASTERS)) return true;
    const authenticated = attributes.user.groups.includes(AUTHENTICATED);
    if (attributes.kind === "resource") return authenticated && isSelfReview(attributes);
    if (attributes.verb !== "get" && attributes.verb !== "head") return false;
    return isBelow(attributes.path, authenticated ? DISCOVERY_PATHS : PUBLIC_PATHS);
  },
  reason: () => "",
  rulesOf: ({ groups }: User) => {
    const own = groups.includes(AUTHENTICATED) ? ABOUT_ONESELF : PUBLIC;
    return { rules: groups.includes(MASTERS) ? EVERYTHING : own, problems: [] };
  },
  onChange: () => () => undefined,
});

function isSelfReview(attributes: Extract<Attributes, { kind: "resource" }>): boolean {
  return (
    attributes.verb === "create" &&
    (attributes.group === "authorization.k8s.io" || attributes.group === "authentication.k8s.io") &&
    SELF_REVIEWS.includes(attributes.plural)
  );
}

function isBelow(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => path === root || path.startsWith(`${root}/`));
}

function pathRules(roots: readonly string[]): readonly string[] {
  return roots.flatMap((root) => [root, `${root}/*`]);
}
