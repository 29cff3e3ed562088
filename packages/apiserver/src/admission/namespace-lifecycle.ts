/**
 * Objects live in namespaces that exist and are not going away; three namespaces never go away.
 *
 * The head is asked, not the durable state: an object is refused from the moment its namespace's deletion was decided.
 */
import { forbiddenBecause, notFound } from "@lifeboat/api";
import type { Store } from "../store/store.ts";
import type { AdmissionPlugin, AdmissionRequest } from "./admission.ts";

const NAMESPACES = { group: "", plural: "namespaces" };
const TABLE = "/namespaces";
const IMMORTAL: readonly string[] = ["default", "kube-system", "kube-public"];

export function createNamespaceLifecycle(store: Store): AdmissionPlugin {
  return {
    name: "NamespaceLifecycle",
    handles: ({ operation, resource }) =>
      (operation === "CREATE" && resource.namespaced) ||
      (operation === "DELETE" && resource.table === TABLE),
    // Before the object's own validation, as in real servers: a missing namespace is the first thing to report.
    mutate: (request) => {
      requireLivingNamespace(store, request);
      return request.object as NonNullable<typeof request.object>;
    },
    validate: (request) => {
      if (request.operation === "DELETE" && IMMORTAL.includes(request.name))
        throw forbiddenBecause(NAMESPACES, request.name, "this namespace may not be deleted");
    },
  };
}

function requireLivingNamespace(store: Store, request: AdmissionRequest): void {
  const { namespace, resource, name } = request;
  const found = store.head(TABLE, `/${namespace}`);
  if (found === undefined) throw notFound(NAMESPACES, namespace);
  const phase = (found.object["status"] as { readonly phase?: string } | undefined)?.phase;
  if (phase !== "Terminating") return;
  throw forbiddenBecause(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  );
}
