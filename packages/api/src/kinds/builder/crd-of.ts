/**
 * The CustomResourceDefinition of a declared kind, complete: with everything the server would fill in, so that a stored
 * CRD can be compared with it field by field.
 */
import { deepFreeze } from "@lifeboat/base";
import type { NewMeta } from "../../object.ts";
import type { CrdSpec } from "../../schema/crd.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import type { KindDeclaration } from "./kind-declaration.ts";

/** A CRD that can be created. An alias, because an interface would not fit where any fields are allowed. */
export type NewCrd = {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: NewMeta & { readonly name: string };
  readonly spec: CrdSpec;
};

export function crdOf(declaration: KindDeclaration): NewCrd {
  const { group, kind, plural, namespaced, shortNames, categories } = declaration;
  return deepFreeze({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      conversion: { strategy: "None" },
      group,
      names: {
        ...(categories.length > 0 && { categories }),
        kind,
        listKind: `${kind}List`,
        plural,
        ...(shortNames.length > 0 && { shortNames }),
        singular: kind.toLowerCase(),
      },
      scope: namespaced ? "Namespaced" : "Cluster",
      versions: [
        {
          ...(declaration.columns.length > 0 && { additionalPrinterColumns: declaration.columns }),
          name: declaration.version,
          schema: { openAPIV3Schema: schemaOf(declaration) },
          served: true,
          storage: true,
          ...(declaration.hasStatus && { subresources: { status: {} } }),
        },
      ],
    },
  });
}

function schemaOf({ description, spec, status }: KindDeclaration): JsonSchema {
  return {
    description,
    type: "object",
    required: ["spec"],
    properties: {
      apiVersion: { type: "string", description: "The group and version of this object's form." },
      kind: { type: "string", description: "The kind of this object." },
      metadata: { type: "object" },
      spec: spec.schema,
      ...(status !== undefined && { status: status.schema }),
    },
  };
}
