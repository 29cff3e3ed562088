/**
 * How a resolver in a pod asks for a name: the name servers, search list and options of resolv.conf, and the names to ask for, in
 * order. What cannot be read is left out, as the C library does; there are at most three name servers.
 */

export interface ResolverSettings {
  readonly servers: readonly string[];
  readonly search: readonly string[];
  readonly ndots: number;
  readonly timeoutMs: number;
}

const MAX_SERVERS = 3;
const MAX_NDOTS = 15;
const MAX_TIMEOUT_S = 30;

/** Reads a resolv.conf. */
export function parseResolvConf(text: string): ResolverSettings {
  const servers: string[] = [];
  let search: readonly string[] = [];
  let ndots = 1;
  let timeoutMs = 5000;
  for (const line of text.split("\n")) {
    const [keyword = "", ...values] = line
      .replace(/[#;].*$/u, "")
      .trim()
      .split(/\s+/u);
    if (keyword === "nameserver" && values[0] !== undefined) servers.push(values[0]);
    // The last of the two keywords counts.
    if (keyword === "search" || keyword === "domain")
      search = keyword === "domain" ? values.slice(0, 1) : values;
    if (keyword !== "options") continue;
    for (const option of values) {
      const [name, number = ""] = option.split(":");
      if (!/^\d+$/u.test(number)) continue;
      if (name === "ndots") ndots = Math.min(Number(number), MAX_NDOTS);
      if (name === "timeout")
        timeoutMs = 1000 * Math.min(Math.max(1, Number(number)), MAX_TIMEOUT_S);
    }
  }
  return { servers: servers.slice(0, MAX_SERVERS), search, ndots, timeoutMs };
}

/** The names that are asked for, in order: a name with a dot at its end, or with enough dots, is asked for as it is first. */
export function namesToAsk(
  name: string,
  { search, ndots }: Pick<ResolverSettings, "search" | "ndots">,
): readonly string[] {
  if (name.endsWith(".")) return [name.slice(0, -1)];
  const searched = search.map((domain) => `${name}.${domain.replace(/\.$/u, "")}`);
  const dots = name.split(".").length - 1;
  const all = dots >= ndots ? [name, ...searched] : [...searched, name];
  return [...new Set(all)];
}
