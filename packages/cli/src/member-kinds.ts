/** Finding a kind by what a person calls it, in what a member says it serves. Pure. */
import { isJsonObject, type Json } from "@lifeboat/api";

export interface MemberKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** What discovery answers in one document. */
export const DISCOVERY_TYPE =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/**
 * The kind that `asked` means: plural, singular, short name or kind, with `.group` or without; the first one in the order of the
 * documents, each group's preferred version first.
 */
export function findKind(asked: string, documents: readonly Json[]): MemberKind | undefined {
  const wanted = asked.toLowerCase();
  const dot = wanted.indexOf(".");
  const name = dot < 0 ? wanted : wanted.slice(0, dot);
  const wantedGroup = dot < 0 ? undefined : wanted.slice(dot + 1);
  for (const document of documents)
    for (const group of itemsOf(document, "items")) {
      const groupName = textOf(metadataOf(group), "name");
      if (wantedGroup !== undefined && groupName !== wantedGroup) continue;
      for (const version of itemsOf(group, "versions"))
        for (const resource of itemsOf(version, "resources"))
          if (namesOf(resource).includes(name))
            return {
              group: groupName,
              version: textOf(version, "version"),
              plural: textOf(resource, "resource"),
              kind: textOf(kindOf(resource), "kind"),
              namespaced: textOf(resource, "scope") === "Namespaced",
            };
    }
  return undefined;
}

function namesOf(resource: Json): readonly string[] {
  const shortNames = isJsonObject(resource) ? resource["shortNames"] : undefined;
  const short = Array.isArray(shortNames) ? shortNames.map(String) : [];
  const names = [textOf(resource, "resource"), textOf(resource, "singularResource"), ...short];
  return [...names, textOf(kindOf(resource), "kind").toLowerCase()].filter((name) => name !== "");
}

function kindOf(resource: Json): Json {
  return isJsonObject(resource) ? (resource["responseKind"] ?? null) : null;
}

function metadataOf(value: Json): Json {
  return isJsonObject(value) ? (value["metadata"] ?? null) : null;
}

function itemsOf(value: Json, field: string): readonly Json[] {
  const items = isJsonObject(value) ? value[field] : undefined;
  return Array.isArray(items) ? (items as readonly Json[]) : [];
}

function textOf(value: Json, field: string): string {
  const text = isJsonObject(value) ? value[field] : undefined;
  return typeof text === "string" ? text : "";
}
