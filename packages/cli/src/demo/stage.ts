/**
 * Where the demonstration plays: what happened so far, line by line with its time, and on a terminal a table below it that
 * is drawn anew. Elsewhere the table is printed once per chapter.
 */
import type { Clock } from "@lifeboat/base";
import type { Screen } from "../follow-evacuation.ts";
import { hanging, shorten, WIDTH } from "../wrap.ts";

export interface TimelineEntry {
  readonly atMs: number;
  readonly text: string;
}

const UP = "\u001b[A";
const CLEAR = "\r\u001b[2K";

export class Stage {
  readonly #clock: Clock;
  readonly #screen: Screen;
  readonly #timeline: TimelineEntry[] = [];
  #zero: number;
  #drawn: readonly string[] = [];

  constructor(clock: Clock, screen: Screen) {
    this.#clock = clock;
    this.#screen = screen;
    this.#zero = clock.monotonic();
  }

  get timeline(): readonly TimelineEntry[] {
    return this.#timeline;
  }

  /** Times count from now on; what happened before is forgotten. */
  restartClock(): void {
    this.#zero = this.#clock.monotonic();
    this.#timeline.length = 0;
  }

  /** A heading and what it means. */
  chapter(title: string, text: string): void {
    this.tell(["", title, ...hanging("", text), ""]);
  }

  /** Something happened: it stands in the timeline. */
  happened(text: string): void {
    const entry = { atMs: this.#clock.monotonic() - this.#zero, text };
    this.#timeline.push(entry);
    this.tell(timelineLines([entry]));
  }

  /** The table as it is now; drawn only on a terminal. */
  draw(lines: readonly string[]): void {
    if (!this.#screen.isTerminal || lines.join("\n") === this.#drawn.join("\n")) return;
    this.#erase();
    this.#show(lines);
  }

  /** The table, to stay where it is. */
  print(lines: readonly string[]): void {
    this.#erase();
    this.#drawn = [];
    this.#screen.write(lines.map((line) => `${line}\n`).join(""));
  }

  /** Takes a table that is drawn away. */
  clear(): void {
    this.#erase();
    this.#drawn = [];
  }

  /** Lines that stay, above a table that is drawn. */
  tell(lines: readonly string[]): void {
    const drawn = this.#drawn;
    this.#erase();
    this.#screen.write(lines.map((line) => `${line}\n`).join(""));
    if (drawn.length > 0) this.#show(drawn);
  }

  #show(lines: readonly string[]): void {
    this.#drawn = lines;
    this.#screen.write(["", ...lines].map((line) => `${shorten(line, WIDTH - 1)}\n`).join(""));
  }

  #erase(): void {
    if (this.#drawn.length === 0) return;
    this.#screen.write(`${UP}${CLEAR}`.repeat(this.#drawn.length + 1));
  }
}

/** Each entry behind its time. */
export function timelineLines(entries: readonly TimelineEntry[]): readonly string[] {
  return entries.flatMap(({ atMs, text }) =>
    hanging(`${`${(atMs / 1000).toFixed(1)} s`.padStart(8)}  `, text),
  );
}
