/** Something costly that several suites of one file use one after another. */
import { afterAll } from "vitest";

/**
 * Answers what starts it for whoever asks first; it is closed when the file has ended, and not by its users: of two suites
 * one may be left out.
 */
export function shared<T extends { close(): Promise<void> }>(
  start: () => Promise<T>,
): () => Promise<T> {
  let starting: Promise<T> | undefined;
  afterAll(async () => {
    const started = await starting?.catch(() => undefined);
    await started?.close();
  });
  return async () => {
    starting ??= start();
    return { ...(await starting), close: () => Promise.resolve() };
  };
}
