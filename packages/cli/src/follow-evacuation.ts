/**
 * Follows an evacuation until it is over: a bar that is drawn anew on a terminal, a line for each change elsewhere. Each
 * entry that is held is named once, with its reason, and once more when that changes; and when nothing else is left, that it waits.
 */
import { type Evacuation, evacuations } from "@lifeboat/api";
import { type Clock, sleep } from "@lifeboat/base";
import { isOpen } from "@lifeboat/core/failover/evacuation";
import type { Client } from "@lifeboat/kit";
import { heldLines, progressLine } from "./evacuation-text.ts";
import { hanging } from "./wrap.ts";

/** Where a person looks. */
export interface Screen {
  readonly isTerminal: boolean;
  write(text: string): void;
}

/** How following ended. */
export type Followed =
  | { readonly end: "completed" | "takenBack"; readonly evacuation: Evacuation }
  /** The signal aborted, or the time was up; the evacuation is absent when none was ever seen. */
  | { readonly end: "stopped"; readonly evacuation: Evacuation | undefined };

const LOOK_MS = 400;
/** How long an evacuation may take to be recorded before a person is told. */
const RECORDED_MS = 5000;
const CLEAR_LINE = "\r\u001b[2K";

/** Follows the evacuation of a cluster for the taint that was added at `timeAdded`. */
export async function followDrain(
  { clock, plane, screen }: { clock: Clock; plane: Client; screen: Screen },
  cluster: string,
  taint: { readonly key: string; readonly timeAdded?: string },
  signal: AbortSignal,
): Promise<Followed> {
  const view = new ProgressView(screen);
  if (screen.isTerminal) view.say(HOW_TO_STOP);
  const started = clock.monotonic();
  let seen: Evacuation | undefined;
  for (;;) {
    seen = (await evacuationFor(plane, cluster, taint)) ?? seen;
    if (seen === undefined) {
      if (clock.monotonic() - started > RECORDED_MS) view.say(NOT_TAKEN_UP);
    } else {
      view.show(seen);
      // An earlier end is that of taints before this one.
      const isOver = (seen.status?.finishedAt ?? "") >= (taint.timeAdded ?? "") && isFinished(seen);
      const isTakenBack = seen.status?.taints?.some(
        ({ taint: one, removedAt }) => isSame(one, taint) && removedAt !== undefined,
      );
      if (isTakenBack || seen.status?.phase === "Abandoned")
        return view.end({ end: "takenBack", evacuation: seen });
      if (isOver) return view.end({ end: "completed", evacuation: seen });
    }
    if (!(await sleep(clock, LOOK_MS, signal)))
      return view.end({ end: "stopped", evacuation: seen });
  }
}

/** The evacuation that records this taint; undefined: it is not recorded yet. */
export async function evacuationFor(
  plane: Client,
  cluster: string,
  taint: { readonly key: string; readonly timeAdded?: string },
): Promise<Evacuation | undefined> {
  const { items } = await plane.list(evacuations);
  const recording = items.filter(
    ({ spec, status }) =>
      spec.cluster === cluster &&
      (status?.taints ?? []).some((one) => one.recorded && isSame(one.taint, taint)),
  );
  return recording.find(isOpen) ?? recording.at(-1);
}

function isFinished({ status }: Evacuation): boolean {
  return status?.finishedAt !== undefined;
}

const HOW_TO_STOP =
  "Ctrl-C pauses the drain. Closing this terminal does not: it goes on without you.";

function waitsFor({ metadata: { name } }: Evacuation): string {
  return (
    "only what is held is left: this waits until it can move. Ctrl-C pauses the drain, --timeout ends the waiting alone, and " +
    `\`lifeboat evacuations abandon ${name} KIND/NAME\` lets a workload stay`
  );
}

const NOT_TAKEN_UP =
  "the order is written, but no controller has taken it up: does the control plane run its controllers?";

function isSame(
  one: { readonly key: string; readonly timeAdded?: string },
  other: { readonly key: string; readonly timeAdded?: string },
): boolean {
  return one.key === other.key && one.timeAdded === other.timeAdded;
}

class ProgressView {
  readonly #screen: Screen;
  #last = "";
  readonly #said = new Set<string>();

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  show(evacuation: Evacuation): void {
    const { phase = "", reason = "", message = "", held = [], entries } = evacuation.status ?? {};
    for (const one of held) this.say(heldLines(one).join("\n"));
    if (phase === "Paused" || phase === "Braked" || phase === "AwaitingApproval")
      this.say(hanging("  ", `${phase}, ${reason}: ${message}`).join("\n"));
    const { evicted = 0, awaitingApproval = 0 } = entries ?? {};
    if (phase === "Held" && evicted + awaitingApproval === 0)
      this.say(hanging("  ", waitsFor(evacuation)).join("\n"));
    const line = progressLine(evacuation);
    if (line === this.#last) return;
    this.#last = line;
    this.#screen.write(this.#screen.isTerminal ? CLEAR_LINE + line : `${line}\n`);
  }

  /** Says something once, above the bar. */
  say(text: string): void {
    if (this.#said.has(text)) return;
    this.#said.add(text);
    const { isTerminal } = this.#screen;
    this.#screen.write(isTerminal ? `${CLEAR_LINE}${text}\n${this.#last}` : `${text}\n`);
  }

  end<T>(outcome: T): T {
    if (this.#screen.isTerminal && this.#last !== "") this.#screen.write("\n");
    return outcome;
  }
}
