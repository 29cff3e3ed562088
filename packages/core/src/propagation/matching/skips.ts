/**
 * Objects that are never templates, and the operator's own exceptions.
 *
 * 1. The control plane's own namespaces, and what is in them, never leave it.
 * 2. Patterns for namespaces match whole names. Exceptions for APIs are `group`, `group/version`, or
 *    `group/version/Kind,Kind`; the core group is written `v1` or `v1/Kind,Kind`.
 */
import type { Resource } from "@lifeboat/api";
import { type Fields, textAt } from "../../fields.ts";
import { CLAIMED_BY, CLUSTER_NAMESPACE, EXECUTION_NAMESPACE_PREFIX } from "../../well-known.ts";

/** Whether namespaces of this name are the control plane's own. */
export function isReservedNamespace(namespace: string): boolean {
  return RESERVED.has(namespace) || namespace.startsWith(EXECUTION_NAMESPACE_PREFIX);
}

const RESERVED: ReadonlySet<string> = new Set([
  CLUSTER_NAMESPACE,
  "karmada-system",
  "lifeboat-system",
]);

/** Whether policies leave this object alone. */
export function isIgnored(object: Fields, skippedNamespaces: readonly RegExp[]): boolean {
  if (textAt(object, "metadata", "deletionTimestamp") !== "") return true;
  if (textAt(object, "metadata", "labels", CLAIMED_BY) !== "") return true;
  const kind = textAt(object, "kind");
  const name = textAt(object, "metadata", "name");
  const isNamespace = kind === "Namespace" && textAt(object, "apiVersion") === "v1";
  const namespace = isNamespace ? name : textAt(object, "metadata", "namespace");
  if (isReservedNamespace(namespace)) return true;
  if (!isNamespace && skippedNamespaces.some((pattern) => pattern.test(namespace))) return true;
  return (
    kind === "ConfigMap" &&
    namespace === "kube-system" &&
    name === "extension-apiserver-authentication"
  );
}

/** The patterns for namespaces, each matching whole names; undefined with the first text that is no pattern. */
export function readNamespacePatterns(
  texts: readonly string[],
):
  | { readonly outcome: "read"; readonly patterns: readonly RegExp[] }
  | { readonly outcome: "invalid"; readonly text: string } {
  const patterns: RegExp[] = [];
  for (const text of texts) {
    try {
      patterns.push(new RegExp(`^(?:${text})$`, "u"));
    } catch {
      return { outcome: "invalid", text };
    }
  }
  return { outcome: "read", patterns };
}

type ApiKind = Pick<Resource, "group" | "kind" | "version">;

/** Whether an exception names this kind. */
export function skipsApi(exceptions: readonly string[], resource: ApiKind): boolean {
  return exceptions.some((exception) => namesApi(exception.trim(), resource));
}

function namesApi(exception: string, { group, version, kind }: ApiKind): boolean {
  if (exception === "") return false;
  const parts = exception.split("/");
  // In the core group the first part is the version already.
  const [namedGroup = "", namedVersion, kinds] =
    group === "" && parts[0] === version ? ["", ...parts] : parts;
  if (namedGroup !== group) return false;
  if (namedVersion === undefined) return true;
  if (namedVersion !== version) return false;
  return kinds === undefined || kinds.split(",").includes(kind);
}
