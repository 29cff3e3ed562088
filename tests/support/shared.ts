/** Something costly that several suites of one file use one after another. */

/** Answers what starts it for the first of so many users, and stops it when the last of them has closed it. */
export function shared<T extends { close(): Promise<void> }>(
  users: number,
  start: () => Promise<T>,
): () => Promise<T> {
  let starting: Promise<T> | undefined;
  let closed = 0;
  return async () => {
    starting ??= start();
    const started = await starting;
    const close = async (): Promise<void> => {
      closed += 1;
      if (closed === users) await started.close();
    };
    return { ...started, close };
  };
}
