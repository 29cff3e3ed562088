/** What the server serves: one record per (group, version, plural), built-in or from a CRD. */
import type { AnyObject, JsonSchema, KindSchema, Resource, TablePrinter } from "@lifeboat/api";

/** Which fields a field selector may name beyond metadata.name and metadata.namespace. */
export type SelectableFields = Readonly<Record<string, (object: AnyObject) => string>>;

export interface ScaleSubresource {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  /** Where the selector is found; absent: the scale has none. */
  readonly labelSelectorPath?: string;
}

export interface Subresources {
  readonly status?: boolean;
  readonly scale?: ScaleSubresource;
  /** Namespaces only. */
  readonly finalize?: boolean;
  /** CertificateSigningRequests only. */
  readonly approval?: boolean;
  /** Pods only: to be created, never read. */
  readonly binding?: boolean;
  readonly eviction?: boolean;
  /** ServiceAccounts only: the same. */
  readonly token?: boolean;
}

export interface ServedResource extends Resource {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: Subresources;
  /** The store's table. Several served versions of one kind share it. */
  readonly table: string;
  /** The version objects are stored in. */
  readonly storageVersion: string;
  readonly schema: KindSchema;
  readonly printer: TablePrinter;
  readonly selectableFields: SelectableFields;
  /** Custom resources: items of lists carry kind and apiVersion, updates need a resourceVersion, no strategic merge. */
  readonly custom: boolean;
  /** Whether objects count generations (all but ConfigMap, Secret, Namespace and the like). */
  readonly hasGeneration: boolean;
  /** Whether a PUT of an absent object creates it (Lease, Event, Role, …). */
  readonly createOnUpdate: boolean;
  /** Whether an update without resourceVersion is accepted. */
  readonly unconditionalUpdate: boolean;
  /** Review kinds (TokenReview, SubjectAccessReview …) are answered and never stored. */
  readonly virtual?: boolean;
  /** What the server writes into a new object of this kind, once it has a uid; after defaults, before admission. */
  readonly prepareCreate?: (object: AnyObject) => AnyObject;
  /** Between this version and the storage version, where they differ (events.k8s.io/v1 ↔ v1; a CRD's versions by apiVersion alone). */
  readonly fromStorage?: (object: AnyObject) => AnyObject;
  readonly toStorage?: (object: AnyObject) => AnyObject;
  /** Custom resources: the schema as the CRD writes it, for OpenAPI. */
  readonly openApiSchema?: JsonSchema;
  /** Sent as a Warning header on each request of a deprecated version. */
  readonly deprecationWarning?: string;
}

/** All that is served now. It changes when CRDs do. */
export interface Catalog {
  /** Increases with every change; answers that are made from the catalog are cached by it. */
  readonly revision: number;
  find(group: string, version: string, plural: string): ServedResource | undefined;
  findKind(apiVersion: string, kind: string): ServedResource | undefined;
  /** Group names in the order discovery shows them; versions in order of preference. */
  groups(): readonly { readonly name: string; readonly versions: readonly string[] }[];
  resources(group: string, version: string): readonly ServedResource[];
  all(): readonly ServedResource[];
  /** Called after each change. */
  onChange(listener: () => void): void;
}
