/** The first part of `lifeboat status`: the sentence, what waits for a person, what is short, and the clusters. 80 columns. */
import { humanDuration } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import type {
  ClusterRow,
  Shortfall,
  ShortWorkload,
  StatusPage,
  Wait,
} from "@lifeboat/core/operating";
import type { FailingProbes } from "./failing-probes.ts";
import { formatTaint } from "./taints.ts";
import { columns, hanging, WIDTH } from "./wrap.ts";

const LABEL = 10;
const MAX_SHORT = 5;

/** Above the switches. */
export function pageLines(
  page: StatusPage,
  probes: FailingProbes,
  now: Instant,
): readonly string[] {
  const decisions = [...page.waits.flatMap(waitLines), ...shortLines(page.short)];
  return [
    ...hanging("", page.sentence),
    ...(decisions.length === 0 ? [] : ["", ...decisions]),
    "",
    ...clusterLines(page, probes, now),
  ];
}

/** The command stays in one piece, so that it can be copied. */
function waitLines({ message, command }: Wait): readonly string[] {
  const label = "Waits".padEnd(LABEL);
  const whole = `${message} → ${command}`;
  if (label.length + whole.length <= WIDTH) return hanging(label, whole);
  return [...hanging(label, message), ...hanging(" ".repeat(LABEL), `→ ${command}`)];
}

function shortLines(short: readonly ShortWorkload[]): readonly string[] {
  const label = "Short".padEnd(LABEL);
  const named = short
    .slice(0, MAX_SHORT)
    .flatMap(({ workload, why }) =>
      hanging(label, `${workload}: ${why.map(shortfallText).join(", ")}`),
    );
  const rest = short.length - MAX_SHORT;
  return rest > 0
    ? [...named, ...hanging(label, `and ${rest} more: lifeboat status -o json`)]
    : named;
}

function shortfallText(one: Shortfall): string {
  switch (one.reason) {
    case "NotPlaced":
      return one.given === 0
        ? "in no cluster"
        : `${one.given} of ${one.wanted} replicas have a cluster`;
    case "ClusterGone":
      return `${one.cluster} is not joined any more`;
    case "ClusterSilent":
      return `unknown on ${one.cluster}, which does not answer`;
    case "NotReported":
      return `not reported from ${one.cluster} yet`;
    case "NotHealthy":
      return `not healthy on ${one.cluster}`;
  }
}

function clusterLines(
  { clusters, hidden = [] }: StatusPage,
  probes: FailingProbes,
  now: Instant,
): readonly string[] {
  if (hidden.includes("clusters")) return ["The clusters are not shown: you may not list them."];
  if (clusters.length === 0) return ["No clusters are joined: join one with `lifeboat join`."];
  const rows = clusters.map((row) => [
    row.name,
    hidden.includes("workloads") ? "?" : workloadsText(row, probes),
    isAnswering(row, probes) ? freeText(row) : "?",
    row.role,
    [
      healthText(row, now),
      ...(row.health === "Ready" ? probeTexts(row.name, probes) : []),
      ...row.taints.map(formatTaint),
      ...row.pending.map(({ key, effect, adds, due }) => {
        const when = due <= now ? "now" : `in ${humanDuration(due - now)}`;
        return `${key}:${effect} ${adds ? "comes" : "goes"} ${when}`;
      }),
    ].join(", "),
  ]);
  return columns(["CLUSTER", "WORKLOADS", "FREE", "ROLE", "HEALTH"], rows);
}

/** Healthy of placed; what a cluster that does not answer runs is not known, also while it still counts as Ready. */
function workloadsText(row: ClusterRow, probes: FailingProbes): string {
  if (row.workloads === 0) return "-";
  const healthy = isAnswering(row, probes) ? row.healthy : undefined;
  return `${healthy ?? "?"}/${row.workloads}`;
}

function isAnswering({ name, health }: ClusterRow, probes: FailingProbes): boolean {
  return health === "Ready" && !probes.has(name);
}

function freeText({ headroom }: ClusterRow): string {
  return headroom === undefined ? "?" : `${Math.floor(headroom.free * 100)}% ${headroom.resource}`;
}

function healthText({ health, reason, since }: ClusterRow, now: Instant): string {
  const age = since === undefined ? "" : ` for ${humanDuration(now - since)}`;
  switch (health) {
    case "Ready":
      return "ready";
    case "NotReady":
      return `down${age}${reason === "" ? "" : ` (${reason})`}`;
    case "Silent":
      return `silent${age}${reason === "" ? "" : ` (${reason})`}`;
    case "Unprobed":
      return "not probed yet";
  }
}

function probeTexts(name: string, probes: FailingProbes): readonly string[] {
  const silent = probes.get(name);
  if (silent === undefined) return [];
  const { forMs, leftMs } = silent;
  const when = leftMs === 0 ? "any moment" : `in ${humanDuration(leftMs)} at the earliest`;
  return [`no answer for ${humanDuration(forMs)}`, `down ${when}`];
}
