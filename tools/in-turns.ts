/** Does all jobs, so many at a time. */
export async function inTurns(
  jobs: readonly (() => Promise<void>)[],
  width: number,
): Promise<void> {
  const waiting = [...jobs];
  const work = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) await job();
  };
  await Promise.all(Array.from({ length: Math.max(1, width) }, work));
}
