/** What HAProxy reports of its servers, and which commands make it what it shall be. */
import type { Rendered } from "./render.ts";

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

/** Reads `show proc` of the master: the workers that run, those that end with their last request included. */
export function readWorkers(text: string): readonly number[] {
  return text.split("\n").flatMap((line) => {
    const [, pid] = /^(\d+)\s+worker\s/.exec(line) ?? [];
    return pid === undefined ? [] : [Number(pid)];
  });
}

/** Reads `show stat` (CSV): the servers with requests under way, as `backend/server`. */
export function readBusyServers(csv: string): ReadonlySet<string> {
  const [header = "", ...lines] = csv.split("\n");
  const names = header.replace(/^# /, "").split(",");
  const [pool, server, current] = ["pxname", "svname", "scur"].map((name) => names.indexOf(name));
  const busy = new Set<string>();
  for (const line of lines) {
    const fields = line.split(",");
    if (Number(fields[current ?? -1]) > 0)
      busy.add(`${fields[pool ?? -1]}/${fields[server ?? -1]}`);
  }
  return busy;
}
