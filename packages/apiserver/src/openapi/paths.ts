/**
 * The paths of a resource and the operations on them.
 *
 * kubectl looks for the operation `patch` of a kind: it must carry the group, version and kind, take the query parameter
 * `fieldValidation` (else kubectl validates in an old way), and list the strategic merge patch where the kind takes it.
 */
import type { ServedResource } from "../catalog/served-resource.ts";
import type { ComponentSet, Reference } from "./component-set.ts";

type Operation = Readonly<Record<string, unknown>>;

export function pathsOf(
  resource: ServedResource,
  components: ComponentSet,
): Readonly<Record<string, object>> {
  const root =
    resource.group === ""
      ? `/api/${resource.version}`
      : `/apis/${resource.group}/${resource.version}`;
  const scope = resource.namespaced ? "/namespaces/{namespace}" : "";
  const collection = `${root}${scope}/${resource.plural}`;
  const one = `${collection}/{name}`;
  const maker = new OperationMaker(resource, components);
  const paths: Record<string, object> = {};
  const add = (path: string, operations: Readonly<Record<string, Operation | undefined>>): void => {
    const given = Object.entries(operations).filter(([, operation]) => operation !== undefined);
    if (given.length === 0) return;
    paths[path] = { ...Object.fromEntries(given), parameters: pathParameters(path) };
  };
  add(collection, maker.collection());
  add(one, maker.object());
  for (const name of subresourcesOf(resource)) add(`${one}/${name}`, maker.subresource(name));
  if (resource.namespaced) add(`${root}/${resource.plural}`, maker.everywhere());
  return paths;
}

function subresourcesOf(resource: ServedResource): readonly string[] {
  const { status, scale, finalize, approval, binding, eviction, token } = resource.subresources;
  return [
    ...(binding === true ? ["binding"] : []),
    ...(eviction === true ? ["eviction"] : []),
    ...(status === true ? ["status"] : []),
    ...(scale !== undefined ? ["scale"] : []),
    ...(finalize === true ? ["finalize"] : []),
    ...(token === true ? ["token"] : []),
    ...(approval === true ? ["approval"] : []),
  ];
}

const TYPES: Readonly<Record<string, "string" | "integer" | "boolean">> = {
  allowWatchBookmarks: "boolean",
  force: "boolean",
  gracePeriodSeconds: "integer",
  limit: "integer",
  orphanDependents: "boolean",
  sendInitialEvents: "boolean",
  timeoutSeconds: "integer",
  watch: "boolean",
};

function query(...names: readonly string[]): readonly object[] {
  return names.map((name) => ({
    name,
    in: "query",
    schema: { type: TYPES[name] ?? "string", uniqueItems: true },
  }));
}

function pathParameters(path: string): readonly object[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "").toSorted();
  const inPath = names.map((name) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", uniqueItems: true },
  }));
  return [...inPath, ...query("pretty")];
}

const SELECTION = query(
  "continue",
  "fieldSelector",
  "labelSelector",
  "limit",
  "resourceVersion",
  "resourceVersionMatch",
  "sendInitialEvents",
  "timeoutSeconds",
);
const LIST = [...query("allowWatchBookmarks", "watch"), ...SELECTION];
const WRITE = query("dryRun", "fieldManager", "fieldValidation");
const DELETE = query("dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy");

interface Posted {
  readonly component: string;
  readonly suffix: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
}

/** Subresources that are only created, and are of a kind of their own. */
const POSTED: ReadonlyMap<string, Posted> = new Map([
  [
    "binding",
    {
      component: "core.v1.Binding",
      suffix: "Binding",
      kind: { group: "", version: "v1", kind: "Binding" },
    },
  ],
  [
    "eviction",
    {
      component: "policy.v1.Eviction",
      suffix: "Eviction",
      kind: { group: "policy", version: "v1", kind: "Eviction" },
    },
  ],
  [
    "token",
    {
      component: "authentication.v1.TokenRequest",
      suffix: "Token",
      kind: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" },
    },
  ],
]);

class OperationMaker {
  readonly #resource: ServedResource;
  readonly #components: ComponentSet;

  constructor(resource: ServedResource, components: ComponentSet) {
    this.#resource = resource;
    this.#components = components;
  }

