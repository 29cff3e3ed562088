/** Resolves when the event loop has gone round once: what was waiting for a socket, a file or a timer has been served. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
