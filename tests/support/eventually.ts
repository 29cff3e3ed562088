/** Waiting for what comes about by itself: looks again until it is so, and says what was wrong last when it never is. */
import { setTimeout as wait } from "node:timers/promises";

const LOOK_EVERY_MS = 200;

/** Resolves with the answer of the first look that does not throw; rejects with the last error when time is up. */
export async function eventually<T>(look: () => Promise<T>, timeoutMs = 180_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await wait(LOOK_EVERY_MS);
  }
}
