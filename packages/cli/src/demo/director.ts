/** What every story of the demonstration shares: where it plays, and how to wait for what shall come about. */
import { join } from "node:path";
import { type Clock, sleep } from "@lifeboat/base";
import type { Client } from "@lifeboat/kit";
import { loadKubeconfig } from "@lifeboat/kit/adapters";
import { CommandFailed } from "../failure.ts";
import { connect, type FoundPlane } from "../find-plane.ts";
import type { RunningPlane } from "./running-plane.ts";
import type { Stage } from "./stage.ts";

/** Something to tell once, when it is first seen. */
export interface Milestone {
  /** Tells milestones apart. */
  readonly id: string;
  readonly text: string;
}

/** A story of the demonstration. */
export interface DemoStory {
  /** What `lifeboat up --members 3` gets beside its data directory. */
  flags(isFast: boolean): readonly string[];
  /** The chapters after the start. */
  play(scene: Scene): Promise<void>;
}

/** What a story plays with. */
export interface Scene {
  readonly isFast: boolean;
  readonly running: RunningPlane;
  readonly plane: Client;
  readonly clock: Clock;
  readonly stage: Stage;
  readonly signal: AbortSignal;
  /** Before each chapter: waits for the person, where that was asked for. */
  next(): Promise<void>;
}

/** What a story looks at, and how long one chapter may take before something is wrong. */
export interface Watched<S> {
  look(): Promise<S>;
  lines(seen: S): readonly string[];
  readonly chapterMs: number;
}

const LOOK_MS = 200;

/** Tells what comes about. */
export class Director<S> {
  readonly #scene: Pick<Scene, "clock" | "stage" | "signal">;
  readonly #watched: Watched<S>;

  constructor(scene: Pick<Scene, "clock" | "stage" | "signal">, watched: Watched<S>) {
    this.#scene = scene;
    this.#watched = watched;
  }

  /** Tells each milestone when it is first seen, until the one that is waited for. */
  async tell(milestonesOf: (seen: S) => readonly Milestone[], last: string): Promise<S> {
    const told = new Set<string>();
    return this.until(`the milestone "${last}"`, (seen) => {
      for (const { id, text } of milestonesOf(seen)) {
        if (told.has(id)) continue;
        told.add(id);
        this.#scene.stage.happened(text);
      }
      return told.has(last);
    });
  }

  /** Looks until something holds; throws CommandFailed when it does not come about in time. */
  async until(what: string, holds: (seen: S) => boolean): Promise<S> {
    const { clock, stage, signal } = this.#scene;
    const deadline = clock.monotonic() + this.#watched.chapterMs;
    for (;;) {
      const seen = await this.#watched.look();
      stage.draw(this.#watched.lines(seen));
      if (holds(seen)) return seen;
      if (clock.monotonic() > deadline) {
        this.show(seen);
        throw new CommandFailed(`this did not come about in time: ${what}`);
      }
      if (!(await sleep(clock, LOOK_MS, signal))) throw new CommandFailed("stopped");
    }
  }

  /** The table, to stay. */
  show(seen: S): void {
    this.#scene.stage.print(["", ...this.#watched.lines(seen)]);
  }
}

/** Connects to the control plane of the demonstration (`lifeboat`) or to one of its members. */
export async function connectTo({ directory }: RunningPlane, name: string): Promise<FoundPlane> {
  return connect(await loadKubeconfig({ paths: [join(directory, `${name}.kubeconfig`)] }));
}
