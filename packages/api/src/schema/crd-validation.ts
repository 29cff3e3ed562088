/**
 * The rules of CustomResourceDefinitions themselves, in the words of a Kubernetes API server.
 *
 * What all versions have in common (schema, subresources, columns, selectable fields) is reported under the place where
 * the server's internal form keeps it: `spec.validation`, `spec.subresources`, … A CRD with one version always has
 * everything in common.
 *
 * Metadata is checked elsewhere; only the rule that ties the name to spec is here. Objects are defaulted before.
 */
import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooMany,
} from "../field-error.ts";
import { dns1035LabelProblems, dnsSubdomainProblems } from "../metadata/names.ts";
import type {
  CrdColumn,
  CrdConversion,
  CrdNames,
  CrdSubresources,
  CrdVersion,
  CustomResourceDefinition,
} from "./crd.ts";
import { hasCrdCondition } from "./crd.ts";
import { equalJson } from "../equal-json.ts";
import { isKnownFormat } from "./formats.ts";
import { additionalOf, type JsonSchema, someSchema } from "./json-schema.ts";
import { validateSchema } from "./schema-rules.ts";

export function validateCrd(crd: CustomResourceDefinition): readonly FieldError[] {
  return [
    ...nameErrors(crd),
    ...specErrors(crd),
    ...statusErrors(crd),
    ...approvalErrors(crd),
    ...preserveErrors(crd),
  ];
}

export function validateCrdUpdate(
  crd: CustomResourceDefinition,
  old: CustomResourceDefinition,
): readonly FieldError[] {
  const wasApproved = approvalState(crd) === approvalState(old);
  const preserved = old.spec.preserveUnknownFields === true;
  return [
    ...specErrors(crd),
    ...immutableErrors(crd, old),
    ...statusErrors(crd),
    ...(wasApproved ? [] : approvalErrors(crd)),
    ...(preserved ? [] : preserveErrors(crd)),
  ];
}

/** Whether the CRD carries CEL rules. They are stored and not enforced yet. */
export function hasUnenforcedRules(crd: CustomResourceDefinition): boolean {
  return schemasOf(crd).some((schema) =>
    someSchema(schema, (inner) => (inner["x-kubernetes-validations"] ?? []).length > 0),
  );
}

/** Texts for Warning headers when this CRD is written (`old`: what it replaces). */
export function crdWarnings(
  crd: CustomResourceDefinition,
  old?: CustomResourceDefinition,
): readonly string[] {
  const known = new Set(old === undefined ? [] : unknownFormats(old));
  const warnings = unknownFormats(crd)
    .filter((format) => !known.has(format))
    .map((format) => `unrecognized format ${JSON.stringify(format)}`);
  if (hasUnenforcedRules(crd))
    warnings.push("x-kubernetes-validations are stored, but this server does not enforce them yet");
  if (crd.spec.conversion?.strategy === "Webhook")
    warnings.push("conversion webhooks are not called: versions are converted by apiVersion alone");
  return warnings;
}

function schemasOf(crd: CustomResourceDefinition): readonly JsonSchema[] {
  return (crd.spec.versions ?? []).flatMap((version) => version.schema?.openAPIV3Schema ?? []);
}

function unknownFormats(crd: CustomResourceDefinition): readonly string[] {
  const formats: string[] = [];
  const visited = new Set<string>();
  for (const schema of schemasOf(crd)) {
    someSchema(schema, ({ format = "", type = "" }) => {
      const key = `${type}/${format}`;
      if (format !== "" && !isKnownFormat(type, format) && !visited.has(key)) formats.push(format);
      visited.add(key);
      return false;
    });
  }
  return formats;
}

