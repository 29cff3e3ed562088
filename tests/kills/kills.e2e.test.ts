/**
 * Aim: whatever moment a plane is killed at, no acknowledged write is lost, and no watcher that resumes loses, repeats or
 * reorders an event. Method: writers and watchers run against a child process that is killed with SIGKILL at random
 * moments and started again on the same data; HistoryChecker judges everything they saw.
 *
 * Twice: on the store alone, which dies more often per second, and on the whole product over TLS.
 *
 * LIFEBOAT_KILLS sets the number of kills (200), LIFEBOAT_SEED the randomness of moments and keys.
 */
import { createRandom } from "@lifeboat/base";
import { expect, test } from "vitest";
import { removeDirectory, temporaryDirectory } from "../support/processes.ts";
import { KilledWorld } from "./killed-world.ts";
import { lifeboatPlanes } from "./lifeboat-plane.ts";
import type { StartPlane } from "./plane.ts";
import { storePlanes } from "./store-plane.ts";

const KILLS = Number(process.env["LIFEBOAT_KILLS"] ?? 200);
const SEED = Number(process.env["LIFEBOAT_SEED"] ?? Date.now() % 1_000_000);

type Planes = (directory: string) => { readonly start: StartPlane; dispose(): void };

const subjects: readonly (readonly [string, number, Planes])[] = [
  ["the store", Math.ceil(KILLS / 2), storePlanes],
  ["lifeboat up over TLS", KILLS, lifeboatPlanes],
];

test.each(subjects)(
  "no acknowledged write and no event of %s is lost, doubled or reordered by %i kills",
  async (name, kills, planesOn) => {
    console.log(`LIFEBOAT_SEED=${SEED}`);
    const folder = temporaryDirectory("kills");
    const planes = planesOn(`${folder}/data`);
    try {
      const world = new KilledWorld(planes.start, createRandom(SEED));
      for (let kill = 0; kill < kills; kill++) await world.liveAndDie();
      await world.finish();
      expect(world.checker.violations()).toEqual([]);
      // The test means nothing when the plane hardly gets to write.
      expect(world.checker.acknowledged).toBeGreaterThan(kills);
      console.log(`${name}: ${world.checker.acknowledged} acknowledged writes, ${kills} kills`);
    } finally {
      planes.dispose();
      removeDirectory(folder);
    }
  },
  // Each kill is a start of the product, and a machine may have other work.
  1_500_000,
);
