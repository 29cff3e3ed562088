/** What a played edit means, in lines for people. */
import { formatDuration } from "@lifeboat/base";
import type { ChangedWorkload, Manifest, PlayedChange } from "@lifeboat/sim";
import { columns, hanging } from "./wrap.ts";

export function changeLines(
  applied: readonly Manifest[],
  { workloads, unchanged, tookMs, playedMs, isCutOff }: PlayedChange,
): readonly string[] {
  const names = applied.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`);
  const whole = workloads.filter(({ isWhole }) => isWhole);
  const others = workloads.filter(({ isWhole }) => !isWhole);
  const took = formatDuration(Math.round(tookMs / 1000) * 1000);
  const summary =
    workloads.length === 0
      ? "no workload gets or loses a copy."
      : `${count(workloads.length)} ${workloads.length === 1 ? "runs" : "run"} elsewhere, the last after ${took}${others.length === 0 ? "" : `; ${others.length} not whole at the end`}.`;
  return [
    ...hanging("", `With ${names.join(", ")} as in the file:`),
    ...hanging("  ", summary),
    ...table("", whole),
    ...table("Not whole at the end:", others),
    ...(unchanged === 0 ? [] : ["", `${count(unchanged)}: no change.`]),
    ...(isCutOff
      ? [
          "",
          ...hanging("", `Still moving after ${formatDuration(playedMs)}: play longer with --for.`),
        ]
      : []),
  ];
}

function table(title: string, workloads: readonly ChangedWorkload[]): readonly string[] {
  if (workloads.length === 0) return [];
  const rows = workloads.map(({ workload, before, after, message }) => [
    workload,
    `${before || "nowhere"} → ${after || "nowhere"}${message === "" ? "" : `: ${message}`}`,
  ]);
  return ["", ...(title === "" ? [] : [title]), ...columns(["WORKLOAD", "FROM → TO"], rows)];
}

function count(workloads: number): string {
  return workloads === 1 ? "1 workload" : `${workloads} workloads`;
}
