/**
 * Work on one body that can be left and taken up again: a generator that stops between two pieces of work, none of which
 * takes longer than some ten milliseconds whatever the body holds. A server lets its other clients have their turn there; a caller
 * that may take its time runs it to the end.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Runs all steps at once. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
