/** Users that flood: others get through, whatever is going on. */
import { silentMetrics } from "@lifeboat/kit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { admits, InFlight, type RequestKind, requestKind, type Room } from "./in-flight.ts";
import { createHttpMetrics } from "./metrics.ts";

const LIMITS = { reads: 40, writes: 20 };

describe("one more request", () => {
  const rows: readonly (readonly [string, Partial<Room>, boolean])[] = [
    ["of the only user, below half", { total: 9, own: 9, users: 1 }, true],
    ["of the only user, at half", { total: 10, own: 10, users: 1 }, false],
    ["of a user within its part", { total: 12, own: 5, users: 2 }, true],
    ["of a user that has its part", { total: 12, own: 6, users: 2 }, false],
    ["of a user with nothing yet, when nearly full", { total: 19, own: 0, users: 7 }, true],
    ["when full", { total: 20, own: 0, users: 7 }, false],
  ];
  test.each(rows)("%s: %j %j", (_what, room, expected) => {
    const all = { limit: 20, total: 0, own: 0, users: 0, ...room };
    expect(admits(all)).toBe(expected);
  });
});

test.each([
  ["get", "", "pods", "readOnly"],
  ["list", "apps", "deployments", "readOnly"],
  ["update", "", "events", "mutating"],
  ["deletecollection", "", "pods", "mutating"],
  ["update", "coordination.k8s.io", "leases", "lease"],
  ["get", "coordination.k8s.io", "leases", "lease"],
  ["update", "x.io", "leases", "mutating"],
])("%s %s/%s counts as %s", (verb, group, plural, expected) => {
  expect(requestKind(verb, { group, plural })).toBe(expected);
});

function createFlood() {
  const inFlight = new InFlight(LIMITS, createHttpMetrics(silentMetrics));
  const open: (() => void)[] = [];
  /** Begins a request that lasts; answers whether it was let in. */
  const begin = async (user: string, kind: RequestKind = "mutating"): Promise<boolean> => {
    let isIn = false;
    const work = inFlight.run(kind, user, () => {
      isIn = true;
      return new Promise<void>((resolve) => open.push(resolve));
    });
    await Promise.race([work.catch(() => undefined), Promise.resolve()]);
    return isIn;
  };
  return { begin, open };
}

describe("while a user floods", () => {
  test("others are let in, and the flood is not let in beyond its part", async () => {
    const { begin } = createFlood();
    const flood = await Promise.all(Array.from({ length: 50 }, () => begin("mad")));
    expect(flood.filter(Boolean)).toHaveLength(LIMITS.writes / 2);
    for (let i = 0; i < 5; i += 1) expect(await begin(`honest-${i}`)).toBe(true);
    expect(await begin("mad")).toBe(false);
  });

  test("Leases and reads are apart from its writes", async () => {
    const { begin } = createFlood();
    for (let i = 0; i < 100; i += 1) await begin(`mad-${i}`);
    expect(await begin("honest")).toBe(false);
    expect(await begin("honest", "lease")).toBe(true);
    expect(await begin("honest", "readOnly")).toBe(true);
  });

  test("a user with nothing in it gets in, after any floods by fewer users than the limit", async () => {
    const event = fc.record({ user: fc.nat({ max: 12 }), ends: fc.nat({ max: 3 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 30, maxLength: 300 }), async (events) => {
        const { begin, open } = createFlood();
        for (const { user, ends } of events) {
          await begin(`mad-${user}`);
          for (let i = 0; i < ends; i += 1) open.shift()?.();
          await Promise.resolve();
        }
        // What was let in while there was room for fewer users has ended: the oldest half of the room.
        for (let i = 0; i < LIMITS.writes / 2; i += 1) open.shift()?.();
        for (let i = 0; i < 5; i += 1) await Promise.resolve();
        for (let i = 0; i < 200; i += 1) await begin(`mad-${i % 13}`);
        expect(await begin("honest")).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});