  collection(): Readonly<Record<string, Operation | undefined>> {
    const kind = this.#components.kind(this.#resource);
    return {
      get: this.#ifServed("list", () => this.#list("")),
      post: this.#ifServed("create", () =>
        this.#operation("post", "create", kind, { parameters: WRITE, body: kind }),
      ),
      delete: this.#ifServed("deletecollection", () =>
        this.#operation("deletecollection", "deleteCollection", this.#status(), {
          parameters: [...DELETE, ...SELECTION],
          body: this.#deleteOptions(),
        }),
      ),
    };
  }

  everywhere(): Readonly<Record<string, Operation | undefined>> {
    return { get: this.#ifServed("list", () => this.#list("ForAllNamespaces")) };
  }

  object(): Readonly<Record<string, Operation | undefined>> {
    const kind = this.#components.kind(this.#resource);
    return {
      get: this.#ifServed("get", () => this.#operation("get", "read", kind, { parameters: [] })),
      put: this.#ifServed("update", () =>
        this.#operation("put", "replace", kind, { parameters: WRITE, body: kind }),
      ),
      patch: this.#ifServed("patch", () => this.#patch(kind, "")),
      delete: this.#ifServed("delete", () =>
        this.#operation("delete", "delete", this.#status(), {
          parameters: DELETE,
          body: this.#deleteOptions(),
        }),
      ),
    };
  }

  subresource(name: string): Readonly<Record<string, Operation | undefined>> {
    const posted = POSTED.get(name);
    if (posted !== undefined) return { post: this.#posted(posted) };
    const schema =
      name === "scale" ? this.#components.scale() : this.#components.kind(this.#resource);
    const suffix = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const write = { parameters: WRITE, body: schema, suffix };
    const put = this.#operation("put", "replace", schema, write);
    if (name === "finalize") return { put };
    return {
      get: this.#operation("get", "read", schema, { parameters: [], suffix }),
      put,
      patch: this.#patch(schema, suffix),
    };
  }

  /** An object of another kind that is created below this one. */
  #posted({ component, suffix, kind }: Posted): Operation {
    const schema = this.#components.named(component);
    const operation = this.#operation("post", "create", schema, {
      parameters: WRITE,
      body: schema,
      suffix,
    });
    return { ...operation, "x-kubernetes-group-version-kind": kind };
  }

  #ifServed(verb: string, make: () => Operation): Operation | undefined {
    return this.#resource.verbs.includes(verb) ? make() : undefined;
  }

  #list(suffix: string): Operation {
    const list = this.#components.list(this.#resource);
    return this.#operation("list", "list", list, { parameters: LIST, suffix });
  }

  #patch(schema: Reference, suffix: string): Operation {
    const patch = { schema: this.#components.patch() };
    const operation = this.#operation("patch", "patch", schema, {
      parameters: [...WRITE, ...query("force")],
      suffix,
    });
    const content = {
      "application/apply-patch+yaml": patch,
      "application/json-patch+json": patch,
      "application/merge-patch+json": patch,
      ...(!this.#resource.custom && { "application/strategic-merge-patch+json": patch }),
    };
    return { ...operation, requestBody: { content, required: true } };
  }

  #operation(
    action: string,
    verb: string,
    answer: Reference,
    more: {
      readonly parameters: readonly object[];
      readonly body?: Reference;
      readonly suffix?: string;
    },
  ): Operation {
    const { body, parameters, suffix = "" } = more;
    const { group, version, kind, namespaced } = this.#resource;
    const everywhere = suffix === "ForAllNamespaces";
    const scope = namespaced && !everywhere ? "Namespaced" : "";
    return {
      tags: [tagOf(group, version)],
      operationId: `${verb}${title(group, version)}${scope}${kind}${suffix}`,
      parameters,
      ...(body !== undefined && {
        requestBody: { content: { "*/*": { schema: body } }, required: action !== "delete" },
      }),
      responses: {
        "200": { description: "OK", content: { "application/json": { schema: answer } } },
        "401": { description: "Unauthorized" },
      },
      "x-kubernetes-action": action,
      "x-kubernetes-group-version-kind":
        suffix === "Scale"
          ? { group: "autoscaling", version: "v1", kind: "Scale" }
          : { group, version, kind },
    };
  }

  #status(): Reference {
    return this.#components.named("meta.v1.Status");
  }

  #deleteOptions(): Reference {
    return this.#components.named("meta.v1.DeleteOptions");
  }
}

/** `apps` → `Apps`, `rbac.authorization.k8s.io` → `RbacAuthorization`, `` → `Core`. */
function groupTitle(group: string): string {
  if (group === "") return "Core";
  const words = group.replace(/\.k8s\.io$/, "").split(/[^A-Za-z0-9]+/);
  return words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join("");
}

function title(group: string, version: string): string {
  return `${groupTitle(group)}${version.charAt(0).toUpperCase()}${version.slice(1)}`;
}

function tagOf(group: string, version: string): string {
  const name = groupTitle(group);
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}_${version}`;
}
