/**
 * The configuration of HAProxy for a routing table, as text.
 *
 * 1. Names of pools and servers are hashes: nothing that a user or a member wrote names anything. Hosts, paths and addresses have
 *    passed core/traffic/names.ts; they stand in single quotes, where HAProxy reads every character as itself.
 * 2. The name of a server holds its address, so that a saved state is never taken for that of another address.
 * 3. Equal tables give equal texts, whatever drains: states and weights are set through the runtime socket, so that a change of
 *    them needs no reload. The text holds the state of the moment only for a first start.
 * 4. Each pool has a second section with the same servers, which drain nowhere there: it gets the requests while no serving server of
 *    the pool is up, as HAProxy sends none to a server that drains, whatever becomes of the others. Not in a worker that a reload has
 *    replaced: there HAProxy counts no server as up.
 * 5. Names are resolved while HAProxy runs, too. Whatever resolvers answer, or do not, the last address stays until there is another.
 */
import { isNumericAddress } from "@lifeboat/core/traffic";
import type { Backend, Pool, Route, RoutingTable } from "@lifeboat/core/traffic";

export interface RenderOptions {
  readonly socket: string;
  readonly stateFile: string;
  /** As `bind` takes it: `127.0.0.1:8080`. */
  readonly bind: string;
  /** As `bind` takes it; absent: HTTP only. */
  readonly tlsBind?: string;
  /** The list of certificates and their hosts; absent: there are none. */
  readonly certificates?: string;
}

export interface RenderedServer {
  readonly pool: string;
  readonly name: string;
  /** As HAProxy takes it. */
  readonly weight: number;
  readonly backend: Backend;
}

/** What a configuration holds, by HAProxy's names. */
export interface Rendered {
  readonly text: string;
  /** By `backend/server`. */
  readonly servers: ReadonlyMap<string, RenderedServer>;
}

const MAX_WEIGHT = 256;

interface RenderedPool {
  readonly text: string;
  readonly servers: readonly (readonly [key: string, RenderedServer])[];
}

/** Pools that were rendered before: a pool is frozen by convention, and one that did not change is the same object. */
export type RenderedPools = WeakMap<Pool, RenderedPool>;

export function renderConfig(
  table: RoutingTable,
  options: RenderOptions,
  known: RenderedPools = new WeakMap(),
): Rendered {
  const used = new Set(table.routes.map(({ pool }) => pool));
  const pools = table.pools
    .filter(({ id }) => used.has(id))
    .map((pool) => {
      const rendered = known.get(pool) ?? renderPool(pool);
      known.set(pool, rendered);
      return rendered;
    });
  const servers = new Map(pools.flatMap((pool) => pool.servers));
  const text = [
    globalText(options),
    ...(hasNames(table) ? [RESOLVERS] : []),
    frontendText(table.routes, options),
    ...pools.map((pool) => pool.text),
    "backend none\n  http-request return status 404 content-type text/plain string 'no ingress serves this host and path'\n",
  ].join("\n");
  return { text, servers };
}

/** The weight that HAProxy takes: at most 256, in proportion. */
function serverWeight({ weight }: Backend, pool: readonly Backend[]): number {
  const most = Math.max(...pool.map((one) => one.weight), 1);
  if (most <= MAX_WEIGHT) return weight;
  return Math.max(1, Math.round((weight * MAX_WEIGHT) / most));
}

export function poolName(id: string): string {
  return `p_${hash(id)}`;
}

/** The section of the same servers that gets requests while no serving server of the pool is up. */
export function standInName(pool: string): string {
  return `${pool}_all`;
}

/** The pool of a section, by HAProxy's name. */
export function poolOfSection(section: string): string {
  return section.replace(/_all$/, "");
}

function hasNames({ pools }: RoutingTable): boolean {
  return pools.some(({ backends }) => backends.some(({ address }) => !isNumericAddress(address)));
}

const LONGEST = "24d";

/** Without the long times a server would be taken out half a minute after the last resolver fell silent. */
const RESOLVERS = `resolvers names
  parse-resolv-conf
  accepted_payload_size 4096
  hold valid 5s
${["other", "refused", "nx", "timeout"].map((answer) => `  hold ${answer} ${LONGEST}`).join("\n")}
`;

function serverName(pool: string, { cluster, address, port }: Backend): string {
  return `s_${hash(`${pool} ${cluster} ${address} ${port}`)}`;
}

