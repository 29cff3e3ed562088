/**
 * Runs a callback in a microtask of its own, in the order of the calls.
 *
 * `queueMicrotask` does the same, but Node makes an AsyncResource for each, which costs more than most callbacks do.
 */
const settled = Promise.resolve();

export function soon(callback: () => void): void {
  void settled.then(callback);
}
