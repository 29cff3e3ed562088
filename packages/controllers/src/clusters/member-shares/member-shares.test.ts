/** The right to act for a member ends by time alone, and what has ended never holds again. */
import { createSeededIds } from "@lifeboat/base";
import { NotSent } from "@lifeboat/kit";
import { createFleet, wrapped } from "@lifeboat/testkit";
import { expect, it } from "vitest";
import { createMemberShares } from "./create-member-shares.ts";

it("a term ends when the Lease was not renewed in time, and another one follows when it is", async () => {
  const fleet = await createFleet({ members: ["m1"] });
  let isCutOff = false;
  const through = <T>(call: () => Promise<T>): Promise<T> =>
    isCutOff ? Promise.reject(new NotSent("cut off")) : call();
  const client = wrapped(fleet.plane, {
    get: (...given) => through(() => fleet.plane.get(...given)),
    list: (...given) => through(() => fleet.plane.list(...given)),
    create: (...given) => through(() => fleet.plane.create(...given)),
    update: (...given) => through(() => fleet.plane.update(...given)),
  });
  const { clock, context } = fleet;
  const ids = createSeededIds(fleet.random.fork("ids"));
  const shares = createMemberShares(
    { ...context, clock, ids },
    client,
    context.informers.clusters,
    {
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2000,
      failureThresholdMs: 30_000,
      instance: "a",
      namespace: "lifeboat-system",
    },
  );
  const stop = new AbortController();
  const ended = shares.run(stop.signal);
  await fleet.advance("1s");
  const term = shares.termOf("m1");
  expect(term?.isHeld()).toBe(true);
  await fleet.advance("1m");
  expect(shares.termOf("m1")).toBe(term);
  isCutOff = true;
  await fleet.advance("13s");
  expect([term?.isHeld(), shares.termOf("m1"), shares.isFresh()]).toEqual([
    false,
    undefined,
    false,
  ]);
  isCutOff = false;
  await fleet.advance("15s");
  expect(shares.termOf("m1")?.isHeld()).toBe(true);
  expect(term?.isHeld()).toBe(false);
  stop.abort();
  await fleet.settle();
  await ended;
  expect(shares.termOf("m1")).toBeUndefined();
  await fleet.close();
});
