/**
 * The OpenAPI v3 document of one group and version: paths with their operations, and the schemas these refer to.
 *
 * Clients take three things from it: whether a kind can be validated and patched (operations), which fields it has
 * (schemas; `kubectl explain`, and validation before sending), and how lists merge (extensions of schemas).
 */
import type { ServedResource } from "../catalog/served-resource.ts";
import { ComponentSet } from "./component-set.ts";
import { pathsOf } from "./paths.ts";

export function openApiDocument(
  group: string,
  version: string,
  resources: readonly ServedResource[],
): object {
  const components = new ComponentSet(group, version);
  const paths: Record<string, object> = {};
  for (const resource of resources) Object.assign(paths, pathsOf(resource, components));
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "1.36" },
    paths: sorted(paths),
    components: {
      schemas: sorted(components.all()),
      securitySchemes: { BearerToken: { type: "apiKey", name: "authorization", in: "header" } },
    },
  };
}

/** In the order of the alphabet: documents do not depend on the order of the catalog. */
function sorted(record: Readonly<Record<string, object>>): Readonly<Record<string, object>> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
