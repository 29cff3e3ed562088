/** The workloads of an evacuation with where they go, and its phases with their times. At most 80 columns. */
import { type Evacuation, humanDuration } from "@lifeboat/api";
import type { Instant } from "@lifeboat/base";
import { type Move, type MoveState, type Phase, PHASES } from "@lifeboat/core/history";
import { progressLine } from "../evacuation-text.ts";
import { columns, hanging, shorten, WIDTH } from "../wrap.ts";

const WORDS: Readonly<Record<MoveState, string>> = {
  Queued: "waits its turn",
  Held: "held",
  AwaitingApproval: "waits for approval",
  Evicted: "moving",
  AwaitingFence: "waits for a fence",
  Done: "moved",
  Healthy: "healthy",
  Abandoned: "stays",
  Exempt: "exempt",
};

/** What a person looks for first comes first. */
const ORDER: readonly MoveState[] = [
  "AwaitingFence",
  "AwaitingApproval",
  "Held",
  "Evicted",
  "Queued",
  "Done",
  "Healthy",
  "Abandoned",
  "Exempt",
];

/** A row per workload; `limit` rows at most, with a line about the others. */
export function moveLines(
  moves: readonly Move[],
  now: Instant,
  limit = Number.POSITIVE_INFINITY,
): readonly string[] {
  if (moves.length === 0) return [];
  const sorted = moves.toSorted(
    (a, b) => ORDER.indexOf(a.progress) - ORDER.indexOf(b.progress) || byText(a, b),
  );
  const shown = sorted.slice(0, limit);
  const rows = shown.map((move) => [
    move.workload,
    `${move.from} → ${move.to === "" ? "-" : move.to}`,
    tookText(move, now),
    stateText(move),
  ]);
  const left = sorted.length - shown.length;
  return [
    ...columns(["WORKLOAD", "FROM → TO", "TOOK", "STATE"], rows),
    ...(left > 0 ? [`… ${left} more`] : []),
  ];
}

function byText(a: Move, b: Move): number {
  return a.workload < b.workload ? -1 : a.workload > b.workload ? 1 : 0;
}

/** How long it took; of one that is moving, how long it has been. */
function tookText({ tookMs, leftAt, progress }: Move, now: Instant): string {
  if (tookMs !== undefined) return humanDuration(tookMs);
  const isMoving = progress === "Evicted" || progress === "AwaitingFence";
  return isMoving && leftAt !== undefined ? `${humanDuration(Math.max(0, now - leftAt))}…` : "";
}

function stateText({ progress, carried, held, entry, from }: Move): string {
  const mode = entry.purgeMode === undefined ? "" : entry.purgeMode;
  const notes = [
    carried === "" ? "" : `with ${carried}`,
    held ?? "",
    progress === "AwaitingFence" ? `lifeboat fence ${from.split(":")[0] ?? ""}` : "",
    entry.exempt ?? "",
    progress === "Queued" && entry.toleratedUntil !== undefined
      ? `not before ${entry.toleratedUntil}`
      : "",
    progress === "Queued" || progress === "Evicted" ? mode : "",
  ].filter((note) => note !== "");
  const more = notes.length === 0 ? "" : `: ${notes.join(", ")}`;
  return `${WORDS[progress]}${more}`;
}

const PHASE_WORDS: Readonly<Record<Phase, string>> = {
  NotReady: "failed",
  Tainted: "tainted",
  Recorded: "recorded",
  FirstReleased: "first release",
  LastMoved: "last moved",
  Ended: "ended",
  Returned: "returned",
  Cleaned: "cleaned",
};

/** `failed 12:00:00, tainted +1s, first release +2s`: times count from the first that is known. */
export function phaseText(phases: ReadonlyMap<Phase, Instant>): string {
  const known = PHASES.flatMap((phase) => {
    const at = phases.get(phase);
    return at === undefined ? [] : [{ phase, at }];
  });
  const [first] = known;
  if (first === undefined) return "";
  return known
    .map(({ phase, at }, i) => {
      const time =
        i === 0 ? new Date(at).toISOString().slice(11, 19) : `+${humanDuration(at - first.at)}`;
      // Which move is the last is known only at the end.
      const isLatest = phase === "LastMoved" && !phases.has("Ended");
      return `${isLatest ? "latest move" : PHASE_WORDS[phase]} ${time}`;
    })
    .join(", ");
}

/** An evacuation as it is drawn: name, bar and estimate, phases, and its workloads as far as there is room. */
export function evacuationBlock(
  evacuation: Evacuation,
  phases: ReadonlyMap<Phase, Instant>,
  moves: readonly Move[],
  now: Instant,
  limit?: number,
): readonly string[] {
  const text = phaseText(phases);
  return [
    shorten(`${evacuation.metadata.name}  ${progressLine(evacuation)}`, WIDTH - 1),
    ...(text === "" ? [] : hanging("  ", text)),
    ...moveLines(moves, now, limit),
  ];
}