function globalText({ socket, stateFile }: RenderOptions): string {
  return `global
  stats socket ${quoted(socket)} mode 600 level admin expose-fd listeners
  stats timeout 10s
  server-state-file ${quoted(stateFile)}
  hard-stop-after 60s

defaults
  mode http
  load-server-state-from-file global
  timeout connect 2s
  timeout client 65s
  timeout server 60s
  timeout tunnel 1h
  timeout http-request 20s
  timeout http-keep-alive 65s
  retries 3
  option redispatch 1
  retry-on conn-failure empty-response
  option forwardfor
  option http-keep-alive
  default-server check inter 1s fastinter 200ms downinter 200ms fall 2 rise 1 init-addr last,libc,none
`;
}

function frontendText(routes: readonly Route[], options: RenderOptions): string {
  const { bind, tlsBind, certificates } = options;
  const tls =
    tlsBind !== undefined && certificates !== undefined
      ? [`  bind ${quoted(tlsBind)} ssl crt-list ${quoted(certificates)} alpn http/1.1 strict-sni`]
      : [];
  const lines = [
    "frontend ingresses",
    `  bind ${quoted(bind)}`,
    ...tls,
    "  http-request del-header X-Forwarded-For",
    "  http-request del-header X-Forwarded-Port",
    "  http-request del-header X-Real-IP",
    "  http-request del-header Forwarded",
    "  http-request set-header X-Forwarded-Proto https if { ssl_fc }",
    "  http-request set-header X-Forwarded-Proto http unless { ssl_fc }",
    "  http-request set-header X-Forwarded-Host %[req.hdr(host)]",
    // What was sent once may have been carried out: only methods that are safe to repeat are.
    "  http-request disable-l7-retry unless METH_GET or METH_HEAD or METH_OPTIONS or METH_DELETE or { method PUT }",
    // As `leadsUpwards` of core/traffic: backends may read these as another path.
    String.raw`  http-request deny deny_status 400 if { path_reg -i '(^|/|%2f|\\|%5c)(\.|%2e){1,2}(/|%2f|\\|%5c|$)' }`,
    ...routes.flatMap(routeLines),
    "  default_backend none",
  ];
  return `${lines.join("\n")}\n`;
}

function routeLines({ host, path, pathType, pool }: Route): readonly string[] {
  const name = "{ req.hdr(host),field(1,:),rtrim(.),lower";
  const onHost = host === "" ? "" : `${name} ${hostMatch(host)} } `;
  const section = poolName(pool);
  const use = (match: string): readonly string[] => [
    `  use_backend ${standInName(section)} if ${onHost}${match} { nbsrv(${section}) eq 0 } !{ stopping }`,
    `  use_backend ${section} if ${onHost}${match}`,
  ];
  if (pathType === "Exact") return use(`{ path -m str ${quoted(path)} }`);
  if (path === "/") return use("{ path_beg / }");
  return [
    use(`{ path -m str ${quoted(path)} }`),
    use(`{ path -m beg ${quoted(`${path}/`)} }`),
  ].flat();
}

function hostMatch(host: string): string {
  if (!host.startsWith("*.")) return `-m str ${quoted(host)}`;
  return `-m reg ${quoted(`^[^.]+${host.slice(1).replaceAll(".", "\\.")}$`)}`;
}

function renderPool({ id, backends }: Pool): RenderedPool {
  const pool = poolName(id);
  const servers = backends.map((backend): RenderedServer => {
    const weight = serverWeight(backend, backends);
    return { pool, name: serverName(pool, backend), weight, backend };
  });
  const lines = servers.map(({ name, weight, backend: { address, port } }) => {
    const host = address.includes(":") ? `[${address}]` : address;
    const resolved = isNumericAddress(address) ? "" : " resolvers names resolve-prefer ipv4";
    return { line: `  server ${name} ${host}:${port}${resolved}`, weight };
  });
  return {
    text: [
      `backend ${pool}`,
      "  balance roundrobin",
      ...lines.map(({ line, weight }) => `${line} weight ${weight}`),
      "",
      `backend ${standInName(pool)}`,
      "  balance roundrobin",
      ...lines.map(({ line }) => line),
      "",
    ].join("\n"),
    servers: servers.map((server) => [`${pool}/${server.name}`, server]),
  };
}

/** A text as one word, read as it is. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Two 32-bit FNV-1a hashes with different starts, in base 36: names, not secrets. */
function hash(text: string): string {
  return [0x811c9dc5, 0x2f0b4c47].map((start) => fnv(text, start).toString(36)).join("");
}

function fnv(text: string, start: number): number {
  let value = start;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
