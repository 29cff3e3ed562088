/** `lifeboat status` as text or JSON, once or again and again. */
import { type Clock, formatTime, type Instant, sleep } from "@lifeboat/base";
import type { StatusPage } from "@lifeboat/core/operating";
import type { FailingProbe } from "./failing-probes.ts";
import type { Screen } from "./follow-evacuation.ts";
import { documentText, type Output, streamedText } from "./output.ts";
import { inColours } from "./status-colours.ts";
import {
  HIDDEN_PARTS,
  isHidden,
  isStateKnown,
  pageOf,
  stateOfFleet,
  statusLines,
  type StatusView,
} from "./status-text.ts";

export interface ShownStatus {
  readonly lines: readonly string[];
  readonly exitCode: number;
}

export interface ShowOptions {
  readonly output: Output<"text">;
  readonly isColoured: boolean;
  /** One of many: for programs that read documents as they come. */
  readonly isStream: boolean;
}

export function showStatus(view: StatusView, now: Instant, options: ShowOptions): ShownStatus {
  const page = pageOf(view, now);
  const { exitCode } = page;
  const { output } = options;
  if (output.kind !== "form") {
    const document = statusJson(view, page, now);
    const textOf = options.isStream ? streamedText : documentText;
    return { lines: [textOf(output, document).trimEnd()], exitCode };
  }
  const lines = statusLines(view, now);
  return {
    lines: options.isColoured ? inColours(lines, page, view.probes) : lines,
    exitCode,
  };
}

/** The same view for programs. Times are RFC 3339; what is not known is absent. */
function statusJson(view: StatusView, page: StatusPage, now: Instant): object {
  const { reason, message, mayMove, rate } = stateOfFleet(view, now);
  const timeOf = (time: Instant | undefined) => (time === undefined ? undefined : formatTime(time));
  return {
    at: formatTime(now),
    ...page,
    probesKnown: view.probes !== undefined,
    clusters: page.clusters.map((row) => ({
      ...row,
      ...(page.workloads === undefined ? { workloads: undefined, healthy: undefined } : {}),
      since: timeOf(row.since),
      pending: isHidden(view, "policies")
        ? undefined
        : row.pending.map((one) => ({ ...one, due: timeOf(one.due) })),
      ...(row.health === "Ready" && probeJson(view.probes?.get(row.name))),
    })),
    ...(!isStateKnown(view) ? {} : { failover: { reason, message, mayMove, rate } }),
    ...(isHidden(view, "guards") ? {} : { brake: view.brake }),
    ...(view.hidden === undefined || view.hidden.size === 0
      ? {}
      : { notAllowed: [...view.hidden].map((one) => HIDDEN_PARTS[one]) }),
    trafficBrake: view.trafficBrake,
  };
}

function probeJson(probe: FailingProbe | undefined): object {
  if (probe === undefined) return {};
  const { forMs, leftMs } = probe;
  return {
    noAnswerForSeconds: Math.round(forMs / 1000),
    downInSecondsAtTheEarliest: Math.round(leftMs / 1000),
  };
}

/** The first lines matter most: on a terminal that is too low the last ones are left out, so that nothing scrolls. */
function fitting(lines: readonly string[], rows: number | undefined): readonly string[] {
  if (rows === undefined || rows < 3 || lines.length < rows) return lines;
  const shown = lines.slice(0, rows - 2);
  return [...shown, `… ${lines.length - shown.length} more lines: lifeboat status`];
}

const CLEAR = "\u001b[H\u001b[2J";
const UNKNOWN = 3;

export interface WatchParts {
  readonly clock: Clock;
  /** How many lines a terminal shows; absent: all. */
  readonly screen: Screen & { readonly rows?: () => number | undefined };
  readonly look: () => Promise<ShownStatus>;
  /** What is shown when the control plane cannot be read; throws what it cannot explain. */
  readonly words: (error: unknown) => string;
}

/** Draws the page again and again until the signal; answers the exit code of the last one. */
export async function watchStatus(
  { clock, screen, look, words }: WatchParts,
  everyMs: number,
  signal: AbortSignal,
): Promise<number> {
  let exitCode: number;
  do {
    let text: string;
    try {
      const shown = await look();
      ({ exitCode } = shown);
      text = fitting(shown.lines, screen.rows?.()).join("\n");
    } catch (error) {
      text = words(error);
      exitCode = UNKNOWN;
    }
    if (!signal.aborted) screen.write(screen.isTerminal ? `${CLEAR}${text}\n` : `${text}\n`);
  } while (await sleep(clock, everyMs, signal));
  return exitCode;
}
