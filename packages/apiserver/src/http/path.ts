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

export type ParsedPath =
  | ResourcePath
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
  return resourcePath(segments) ?? { kind: "other", text: `/${segments.join("/")}`, segments };
}

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
