/** What a played failure means, in lines for people: times are counted from the failure. */
import { formatDuration, formatTime, type Instant } from "@lifeboat/base";
import { PLANE_MAY_BE_ISOLATED, rateReasons } from "@lifeboat/core/failover/evacuation";
import { type ForeseenFailure, outcomeReasons } from "@lifeboat/core/operating";
import type { PlayedCluster, PlayedFailure, PlayedWorkload } from "@lifeboat/sim";
import { columns, hanging } from "./wrap.ts";

/** Whether no whole copy of the workload runs at the end. */
export function isLost({ reason }: Pick<PlayedWorkload, "reason">): boolean {
  return reason !== "Moved" && reason !== "Remains";
}

function isMoved({ reason }: Pick<PlayedWorkload, "reason">): boolean {
  return reason === "Moved";
}

export interface SnapshotFacts {
  readonly takenAt: Instant;
  readonly version: string;
  /** Between reading it and this report. */
  readonly ageMs: number;
}

export function snapshotLine({ takenAt, version, ageMs }: SnapshotFacts): readonly string[] {
  const age = span(ageMs);
  return hanging(
    "",
    `Snapshot of ${formatTime(takenAt)} (version ${version}, ${age} old). Nothing is touched.`,
  );
}

/** A report, and of what it is. */
export function underSnapshot(facts: SnapshotFacts, lines: readonly string[]): readonly string[] {
  return [...snapshotLine(facts), "", ...lines];
}

export function failureLines(played: PlayedFailure): readonly string[] {
  const { fail, workloads, clusters, untouched } = played;
  const moved = workloads.filter(isMoved);
  const remain = workloads.filter(({ reason }) => reason === "Remains");
  const left = workloads.filter(isLost);
  return [
    `If ${fail.join(" and ")} failed now:`,
    ...clusters.flatMap(clusterLines),
    ...hanging("", `  ${summaryOf(played)}`).map((line) => line.trimEnd()),
    ...(moved.length === 0
      ? []
      : [
          "",
          ...columns(
            ["WORKLOAD", "LEAVES", "WHOLE", "MEANWHILE", "FROM → TO"],
            moved.map((one) => [
              one.workload,
              at(one.leftAt),
              at(one.wholeAt),
              one.meanwhile,
              `${one.before} → ${one.after}`,
            ]),
          ),
        ]),
    ...(remain.length === 0
      ? []
      : [
          "",
          "One copy fewer, whole elsewhere:",
          ...columns(["WORKLOAD", "WHY"], remain.map(whyRow)),
        ]),
    ...(left.length === 0
      ? []
      : [
          "",
          "Not whole at the end:",
          ...columns(["WORKLOAD", "WHY"], left.map(whyRow)),
          ...reasonLines(left),
        ]),
    ...isolationLines(played),
    ...(untouched === 0
      ? []
      : ["", `${count(untouched, "workload")} without a copy there: no change.`]),
    ...(played.isCutOff
      ? ["", ...hanging("", `Still moving after ${span(played.playedMs)}: play longer with --for.`)]
      : []),
  ];
}

function clusterLines({ name, notReadyAt, failedAt }: PlayedCluster): readonly string[] {
  if (notReadyAt === undefined && failedAt === undefined) return [`  ${name}: nothing is noticed`];
  const ready = notReadyAt === undefined ? "" : `not Ready after ${span(notReadyAt)}`;
  const taint =
    failedAt === undefined ? "no taint moves its workloads" : `tainted after ${span(failedAt)}`;
  return hanging("  ", `${name}: ${[ready, taint].filter((part) => part !== "").join(", ")}`);
}

function summaryOf({ workloads }: PlayedFailure): string {
  if (workloads.length === 0) return "no workload has a copy there.";
  const whole = workloads.filter((one) => !isLost(one)).length;
  const moved = workloads.filter(isMoved);
  const parts = [
    `${whole} of ${count(workloads.length, "workload")} ${whole === 1 ? "runs" : "run"} whole elsewhere`,
    ...(moved.length === 0 ? [] : [`the last after ${lastOf(moved)}`]),
  ];
  const left = workloads.length - whole;
  return `${parts.join(", ")}${left === 0 ? "" : `; ${left} ${left === 1 ? "does" : "do"} not`}.`;
}

function whyRow({ workload, after, reason, message }: PlayedWorkload): readonly string[] {
  const where = after === "" ? "no cluster" : after;
  return [workload, `${reason}, on ${where}${message === "" ? "" : `: ${message}`}`];
}

function reasonLines(left: readonly PlayedWorkload[]): readonly string[] {
  const reasons = [...new Set(left.map(({ reason }) => reason))];
  return ["", ...reasons.flatMap((reason) => hanging(`${reason}: `, outcomeReasons[reason]))];
}

/** What a person does where the control plane takes itself for cut off. */
function isolationLines({ workloads }: PlayedFailure): readonly string[] {
  if (!workloads.some(({ message }) => message.includes(PLANE_MAY_BE_ISOLATED))) return [];
  const order = "If they have really failed: lifeboat evacuations agree";
  return hanging(`${PLANE_MAY_BE_ISOLATED}: `, `${rateReasons.PlaneMayBeIsolated} ${order}`);
}

/** One line per cluster: what its failure alone would do, and when the last workload leaves it at the earliest. */
export function everyLines(
  foreseen: readonly Pick<ForeseenFailure, "fail" | "workloads">[],
): readonly string[] {
  return columns(
    ["FAILS", "AFFECTED", "WHOLE", "LEFT AFTER", "GAPS"],
    foreseen.map(({ fail, workloads }) => {
      const moved = workloads.filter(isMoved);
      const gaps = workloads
        .filter(isLost)
        .map(({ workload, reason }) => `${workload} (${reason})`);
      return [
        fail.join(", "),
        String(workloads.length),
        String(workloads.filter((one) => !isLost(one)).length),
        moved.length === 0 ? "-" : span(Math.max(...moved.map(({ leftAt = 0 }) => leftAt))),
        gaps.length === 0 ? "none" : gaps.join(", "),
      ];
    }),
  );
}

/** When the last of them was whole again. */
function lastOf(moved: readonly PlayedWorkload[]): string {
  return span(Math.max(0, ...moved.map(({ wholeAt = 0 }) => wholeAt)));
}

function at(time: number | undefined): string {
  return time === undefined ? "-" : span(time);
}

/** Whole seconds. */
function span(milliseconds: number): string {
  return formatDuration(Math.round(milliseconds / 1000) * 1000);
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}
