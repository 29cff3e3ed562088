/** CustomResourceDefinitions (`apiextensions.k8s.io/v1`) as a client may have written them. */
import type { AnyObject } from "../object.ts";
import type { JsonSchema } from "./json-schema.ts";

export interface CrdNames {
  readonly plural?: string;
  readonly singular?: string;
  readonly kind?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface CrdColumn {
  readonly name?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath?: string;
}

export interface CrdScale {
  readonly specReplicasPath?: string;
  readonly statusReplicasPath?: string;
  readonly labelSelectorPath?: string;
}

export interface CrdSubresources {
  readonly status?: Readonly<Record<string, never>>;
  readonly scale?: CrdScale;
}

export interface CrdVersion {
  readonly name?: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: CrdSubresources;
  readonly additionalPrinterColumns?: readonly CrdColumn[];
  readonly selectableFields?: readonly { readonly jsonPath?: string }[];
}

export interface CrdConversion {
  readonly strategy?: string;
  readonly webhook?: {
    readonly clientConfig?: {
      readonly url?: string;
      readonly service?: {
        readonly name?: string;
        readonly namespace?: string;
        readonly path?: string;
        readonly port?: number;
      };
      readonly caBundle?: string;
    };
    readonly conversionReviewVersions?: readonly string[];
  };
}

export interface CrdSpec {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: CrdNames;
  readonly versions?: readonly CrdVersion[];
  readonly conversion?: CrdConversion;
  readonly preserveUnknownFields?: boolean;
}

export interface CrdCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface CrdStatus {
  /** Null on a CRD that no controller has looked at. */
  readonly conditions?: readonly CrdCondition[] | null;
  readonly acceptedNames?: CrdNames;
  readonly storedVersions?: readonly string[] | null;
}

export interface CustomResourceDefinition extends AnyObject {
  readonly spec: CrdSpec;
  readonly status?: CrdStatus;
}

/** Reads an object of kind CustomResourceDefinition. It checks nothing: the decoder and `validateCrd` did. */
export function asCrd(object: AnyObject): CustomResourceDefinition {
  return object as CustomResourceDefinition;
}

export function crdVersion(
  crd: CustomResourceDefinition,
  versionName: string,
): CrdVersion | undefined {
  return crd.spec.versions?.find((version) => version.name === versionName);
}

export function storageVersionOf(crd: CustomResourceDefinition): string | undefined {
  return crd.spec.versions?.find((version) => version.storage === true)?.name;
}

export function hasCrdCondition(crd: CustomResourceDefinition, type: string): boolean {
  return (crd.status?.conditions ?? []).some(
    (condition) => condition.type === type && condition.status === "True",
  );
}
