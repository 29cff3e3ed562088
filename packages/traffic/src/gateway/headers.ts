/**
 * Which headers pass the gateway. Hop-by-hop headers end here, those that `Connection` names included. The client's own
 * X-Forwarded-* headers are replaced: a backend may believe them.
 */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const FORWARDED: ReadonlySet<string> = new Set([
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
]);

export interface Client {
  readonly address: string;
  readonly isTls: boolean;
  readonly host: string;
}

/** Names and values in turn, as Node keeps them. */
export type RawHeaders = readonly string[];

/** What a backend gets. `keeps` names hop-by-hop headers that pass nevertheless (of an upgrade). */
export function requestHeaders(
  raw: RawHeaders,
  client: Client,
  keeps: ReadonlySet<string> = NONE,
): string[] {
  const passed = endToEnd(raw, keeps, FORWARDED);
  passed.push("X-Forwarded-For", client.address);
  passed.push("X-Forwarded-Proto", client.isTls ? "https" : "http");
  passed.push("X-Forwarded-Host", client.host);
  return passed;
}

/** What a client gets. */
export function responseHeaders(raw: RawHeaders, keeps: ReadonlySet<string> = NONE): string[] {
  return endToEnd(raw, keeps, NONE);
}

const NONE: ReadonlySet<string> = new Set();

function endToEnd(
  raw: RawHeaders,
  keeps: ReadonlySet<string>,
  dropped: ReadonlySet<string>,
): string[] {
  const named = namedByConnection(raw);
  const passed: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] ?? "").toLowerCase();
    const isHop = HOP_BY_HOP.has(name) || named.has(name);
    if (dropped.has(name) || (isHop && !keeps.has(name))) continue;
    passed.push(raw[i] ?? "", raw[i + 1] ?? "");
  }
  return passed;
}

function namedByConnection(raw: RawHeaders): ReadonlySet<string> {
  let found: Set<string> | undefined;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    if (raw[i]?.toLowerCase() !== "connection") continue;
    found ??= new Set();
    for (const name of (raw[i + 1] ?? "").split(",")) found.add(name.trim().toLowerCase());
  }
  // A client cannot make the gateway drop these by naming them.
  for (const name of ["host", "content-length"]) found?.delete(name);
  return found ?? NONE;
}

/** The host that a request names, without its port and without the dots that a name may end with. */
export function hostOf(header: string | undefined): string {
  const text = (header ?? "").trim().toLowerCase();
  if (text.startsWith("[")) return text.slice(1, text.indexOf("]"));
  const colon = text.lastIndexOf(":");
  return (colon < 0 ? text : text.slice(0, colon)).replace(/\.+$/, "");
}
