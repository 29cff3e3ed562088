/**
 * The simplest authorizer: members of `system:masters` may do everything, every other authenticated user may read
 * what a client needs to find its way (discovery, OpenAPI, version, health) and ask about itself.
 *
 * It answers the same port as role-based access control, which replaces it.
 */
import type { Attributes, Authorizer } from "./authorizer.ts";

const MASTERS = "system:masters";
const AUTHENTICATED = "system:authenticated";
const PUBLIC_PATHS: readonly string[] = ["/healthz", "/livez", "/readyz", "/version"];
const DISCOVERY_PATHS: readonly string[] = ["/api", "/apis", "/openapi", ...PUBLIC_PATHS];
const SELF_REVIEWS: readonly string[] = [
  "selfsubjectaccessreviews",
  "selfsubjectrulesreviews",
  "selfsubjectreviews",
];

/** Allows masters all, authenticated users discovery and self reviews, everybody health and version. */
export const allowMasters: Authorizer = Object.freeze({
  allows(attributes: Attributes): boolean {
    if (attributes.user.groups.includes(MASTERS)) return true;
    const authenticated = attributes.user.groups.includes(AUTHENTICATED);
    if (attributes.kind === "resource") return authenticated && isSelfReview(attributes);
    if (attributes.verb !== "get" && attributes.verb !== "head") return false;
    return isBelow(attributes.path, authenticated ? DISCOVERY_PATHS : PUBLIC_PATHS);
  },
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
