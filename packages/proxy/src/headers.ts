/**
 * Which headers pass between a caller and a member. Pure.
 *
 * 1. The caller's credentials and what it claims to be never pass: Authorization, cookies, Impersonate-*, X-Remote-*.
 * 2. The member is asked in the caller's name, by Impersonate-* headers that are written here alone. A name that could be
 *    taken for another one, or for several, on the way is refused.
 * 3. Headers of one connection (RFC 9110, 7.6.1) end with it. Of these only an upgrade to a protocol that members speak is
 *    written again.
 * 4. What a member answers can set nothing for the control plane's own address: no cookie, no policy, no redirect.
 */

/** The caller as the API server knows it. */
export interface Caller {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Lower-case names with values, in order; a name may repeat. */
export type HeaderLines = readonly (readonly [name: string, value: string])[];

const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const NEVER_TO_MEMBERS: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  // The control plane answers this itself, and sends the body when the member takes it.
  "expect",
  "forwarded",
  "host",
]);
const NEVER_TO_MEMBERS_PREFIXES: readonly string[] = [
  ":",
  "impersonate-",
  "lifeboat-",
  "proxy-",
  "x-forwarded-",
  "x-remote-",
];

const NEVER_TO_CALLERS: ReadonlySet<string> = new Set([
  "alt-svc",
  "clear-site-data",
  "location",
  "refresh",
  "set-cookie",
  "strict-transport-security",
  // It would ask for the credentials of the control plane.
  "www-authenticate",
]);
const NEVER_TO_CALLERS_PREFIXES: readonly string[] = [
  ":",
  "access-control-",
  "lifeboat-",
  "proxy-",
];

/** What members speak after 101: exec, attach and port-forward. Anything else could carry requests past these rules. */
const UPGRADES: readonly string[] = ["websocket", "spdy/3.1"];

const AUTHENTICATED = "system:authenticated";

/** The protocol that a request asks for in the place of HTTP; "" when it asks for none. */
export function upgradeOf(headers: Readonly<Record<string, string | undefined>>): string {
  const asks = tokensOf(headers["connection"]).includes("upgrade");
  return asks ? (headers["upgrade"] ?? "").trim() : "";
}

/** Whether members may be asked for this protocol. */
export function isKnownUpgrade(protocol: string): boolean {
  return UPGRADES.includes(protocol.toLowerCase());
}

/** What of a caller's headers passes to a member. */
export function passedToMember(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): HeaderLines {
  const connection = headers["connection"];
  const named = new Set(tokensOf(typeof connection === "string" ? connection : ""));
  const lines: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || HOP_BY_HOP.has(name) || named.has(name)) continue;
    if (NEVER_TO_MEMBERS.has(name) || hasPrefix(name, NEVER_TO_MEMBERS_PREFIXES)) continue;
    for (const one of typeof value === "string" ? [value] : value) lines.push([name, one]);
  }
  return lines;
}

/** What an agent passes on of a request that the control plane has written: everything but what belongs to the connection. */
export function passedByAgent(lines: HeaderLines): HeaderLines {
  return lines.filter(
    ([name]) =>
      !HOP_BY_HOP.has(name) &&
      !NEVER_TO_MEMBERS.has(name) &&
      !name.startsWith(":") &&
      !name.startsWith("lifeboat-"),
  );
}

/** The headers by which a member is asked to act as the caller. */
export function impersonation({ name, uid, groups, extra = {} }: Caller): HeaderLines {
  const lines: [string, string][] = [["impersonate-user", name]];
  // Members add the group of all authenticated users by themselves.
  for (const group of groups) if (group !== AUTHENTICATED) lines.push(["impersonate-group", group]);
  if (uid !== undefined && uid !== "") lines.push(["impersonate-uid", uid]);
  for (const [key, values] of Object.entries(extra))
    for (const value of values) lines.push([`impersonate-extra-${encodeKey(key)}`, value]);
  return lines;
}

/** The headers by which a replica names the caller to another one, made of those by which a member is asked. */
export function namedToPeer(lines: HeaderLines): HeaderLines {
  return lines.map(([name, value]) => {
    for (const [from, to] of PEER_HEADERS)
      if (name.startsWith(from)) return [`${to}${name.slice(from.length)}`, value] as const;
    return [name, value] as const;
  });
}

