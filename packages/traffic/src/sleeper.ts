/** A loop that rests for a time, or until it is woken. A call that comes while it works counts for the next rest. */
import { type Clock, sleep } from "@lifeboat/base";

export class Sleeper {
  #isWoken = false;
  #end: () => void = () => undefined;

  wake(): void {
    this.#isWoken = true;
    this.#end();
  }

  async rest(clock: Clock, pauseMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#isWoken) {
      const woken = new AbortController();
      this.#end = () => woken.abort();
      const stop = (): void => woken.abort();
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      await sleep(clock, pauseMs, woken.signal);
      signal.removeEventListener("abort", stop);
      this.#end = () => undefined;
    }
    this.#isWoken = false;
  }
}
