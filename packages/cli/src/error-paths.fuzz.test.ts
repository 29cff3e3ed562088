/**
 * All faults at all requests of every call: what error-paths-connected.test.ts has a part of. `LIFEBOAT_FAULTS=all` plays each of them;
 * without it every so many.
 */
import { describe, expect, it } from "vitest";
import { callsFor, connected, disturbed, FAULTS } from "./error-table.suite.ts";
import type { Fault } from "./hostile-plane.suite.ts";

const EVERY = process.env["LIFEBOAT_FAULTS"] === "all" ? 1 : 97;

let turn = 0;
const faultsAt = (): readonly Fault[] => FAULTS.filter(() => turn++ % EVERY === 0);
const chosen = (requests: readonly unknown[]): readonly number[] => [...requests.keys()];

describe.each(connected)("%s", (...one) => {
  it.each(callsFor(one).map((call) => [call] as const))(
    "%j meets faults at each of its requests",
    { timeout: EVERY === 1 ? 1_800_000 : 300_000 },
    async (call) => {
      expect(await disturbed(one[1], call, { chosen, faultsAt })).toEqual([]);
    },
  );
});
