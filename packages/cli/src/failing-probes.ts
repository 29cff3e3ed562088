/**
 * Which clusters do not answer although they still count as Ready, read from the metrics of the control plane; for `lifeboat status`.
 * Where the API server serves none of them (a kube-apiserver: the replicas of `lifeboat manager` have them), that is not known. Pure.
 *
 * 1. A Push cluster is named from its first failed probe on; a Pull cluster when half of its grace period has passed in silence.
 * 2. The threshold counts from the first probe that failed, which lies after the last answer. So the time that is left is "at the
 *    earliest".
 */
import type { Cluster } from "@lifeboat/api";
import { type Instant, parseDuration } from "@lifeboat/base";
import type { PublishedSettings } from "@lifeboat/controllers/operating";

export interface FailingProbe {
  /** How long ago the last answer was. */
  readonly forMs: number;
  /** How long it still counts as Ready, at the least. */
  readonly leftMs: number;
}

/** By the names of the clusters. */
export type FailingProbes = ReadonlyMap<string, FailingProbe>;

export const NO_PROBES: FailingProbes = new Map();

/** How long a cluster that stops answering can count as Ready, by the controllers' settings. */
export function answersWithinMs(settings: PublishedSettings = {}): Thresholds {
  return {
    Push: parseDuration(settings["cluster-failure-threshold"] ?? "") ?? 30_000,
    Pull: parseDuration(settings["cluster-monitor-grace-period"] ?? "") ?? 40_000,
  };
}

type Thresholds = Readonly<Record<Cluster["spec"]["syncMode"], number>>;

const SUCCESS = "lifeboat_cluster_last_success_timestamp_seconds";
const OBSERVED = "cluster_last_observed_timestamp_seconds";
/** Both gauges are set one after the other, by a clock that goes on meanwhile. */
const SAME_MS = 50;

/** Undefined: not known, because the metrics could not be read, or are those of an API server that does not have the gauges. */
export function failingProbes(
  metrics: string | undefined,
  clusters: readonly Cluster[],
  settings: PublishedSettings = {},
  now: Instant,
): FailingProbes | undefined {
  if (metrics === undefined || !metrics.includes(`# TYPE ${SUCCESS} `)) return undefined;
  const success = samplesOf(metrics, SUCCESS);
  const observed = samplesOf(metrics, OBSERVED);
  const withinMs = answersWithinMs(settings);
  return new Map(
    clusters.flatMap(({ metadata: { name }, spec }): [string, FailingProbe][] => {
      const last = success.get(name);
      if (last === undefined) return [];
      const forMs = now - last;
      const isPull = spec.syncMode === "Pull";
      const isFailing = isPull
        ? forMs > withinMs.Pull / 2
        : (observed.get(name) ?? last) > last + SAME_MS;
      if (!isFailing || forMs < 0) return [];
      return [[name, { forMs, leftMs: Math.max(0, withinMs[spec.syncMode] - forMs) }]];
    }),
  );
}

/** The samples of a gauge in milliseconds, by `member_cluster`. */
function samplesOf(metrics: string, name: string): ReadonlyMap<string, number> {
  const sample = new RegExp(`^${name}\\{(?:.*,)?member_cluster="([^"\\\\]*)".*\\} (\\S+)$`, "gm");
  const found = [...metrics.matchAll(sample)].map(
    ([, cluster = "", value]) => [cluster, Number(value) * 1000] as const,
  );
  return new Map(found.filter(([, value]) => Number.isFinite(value)));
}
