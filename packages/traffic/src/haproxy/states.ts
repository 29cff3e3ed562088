/** What HAProxy reports of its servers, and which commands make it what it shall be. */
import type { Leaving } from "../provider.ts";
import { poolOfSection, type Rendered } from "./render.ts";

export interface ReportedServer {
  readonly isDraining: boolean;
  readonly weight: number;
}

/** The bit of `srv_admin_state` that a drain by command sets. */
const FORCED_DRAIN = 8;

/** Reads `show servers state`, by `backend/server`. */
export function readServersState(text: string): ReadonlyMap<string, ReportedServer> {
  const found = new Map<string, ReportedServer>();
  const lines = text.split("\n");
  const header =
    lines
      .find((line) => line.startsWith("# be_id"))
      ?.slice(2)
      .split(" ") ?? [];
  const at = (name: string): number => header.indexOf(name);
  for (const line of lines) {
    if (!/^\d+ /.test(line)) continue;
    const fields = line.split(" ");
    const key = `${fields[at("be_name")]}/${fields[at("srv_name")]}`;
    found.set(key, {
      isDraining: (Number(fields[at("srv_admin_state")]) & FORCED_DRAIN) !== 0,
      weight: Number(fields[at("srv_uweight")]),
    });
  }
  return found;
}

/** The commands that are needed; those that set a drain come first. */
export function stateCommands(
  { servers }: Rendered,
  reported: ReadonlyMap<string, ReportedServer>,
): readonly string[] {
  const drains: string[] = [];
  const others: string[] = [];
  for (const [key, { weight, backend }] of servers) {
    const now = reported.get(key);
    const isDraining = backend.state === "draining";
    if (isDraining && now?.isDraining !== true) drains.push(`set server ${key} state drain`);
    if (!isDraining && now?.isDraining === true) others.push(`set server ${key} state ready`);
    if (now !== undefined && now.weight !== weight)
      others.push(`set server ${key} weight ${weight}`);
  }
  return [...drains, ...others];
}

/** What HAProxy reports once these servers are as they shall be. */
export function wantedStates({ servers }: Rendered): ReadonlyMap<string, ReportedServer> {
  return new Map(
    [...servers].map(([key, { weight, backend }]) => [
      key,
      { isDraining: backend.state === "draining", weight },
    ]),
  );
}

/** Reads `show proc` of the master: the workers that run, the newest first, those that end with their last request included. */
export function readWorkers(text: string): readonly number[] {
  return text.split("\n").flatMap((line) => {
    const [, pid] = /^(\d+)\s+worker\s/.exec(line) ?? [];
    return pid === undefined ? [] : [Number(pid)];
  });
}

/** What one worker reports of a server. */
export interface ServerStat {
  readonly section: string;
  readonly server: string;
  /** Whether requests are under way. */
  readonly isBusy: boolean;
  /** Whether it takes connections, and does not drain. */
  readonly isUp: boolean;
}

/** Reads `show stat` (CSV). */
export function readServerStats(csv: string): readonly ServerStat[] {
  const [header = "", ...lines] = csv.split("\n");
  const names = header.replace(/^# /, "").split(",");
  const places = ["pxname", "svname", "scur", "status"].map((name) => names.indexOf(name));
  return lines.flatMap((line) => {
    const fields = line.split(",");
    const [section = "", server = "", current = "", status = ""] = places.map((at) => fields[at]);
    if (section === "") return [];
    const isUp = /^(?:UP|no check)/.test(status);
    return [{ section, server, isBusy: Number(current) > 0, isUp }];
  });
}

/** The pools, by HAProxy's name, of which a worker uses servers that drain, or that were taken out. */
export function usedPools(
  { servers }: Pick<Rendered, "servers">,
  stats: readonly ServerStat[],
): ReadonlyMap<string, Leaving> {
  const stateOf = ({ section, server }: ServerStat): string | undefined =>
    servers.get(`${poolOfSection(section)}/${server}`)?.backend.state;
  const used = new Map<string, Leaving>();
  const served = new Set<string>();
  for (const stat of stats) {
    const pool = poolOfSection(stat.section);
    if (stat.isBusy && stateOf(stat) !== "serving") used.set(pool, "ends");
    if (stat.isUp && stat.section === pool && stateOf(stat) === "serving") served.add(pool);
  }
  for (const stat of stats) {
    const pool = poolOfSection(stat.section);
    const isStandIn = stat.section !== pool && stat.isUp && stateOf(stat) === "draining";
    if (isStandIn && !served.has(pool)) used.set(pool, "serves");
  }
  return used;
}
