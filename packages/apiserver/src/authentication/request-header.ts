/**
 * The user of a request that another API server has passed on: it proves itself by a client certificate, and names the user in
 * headers. What a front may be called and which headers count is in the ConfigMap
 * `kube-system/extension-apiserver-authentication`, which every kube-apiserver writes. Pure.
 *
 * 1. Headers count only from a front whose certificate is by the authority for fronts, and whose name is allowed.
 * 2. Each line of a header is one value: a group that holds a comma stays one group.
 */
import type { User } from "./user.ts";

export interface RequestHeaderRules {
  /** The authority of fronts; PEM. */
  readonly clientCa: string;
  /** The common names that count; empty: every one. */
  readonly allowedNames: readonly string[];
  /** Lower case; the first that has a value counts. */
  readonly userHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraPrefixes: readonly string[];
}

/** The rules of the ConfigMap's data; undefined: this API server passes nothing on to others. */
export function requestHeaderRules(
  data: Readonly<Record<string, string>>,
): RequestHeaderRules | undefined {
  const clientCa = data["requestheader-client-ca-file"] ?? "";
  const userHeaders = headerNames(data["requestheader-username-headers"]);
  const allowedNames = textsIn(data["requestheader-allowed-names"]);
  // A list of names that cannot be read must not count as "every name".
  if (clientCa === "" || userHeaders.length === 0 || allowedNames === undefined) return undefined;
  return {
    clientCa,
    allowedNames,
    userHeaders,
    uidHeaders: headerNames(data["requestheader-uid-headers"]),
    groupHeaders: headerNames(data["requestheader-group-headers"]),
    extraPrefixes: headerNames(data["requestheader-extra-headers-prefix"]),
  };
}

/** Whether a certificate of this common name may name users. Its authority is checked by TLS. */
export function isFront({ allowedNames }: RequestHeaderRules, commonName: string): boolean {
  return allowedNames.length === 0 || allowedNames.includes(commonName);
}

/** The user that the headers name (names and values in turn); undefined: none. */
export function userOfHeaders(rules: RequestHeaderRules, raw: readonly string[]): User | undefined {
  const lines = linesOf(raw);
  const first = (headers: readonly string[]): string => {
    for (const header of headers)
      for (const [name, value] of lines) if (name === header && value !== "") return value;
    return "";
  };
  const name = first(rules.userHeaders);
  if (name === "") return undefined;
  const uid = first(rules.uidHeaders);
  const groups = lines.flatMap(([header, value]) =>
    rules.groupHeaders.includes(header) && value !== "" ? [value] : [],
  );
  const extra = extraOf(rules.extraPrefixes, lines);
  return {
    name,
    groups,
    ...(uid === "" ? {} : { uid }),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}

type Lines = readonly (readonly [name: string, value: string])[];

function linesOf(raw: readonly string[]): Lines {
  const lines: [string, string][] = [];
  for (let i = 0; i + 1 < raw.length; i += 2)
    lines.push([(raw[i] as string).toLowerCase(), (raw[i + 1] as string).trim()]);
  return lines;
}

function extraOf(prefixes: readonly string[], lines: Lines): ReadonlyMap<string, string[]> {
  const extra = new Map<string, string[]>();
  for (const [header, value] of lines)
    for (const prefix of prefixes) {
      if (!header.startsWith(prefix)) continue;
      const key = decoded(header.slice(prefix.length));
      extra.set(key, [...(extra.get(key) ?? []), value]);
    }
  return extra;
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function headerNames(json: string | undefined): readonly string[] {
  return (textsIn(json) ?? []).map((name) => name.toLowerCase()).filter((name) => name !== "");
}

/** The texts of a JSON list; none for an absent one, undefined for what is no such list. */
function textsIn(json: string | undefined): readonly string[] | undefined {
  if (json === undefined || json === "") return [];
  try {
    const value: unknown = JSON.parse(json);
    if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) return undefined;
    return value;
  } catch {
    return undefined;
  }
}
