/** What a Cluster and its Secret say about reaching it. Nothing throws: what is wrong is a sentence. */
import type { AnyObject, Cluster, ObjectKey } from "@lifeboat/api";
import type { MemberAccess } from "../member-connections.ts";

/** The access, or why there is none. */
export function accessOf(
  { metadata, spec }: Cluster,
  secretOf: (key: ObjectKey) => AnyObject | undefined,
): MemberAccess | string {
  const { apiEndpoint = "", secretRef, proxyURL = "" } = spec;
  if (apiEndpoint === "") return "the Cluster has no apiEndpoint";
  if (secretRef === undefined) return "the Cluster has no secretRef";
  const where = `${secretRef.namespace}/${secretRef.name}`;
  const secret = secretOf(secretRef);
  if (secret === undefined) return `the Secret ${where} does not exist`;
  const token = decoded(secret, "token");
  if (token?.trim() === "") return `the Secret ${where} has no token`;
  if (token === undefined) return `the token of the Secret ${where} is not base64`;
  const caBundle = decoded(secret, "caBundle");
  if (caBundle === undefined) return `the caBundle of the Secret ${where} is not base64`;
  return Object.freeze({
    cluster: metadata.name,
    endpoint: apiEndpoint.replace(/\/+$/, ""),
    // A token that came from a file often ends in a newline.
    token: token.trim(),
    ...(caBundle === "" ? {} : { caBundle }),
    insecureSkipTlsVerification: spec.insecureSkipTLSVerification ?? false,
    ...(proxyURL === "" ? {} : { proxyUrl: proxyURL }),
    ...(spec.proxyHeader === undefined ? {} : { proxyHeaders: headersOf(spec.proxyHeader) }),
  });
}

function headersOf(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.entries(headers).map(([name, all]) => [name, all.split(",")]));
}

/** What a key of the Secret holds: "" where it is absent, undefined where it cannot be read. */
function decoded(secret: AnyObject, key: string): string | undefined {
  const data = secret["data"] as Readonly<Record<string, unknown>> | undefined;
  const value = data?.[key] ?? "";
  if (typeof value !== "string") return undefined;
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(value), (char) => char.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
