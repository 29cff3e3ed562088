/** Calls to members that end in time, whatever the member does. */
import type { Clock } from "@lifeboat/base";
import { NotSent } from "@lifeboat/kit";

/**
 * Makes a call and rejects with NotSent when it has not ended in time or the signal aborts first. The call's own signal
 * aborts then, so that nothing goes on behind the caller's back.
 */
export async function withDeadline<T>(
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const end = (): void => over.abort();
  const late = new Promise<never>((_resolve, reject) => {
    const onOver = (): void => reject(new NotSent("no answer in time"));
    over.signal.addEventListener("abort", onOver, { once: true });
  });
  const cancel = clock.after(timeoutMs, end);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    return await Promise.race([call(over.signal), late]);
  } finally {
    cancel();
    signal.removeEventListener("abort", end);
  }
}
