/**
 * The schemas of one document, found from the kinds it serves: asking for a component adds it and everything it refers to.
 *
 * 1. Names are those of Kubernetes (`io.k8s.api.apps.v1.Deployment`); custom resources are named by their group, backwards
 *    (`com.example.v1.Widget`).
 * 2. A component is entered before what it refers to is read, so types may refer to themselves.
 * 3. There are no descriptions: those of built-in types belong to Kubernetes.
 */
import { assert } from "@lifeboat/base";
import {
  apiVersionOf,
  builtinType,
  type FieldDescription,
  type FieldType,
  type Json,
  type ScalarName,
  type TypeDescription,
  typeNamed,
} from "@lifeboat/api";
import type { ServedResource } from "../catalog/served-resource.ts";
import { customSchema } from "./custom-schema.ts";

export interface Reference {
  readonly $ref: string;
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const CRD = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";

/** Scalars that have a name of their own. */
const NAMED_SCALARS: ReadonlyMap<ScalarName, readonly [name: string, schema: object]> = new Map<
  ScalarName,
  readonly [string, object]
>([
  [
    "quantity",
    [
      "io.k8s.apimachinery.pkg.api.resource.Quantity",
      { oneOf: [{ type: "string" }, { type: "number" }] },
    ],
  ],
  ["time", [`${META}.Time`, { type: "string", format: "date-time" }]],
  ["microTime", [`${META}.MicroTime`, { type: "string", format: "date-time" }]],
  ["fieldsV1", [`${META}.FieldsV1`, { type: "object" }]],
  [
    "intOrString",
    [
      "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
      { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
    ],
  ],
  ["rawExtension", ["io.k8s.apimachinery.pkg.runtime.RawExtension", { type: "object" }]],
  ["json", [`${CRD}.JSON`, {}]],
  ["schemaOrBool", [`${CRD}.JSONSchemaPropsOrBool`, {}]],
  ["schemaOrArray", [`${CRD}.JSONSchemaPropsOrArray`, {}]],
  ["schemaOrStrings", [`${CRD}.JSONSchemaPropsOrStringArray`, {}]],
]);

const PLAIN_SCALARS: ReadonlyMap<ScalarName, object> = new Map<ScalarName, object>([
  ["string", { type: "string" }],
  ["bool", { type: "boolean" }],
  ["int32", { type: "integer", format: "int32" }],
  ["int64", { type: "integer", format: "int64" }],
  ["float64", { type: "number", format: "double" }],
  ["bytes", { type: "string", format: "byte" }],
]);

export class ComponentSet {
  readonly #group: string;
  readonly #version: string;
  readonly #schemas = new Map<string, object>();

  constructor(group: string, version: string) {
    this.#group = group;
    this.#version = version;
  }

  all(): Readonly<Record<string, object>> {
    return Object.fromEntries(this.#schemas);
  }

  /** The schema of a resource's objects. */
  kind(resource: ServedResource): Reference {
    if (resource.custom) return this.#custom(resource);
    const type = builtinType(apiVersionOf(resource), resource.kind);
    assert(type !== undefined, "a served kind is described", { kind: resource.kind });
    return this.#type(type, [this.#groupVersionKind(resource.kind)]);
  }

  /** The schema of a resource's lists. */
  list(resource: ServedResource): Reference {
    const items = this.kind(resource);
    const name = `${nameOf(items).slice(0, -resource.kind.length)}${resource.listKind}`;
    return this.#add(name, () => ({
      type: "object",
      required: ["items"],
      properties: {
        apiVersion: { type: "string" },
        items: { type: "array", items: { allOf: [items] } },
        kind: { type: "string" },
        metadata: { allOf: [this.named("meta.v1.ListMeta")] },
      },
      "x-kubernetes-group-version-kind": [this.#groupVersionKind(resource.listKind)],
    }));
  }

  /** A built-in type by its name in the table. */
  named(name: string): Reference {
    const type = typeNamed(name);
    assert(type !== undefined, "a type of the table exists", { name });
    return this.#type(type);
  }

  /** autoscaling/v1 Scale, whatever version refers to it. */
  scale(): Reference {
    const type = builtinType("autoscaling/v1", "Scale");
    assert(type !== undefined, "Scale is described");
    return this.#type(type, [{ group: "autoscaling", kind: "Scale", version: "v1" }]);
  }

  patch(): Reference {
    return this.#add(`${META}.Patch`, () => ({ type: "object" }));
  }

  #groupVersionKind(kind: string): object {
    return { group: this.#group, kind, version: this.#version };
  }

  #custom(resource: ServedResource): Reference {
    const domain = resource.group.split(".").toReversed().join(".");
    return this.#add(`${domain}.${resource.version}.${resource.kind}`, () => ({
      ...customSchema(resource.openApiSchema ?? {}, this.named("meta.v1.ObjectMeta")),
      "x-kubernetes-group-version-kind": [this.#groupVersionKind(resource.kind)],
      ...selectableFields(resource),
    }));
  }

  #type(type: TypeDescription, kinds?: readonly object[]): Reference {
    return this.#add(type.openApiName, () => {
      const required = type.fields.filter((field) => field.required).map((field) => field.name);
      return {
        type: "object",
        ...(required.length > 0 && { required }),
        ...(type.fields.length > 0 && {
          properties: Object.fromEntries(
            type.fields.map((field) => [field.name, this.#field(field)]),
          ),
        }),
        ...(kinds !== undefined && { "x-kubernetes-group-version-kind": kinds }),
        ...(type.mapType !== undefined && { "x-kubernetes-map-type": type.mapType }),
      };
    });
  }

  #field(field: FieldDescription): object {
    const value = this.#value(field.type);
    return {
      // Beside a reference OpenAPI ignores everything else, so it goes one level down.
      ...("$ref" in value ? { allOf: [value] } : value),
      ...(field.format !== undefined && { format: field.format }),
      ...(field.default !== undefined && { default: field.default }),
      ...(field.enum !== undefined && { enum: field.enum }),
      ...extension("x-kubernetes-list-map-keys", field.listMapKeys),
      ...extension("x-kubernetes-list-type", field.listType),
      ...extension("x-kubernetes-map-type", field.mapType),
      ...extension("x-kubernetes-patch-merge-key", field.patchMergeKey),
      ...extension("x-kubernetes-patch-strategy", field.patchStrategy),
    };
  }

  #value(type: FieldType): object {
    switch (type.kind) {
      case "object":
        return this.#type(type.type);
      case "list":
        return { type: "array", items: this.#value(type.element) };
      case "map":
        return { type: "object", additionalProperties: this.#value(type.element) };
      case "scalar":
        return this.#scalar(type.scalar);
    }
    return {};
  }

  #scalar(scalar: ScalarName): object {
    const named = NAMED_SCALARS.get(scalar);
    if (named !== undefined) return this.#add(named[0], () => named[1]);
    return PLAIN_SCALARS.get(scalar) ?? {};
  }

  #add(name: string, make: () => object): Reference {
    if (!this.#schemas.has(name)) {
      this.#schemas.set(name, {});
      this.#schemas.set(name, make());
    }
    return { $ref: `#/components/schemas/${name}` };
  }
}

function nameOf(reference: Reference): string {
  return reference.$ref.slice(reference.$ref.lastIndexOf("/") + 1);
}

function extension(name: string, value: Json | undefined): object {
  return value === undefined ? {} : { [name]: value };
}

function selectableFields(resource: ServedResource): object {
  const paths = Object.keys(resource.selectableFields);
  if (paths.length === 0) return {};
  return { "x-kubernetes-selectable-fields": paths.map((fieldPath) => ({ fieldPath })) };
}
