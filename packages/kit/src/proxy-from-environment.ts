/**
 * The proxy that the environment names for a server, by the rules that other clients of Kubernetes follow. Pure.
 *
 * 1. `HTTPS_PROXY` for https, in either case; a value without a scheme is http.
 * 2. `NO_PROXY` lists what is reached directly: `*`, a name with all names below it, `.name` for those below it alone, an address, a
 *    network (`10.0.0.0/8`), each perhaps with a port.
 * 3. This machine is never reached through a proxy.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

/** The URL of the proxy; undefined: the server is reached directly. */
export function proxyFromEnvironment(server: string, environment: Environment): string | undefined {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url === undefined || url.protocol !== "https:") return undefined;
  const proxy = valueOf(environment, "HTTPS_PROXY");
  if (proxy === "") return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  if (isThisMachine(host)) return undefined;
  const port = url.port === "" ? "443" : url.port;
  const entries = valueOf(environment, "NO_PROXY").split(",");
  if (entries.some((entry) => excludes(entry.trim().toLowerCase(), host, port))) return undefined;
  return /^[a-z0-9+]+:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
}

function valueOf(environment: Environment, name: string): string {
  return (environment[name] || environment[name.toLowerCase()] || "").trim();
}

function isThisMachine(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

function excludes(entry: string, host: string, port: string): boolean {
  if (entry === "") return false;
  if (entry === "*") return true;
  const network = /^(\d+\.\d+\.\d+\.\d+)\/(\d{1,2})$/.exec(entry);
  if (network !== null) return isInNetwork(host, network[1] ?? "", Number(network[2]));
  const [, bracketed, plain = "", entryPort] =
    /^(?:\[([^\]]*)\]|([^:]*|.*:.*:.*?))(?::(\d+))?$/.exec(entry) ?? [];
  if (entryPort !== undefined && entryPort !== port) return false;
  const name = bracketed ?? plain;
  if (name.startsWith(".")) return host.endsWith(name);
  return host === name || host.endsWith(`.${name}`);
}

function isInNetwork(host: string, network: string, bits: number): boolean {
  const [a, b] = [numberOf(host), numberOf(network)];
  if (a === undefined || b === undefined || bits > 32) return false;
  const size = 2 ** (32 - bits);
  return Math.floor(a / size) === Math.floor(b / size);
}

/** An IPv4 address as a number. */
function numberOf(address: string): number | undefined {
  const parts = address.split(".").map(Number);
  const isAddress = parts.length === 4 && parts.every((part) => part >= 0 && part <= 255);
  return isAddress ? parts.reduce((sum, part) => sum * 256 + part, 0) : undefined;
}
