/**
 * Preloaded into a process under test (`NODE_OPTIONS=--import`): just after the first SIGTERM was handled, the main thread is
 * blocked for ever.
 */
process.once("SIGTERM", () => {
  setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
});
