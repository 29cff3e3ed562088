import { Refused } from "@lifeboat/api";
import { instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { expect, it } from "vitest";
import { onNewest } from "./on-newest.ts";

const refused = (code: number, reason: string): Refused =>
  new Refused({
    apiVersion: "v1",
    kind: "Status",
    metadata: {},
    status: "Failure",
    code,
    reason,
    message: "no",
  });

/** The end of a change, played until it has ended. */
async function played<T>(attempt: () => Promise<T>): Promise<T> {
  const clock = new VirtualClock(instantOf(0), drainPromises);
  const ended = onNewest(attempt, clock);
  ended.catch(() => undefined);
  await clock.advance(60_000);
  return ended;
}

/** An attempt that is refused so many times; answers how often it was made. */
function refusedTimes(times: number, error: Refused): () => Promise<number> {
  let made = 0;
  return () => {
    made += 1;
    return made > times ? Promise.resolve(made) : Promise.reject(error);
  };
}

it.each([
  [409, "Conflict"],
  [409, "AlreadyExists"],
])("decides again after %i %s", async (code, reason) => {
  await expect(played(refusedTimes(2, refused(code, reason)))).resolves.toBe(3);
});

it("hands every other refusal on at once", async () => {
  const forbidden = refused(403, "Forbidden");
  let made = 0;
  const attempt = (): Promise<void> => {
    made += 1;
    return Promise.reject(forbidden);
  };
  await expect(played(attempt)).rejects.toBe(forbidden);
  expect(made).toBe(1);
});

it("ends with a sentence where that does not end", async () => {
  const endless = refusedTimes(Number.POSITIVE_INFINITY, refused(409, "Conflict"));
  await expect(played(endless)).rejects.toThrow(
    /other clients change the same object all the time/,
  );
});
