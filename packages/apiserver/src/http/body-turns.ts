/**
 * Large bodies take turns with everything else that the server does. They are decoded piece by piece (`Steps`), one piece of one
 * body in a turn of the event loop, so that the requests of other clients are answered between two pieces, however many
 * large bodies have arrived at once. What a verb does with a decoded body begins in a turn of its own, too.
 *
 * Where there is no event loop to share (in process, in the simulation) there is no port for it, and bodies are decoded at once.
 */
import { runSteps, type Steps } from "@lifeboat/api";

/** The port: resolves when the event loop has gone round, and everything that was waiting has been served. */
export type NextTurn = () => Promise<void>;

interface Waiting {
  /** Does one piece; answers what to do when it was the last one. */
  readonly step: () => (() => void) | undefined;
}

export class BodyTurns {
  readonly #nextTurn: NextTurn | undefined;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(nextTurn: NextTurn | undefined) {
    this.#nextTurn = nextTurn;
  }

  /** The result of the steps. `isSmall`: they take so little time that they need no turns. */
  run<T>(steps: Steps<T>, isSmall: boolean): T | Promise<T> {
    const nextTurn = this.#nextTurn;
    if (nextTurn === undefined || isSmall) return runSteps(steps);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ step: () => stepOf(steps, resolve, reject) });
      if (this.#isRunning) return;
      this.#isRunning = true;
      void this.#takeTurns(nextTurn);
    });
  }

  async #takeTurns(nextTurn: NextTurn): Promise<void> {
    for (;;) {
      await nextTurn();
      const next = this.#waiting.shift();
      if (next === undefined) break;
      const settle = next.step();
      if (settle === undefined) {
        this.#waiting.push(next);
        continue;
      }
      await nextTurn();
      settle();
    }
    this.#isRunning = false;
  }
}

function stepOf<T>(
  steps: Steps<T>,
  resolve: (value: T) => void,
  reject: (error: Error) => void,
): (() => void) | undefined {
  try {
    const step = steps.next();
    return step.done === true ? () => resolve(step.value) : undefined;
  } catch (error) {
    return () => reject(error instanceof Error ? error : new Error(String(error)));
  }
}
