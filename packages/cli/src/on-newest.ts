/**
 * A change that is decided on the newest version of an object: when another client wrote it in between, it is read, decided and written
 * again. When that does not end, the command does.
 */
import { isRefused } from "@lifeboat/api";
import { type Clock, sleep } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { CommandFailed } from "./failure.ts";

/** With the pauses between them they take some three seconds: no object of a healthy control plane is written for so long without a gap. */
const ATTEMPTS = 12;
const PAUSE_MS = 50;

/** `attempt` reads, decides, and updates what it read or creates what is not there. */
export async function onNewest<T>(
  attempt: () => Promise<T>,
  clock: Clock = createRealClock(),
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isRefused(error, "Conflict") && !isRefused(error, "AlreadyExists")) throw error;
      if (tried === ATTEMPTS)
        throw new CommandFailed(
          `other clients change the same object all the time (${ATTEMPTS} attempts); nothing was changed: run the command again. The API server answers: ${error.message}`,
          { cause: error },
        );
    }
    await sleep(clock, tried * PAUSE_MS);
  }
}