function nameErrors(crd: CustomResourceDefinition): readonly FieldError[] {
  const { names, group } = crd.spec;
  const wanted = `${names?.plural ?? ""}.${group ?? ""}`;
  const name = crd.metadata.name;
  if (name === wanted) return [];
  return [invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')];
}

function specErrors(crd: CustomResourceDefinition): readonly FieldError[] {
  const { spec } = crd;
  const versions = spec.versions ?? [];
  const shared = sharedParts(versions);
  const errors: FieldError[] = [
    ...groupErrors(spec.group ?? ""),
    ...enumErrors("spec.scope", spec.scope ?? "", ["Cluster", "Namespaced"]),
  ];
  versions.forEach((version, i) => {
    if (version.schema?.openAPIV3Schema === undefined)
      errors.push(required(`spec.versions[${i}].schema.openAPIV3Schema`));
  });
  versions.forEach((version, i) => errors.push(...versionErrors(version, i, shared)));
  errors.push(...versionListErrors(versions));
  for (const field of ["plural", "singular", "kind", "listKind"] as const)
    if ((spec.names?.[field] ?? "") === "") errors.push(required(`spec.names.${field}`));
  errors.push(...namesErrors(spec.names ?? {}, "spec.names"));
  errors.push(...sharedErrors(versions, shared));
  errors.push(...conversionErrors(spec.conversion));
  return errors;
}

function groupErrors(group: string): readonly FieldError[] {
  if (group === "") return [required("spec.group")];
  const errors = dnsSubdomainProblems(group);
  if (errors.length > 0) return [invalid("spec.group", group, errors.join(","))];
  if (group.includes(".")) return [];
  return [invalid("spec.group", group, "should be a domain with at least one dot")];
}

function enumErrors(
  field: string,
  value: string,
  accepted: readonly string[],
): readonly FieldError[] {
  if (value === "") return [required(field)];
  return accepted.includes(value) ? [] : [notSupported(field, value, accepted)];
}

/** Which parts all versions have in common. */
interface Shared {
  readonly schema: boolean;
  readonly subresources: boolean;
  readonly columns: boolean;
  readonly selectable: boolean;
}

function sharedParts(versions: readonly CrdVersion[]): Shared {
  const first = versions[0];
  const same = (part: (version: CrdVersion) => unknown): boolean =>
    first !== undefined && versions.every((version) => equalJson(part(version), part(first)));
  return {
    schema: same((version) => version.schema),
    subresources: same((version) => version.subresources),
    columns: same((version) => version.additionalPrinterColumns),
    selectable: same((version) => version.selectableFields),
  };
}

function versionErrors(version: CrdVersion, i: number, shared: Shared): readonly FieldError[] {
  const at = `spec.versions[${i}]`;
  const name = version.name ?? "";
  const wrongName = dns1035LabelProblems(name);
  const schema = version.schema?.openAPIV3Schema;
  const hasStatus = version.subresources?.status !== undefined;
  return [
    ...(wrongName.length > 0 ? [invalid(`${at}.name`, name, wrongName.join(","))] : []),
    ...deprecationErrors(version, `${at}.deprecationWarning`),
    ...(shared.schema || schema === undefined
      ? []
      : validateSchema(schema, `${at}.schema.openAPIV3Schema`, hasStatus)),
    ...(shared.subresources ? [] : subresourceErrors(version.subresources, `${at}.subresources`)),
    ...(shared.columns
      ? []
      : columnErrors(version.additionalPrinterColumns, `${at}.additionalPrinterColumns`)),
    ...(shared.selectable ? [] : selectableErrors(version, `${at}.selectableFields`)),
  ];
}

/** What all versions have in common, checked once. */
function sharedErrors(versions: readonly CrdVersion[], shared: Shared): readonly FieldError[] {
  const first = versions[0];
  if (first === undefined) return [];
  const schema = first.schema?.openAPIV3Schema;
  const hasStatus = versions.some((version) => version.subresources?.status !== undefined);
  return [
    ...(shared.schema && schema !== undefined
      ? validateSchema(schema, "spec.validation.openAPIV3Schema", hasStatus)
      : []),
    ...(shared.subresources ? subresourceErrors(first.subresources, "spec.subresources") : []),
    ...(shared.columns
      ? columnErrors(first.additionalPrinterColumns, "spec.additionalPrinterColumns")
      : []),
    ...(shared.selectable ? selectableErrors(first, "spec.selectableFields") : []),
  ];
}

function deprecationErrors(version: CrdVersion, at: string): readonly FieldError[] {
  const warning = version.deprecationWarning;
  if (warning === undefined) return [];
  // The field is a pointer in Go, which shows what pointers point to as JSON.
  const shown = JSON.stringify(warning);
  const wrong = (detail: string): FieldError => ({
    reason: "FieldValueInvalid",
    field: at,
    message: `Invalid value: ${shown}: ${detail}`,
  });
  if (version.deprecated !== true) return [wrong("can only be set for deprecated versions")];
  const errors: FieldError[] = [];
  if (new TextEncoder().encode(warning).length > 256)
    errors.push(wrong("must be <= 256 characters long"));
  if (warning === "") errors.push(wrong("must not be an empty string"));
  const hidden = unprintableAt(warning);
  if (hidden >= 0)
    errors.push(
      wrong(
        `must only contain printable UTF-8 characters; non-printable character found at index ${hidden}`,
      ),
    );
  return errors;
}

/** The byte index of the first character that cannot be printed, or -1. */
function unprintableAt(text: string): number {
  let bytes = 0;
  for (const char of text) {
    if (char !== " " && /[\p{C}\p{Z}]/u.test(char)) return bytes;
    bytes += new TextEncoder().encode(char).length;
  }
  return -1;
}

function versionListErrors(versions: readonly CrdVersion[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set(versions.map((version) => version.name));
  if (names.size < versions.length)
    errors.push(invalid("spec.versions", versions, "must contain unique version names"));
  if (versions.filter((version) => version.storage === true).length !== 1)
    errors.push(
      invalid("spec.versions", versions, "must have exactly one version marked as storage version"),
    );
  // The server's internal form repeats the name of the first version.
  const first = versions[0]?.name ?? "";
  const wrongName = dns1035LabelProblems(first);
  if (versions.length > 0 && wrongName.length > 0)
    errors.push(invalid("spec.version", first, wrongName.join(",")));
  return errors;
}

function namesErrors(names: CrdNames, at: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const label = (field: string, value: string): void => {
    const wrong = dns1035LabelProblems(value);
    if (wrong.length > 0) errors.push(invalid(`${at}.${field}`, value, wrong.join(",")));
  };
  const mixedCase = (field: string, value: string): void => {
    const wrong = dns1035LabelProblems(value.toLowerCase());
    if (value === "" || wrong.length === 0) return;
    const detail = `may have mixed case, but should otherwise match: ${wrong.join(",")}`;
    errors.push(invalid(`${at}.${field}`, value, detail));
  };
  const { plural = "", singular = "", kind = "", listKind = "" } = names;
  if (plural !== "") label("plural", plural);
  if (singular !== "") label("singular", singular);
  mixedCase("kind", kind);
  mixedCase("listKind", listKind);
  names.shortNames?.forEach((name, i) => label(`shortNames[${i}]`, name));
  if (kind !== "" && kind === listKind)
    errors.push(invalid(`${at}.listKind`, listKind, "kind and listKind may not be the same"));
  names.categories?.forEach((name, i) => label(`categories[${i}]`, name));
  return errors;
}

function subresourceErrors(
  subresources: CrdSubresources | undefined,
  at: string,
): readonly FieldError[] {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = "" } = scale;
  return [
    ...scalePathErrors(specReplicasPath, `${at}.scale.specReplicasPath`, ["spec"]),
    ...scalePathErrors(statusReplicasPath, `${at}.scale.statusReplicasPath`, ["status"]),
    ...(labelSelectorPath === ""
      ? []
      : scalePathErrors(labelSelectorPath, `${at}.scale.labelSelectorPath`, ["spec", "status"])),
  ];
}

function scalePathErrors(
  path: string | undefined,
  field: string,
  roots: readonly string[],
): readonly FieldError[] {
  if (path === undefined || path === "") return [required(field)];
  if (!path.startsWith("."))
    return [invalid(field, path, "must be a simple json path starting with .")];
  if (roots.some((root) => path.startsWith(`.${root}.`))) return [];
  const under =
    roots.length === 1 ? `.${roots[0]}` : `either ${roots.map((root) => `.${root}`).join(" or ")}`;
  return [invalid(field, path, `should be a json path under ${under}`)];
}

const COLUMN_TYPES = "boolean,date,integer,number,string";
const COLUMN_FORMATS = "byte,date,date-time,double,float,int32,int64,password";

function columnErrors(
  columns: readonly CrdColumn[] | undefined,
  at: string,
): readonly FieldError[] {
  return (columns ?? []).flatMap((column, i) => {
    const field = `${at}[${i}]`;
    const errors: FieldError[] = [];
    const { name = "", type = "", format = "", jsonPath = "" } = column;
    if (name === "") errors.push(required(`${field}.name`));
    if (type === "") errors.push(required(`${field}.type`, `must be one of ${COLUMN_TYPES}`));
    else if (!COLUMN_TYPES.split(",").includes(type))
      errors.push(invalid(`${field}.type`, type, `must be one of ${COLUMN_TYPES}`));
    if (format !== "" && !COLUMN_FORMATS.split(",").includes(format))
      errors.push(invalid(`${field}.format`, format, `must be one of ${COLUMN_FORMATS}`));
    if (jsonPath === "") errors.push(required(`${field}.JSONPath`));
    else if (!jsonPath.startsWith("."))
      errors.push(
        invalid(`${field}.JSONPath`, jsonPath, "must be a simple json path starting with ."),
      );
    return errors;
  });
}

const MAX_SELECTABLE_FIELDS = 8;

function selectableErrors(version: CrdVersion, at: string): readonly FieldError[] {
  const fields = version.selectableFields ?? [];
  const schema = version.schema?.openAPIV3Schema;
  if (fields.length === 0 || schema === undefined) return [];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  fields.forEach(({ jsonPath = "" }, i) => {
    const field = `${at}[${i}].jsonPath`;
    if (jsonPath === "") {
      errors.push(required(field));
      return;
    }
    const found = schemaAt(schema, jsonPath);
    if (typeof found === "string") {
      errors.push(invalid(field, jsonPath, `is an invalid path: ${found}`));
      return;
    }
    if (jsonPath.startsWith(".metadata"))
      errors.push(invalid(field, jsonPath, "must not point to fields in metadata"));
    if (!["string", "boolean", "integer"].includes(found.type ?? ""))
      errors.push(
        invalid(
          field,
          jsonPath,
          "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
        ),
      );
    if (seen.has(jsonPath))
      errors.push({
        reason: "FieldValueDuplicate",
        field,
        message: `Duplicate value: ${JSON.stringify(jsonPath)}`,
      });
    seen.add(jsonPath);
  });
  if (seen.size > MAX_SELECTABLE_FIELDS) errors.push(tooMany(at, seen.size, MAX_SELECTABLE_FIELDS));
  return errors;
}

/** The schema a path such as `.spec.color` leads to, or what is wrong with the path. */
function schemaAt(root: JsonSchema, path: string): JsonSchema | string {
  if (path.includes("[")) return "array notation is not allowed";
  if (!path.startsWith(".")) return `expected [ or . but got: ${path.split(".")[0] ?? ""}`;
  let schema = root;
  for (const name of path.slice(1).split(".")) {
    if (name === "") return "unexpected end of JSON path";
    const properties = schema.properties ?? {};
    const next = Object.hasOwn(properties, name) ? properties[name] : additionalOf(schema);
    if (next === undefined) return "does not refer to a valid field";
    schema = next;
  }
  return schema;
}

function conversionErrors(conversion: CrdConversion | undefined): readonly FieldError[] {
  if (conversion === undefined) return [];
  const at = "spec.conversion";
  const errors: FieldError[] = [
    ...enumErrors(`${at}.strategy`, conversion.strategy ?? "", ["None", "Webhook"]),
  ];
  const config = conversion.webhook?.clientConfig;
  const reviews = conversion.webhook?.conversionReviewVersions ?? [];
  if (conversion.strategy !== "Webhook") {
    const detail = "should not be set when strategy is not set to Webhook";
    if (config !== undefined) errors.push(forbidden(`${at}.webhookClientConfig`, detail));
    if (reviews.length > 0) errors.push(forbidden(`${at}.conversionReviewVersions`, detail));
    return errors;
  }
  if (config === undefined)
    errors.push(required(`${at}.webhookClientConfig`, "required when strategy is set to Webhook"));
  else if ((config.url === undefined) === (config.service === undefined))
    errors.push(required(`${at}.webhookClientConfig`, "exactly one of url or service is required"));
  return [...errors, ...reviewVersionErrors(reviews, `${at}.conversionReviewVersions`)];
}

function reviewVersionErrors(versions: readonly string[], at: string): readonly FieldError[] {
  if (versions.length === 0) return [required(at)];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  versions.forEach((version, i) => {
    if (seen.has(version)) {
      errors.push(invalid(`${at}[${i}]`, version, "duplicate version"));
      return;
    }
    seen.add(version);
    for (const detail of dns1035LabelProblems(version))
      errors.push(invalid(`${at}[${i}]`, version, detail));
  });
  if (!seen.has("v1") && !seen.has("v1beta1"))
    errors.push(invalid(at, versions, "must include at least one of v1, v1beta1"));
  return errors;
}

function statusErrors(crd: CustomResourceDefinition): readonly FieldError[] {
  const { status } = crd;
  return [
    ...namesErrors(status?.acceptedNames ?? {}, "status.acceptedNames"),
    ...storedVersionErrors(status?.storedVersions ?? [], crd.spec.versions ?? []),
  ];
}

function storedVersionErrors(
  stored: readonly string[],
  versions: readonly CrdVersion[],
): readonly FieldError[] {
  const at = "status.storedVersions";
  if (stored.length === 0) return [invalid(at, undefined, "must have at least one stored version")];
  const errors: FieldError[] = [];
  for (const version of versions) {
    if (version.storage === true && !stored.includes(version.name ?? ""))
      errors.push(invalid(at, stored, `must have the storage version ${version.name ?? ""}`));
  }
  stored.forEach((name, i) => {
    if (versions.some((version) => version.name === name)) return;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalid(`${at}[${i}]`, name, detail));
  });
  return errors;
}

