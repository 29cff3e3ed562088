/**
 * Templates of all kinds in one queue: the key's namespace holds group, version and kind as well. None of them, nor a
 * namespace, can hold a space or a slash, so a key reads back as it was written.
 */
import { type AnyObject, apiVersionOf, type ObjectKey, parseApiVersion } from "@lifeboat/api";
import type { TemplateReference } from "../../context/templates.ts";

export function templateKey(reference: TemplateReference): ObjectKey {
  const { group, version } = parseApiVersion(reference.apiVersion);
  const { kind, namespace = "", name } = reference;
  return { namespace: `${group} ${version} ${kind} ${namespace}`, name };
}

export function keyOfTemplate({ apiVersion, kind, metadata }: AnyObject): ObjectKey {
  return templateKey({ apiVersion, kind, namespace: metadata.namespace, name: metadata.name });
}

export function referenceOf({ namespace: text, name }: ObjectKey): TemplateReference {
  const [group = "", version = "", kind = "", namespace = ""] = text.split(" ");
  return { apiVersion: apiVersionOf({ group, version }), kind, namespace, name };
}
