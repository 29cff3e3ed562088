/**
 * The path grammar of a Kubernetes API server. A path is either a resource path or some other path; nothing in
 * between. Resource paths are:
 *
 *   /api/{version}[/watch]/…  and  /apis/{group}/{version}[/watch]/…  where … is one of
 *     {plural}[/{name}[/{subresource}]]
 *     namespaces/{namespace}/{plural}[/{name}[/{subresource}]]
 *     namespaces/{name}[/status|/finalize]        the Namespace objects themselves
 *
 * 1. Each segment is decoded exactly once. A segment that then holds a slash, a control character, or is `.` or `..`
 *    makes the whole path malformed, so nothing behind this parser ever sees a path outside the grammar.
 * 2. One slash at the end means nothing. Empty segments elsewhere match no resource.
 * 3. Whether the resource exists is not decided here.
 * 4. What follows `…/clusters/{cluster}/proxy` is a path in that member. It is written again from its decoded segments, so
 *    that it is below the member's root whatever was sent; a path that would not be is malformed.
 */

export interface ResourcePath {
  readonly kind: "resource";
  readonly group: string;
  readonly version: string;
  /** "" when the path names none. */
  readonly namespace: string;
  readonly plural: string;
  /** "" for a collection. */
  readonly name: string;
  readonly subresource: string;
  /** The legacy form with `/watch/` after the version. */
  readonly watch: boolean;
}

/** The way into a member: the proxy into its API, or the tunnel that its agent opens. */
export interface MemberPath {
  readonly kind: "member";
  readonly group: string;
  readonly version: string;
  readonly cluster: string;
  readonly subresource: "proxy" | "attach";
  /** The path in the member: percent-encoded, beginning with a slash; "/" for its root, and always for a tunnel. */
  readonly below: string;
}

export type ParsedPath =
  | ResourcePath
  | MemberPath
  /** Any other path: decoded segments, without the slash at the end. `text` is them joined again, with a leading slash. */
  | { readonly kind: "other"; readonly text: string; readonly segments: readonly string[] }
  | { readonly kind: "malformed"; readonly reason: string };

/** Parses what stands before the `?` of a request target. */
export function parsePath(path: string): ParsedPath {
  if (path.charCodeAt(0) !== SLASH) return malformed("the path does not begin with a slash");
  const segments = path.split("/");
  segments.shift();
  if (segments.length > 1 && segments[segments.length - 1] === "") segments.pop();
  for (let i = 0; i < segments.length; i++) {
    const segment = decodeSegment(segments[i] as string);
    if (segment === undefined) return malformed("a path segment is not valid");
    segments[i] = segment;
  }
  if (isMemberPath(segments)) return memberPath(segments, path);
  return resourcePath(segments) ?? { kind: "other", text: `/${segments.join("/")}`, segments };
}

/** Whether a request target, query included, is a way into a member. */
export function isMemberTarget(url: string): boolean {
  if (!url.startsWith("/apis/")) return false;
  const mark = url.indexOf("?");
  return parsePath(mark < 0 ? url : url.slice(0, mark)).kind === "member";
}

const SPACE = 32;
const SLASH = 47;
const DELETE = 127;

function malformed(reason: string): ParsedPath {
  return { kind: "malformed", reason };
}

/** The decoded segment; undefined when it must not be used. */
function decodeSegment(segment: string): string | undefined {
  let decoded = segment;
  if (segment.includes("%")) {
    try {
      decoded = decodeURIComponent(segment);
    } catch {
      return undefined;
    }
    if (decoded.includes("/")) return undefined;
  }
  if (decoded === "." || decoded === "..") return undefined;
  for (let i = 0; i < decoded.length; i++) {
    const code = decoded.charCodeAt(i);
    if (code < 32 || code === DELETE) return undefined;
  }
  return decoded;
}

/** Our own group for the way into members. */
export const PROXY_GROUP = "proxy.lifeboat.dev";
export const PROXY_VERSION = "v1alpha1";
const MEMBER_GROUPS: readonly (string | undefined)[] = ["cluster.karmada.io", PROXY_GROUP];
const MEMBER_VERSION = PROXY_VERSION;
/** `apis/{group}/{version}/clusters/{cluster}/proxy`. */
const MEMBER_PREFIX_LENGTH = 6;
/** No path of a Kubernetes API is nearly as long. */
const MAX_MEMBER_PATH_LENGTH = 8192;

function isMemberPath([
  root,
  group,
  version,
  plural,
  cluster,
  subresource,
]: readonly string[]): boolean {
  if (root !== "apis" || version !== MEMBER_VERSION || plural !== "clusters") return false;
  if (cluster === undefined || cluster === "" || !MEMBER_GROUPS.includes(group)) return false;
  return subresource === "proxy" || (subresource === "attach" && group === PROXY_GROUP);
}

function memberPath(segments: readonly string[], sent: string): ParsedPath {
  const [, group = "", version = "", , cluster = "", subresource] = segments;
  if (sent.length > MAX_MEMBER_PATH_LENGTH)
    return malformed("the path into the member is too long");
  // What a transport does not hand over as it was sent could not be written again as it was meant.
  if (!isPrintableAscii(sent))
    return malformed("the path into the member has characters that are not percent-encoded");
  const rest = segments.slice(MEMBER_PREFIX_LENGTH);
  if (rest.includes("")) return malformed("the path into the member has an empty segment");
  const common = { kind: "member", group, version, cluster } as const;
  if (subresource === "attach")
    return rest.length === 0
      ? { ...common, subresource, below: "/" }
      : malformed("nothing is below a tunnel");
  // Servers behind a member's API distinguish a path that ends with a slash from one that does not.
  const end = rest.length > 0 && sent.endsWith("/") ? "/" : "";
  const below = `/${rest.map(encodeURIComponent).join("/")}${end}`;
  return { ...common, subresource: "proxy", below };
}

function isPrintableAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= SPACE || code >= DELETE) return false;
  }
  return true;
}

function resourcePath(segments: readonly string[]): ResourcePath | undefined {
  const root = segments[0];
  if (root === "api") return afterVersion(segments, 2, "", segments[1]);
  if (root === "apis") return afterVersion(segments, 3, segments[1], segments[2]);
  return undefined;
}

function afterVersion(
  segments: readonly string[],
  start: number,
  group: string | undefined,
  version: string | undefined,
): ResourcePath | undefined {
  if (group === undefined || version === undefined || segments.includes("")) return undefined;
  const watch = segments[start] === "watch";
  const at = watch ? start + 1 : start;
  const count = segments.length - at;
  if (count === 0) return undefined;
  const inNamespace =
    segments[at] === "namespaces" && count > 2 && !isNamespaceItself(segments, at);
  const first = inNamespace ? at + 2 : at;
  if (segments.length - first > 3) return undefined;
  return {
    kind: "resource",
    group,
    version,
    namespace: inNamespace ? (segments[at + 1] as string) : "",
    plural: segments[first] as string,
    name: segments[first + 1] ?? "",
    subresource: segments[first + 2] ?? "",
    watch,
  };
}

/** `namespaces/x/status` and `namespaces/x/finalize` are subresources of a Namespace, not collections inside it. */
function isNamespaceItself(segments: readonly string[], at: number): boolean {
  const third = segments[at + 2];
  return segments.length - at === 3 && (third === "status" || third === "finalize");
}