const APPROVAL = "api-approved.kubernetes.io";

/** Groups of the Kubernetes community need an annotation that says who approved them. */
function approvalErrors(crd: CustomResourceDefinition): readonly FieldError[] {
  const group = crd.spec.group ?? "";
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) return [];
  const field = `metadata.annotations[${APPROVAL}]`;
  const see = "see https://github.com/kubernetes/enhancements/pull/1111";
  const state = approvalState(crd);
  if (state === "missing")
    return [
      required(field, `protected groups must have approval annotation "${APPROVAL}", ${see}`),
    ];
  if (state !== "invalid") return [];
  const value = crd.metadata.annotations?.[APPROVAL] ?? "";
  const detail = `protected groups must have approval annotation "${APPROVAL}" with either a URL or a reason starting with "unapproved", ${see}`;
  return [invalid(field, value, detail)];
}

function approvalState(
  crd: CustomResourceDefinition,
): "missing" | "bypassed" | "approved" | "invalid" {
  const value = crd.metadata.annotations?.[APPROVAL] ?? "";
  if (value === "") return "missing";
  if (value.startsWith("unapproved")) return "bypassed";
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#\s]+/.test(value) ? "approved" : "invalid";
}

function preserveErrors(crd: CustomResourceDefinition): readonly FieldError[] {
  if (crd.spec.preserveUnknownFields !== true) return [];
  return [
    invalid(
      "spec.preserveUnknownFields",
      true,
      "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    ),
  ];
}

function immutableErrors(
  crd: CustomResourceDefinition,
  old: CustomResourceDefinition,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const immutable = (
    field: string,
    value: string | undefined,
    before: string | undefined,
  ): void => {
    if ((value ?? "") !== (before ?? ""))
      errors.push(invalid(`spec.${field}`, value ?? "", "field is immutable"));
  };
  if (hasCrdCondition(old, "Established")) {
    immutable("scope", crd.spec.scope, old.spec.scope);
    immutable("names.kind", crd.spec.names?.kind, old.spec.names?.kind);
  }
  immutable("group", crd.spec.group, old.spec.group);
  immutable("names.plural", crd.spec.names?.plural, old.spec.names?.plural);
  return errors;
}