/** Which headers a replica reads from another one, as `requestHeaderRules` of the API server names them. */
export const PEER_HEADER_RULES = Object.freeze({
  userHeaders: ["x-remote-user"],
  uidHeaders: ["x-remote-uid"],
  groupHeaders: ["x-remote-group"],
  extraPrefixes: ["x-remote-extra-"],
});

const PEER_HEADERS: readonly (readonly [string, string])[] = [
  ["impersonate-user", "x-remote-user"],
  ["impersonate-group", "x-remote-group"],
  ["impersonate-uid", "x-remote-uid"],
  ["impersonate-extra-", "x-remote-extra-"],
];

/** Why a member could take the caller for another one, in one sentence; undefined when it cannot. */
export function impersonationProblem(caller: Caller): string | undefined {
  const { name, uid = "", groups, extra = {} } = caller;
  if (name === "") return "the user has no name";
  if (!isHeaderValue(name)) return "the name of the user cannot be sent in a header";
  if (!isHeaderValue(uid)) return "the uid of the user cannot be sent in a header";
  // Servers may read one header with a comma as two.
  const isListItem = (value: string): boolean => isHeaderValue(value) && !value.includes(",");
  if (!groups.every((group) => group !== "" && isListItem(group)))
    return "the name of a group of the user is empty, has a comma, or cannot be sent in a header";
  for (const [key, values] of Object.entries(extra))
    if (key === "" || !values.every(isListItem))
      return "an extra value of the user has a comma, or cannot be sent in a header";
  return undefined;
}

/** The headers that ask for another protocol; also those of its answer. */
export function upgradeHeaders(protocol: string): HeaderLines {
  return [
    ["connection", "Upgrade"],
    ["upgrade", protocol],
  ];
}

/** What of a member's headers passes to the caller, given as names and values in turn. */
export function passedToCaller(raw: readonly string[]): Record<string, string | readonly string[]> {
  const lines = linesOf(raw);
  const named = new Set<string>();
  for (const [name, value] of lines)
    if (name === "connection") for (const token of tokensOf(value)) named.add(token);
  const passed: Record<string, string | readonly string[]> = {};
  for (const [name, value] of lines) {
    if (HOP_BY_HOP.has(name) || named.has(name) || NEVER_TO_CALLERS.has(name)) continue;
    if (hasPrefix(name, NEVER_TO_CALLERS_PREFIXES)) continue;
    const before = Object.hasOwn(passed, name) ? passed[name] : undefined;
    if (before === undefined) Object.defineProperty(passed, name, ownProperty(value));
    else passed[name] = [...(typeof before === "string" ? [before] : before), value];
  }
  return passed;
}

/** Names and values in turn, as Node gives them, as lines. */
export function linesOf(raw: readonly string[]): HeaderLines {
  const lines: [string, string][] = [];
  for (let i = 0; i + 1 < raw.length; i += 2)
    lines.push([(raw[i] as string).toLowerCase(), raw[i + 1] as string]);
  return lines;
}

/** A header may be called `__proto__`. */
function ownProperty(value: string): PropertyDescriptor {
  return { value, enumerable: true, configurable: true, writable: true };
}

function hasPrefix(name: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => name.startsWith(prefix));
}

function tokensOf(value: string | undefined): readonly string[] {
  return (value ?? "").split(",").map((token) => token.trim().toLowerCase());
}

/** Visible ASCII with single blanks inside: what no server trims, folds or splits. */
function isHeaderValue(text: string): boolean {
  return text === "" || /^[\u0021-\u007e]+(?: [\u0021-\u007e]+)*$/.test(text);
}

/** A key as servers decode it: percent-encoded where a header's name cannot hold it. */
function encodeKey(key: string): string {
  let encoded = "";
  for (const byte of new TextEncoder().encode(key)) {
    const char = String.fromCharCode(byte);
    encoded += /[!#$&'*+.^_`|~0-9a-z-]/.test(char)
      ? char
      : `%${byte.toString(16).padStart(2, "0")}`;
  }
  return encoded;
}
