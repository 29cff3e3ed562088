/** Which agents are connected to the control plane, read from its metrics; for `lifeboat status`. Pure. */
import type { Cluster } from "@lifeboat/api";
import { shown } from "./member-table.ts";

const METRIC = "lifeboat_proxy_tunnels";
const SAMPLE = new RegExp(`^${METRIC}\\{(?:.*,)?member_cluster="([^"\\\\]*)".*\\} 1$`);
const MAX_NAMES = 5;

/** The clusters with an open tunnel; undefined: this control plane takes no tunnels. */
export function readOpenTunnels(metrics: string): ReadonlySet<string> | undefined {
  if (!metrics.includes(`# TYPE ${METRIC} `)) return undefined;
  const names = metrics.split("\n").map((line) => SAMPLE.exec(line)?.[1]);
  return new Set(names.filter((name) => name !== undefined));
}

/** How many agents are connected, in words; undefined: there are no Pull clusters, or it is not known. */
export function tunnelsText(
  clusters: readonly Cluster[],
  open: ReadonlySet<string> | undefined,
): string | undefined {
  const pull = clusters.filter(({ spec }) => spec.syncMode === "Pull");
  if (open === undefined || pull.length === 0) return undefined;
  const away = pull.map(({ metadata }) => metadata.name).filter((name) => !open.has(name));
  const count = `${pull.length - away.length} of ${pull.length} connected`;
  if (away.length === 0) return count;
  const names = away.slice(0, MAX_NAMES).map(shown).join(", ");
  const more = away.length > MAX_NAMES ? ` and ${away.length - MAX_NAMES} more` : "";
  return `${count}; no tunnel from ${names}${more}: get, logs and exec cannot reach them`;
}
