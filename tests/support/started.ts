/** What a test has started so far, so that all of it is stopped, also when a later start fails. */

export interface Started {
  /** Notes how to stop something that runs now, and answers it. */
  keep<T extends { stop(): Promise<unknown> }>(running: T): T;
  /** Stops everything, the latest first, whatever fails on the way. */
  stop(): Promise<void>;
}

/** Runs the starts; when one of them fails, stops what the others have started and fails with it. */
export async function startAll<T>(start: (started: Started) => Promise<T>): Promise<T> {
  const started = nothingYet();
  try {
    return await start(started);
  } catch (error) {
    await started.stop();
    throw error;
  }
}

/** Waits for all, and only then fails with the first failure: nothing is started behind a caller's back. */
export async function together<T>(starts: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(starts);
  return Promise.all(starts);
}

function nothingYet(): Started {
  const stops: (() => Promise<unknown>)[] = [];
  return {
    keep: (running) => {
      stops.push(() => running.stop());
      return running;
    },
    stop: async () => {
      for (const stop of stops.splice(0).toReversed()) await stop().catch(() => undefined);
    },
  };
}
