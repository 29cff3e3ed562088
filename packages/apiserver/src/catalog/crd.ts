/**
 * From a CustomResourceDefinition to what the server serves: one ServedResource per served version.
 *
 * 1. Nothing is served before the CRD is established (crd-status.ts decides that), so a CRD whose names are taken by
 *    another never shadows it.
 * 2. All versions share one table of the store and are converted by apiVersion alone. Each version prunes what its own
 *    schema does not know, on the way in and on the way out; the answer is the object itself when nothing was to prune.
 * 3. While the CRD is being deleted its objects can be read and deleted, not written; a CRD that serves no version
 *    serves its storage version then, or its objects would stay behind and come back with the next CRD of its name.
 */
import {
  type AnyObject,
  compileColumnPath,
  type CrdVersion,
  customKindSchema,
  type CustomResourceDefinition,
  hasCrdCondition,
  type JsonObject,
  type KindSchema,
  storageVersionOf,
} from "@lifeboat/api";
import { customPrinter } from "./crd-printer.ts";
import type { SelectableFields, ServedResource, Subresources } from "./served-resource.ts";
import { compareVersions } from "./version-order.ts";

/** In the order discovery shows them. */
const VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const TERMINATING_VERBS = ["delete", "deletecollection", "get", "list", "watch"];

/** What is served of a CRD, by version; nothing before it is established. */
export function servedFromCrd(crd: CustomResourceDefinition): readonly ServedResource[] {
  if (!hasCrdCondition(crd, "Established")) return [];
  const storage = storageVersionOf(crd);
  if (storage === undefined) return [];
  const stored = customKindSchema(crd, storage);
  return versionsToServe(crd, storage).map((version) =>
    serve(crd, version, { version: storage, schema: stored }),
  );
}

function versionsToServe(crd: CustomResourceDefinition, storage: string): readonly CrdVersion[] {
  const versions = crd.spec.versions ?? [];
  const served = versions.filter((version) => version.served === true);
  if (served.length > 0 || !hasCrdCondition(crd, "Terminating")) return served;
  return versions.filter((version) => version.name === storage);
}

/** The version objects are stored in, and its schema. */
interface StoredAs {
  readonly version: string;
  readonly schema: KindSchema;
}

function serve(
  crd: CustomResourceDefinition,
  version: CrdVersion,
  stored: StoredAs,
): ServedResource {
  const { group = "" } = crd.spec;
  const names = crd.status?.acceptedNames ?? crd.spec.names ?? {};
  const { plural = "", kind = "" } = names;
  const { name = "" } = version;
  const schema = name === stored.version ? stored.schema : customKindSchema(crd, name);
  const openApiSchema = version.schema?.openAPIV3Schema;
  const deprecation = deprecationWarning(crd, version);
  return {
    group,
    version: name,
    plural,
    kind,
    namespaced: crd.spec.scope === "Namespaced",
    singular: names.singular ?? "",
    listKind: names.listKind ?? "",
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs: hasCrdCondition(crd, "Terminating") ? TERMINATING_VERBS : VERBS,
    subresources: subresourcesOf(version),
    table: `${group}/${plural}`,
    storageVersion: stored.version,
    schema,
    printer: customPrinter(version.additionalPrinterColumns ?? []),
    selectableFields: selectableFields(version),
    custom: true,
    hasGeneration: true,
    createOnUpdate: false,
    unconditionalUpdate: false,
    ...(openApiSchema !== undefined && { openApiSchema }),
    ...(deprecation !== undefined && { deprecationWarning: deprecation }),
    ...conversions(group, { version: name, schema }, stored),
  };
}

function subresourcesOf(version: CrdVersion): Subresources {
  const scale = version.subresources?.scale;
  const selector = scale?.labelSelectorPath ?? "";
  return {
    ...(version.subresources?.status !== undefined && { status: true }),
    ...(scale !== undefined && {
      scale: {
        specReplicasPath: scale.specReplicasPath ?? "",
        statusReplicasPath: scale.statusReplicasPath ?? "",
        ...(selector !== "" && { labelSelectorPath: selector }),
      },
    }),
  };
}

function selectableFields(version: CrdVersion): SelectableFields {
  const fields: Record<string, (object: AnyObject) => string> = {};
  for (const { jsonPath = "" } of version.selectableFields ?? []) {
    const read = compileColumnPath(jsonPath);
    fields[jsonPath.replace(/^\./, "")] = (object) => {
      const value = read(object as JsonObject);
      return typeof value === "object" || value === undefined ? "" : String(value);
    };
  }
  return fields;
}

/** The version's own text, or one that names the version to use instead. */
function deprecationWarning(
  crd: CustomResourceDefinition,
  version: CrdVersion,
): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const { group, names } = crd.spec;
  const name = version.name ?? "";
  const [better] = (crd.spec.versions ?? [])
    .filter((other) => other.served === true && other.deprecated !== true)
    .map((other) => other.name ?? "")
    .filter((other) => compareVersions(other, name) < 0)
    .toSorted(compareVersions);
  const use = better === undefined ? "" : `; use ${group}/${better} ${names?.kind}`;
  return `${group}/${name} ${names?.kind} is deprecated${use}`;
}

function conversions(
  group: string,
  served: StoredAs,
  stored: StoredAs,
): Pick<ServedResource, "fromStorage" | "toStorage"> {
  const fromStorage = (object: AnyObject): AnyObject => convert(object, group, served);
  // Also within one version: the schema may have lost fields since the object was written.
  if (served.version === stored.version) return { fromStorage };
  return { fromStorage, toStorage: (object) => convert(object, group, stored) };
}

function convert(object: AnyObject, group: string, to: StoredAs): AnyObject {
  const apiVersion = `${group}/${to.version}`;
  const renamed = object.apiVersion === apiVersion ? object : { ...object, apiVersion };
  const normalized = to.schema.normalize(renamed as JsonObject);
  return normalized.ok ? (normalized.object as unknown as AnyObject) : renamed;
}
