/**
 * Waits until every promise continuation that can run has run. One macrotask boundary is enough, because the
 * microtask queue is emptied before it, and inside a virtual world nothing does real I/O.
 */
export function drainPromises(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
